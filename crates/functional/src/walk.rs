//! Traversal of core terms: positions, substitution, renaming, equality up to the names of bound
//! variables.
//!
//! Recursion is as deep as the term. [`depth`] measures without recursion, and the stages refuse
//! terms deeper than [`MAX_DEPTH`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use loops::Size;

use crate::build::Supply;
use crate::prim::Prim;
use crate::term::{Arg, Binder, Lambda, Term, TermKind, Var};
use crate::types::DataType;

/// Deeper terms than this are refused by the checker, the evaluator and strategies.
///
/// Ten thousand combinators in a chain are below it.
pub const MAX_DEPTH: usize = 12_000;

/// The position of a subterm: which argument of which argument. For a `let`, 0 is the value and 1
/// the body. An argument that is a function stands for its body.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Position(pub Vec<u32>);

impl Position {
    /// The whole term.
    pub fn root() -> Position {
        Position::default()
    }

    /// One step further down.
    pub fn child(&self, k: u32) -> Position {
        let mut steps = self.0.clone();
        steps.push(k);
        Position(steps)
    }

    /// `self`, and from there `below`.
    pub fn then(&self, below: &Position) -> Position {
        Position(self.0.iter().chain(&below.0).copied().collect())
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("root");
        }
        for (k, step) in self.0.iter().enumerate() {
            write!(f, "{}{step}", if k == 0 { "" } else { "." })?;
        }
        Ok(())
    }
}

impl std::str::FromStr for Position {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Position, Self::Err> {
        match text {
            "root" => Ok(Position::root()),
            _ => text.split('.').map(str::parse).collect::<Result<_, _>>().map(Position),
        }
    }
}

/// The direct subterms with their step, in order.
pub fn children(term: &Term) -> Vec<(u32, &Term)> {
    match term.kind() {
        TermKind::Var(_) | TermKind::Literal(_) | TermKind::Size(_) => Vec::new(),
        TermKind::Let(_, value, body) => vec![(0, value), (1, body)],
        TermKind::Prim(_, args) => args
            .iter()
            .zip(0..)
            .filter_map(|(arg, k)| match arg {
                Arg::Size(_) => None,
                Arg::Fun(f) => Some((k, &f.body)),
                Arg::Term(t) => Some((k, t)),
            })
            .collect(),
    }
}

/// The subterm at a position.
pub fn subterm<'t>(term: &'t Term, position: &Position) -> Option<&'t Term> {
    let mut here = term;
    for step in &position.0 {
        here = children(here).into_iter().find(|(k, _)| k == step)?.1;
    }
    Some(here)
}

/// The term with its direct subterms replaced by `f` of them; nodes that do not change stay the
/// same in memory.
///
/// # Errors
/// The first of `f`.
pub(crate) fn try_map_children<E>(
    term: &Term,
    mut f: impl FnMut(u32, &Term) -> Result<Term, E>,
) -> Result<Term, E> {
    let kind = match term.kind() {
        TermKind::Var(_) | TermKind::Literal(_) | TermKind::Size(_) => return Ok(term.clone()),
        TermKind::Let(binder, value, body) => {
            let (new_value, new_body) = (f(0, value)?, f(1, body)?);
            if new_value.same_node(value) && new_body.same_node(body) {
                return Ok(term.clone());
            }
            TermKind::Let(binder.clone(), new_value, new_body)
        }
        TermKind::Prim(prim, args) => {
            let mut changed = false;
            let mut new_args = Vec::with_capacity(args.len());
            for (arg, k) in args.iter().zip(0..) {
                new_args.push(match arg {
                    Arg::Size(size) => Arg::Size(size.clone()),
                    Arg::Fun(lambda) => {
                        let body = f(k, &lambda.body)?;
                        changed |= !body.same_node(&lambda.body);
                        Arg::Fun(Lambda { params: lambda.params.clone(), body })
                    }
                    Arg::Term(t) => {
                        let new = f(k, t)?;
                        changed |= !new.same_node(t);
                        Arg::Term(new)
                    }
                });
            }
            if !changed {
                return Ok(term.clone());
            }
            TermKind::Prim(*prim, new_args)
        }
    };
    Ok(Term::new(kind, term.ty().clone(), term.span()))
}

/// The term with its direct subterms replaced.
pub fn map_children(term: &Term, mut f: impl FnMut(u32, &Term) -> Term) -> Term {
    let Ok(term) = try_map_children::<std::convert::Infallible>(term, |k, t| Ok(f(k, t)));
    term
}

/// The term with the subterm at `position` replaced; nothing if there is no such place.
pub fn replace(term: &Term, position: &Position, new: &Term) -> Option<Term> {
    fn go(term: &Term, steps: &[u32], new: &Term) -> Option<Term> {
        let Some((first, rest)) = steps.split_first() else { return Some(new.clone()) };
        let mut found = false;
        let result = try_map_children(term, |k, child| {
            if k != *first {
                return Ok(child.clone());
            }
            found = true;
            go(child, rest, new).ok_or(())
        });
        result.ok().filter(|_| found)
    }
    go(term, &position.0, new)
}

/// Runs `f`, which recurses as deep as the term, with enough stack for that.
pub(crate) fn with_stack<T: Send>(term: &Term, f: impl FnOnce() -> T + Send) -> T {
    if depth(term) < 200 {
        return f();
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(1 << 28).spawn_scoped(scope, f);
        match thread.map(|running| running.join()) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => panic!("no thread for a deep term: {error}"),
        }
    })
}

/// How deep the term is; found without recursion.
pub fn depth(term: &Term) -> usize {
    let mut deepest = 0;
    let mut todo = vec![(term, 1)];
    while let Some((term, depth)) = todo.pop() {
        deepest = deepest.max(depth);
        todo.extend(children(term).into_iter().map(|(_, child)| (child, depth + 1)));
    }
    deepest
}

/// The number of nodes.
pub fn count(term: &Term) -> usize {
    let mut nodes = 0;
    let mut todo = vec![term];
    while let Some(term) = todo.pop() {
        nodes += 1;
        todo.extend(children(term).into_iter().map(|(_, child)| child));
    }
    nodes
}

/// The binders of a node itself.
pub fn binders(term: &Term) -> Vec<&Binder> {
    match term.kind() {
        TermKind::Let(binder, ..) => vec![binder],
        TermKind::Prim(_, args) => args
            .iter()
            .flat_map(|arg| match arg {
                Arg::Fun(f) => f.params.as_slice(),
                _ => &[],
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// Calls `f` on every variable that is bound or used.
pub(crate) fn visit_vars(term: &Term, f: &mut dyn FnMut(&Var)) {
    let mut todo = vec![term];
    while let Some(term) = todo.pop() {
        if let TermKind::Var(var) = term.kind() {
            f(var);
        }
        for binder in binders(term) {
            f(&binder.var);
        }
        todo.extend(children(term).into_iter().map(|(_, child)| child));
    }
}

/// The variables that are used but not bound in the term (numbers are unique, so one collection of
/// each suffices).
pub fn free_vars(term: &Term) -> BTreeSet<Var> {
    let (mut used, mut bound) = (BTreeSet::new(), BTreeSet::new());
    let mut todo = vec![term];
    while let Some(term) = todo.pop() {
        if let TermKind::Var(var) = term.kind() {
            used.insert(var.clone());
        }
        bound.extend(binders(term).into_iter().map(|b| b.var.clone()));
        todo.extend(children(term).into_iter().map(|(_, child)| child));
    }
    used.retain(|var| !bound.contains(var));
    used
}

/// The variable that a term is a component of, if it is one, and the way to it from there: `fst`
/// and `snd`.
pub(crate) fn component(term: &Term) -> (Option<&Var>, Vec<Prim>) {
    let (mut here, mut path) = (term, Vec::new());
    loop {
        match here.kind() {
            TermKind::Var(var) => {
                path.reverse();
                return (Some(var), path);
            }
            TermKind::Prim(prim @ (Prim::Fst | Prim::Snd), args) => match args.as_slice() {
                [Arg::Term(inner)] => {
                    path.push(*prim);
                    here = inner;
                }
                _ => return (None, path),
            },
            _ => return (None, path),
        }
    }
}

/// How often a variable is used.
pub fn occurrences(term: &Term, var: &Var) -> usize {
    let mut uses = 0;
    let mut todo = vec![term];
    while let Some(term) = todo.pop() {
        if matches!(term.kind(), TermKind::Var(v) if v == var) {
            uses += 1;
        }
        todo.extend(children(term).into_iter().map(|(_, child)| child));
    }
    uses
}

/// Whether a variable is used.
pub fn mentions(term: &Term, var: &Var) -> bool {
    occurrences(term, var) > 0
}

/// Whether a variable is used inside a function, where it may be evaluated many times.
pub fn used_in_function(term: &Term, var: &Var) -> bool {
    let mut todo = vec![(term, false)];
    while let Some((term, inside)) = todo.pop() {
        match term.kind() {
            TermKind::Var(v) if v == var && inside => return true,
            TermKind::Prim(_, args) => todo.extend(args.iter().filter_map(|arg| match arg {
                Arg::Size(_) => None,
                Arg::Fun(f) => Some((&f.body, true)),
                Arg::Term(t) => Some((t, inside)),
            })),
            _ => todo.extend(children(term).into_iter().map(|(_, child)| (child, inside))),
        }
    }
    false
}

/// Replaces variables by terms and gives every binder of the result a fresh number.
///
/// Types of replaced variables and of their replacements must agree. All binders are fresh, so
/// nothing is captured.
pub fn substitute(term: &Term, replacements: &BTreeMap<Var, Term>, supply: &mut Supply) -> Term {
    Substitution { replacements, renamed: BTreeMap::new(), supply }.term(term)
}

/// Replaces a variable by a term, consuming both. Binders keep their numbers, except in further
/// copies of the replacement. Subterms without the variable stay the same in memory.
pub(crate) fn replace_var(term: &Term, var: &Var, replacement: &Term, supply: &mut Supply) -> Term {
    fn go(term: &Term, var: &Var, replacement: &Term, first: &mut bool, supply: &mut Supply) -> Term {
        match term.kind() {
            TermKind::Var(v) if v == var && std::mem::take(first) => replacement.clone(),
            TermKind::Var(v) if v == var => refresh(replacement, supply),
            _ => map_children(term, |_, child| go(child, var, replacement, first, supply)),
        }
    }
    go(term, var, replacement, &mut true, supply)
}

/// The term with fresh numbers for all its binders.
pub fn refresh(term: &Term, supply: &mut Supply) -> Term {
    substitute(term, &BTreeMap::new(), supply)
}

/// The function with fresh numbers for all its binders.
pub fn refresh_lambda(lambda: &Lambda, supply: &mut Supply) -> Lambda {
    let none = BTreeMap::new();
    Substitution { replacements: &none, renamed: BTreeMap::new(), supply }.lambda(lambda)
}

/// The body of a function at these arguments.
pub fn instantiate(lambda: &Lambda, args: &[Term], supply: &mut Supply) -> Term {
    let replacements = lambda.params.iter().zip(args).map(|(p, a)| (p.var.clone(), a.clone())).collect();
    substitute(&lambda.body, &replacements, supply)
}

struct Substitution<'a> {
    replacements: &'a BTreeMap<Var, Term>,
    renamed: BTreeMap<Var, Var>,
    supply: &'a mut Supply,
}

impl Substitution<'_> {
    fn term(&mut self, term: &Term) -> Term {
        let kind = match term.kind() {
            TermKind::Literal(_) | TermKind::Size(_) => return term.clone(),
            TermKind::Var(var) => match (self.renamed.get(var), self.replacements.get(var)) {
                (Some(new), _) => TermKind::Var(new.clone()),
                // Each use needs its own binders.
                (None, Some(new)) => return refresh(new, self.supply),
                (None, None) => return term.clone(),
            },
            TermKind::Let(binder, value, body) => {
                let value = self.term(value);
                let binder = self.binder(binder);
                TermKind::Let(binder, value, self.term(body))
            }
            TermKind::Prim(prim, args) => {
                let args = args
                    .iter()
                    .map(|arg| match arg {
                        Arg::Size(size) => Arg::Size(size.clone()),
                        Arg::Fun(f) => Arg::Fun(self.lambda(f)),
                        Arg::Term(t) => Arg::Term(self.term(t)),
                    })
                    .collect();
                TermKind::Prim(*prim, args)
            }
        };
        Term::new(kind, term.ty().clone(), term.span())
    }

    fn lambda(&mut self, lambda: &Lambda) -> Lambda {
        let params = lambda.params.iter().map(|p| self.binder(p)).collect();
        Lambda { params, body: self.term(&lambda.body) }
    }

    fn binder(&mut self, binder: &Binder) -> Binder {
        let fresh = self.supply.binder(&binder.var.name, binder.ty.clone());
        self.renamed.insert(binder.var.clone(), fresh.var.clone());
        fresh
    }
}

/// The halves of a pair that is written out.
pub(crate) fn halves(term: &Term) -> Option<(&Term, &Term)> {
    match term.kind() {
        TermKind::Prim(Prim::Pair, args) => match args.as_slice() {
            [Arg::Term(a), Arg::Term(b)] => Some((a, b)),
            _ => None,
        },
        _ => None,
    }
}

/// The term with `fst` and `snd` of explicit pairs resolved.
pub(crate) fn settled(term: &Term) -> Term {
    let term = map_children(term, |_, child| settled(child));
    if let TermKind::Prim(prim @ (Prim::Fst | Prim::Snd), args) = term.kind()
        && let [Arg::Term(pair)] = args.as_slice()
        && let Some((a, b)) = halves(pair)
    {
        return if *prim == Prim::Fst { a.clone() } else { b.clone() };
    }
    term
}

/// The term with every size replaced, in types too.
pub fn map_sizes(term: &Term, f: &mut dyn FnMut(&Size) -> Size) -> Term {
    fn binder(b: &Binder, f: &mut dyn FnMut(&Size) -> Size) -> Binder {
        Binder { var: b.var.clone(), ty: b.ty.map_sizes(f) }
    }
    let kind = match term.kind() {
        TermKind::Var(_) | TermKind::Literal(_) => term.kind().clone(),
        TermKind::Size(size) => TermKind::Size(f(size)),
        TermKind::Let(b, value, body) => {
            let (b, value) = (binder(b, f), map_sizes(value, f));
            TermKind::Let(b, value, map_sizes(body, f))
        }
        TermKind::Prim(prim, args) => {
            let mut new = Vec::with_capacity(args.len());
            for arg in args {
                new.push(match arg {
                    Arg::Size(size) => Arg::Size(f(size)),
                    Arg::Fun(lambda) => {
                        let params = lambda.params.iter().map(|p| binder(p, f)).collect();
                        Arg::Fun(Lambda { params, body: map_sizes(&lambda.body, f) })
                    }
                    Arg::Term(t) => Arg::Term(map_sizes(t, f)),
                });
            }
            TermKind::Prim(*prim, new)
        }
    };
    let ty: DataType = term.ty().map_sizes(f);
    Term::new(kind, ty, term.span())
}

/// Whether both terms are the same up to the names and numbers of bound variables (types and sizes
/// count, places in the source do not).
pub fn alpha_equal(left: &Term, right: &Term) -> bool {
    Alpha::default().terms(left, right)
}

/// [`alpha_equal`] of functions.
pub fn alpha_equal_lambdas(left: &Lambda, right: &Lambda) -> bool {
    Alpha::default().lambdas(left, right)
}

#[derive(Default)]
struct Alpha {
    /// Bound variables of the left with their partners, and the other way round.
    pairs: (BTreeMap<Var, Var>, BTreeMap<Var, Var>),
}

impl Alpha {
    fn terms(&mut self, left: &Term, right: &Term) -> bool {
        if left.ty() != right.ty() {
            return false;
        }
        match (left.kind(), right.kind()) {
            (TermKind::Var(a), TermKind::Var(b)) => match (self.pairs.0.get(a), self.pairs.1.get(b)) {
                (None, None) => a == b,
                (Some(partner), Some(back)) => partner == b && back == a,
                _ => false,
            },
            (TermKind::Literal(a), TermKind::Literal(b)) => a == b,
            (TermKind::Size(a), TermKind::Size(b)) => a == b,
            (TermKind::Let(a, v, x), TermKind::Let(b, w, y)) => {
                self.terms(v, w) && self.bind(a, b) && self.terms(x, y)
            }
            (TermKind::Prim(p, xs), TermKind::Prim(q, ys)) => {
                p == q
                    && xs.len() == ys.len()
                    && xs.iter().zip(ys).all(|(x, y)| match (x, y) {
                        (Arg::Size(a), Arg::Size(b)) => a == b,
                        (Arg::Fun(f), Arg::Fun(g)) => self.lambdas(f, g),
                        (Arg::Term(s), Arg::Term(t)) => self.terms(s, t),
                        _ => false,
                    })
            }
            _ => false,
        }
    }

    fn lambdas(&mut self, f: &Lambda, g: &Lambda) -> bool {
        f.params.len() == g.params.len()
            && f.params.iter().zip(&g.params).all(|(a, b)| self.bind(a, b))
            && self.terms(&f.body, &g.body)
    }

    fn bind(&mut self, a: &Binder, b: &Binder) -> bool {
        self.pairs.0.insert(a.var.clone(), b.var.clone());
        self.pairs.1.insert(b.var.clone(), a.var.clone());
        a.ty == b.ty
    }
}
