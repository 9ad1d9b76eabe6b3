//! Whether a term has the form of a pattern, and what the variables, types and sizes then are.

use std::collections::{BTreeMap, BTreeSet};

use loops::{Name, Size};

use super::pattern::{Half, Parameter, Pattern, PatternArg, PatternKind, Place, Seen};
use crate::build::{self, Supply};
use crate::elaborate::{Assignment, Given, number};
use crate::facts::SizeFacts;
use crate::infer::inferred_types::Ty;
use crate::prim::Prim;
use crate::rewrite::context::{Refusal, no};
use crate::term::{Arg, Binder, Lambda, Literal, Term, TermKind};
use crate::types::DataType;
use crate::walk;

/// A match.
pub(super) struct Match {
    pub assignment: Assignment,
    /// What each variable stands for.
    pub given: Vec<Given>,
}

/// Matches a term. `sizes` are those that the strategy gave.
///
/// # Errors
/// Why the term does not have the form.
pub(super) fn matched(
    pattern: &Pattern,
    variables: &[Variable],
    sizes: BTreeMap<Name, Size>,
    term: &Term,
    facts: &SizeFacts,
    supply: &mut Supply,
) -> Result<Match, Refusal> {
    let mut matcher = Matcher {
        variables,
        facts,
        supply,
        types: BTreeMap::new(),
        equations: Vec::new(),
        given: vec![None; variables.len()],
        scope: Vec::new(),
        depth: 0,
    };
    matcher.term(pattern, term)?;
    let Matcher { types, equations, given, .. } = matcher;
    let sizes = solved(&equations, sizes, facts)?;
    let given = given.into_iter().collect::<Option<Vec<_>>>();
    // Every variable stands on the left side.
    let Some(given) = given else { return no("a variable has no value") };
    Ok(Match { assignment: Assignment { sizes, types }, given })
}

/// A variable of a rule.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub name: Name,
    pub is_function: bool,
}

struct Matcher<'m> {
    variables: &'m [Variable],
    facts: &'m SizeFacts,
    supply: &'m mut Supply,
    types: BTreeMap<Name, DataType>,
    /// Sizes of the pattern, and what they are in the term.
    equations: Vec<(Size, Size)>,
    given: Vec<Option<Given>>,
    /// The parameters of the pattern around this place, and what they are in the term.
    scope: Vec<(usize, Binder)>,
    depth: u32,
}

type Outcome = Result<(), Refusal>;

impl Matcher<'_> {
    fn differs(&self, wanted: &str, found: &Term) -> Outcome {
        if self.depth == 1 {
            return no(format!("it is not {wanted}"));
        }
        let found = match found.kind() {
            TermKind::Prim(prim, _) => format!("`{}`", prim.name()),
            TermKind::Var(var) => format!("`{}`", var.name),
            TermKind::Literal(_) => "a number".to_owned(),
            TermKind::Size(size) => format!("`{size}`"),
            TermKind::Let(..) => "a `let`".to_owned(),
        };
        no(format!("it has {found} where the rule has {wanted}"))
    }

    fn term(&mut self, pattern: &Pattern, term: &Term) -> Outcome {
        self.depth += 1;
        let result = self.here(pattern, term);
        self.depth -= 1;
        result
    }

    fn here(&mut self, pattern: &Pattern, term: &Term) -> Outcome {
        match &pattern.kind {
            PatternKind::Var(k, places) => {
                self.ty(&pattern.ty, term.ty())?;
                self.variable(*k, places, term)
            }
            PatternKind::Bound(place) => {
                let (var, path) = walk::component(term);
                let actual = self.scope.iter().find(|(bound, _)| *bound == place.bound).map(|(_, b)| &b.var);
                let same_path = path == place.path.iter().map(|half| half.prim()).collect::<Vec<_>>();
                match actual {
                    Some(actual) if var == Some(actual) && same_path => Ok(()),
                    _ => self.differs("the parameter", term),
                }
            }
            PatternKind::Size(size) => self.size_value(size, pattern, term),
            PatternKind::Number(value) => {
                self.ty(&pattern.ty, term.ty())?;
                match number(value, term.ty(), term.span()) {
                    Some(wanted) if walk::alpha_equal(&wanted, term) => Ok(()),
                    _ => self.differs(&format!("`{value}`"), term),
                }
            }
            PatternKind::Truth(value) => match term.kind() {
                TermKind::Literal(Literal::Bool(found)) if found == value => Ok(()),
                _ => self.differs(&format!("`{value}`"), term),
            },
            PatternKind::Let(parameter, parts) => {
                let TermKind::Let(binder, value, body) = term.kind() else {
                    return self.differs("a `let`", term);
                };
                self.term(&parts[0], value)?;
                self.scope.push((parameter.bound, binder.clone()));
                let result = self.term(&parts[1], body);
                self.scope.pop();
                result
            }
            PatternKind::Prim(prim, args) => self.prim(*prim, args, pattern, term),
        }
    }

    fn prim(&mut self, prim: Prim, args: &[PatternArg], pattern: &Pattern, term: &Term) -> Outcome {
        let TermKind::Prim(found, actual) = term.kind() else {
            return self.differs(&format!("`{}`", prim.name()), term);
        };
        if *found != prim || args.len() != actual.len() {
            return self.differs(&format!("`{}`", prim.name()), term);
        }
        self.ty(&pattern.ty, term.ty())?;
        for (arg, actual) in args.iter().zip(actual) {
            match (arg, actual) {
                (PatternArg::Size(size), Arg::Size(actual)) => {
                    self.equations.push((size.clone(), actual.clone()));
                }
                (PatternArg::Term(pattern), Arg::Term(actual)) => self.term(pattern, actual)?,
                (PatternArg::Fun(params, body), Arg::Fun(actual)) => self.function(params, body, actual)?,
                _ => return no(format!("`{}` is malformed", prim.name())),
            }
        }
        Ok(())
    }

    fn function(&mut self, params: &[Parameter], body: &Pattern, actual: &Lambda) -> Outcome {
        if params.len() != actual.params.len() {
            return no("a function has another number of parameters");
        }
        let outside = self.scope.len();
        for (param, binder) in params.iter().zip(&actual.params) {
            self.ty(&param.ty, &binder.ty)?;
            self.scope.push((param.bound, binder.clone()));
        }
        let result = self.term(body, &actual.body);
        self.scope.truncate(outside);
        result
    }

    /// The value of a size, which is written as a number where it is constant.
    fn size_value(&mut self, size: &Size, pattern: &Pattern, term: &Term) -> Outcome {
        self.ty(&pattern.ty, term.ty())?;
        match term.kind() {
            TermKind::Size(actual) => self.equations.push((size.clone(), actual.clone())),
            TermKind::Literal(Literal::I64(value)) => {
                self.equations.push((size.clone(), Size::constant(*value)));
            }
            _ => return self.differs("the value of a size", term),
        }
        Ok(())
    }

    /// A variable of some parameters: the term as a function of these. It must not depend on other
    /// parameters of the pattern.
    fn variable(&mut self, k: usize, places: &[Place], term: &Term) -> Outcome {
        let mut params = Vec::new();
        let mut replacements = BTreeMap::new();
        let mut forbidden = BTreeSet::new();
        for place in places {
            let Some(binder) = self.binder(place.bound) else { return no("a parameter has no value") };
            let Some(ty) = component_type(&binder.ty, &place.path) else {
                return no(format!("`{}` is not a pair", binder.var.name));
            };
            params.push(self.supply.binder(&binder.var.name, ty));
        }
        for (bound, binder) in self.scope.clone() {
            if !walk::mentions(term, &binder.var) {
                continue;
            }
            let parts: Vec<(&[Half], &Binder)> = (places.iter().zip(&params))
                .filter(|(place, _)| place.bound == bound)
                .map(|(place, param)| (&place.path[..], param))
                .collect();
            let whole = self.assembled(&binder, &binder.ty, &parts, &mut forbidden);
            replacements.insert(binder.var.clone(), whole);
        }
        let body = walk::settled(&walk::substitute(term, &replacements, self.supply));
        if let Some(var) = forbidden.iter().find(|var| walk::mentions(&body, var)) {
            let name = &self.variables[k].name;
            return no(format!("what `{name}` stands for depends on `{}`", var.name));
        }
        let found = if self.variables[k].is_function {
            Given::Fun(Lambda { params, body })
        } else {
            Given::Term(body)
        };
        let same = match (&self.given[k], &found) {
            (None, _) => true,
            (Some(Given::Term(a)), Given::Term(b)) => walk::alpha_equal(a, b),
            (Some(Given::Fun(f)), Given::Fun(g)) => walk::alpha_equal_lambdas(f, g),
            _ => false,
        };
        if !same {
            return no(format!("what `{}` stands for differs between its places", self.variables[k].name));
        }
        self.given[k].get_or_insert(found);
        Ok(())
    }

    fn binder(&self, bound: usize) -> Option<Binder> {
        self.scope.iter().find(|(b, _)| *b == bound).map(|(_, binder)| binder.clone())
    }

    /// A parameter put together from new parameters for its components. Where there is none for a
    /// component, a variable stands that must not occur.
    fn assembled(
        &mut self,
        binder: &Binder,
        ty: &DataType,
        parts: &[(&[Half], &Binder)],
        forbidden: &mut BTreeSet<crate::term::Var>,
    ) -> Term {
        if let [([], param)] = parts {
            return build::var(param);
        }
        if let (DataType::Pair(a, b), false) = (ty, parts.is_empty()) {
            let half = |wanted: Half| -> Vec<(&[Half], &Binder)> {
                (parts.iter())
                    .filter_map(|(path, param)| match path.split_first() {
                        Some((first, rest)) if *first == wanted => Some((rest, *param)),
                        _ => None,
                    })
                    .collect()
            };
            let first = self.assembled(binder, a, &half(Half::First), forbidden);
            let second = self.assembled(binder, b, &half(Half::Second), forbidden);
            let args = vec![Arg::Term(first), Arg::Term(second)];
            return Term::new(TermKind::Prim(Prim::Pair, args), ty.clone(), Default::default());
        }
        let missing = self.supply.binder(&binder.var.name, ty.clone());
        forbidden.insert(missing.var.clone());
        build::var(&missing)
    }

    fn ty(&mut self, pattern: &Ty, actual: &DataType) -> Outcome {
        match (pattern, actual) {
            (Ty::Param(name), _) => match self.types.get(name) {
                None => {
                    self.types.insert(name.clone(), actual.clone());
                    Ok(())
                }
                Some(known) if self.facts.same_type(known, actual) => Ok(()),
                Some(known) => no(format!(
                    "it has the types `{}` and `{}` where the rule has one",
                    shown(known),
                    shown(actual)
                )),
            },
            (Ty::Scalar(a), DataType::Scalar(b)) if a == b => Ok(()),
            (Ty::Idx(n), DataType::Idx(m)) => {
                self.equations.push((n.clone(), m.clone()));
                Ok(())
            }
            (Ty::Array(n, s), DataType::Array(m, t)) => {
                self.equations.push((n.clone(), m.clone()));
                self.ty(s, t)
            }
            (Ty::Pair(a, b), DataType::Pair(c, d)) => {
                self.ty(a, c)?;
                self.ty(b, d)
            }
            (Ty::Vector(n, s), DataType::Vector(m, t)) => {
                self.equations.push((n.clone(), m.clone()));
                self.ty(s, &DataType::Scalar(*t))
            }
            _ => no(format!("it is not of the type of the rule: it has `{}`", shown(actual))),
        }
    }
}

fn shown(ty: &DataType) -> String {
    crate::print::data_type(ty)
}

fn component_type(ty: &DataType, path: &[Half]) -> Option<DataType> {
    match (path.split_first(), ty) {
        (None, ty) => Some(ty.clone()),
        (Some((Half::First, rest)), DataType::Pair(a, _)) => component_type(a, rest),
        (Some((Half::Second, rest)), DataType::Pair(_, b)) => component_type(b, rest),
        _ => None,
    }
}

/// The sizes of the rule: those that are known, and what the equations give. All equations must be
/// known to hold.
fn solved(
    equations: &[(Size, Size)],
    mut known: BTreeMap<Name, Size>,
    facts: &SizeFacts,
) -> Result<BTreeMap<Name, Size>, Refusal> {
    for (pattern, actual) in equations {
        if let Some(name) = pattern.as_param() {
            known.entry(name.clone()).or_insert_with(|| actual.clone());
        }
    }
    let put = |size: &Size, known: &BTreeMap<Name, Size>| size.substitute(&|name| known.get(name).cloned());
    loop {
        let before = known.len();
        for (pattern, actual) in equations {
            let open: Vec<Name> = pattern.params().into_iter().filter(|p| !known.contains_key(p)).collect();
            let [name] = &open[..] else { continue };
            let Some((factor, rest)) = put(pattern, &known).factor_in(name) else { continue };
            let Some(value) = (actual.clone() - rest).exact_quotient(&factor) else { continue };
            if !facts.natural(&value) {
                return no(format!("it must be known that `{value}` is at least 0"));
            }
            known.insert(name.clone(), value);
        }
        if known.len() == before {
            break;
        }
    }
    for (pattern, actual) in equations {
        let pattern_size = put(pattern, &known);
        if let Some(open) = pattern.params().into_iter().find(|p| !known.contains_key(p)) {
            return no(format!("nothing says what the size `{open}` of the rule is"));
        }
        if !facts.equal(&pattern_size, actual) {
            return no(format!("it must be known that `{actual}` is `{pattern_size}`"));
        }
    }
    Ok(known)
}

/// The sizes that no match would decide, if these are given.
pub(super) fn undecided(pattern: &Pattern, sizes: &[Name], given: &[Name]) -> Vec<Name> {
    let mut compared: Vec<Size> = Vec::new();
    pattern.visit(&mut |seen| match seen {
        Seen::Size(size) => compared.push(size.clone()),
        Seen::Type(ty) => ty.sizes(&mut |size| compared.push(size.clone())),
    });
    let mut known: BTreeSet<Name> = given.iter().cloned().collect();
    known.extend(compared.iter().filter_map(Size::as_param).cloned());
    loop {
        let before = known.len();
        for size in &compared {
            let open: Vec<Name> = size.params().into_iter().filter(|p| !known.contains(p)).collect();
            if let [name] = &open[..]
                && size.factor_in(name).is_some()
            {
                known.insert(name.clone());
            }
        }
        if known.len() == before {
            return sizes.iter().filter(|size| !known.contains(*size)).cloned().collect();
        }
    }
}
