//! Inference of types and sizes: from the surface tree to definitions whose every node has its
//! type.
//!
//! Types are inferred by unification, sizes by solving equations between their normal forms. An
//! equation is accepted only if it holds for all values of the parameters that the stated facts
//! allow, 0 included. What cannot be shown is an error. Functions are arguments, never data. Not
//! here: unfolding of calls (`crate::elaborate`).

mod expressions;
pub(crate) mod finish;
pub(crate) mod inferred_types;
mod name_resolution;
pub(crate) mod node;
mod records;
mod report;
mod rule_typing;
pub(crate) mod scheme;
mod solve;
mod subscript;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use loops::{Code, Diagnostic, Name, Size, Span};

use crate::facts::SizeFacts;
use crate::syntax::ast::{BinOp, Def, FactExpr, NumberValue, TypeDef, TypeParam};
use crate::term::{Fact, FactKind};
use expressions::Why;
use inferred_types::{Class, Ty};
use node::{Local, LocalInfo, Node};
use solve::Solver;

pub(crate) use name_resolution::show_fact;
pub(crate) use rule_typing::{TypedRule, UNMATCHABLE, infer_rule};
pub use scheme::demands;

/// What callers of a definition need.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    pub(crate) name: Name,
    /// What tells it from definitions of the same name in other files.
    pub(crate) key: Name,
    pub(crate) sizes: Vec<Name>,
    /// The sizes that are written as arguments, in front of the others.
    pub(crate) explicit: Vec<Name>,
    pub(crate) types: Vec<(Name, Option<Class>)>,
    pub(crate) facts: Vec<Fact>,
    /// Parameters to result, as a function type.
    pub(crate) ty: Ty,
}

/// A definition with its inferred tree.
#[derive(Clone, Debug)]
pub(crate) struct TypedDef {
    pub(crate) signature: Arc<Signature>,
    pub(crate) params: Vec<Local>,
    pub(crate) locals: Vec<LocalInfo>,
    pub(crate) body: Node,
    pub(crate) span: Span,
    pub(crate) doc: String,
}

/// The names that the definitions of a file can use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Env {
    pub(crate) defs: BTreeMap<Name, Arc<Signature>>,
    /// Abbreviations: sizes and body.
    pub(crate) types: BTreeMap<Name, (Vec<Name>, Ty)>,
    /// The fields of those types that are records.
    pub(crate) records: BTreeMap<Name, Vec<Name>>,
    /// Definitions with errors: their uses are not reported again.
    pub(crate) failed: BTreeSet<Name>,
    /// Names that two imported files define, with these files.
    pub(crate) ambiguous: BTreeMap<Name, [String; 2]>,
}

/// The state of inference for one definition.
pub(crate) struct Infer<'e> {
    env: &'e Env,
    solver: Solver,
    scope: BTreeMap<Name, Vec<Local>>,
    locals: Vec<LocalInfo>,
    sizes: BTreeMap<Name, Span>,
    types: BTreeMap<Name, Option<Class>>,
    level: u32,
    constraints: Vec<(Class, Ty, Span, String)>,
    literals: Vec<(Ty, NumberValue, Span)>,
    /// Unknown sizes that were reported.
    told: BTreeSet<usize>,
    /// Unknown types that were reported.
    told_types: BTreeSet<u32>,
    /// Names of sizes that were reported as unknown.
    undeclared: BTreeSet<Name>,
    /// Whether this is a rule, whose facts stand behind its right side.
    in_rule: bool,
    /// Whether an error was reported before the open equations were looked at.
    quiet: bool,
    diagnostics: Vec<Diagnostic>,
}

impl<'e> Infer<'e> {
    fn new(env: &'e Env) -> Self {
        Infer {
            env,
            solver: Solver::default(),
            scope: BTreeMap::new(),
            locals: Vec::new(),
            sizes: BTreeMap::new(),
            types: BTreeMap::new(),
            level: 0,
            constraints: Vec::new(),
            literals: Vec::new(),
            told: BTreeSet::new(),
            told_types: BTreeSet::new(),
            undeclared: BTreeSet::new(),
            in_rule: false,
            quiet: false,
            diagnostics: Vec::new(),
        }
    }

    fn twice(&mut self, what: &str, name: &Name, span: Span) {
        let message = format!("the {what} `{name}` is declared twice");
        self.error(Diagnostic::error(Code("F0202"), message, span, "the second declaration"));
    }

    fn definition_of(&mut self, def: &Def) -> TypedDef {
        for size in &def.sizes {
            if self.sizes.insert(size.name.clone(), size.span).is_some() {
                self.twice("size", &size.name, size.span);
            }
        }
        let types = self.type_params(&def.types);
        let facts = self.facts_of(&def.facts);
        self.solver.facts = SizeFacts::new(&facts);
        let mut params = Vec::new();
        let mut param_types = Vec::new();
        for param in &def.params {
            let ty = self.resolve(&param.ty, false);
            if self.is_bound(&param.name.name) {
                self.twice("parameter", &param.name.name, param.name.span);
            }
            params.push(self.declare(&param.name.name, ty.clone(), param.name.span));
            param_types.push(ty);
        }
        let mut body = match &def.result {
            Some(result) => {
                let want = self.resolve(result, false);
                self.check(&def.body, &want, &Why::new("the result", Some(result.span)))
            }
            None => self.infer(&def.body),
        };
        self.finish();
        self.complete(&mut body);
        let mut locals = std::mem::take(&mut self.locals);
        for local in &mut locals {
            local.ty = self.known_type(&local.ty, local.span);
        }
        // The result as it is written, where it is: the same up to facts.
        let result = match &def.result {
            Some(result) => self.resolve(result, false),
            None => body.ty.clone(),
        };
        let ty = param_types.into_iter().rev().fold(result, |result, param| Ty::fun(param, result));
        let signature = Arc::new(Signature {
            name: def.name.name.clone(),
            key: def.name.name.clone(),
            sizes: def.sizes.iter().map(|s| s.name.clone()).collect(),
            explicit: def.explicit.iter().map(|s| s.name.clone()).collect(),
            types,
            facts,
            ty,
        });
        TypedDef { signature, params, locals, body, span: def.span, doc: def.doc.clone() }
    }

    /// Declares type parameters.
    fn type_params(&mut self, declared: &[TypeParam]) -> Vec<(Name, Option<Class>)> {
        let mut types = Vec::new();
        for param in declared {
            let class = param.class.as_ref().and_then(|c| {
                let class = Class::from_name(&c.name);
                if class.is_none() {
                    let message = format!("`{}` is not a constraint", c.name);
                    self.error(
                        Diagnostic::error(Code("F0204"), message, c.span, "unknown constraint")
                            .help("constraints are `num`, `int`, `float` and `cast`"),
                    );
                }
                class
            });
            if self.types.insert(param.name.name.clone(), class).is_some() {
                self.twice("type", &param.name.name, param.name.span);
            }
            types.push((param.name.name.clone(), class));
        }
        types
    }

    fn facts_of(&mut self, written: &[FactExpr]) -> Vec<Fact> {
        let mut facts = Vec::new();
        for fact in written {
            let (Some(left), Some(right)) =
                (self.size_of(&fact.left, false), self.size_of(&fact.right, false))
            else {
                continue;
            };
            let one = Size::constant(1);
            facts.push(match fact.relation {
                BinOp::Eq => Fact { kind: FactKind::Equal, left, right },
                BinOp::Lt => Fact { kind: FactKind::AtMost, left: left + one, right },
                BinOp::Gt => Fact { kind: FactKind::AtMost, left: right + one, right: left },
                BinOp::Ge => Fact { kind: FactKind::AtMost, left: right, right: left },
                _ => Fact { kind: FactKind::AtMost, left, right },
            });
        }
        facts
    }
}

/// Infers one definition.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn infer_definition(env: &Env, def: &Def) -> Result<TypedDef, Vec<Diagnostic>> {
    let mut infer = Infer::new(env);
    let typed = infer.definition_of(def);
    if infer.diagnostics.is_empty() { Ok(typed) } else { Err(infer.in_order()) }
}

/// Reads a type abbreviation.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn infer_type(env: &Env, def: &TypeDef) -> Result<(Vec<Name>, Ty), Vec<Diagnostic>> {
    let mut infer = Infer::new(env);
    for size in &def.sizes {
        if infer.sizes.insert(size.name.clone(), size.span).is_some() {
            infer.twice("size", &size.name, size.span);
        }
    }
    let ty = infer.resolve(&def.body, false);
    if infer.diagnostics.is_empty() {
        Ok((def.sizes.iter().map(|s| s.name.clone()).collect(), ty))
    } else {
        Err(infer.diagnostics)
    }
}
