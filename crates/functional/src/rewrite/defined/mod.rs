//! Rewrite rules that a program defines: `rule NAME: LEFT -> RIGHT where FACTS`.
//!
//! The left side is a pattern of terms. The right side is unfolded as a definition is, with what
//! the variables stand for as its arguments: what is used more than once is computed once. A rule
//! is tested on random programs before it is applied ([`trial`]).
//!
//! - `pattern`: left sides as patterns
//! - `matching`: whether a term has the form
//! - `lemma`: what a rule claims, for Coq
//! - `guards`: what the right side computes where the left might not
//! - `trial`: both sides on random programs

mod guards;
pub mod lemma;
mod matching;
mod pattern;
pub mod trial;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use loops::{Code, Diagnostic, Name, Size, Span};

use self::matching::{Match, Variable};
use self::pattern::Pattern;
use self::trial::{Effort, Verdict};
use super::context::{Context, Refusal, Rewritten, no};
use crate::checked::Entry;
use crate::elaborate::{Given, instantiate};
use crate::infer::inferred_types::{Class, Ty, show};
use crate::infer::{TypedRule, UNMATCHABLE};
use crate::term::{Fact, FactKind, Term};
use crate::types::DataType;

/// A size that the left side does not decide.
const UNDECIDED: Code = Code("S0202");
/// A rule whose sides differ.
pub const DIFFERENT: Code = Code("S0203");

/// Most sizes of a rule, those that inference finds included.
const MAX_SIZES: usize = 32;

/// A rule with the pattern of its left side.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) typed: TypedRule,
    pattern: Pattern,
    variables: Vec<Variable>,
    /// Variables that the right side computes where the left side might not.
    hurried: Vec<usize>,
}

impl Prepared {
    /// Makes a typed rule ready to be matched.
    ///
    /// # Errors
    /// If the left side can't be matched, or does not decide all sizes.
    pub(crate) fn new(typed: TypedRule) -> Result<Prepared, Diagnostic> {
        let signature = &typed.left.signature;
        if signature.sizes.len() > MAX_SIZES {
            let message = format!("a rule has at most {MAX_SIZES} sizes, not {}", signature.sizes.len());
            return Err(Diagnostic::error(UNMATCHABLE, message, typed.left.body.span, "the left side")
                .help("make several rules of it"));
        }
        let pattern = pattern::pattern(&typed.left)?;
        if let Some(size) = matching::undecided(&pattern, &signature.sizes, &typed.params).first() {
            let message =
                format!("the left side of the rule `{}` does not decide the size `{size}`", signature.name);
            let diagnostic = Diagnostic::error(UNDECIDED, message, typed.left.body.span, "the left side");
            return Err(
                diagnostic.help(format!("let strategies give it: `rule {}({size}): ...`", signature.name))
            );
        }
        let mut types = std::collections::BTreeSet::new();
        pattern.visit(&mut |seen| {
            if let pattern::Seen::Type(ty) = seen {
                collect_types(ty, &mut types);
            }
        });
        if let Some((name, _)) = signature.types.iter().find(|(name, _)| !types.contains(name)) {
            let message =
                format!("the left side of the rule `{}` does not decide the type `{name}`", signature.name);
            return Err(Diagnostic::error(UNDECIDED, message, typed.left.body.span, "the left side")
                .help("leave the type parameter out, or give a variable this type"));
        }
        let local = |k: &u32| &typed.left.locals[*k as usize];
        let variables = (typed.left.params.iter().map(local))
            .map(|info| Variable { name: info.name.clone(), is_function: matches!(info.ty, Ty::Fun(..)) })
            .collect();
        let hurried = guards::hurried(&typed.left, &typed.right);
        Ok(Prepared { typed, pattern, variables, hurried })
    }

    /// Its name.
    pub(crate) fn name(&self) -> &Name {
        &self.typed.left.signature.name
    }

    /// What an error about it is labelled with.
    pub(crate) fn name_span(&self) -> Span {
        self.typed.name_span
    }
}

fn collect_types(ty: &Ty, found: &mut std::collections::BTreeSet<Name>) {
    match ty {
        Ty::Param(name) => {
            found.insert(name.clone());
        }
        Ty::Array(_, t) | Ty::Vector(_, t) => collect_types(t, found),
        Ty::Pair(a, b) | Ty::Fun(a, b) => {
            collect_types(a, found);
            collect_types(b, found);
        }
        Ty::Meta(_) | Ty::Scalar(_) | Ty::Idx(_) | Ty::Error => {}
    }
}

/// A rule of a program, with the definitions that its right side may call.
#[derive(Clone, Debug)]
pub struct DefinedRule {
    prepared: Arc<Prepared>,
    defs: Arc<BTreeMap<Name, Entry>>,
    /// Whether its name stands in the file that diagnostics are about.
    own: bool,
    /// Whether it may be applied.
    tested: Arc<OnceLock<Result<(), Box<Diagnostic>>>>,
}

impl PartialEq for DefinedRule {
    fn eq(&self, other: &DefinedRule) -> bool {
        Arc::ptr_eq(&self.prepared, &other.prepared)
    }
}

impl Eq for DefinedRule {}

impl DefinedRule {
    pub(crate) fn new(prepared: Arc<Prepared>, defs: Arc<BTreeMap<Name, Entry>>, own: bool) -> DefinedRule {
        DefinedRule { prepared, defs, own, tested: Arc::default() }
    }

    /// Its name.
    pub fn name(&self) -> &Name {
        self.prepared.name()
    }

    /// The sizes that strategies give it.
    pub fn params(&self) -> &[Name] {
        &self.prepared.typed.params
    }

    /// Whether it may change the order of floating-point operations.
    pub fn reassociates(&self) -> bool {
        self.prepared.typed.reassociate
    }

    /// Whether it stands in the file that was asked for.
    pub(crate) fn is_own(&self) -> bool {
        self.own
    }

    /// The comment above it.
    pub fn doc(&self) -> &str {
        &self.prepared.typed.left.doc
    }

    /// Its variables with their types, as text.
    pub fn variables(&self) -> Vec<(Name, String)> {
        let left = &self.prepared.typed.left;
        let local = |k: &u32| &left.locals[*k as usize];
        left.params.iter().map(local).map(|info| (info.name.clone(), show(&info.ty))).collect()
    }

    /// The type of both sides, as text.
    pub fn ty(&self) -> String {
        show(&self.prepared.typed.left.body.ty)
    }

    /// Tests it, once.
    ///
    /// # Errors
    /// `S0203` with a counterexample, or if there are no sizes for which it says anything.
    pub fn admitted(&self) -> Result<(), Diagnostic> {
        let test = || match trial::check(self, Effort::default()) {
            Verdict::Agrees { .. } => Ok(()),
            bad => Err(Box::new(self.refused(&bad))),
        };
        self.tested.get_or_init(test).clone().map_err(|diagnostic| *diagnostic)
    }

    /// Why a rule that does not agree is refused.
    fn refused(&self, verdict: &Verdict) -> Diagnostic {
        let name = self.name();
        let message = match verdict {
            Verdict::Differs(found) => {
                format!("the rule `{name}` changes what programs compute: {}", found.difference)
            }
            _ => format!("nothing is known of the rule `{name}`: no program was found that it fits"),
        };
        let mut diagnostic = if self.own {
            Diagnostic::error(DIFFERENT, message, self.prepared.name_span(), "this rule")
        } else {
            Diagnostic::general(DIFFERENT, message)
        };
        if let Verdict::Differs(found) = verdict {
            diagnostic = diagnostic.note(format!("this program changes:\n{found}"));
        }
        let defined = self.prepared.variables.iter().find(|v| self.defs.contains_key(&v.name));
        if let Some(variable) = defined {
            diagnostic = diagnostic
                .note(format!("`{}` is a variable of the rule here, not the definition", variable.name));
        }
        diagnostic.help("`lozenge check-rules FILE` tests all rules of a file")
    }

    /// The new term.
    pub(super) fn apply(&self, cx: &mut Context<'_>, args: &[Size], term: &Term) -> Rewritten {
        let Prepared { typed, pattern, variables, hurried } = &*self.prepared;
        if let Some(bad) = args.iter().find(|size| !cx.facts.natural(size)) {
            return no(format!("it must be known that `{bad}` is at least 0"));
        }
        let sizes = typed.params.iter().cloned().zip(args.iter().cloned()).collect();
        let Match { assignment, given } =
            matching::matched(pattern, variables, sizes, term, cx.facts, cx.supply)?;
        for fact in &typed.required {
            let put = |size: &Size| size.substitute(&|name| assignment.sizes.get(name).cloned());
            self.required(cx, fact.kind, put(&fact.left), put(&fact.right))?;
        }
        for (name, class) in &typed.left.signature.types {
            if let (Some(class), Some(ty)) = (class, assignment.types.get(name))
                && !is_of(*class, ty)
            {
                return no(format!("`{}` is not {}", crate::print::data_type(ty), class.describe()));
            }
        }
        for k in hurried {
            let (what, body) = match &given[*k] {
                Given::Term(term) => (&variables[*k].name, term),
                Given::Fun(f) => (&variables[*k].name, &f.body),
            };
            cx.require_total(body, &format!("what `{what}` stands for"))?;
        }
        instantiate(&self.defs, &typed.right, assignment, &given, cx.supply, term.span())
            .map_err(|diagnostic| Refusal::new(diagnostic.message))
    }

    fn required(&self, cx: &Context<'_>, kind: FactKind, left: Size, right: Size) -> Result<(), Refusal> {
        let known = match kind {
            FactKind::AtMost => cx.facts.at_most(&left, &right),
            FactKind::Equal => cx.facts.equal(&left, &right),
        };
        if known {
            return Ok(());
        }
        let fact = crate::infer::show_fact(&Fact { kind, left, right });
        no(format!("it must be known that `{fact}`"))
    }
}

/// Whether a type parameter of a class may be this type.
fn is_of(class: Class, ty: &DataType) -> bool {
    match ty {
        DataType::Scalar(s) => class.admits(*s),
        DataType::Vector(..) => class == Class::Num,
        DataType::Idx(_) => class == Class::Cast,
        DataType::Array(..) | DataType::Pair(..) => false,
    }
}
