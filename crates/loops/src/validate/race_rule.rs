//! Whether the iterations of parallel and vector loops are independent.
//!
//! Take two accesses in two different iterations, one of them a write. They are shown to be
//! disjoint if some subscript, or some row-major combination of neighbouring subscripts, is always
//! smaller in one than in the other. Arrays that are local to an iteration and declared reductions
//! do not count.
//!
//! If the proof fails, the function runs on small sizes with only this loop parallel. A conflict
//! there refutes independence, unless subscripts, bounds or conditions of the accesses depend on
//! data.

use std::collections::{BTreeMap, BTreeSet};

use super::bounds::{box_extent, facts_at};
use super::{Report, Verdict};
use crate::access::{AccessSite, Context, accesses};
use crate::data::Tensor;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::expr::{BinaryOp, CompareOp, Expr};
use crate::facts::{Facts, is_stable};
use crate::interp::{Options, run};
use crate::name::Name;
use crate::program::{Component, Function, Loop, LoopKind, ParamMode, Stmt};
use crate::simplify;
use crate::visit::locals;

const RACE: Code = Code("L0206");
const NOT_SHOWN: Code = Code("L0207");
/// Pairs of accesses of one array that are looked at.
const MOST_PAIRS: usize = 2_000;
/// Loops of a function that are tried on small sizes.
const MOST_TRIALS: usize = 8;

/// A verdict on a parallel or vector loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Safety {
    /// No iteration touches what another one writes, whatever the sizes and the data.
    Proved,
    /// Two iterations conflict; which ones, and for which sizes.
    Refuted(String),
    /// Neither is shown; the first reason that was met.
    Unknown(String),
}

pub(super) fn check(function: &Function, report: &mut Report) {
    let mut extents: BTreeMap<&Name, &[Expr]> = BTreeMap::new();
    for param in &function.params {
        extents.insert(&param.name, &param.dims);
    }
    let base = Facts::of(function);
    let mut walker = Walker {
        function,
        base,
        extents,
        context: Vec::new(),
        parallel_loops: 0,
        trials_left: MOST_TRIALS,
        report,
    };
    walker.block(&function.body);
}

struct Walker<'a, 'r> {
    function: &'a Function,
    base: Facts,
    extents: BTreeMap<&'a Name, &'a [Expr]>,
    context: Vec<Context<'a>>,
    parallel_loops: usize,
    trials_left: usize,
    report: &'r mut Report,
}

impl<'a> Walker<'a, '_> {
    fn block(&mut self, body: &'a [Stmt]) {
        for stmt in body {
            match stmt {
                Stmt::Loop(l) => {
                    if matches!(l.kind, LoopKind::Parallel | LoopKind::Vector) {
                        self.verdict(stmt, l);
                        self.parallel_loops += 1;
                    }
                    self.inside(Context::Loop(l), &l.body);
                }
                Stmt::If { cond, then, otherwise } => {
                    self.inside(Context::Condition { cond, holds: true }, then);
                    self.inside(Context::Condition { cond, holds: false }, otherwise);
                }
                Stmt::Block { body, .. } => self.block(body),
                Stmt::Local(local) => {
                    self.extents.insert(&local.name, &local.dims);
                }
                _ => {}
            }
        }
    }

    fn inside(&mut self, context: Context<'a>, body: &'a [Stmt]) {
        self.context.push(context);
        self.block(body);
        self.context.pop();
    }

    fn verdict(&mut self, stmt: &Stmt, l: &'a Loop) {
        let facts = facts_at(&self.base, &self.context);
        let safety = match self.conflict(l, &facts) {
            None => Safety::Proved,
            Some(Conflict { what, data_dependent }) => {
                let tried = !data_dependent && self.trials_left > 0;
                self.trials_left -= usize::from(tried);
                match if tried { refute(self.function, self.parallel_loops) } else { None } {
                    Some(message) => Safety::Refuted(message),
                    None => Safety::Unknown(what),
                }
            }
        };
        match &safety {
            Safety::Proved => {}
            Safety::Refuted(how) => {
                let message = format!("the iterations of `{}` are not independent: {how}", l.header());
                let d = Diagnostic::general(RACE, message).note(format!("in `{}`", stmt.headline()));
                self.report.diagnostics.push(d.help(
                    "run it in order (`for`), let each iteration write its own elements, or declare a reduction",
                ));
            }
            Safety::Unknown(what) => {
                let message = format!("the iterations of `{}` may not be independent", l.header());
                let mut d = Diagnostic::general(NOT_SHOWN, message).note(what.clone());
                d.severity = Severity::Warning;
                self.report.diagnostics.push(d.note(format!("in `{}`", stmt.headline())));
            }
        }
        self.report.loops.push(Verdict { header: l.header(), safety });
    }

    /// The first pair of accesses that is not shown to be disjoint.
    fn conflict(&self, l: &'a Loop, facts: &Facts) -> Option<Conflict> {
        let mut private: BTreeSet<&Name> = l.reductions.iter().map(|(_, name)| name).collect();
        private.extend(locals(&l.body).map(|local| &local.name));
        let sites: Vec<AccessSite<'a>> =
            accesses(&l.body).into_iter().filter(|site| !private.contains(&site.access.array)).collect();
        let mut arrays: BTreeMap<&Name, Vec<&AccessSite<'a>>> = BTreeMap::new();
        for site in &sites {
            let list = arrays.entry(&site.access.array).or_default();
            // The same access at the same place twice, as in `a[i] * a[i]`, is one.
            let same = |old: &&AccessSite<'_>| {
                old.access == site.access
                    && old.writes() == site.writes()
                    && old.position == site.position
                    && old.extents == site.extents
            };
            if !list.iter().any(same) {
                list.push(site);
            }
        }
        for (array, list) in arrays {
            let mut pairs = 0;
            for (k, first) in list.iter().enumerate() {
                for second in &list[k..] {
                    if !first.writes() && !second.writes() {
                        continue;
                    }
                    pairs += 1;
                    let what = || {
                        let how = |site: &AccessSite<'_>| if site.writes() { "written" } else { "read" };
                        format!(
                            "`{}` is {} in one iteration, and perhaps `{}` is {} in another and the same",
                            first.access,
                            how(first),
                            second.access,
                            how(second)
                        )
                    };
                    if pairs > MOST_PAIRS {
                        return Some(Conflict { what: what(), data_dependent: true });
                    }
                    let extents = self.extents.get(array).copied().unwrap_or_default();
                    if !disjoint(l, facts, first, second, extents) {
                        let data =
                            |site: &AccessSite<'_>| site.access.indices.iter().any(|index| !is_stable(index));
                        return Some(Conflict { what: what(), data_dependent: data(first) || data(second) });
                    }
                }
            }
        }
        None
    }
}

struct Conflict {
    what: String,
    data_dependent: bool,
}

/// Whether the accesses touch different elements in different iterations of the loop.
fn disjoint(
    l: &Loop,
    facts: &Facts,
    first: &AccessSite<'_>,
    second: &AccessSite<'_>,
    extents: &[Expr],
) -> bool {
    let apart = |a: &[Component], b: &[Component]| a.iter().zip(b).any(|(x, y)| x != y);
    if apart(&first.access.path, &second.access.path) {
        return true;
    }
    let symmetric = std::ptr::eq(first.access, second.access);
    disjoint_in_order(l, facts, first, second, extents)
        && (symmetric || disjoint_in_order(l, facts, second, first, extents))
}

/// As [`disjoint`], where the iteration of `early` comes before that of `late`.
fn disjoint_in_order(
    l: &Loop,
    facts: &Facts,
    early: &AccessSite<'_>,
    late: &AccessSite<'_>,
    extents: &[Expr],
) -> bool {
    let mut facts = facts.clone();
    let (v1, v2) = (renamed(&l.var, 1), renamed(&l.var, 2));
    facts.enter_range(&v1, &l.lower, &l.upper);
    let next = Expr::Var(v1.clone()) + l.step;
    facts.enter_range(&v2, &l.lower.clone().max(next), &l.upper);
    if facts.innermost_is_empty() {
        return true; // there are no two iterations
    }
    let a = side(early, &l.var, 1, &mut facts);
    let b = side(late, &l.var, 2, &mut facts);
    let differ = |x: &Expr, y: &Expr| facts.decide(CompareOp::Ne, x, y) == Some(true);
    if a.iter().zip(&b).any(|(x, y)| differ(x, y)) {
        return true;
    }
    // Equal subscripts have equal offsets; so do runs of neighbouring subscripts.
    for start in 0..a.len() {
        for end in start + 2..=a.len() {
            let offset = |subscripts: &[Expr]| -> Expr {
                let mut sum = subscripts[start].clone();
                for (subscript, extent) in subscripts.iter().zip(extents).take(end).skip(start + 1) {
                    sum = sum * extent.clone() + subscript.clone();
                }
                simplify::expr(&sum, &facts)
            };
            if extents.len() == a.len() && differ(&offset(&a), &offset(&b)) {
                return true;
            }
        }
    }
    // So have quotient and remainder by the same divisor: `x floordiv d` and `x mod d` make up `x`.
    let joined = (1..a.len()).any(|k| match (divisor(&a[k]), divisor(&b[k])) {
        (Some(d), Some(same)) if d == same => {
            let whole = |s: &[Expr]| simplify::expr(&(s[k - 1].clone() * d.clone() + s[k].clone()), &facts);
            differ(&whole(&a), &whole(&b))
        }
        _ => false,
    });
    let conditional =
        |site: &AccessSite<'_>| site.context.iter().any(|c| matches!(c, Context::Condition { .. }));
    // Last, because it takes the longest: conditions that no two different iterations fulfil.
    joined || ((conditional(early) || conditional(late)) && facts.are_contradictory())
}

/// The divisor of a remainder.
fn divisor(subscript: &Expr) -> Option<&Expr> {
    match subscript {
        Expr::Binary(BinaryOp::Mod | BinaryOp::Rem, _, d) => Some(d),
        _ => None,
    }
}

/// A variable as it is in one of the two iterations. No front end gives a variable such a name.
fn renamed(name: &Name, side: u8) -> Name {
    Name::new(format!("{name}#{side}"))
}

/// The subscripts of an access in one of the iterations. What holds of its variables is added to
/// the facts.
fn side(site: &AccessSite<'_>, var: &Name, side: u8, facts: &mut Facts) -> Vec<Expr> {
    let mut own: BTreeSet<&Name> = BTreeSet::from([var]);
    let rename = |e: &Expr, own: &BTreeSet<&Name>| {
        e.substitute(&|name| own.contains(name).then(|| Expr::Var(renamed(name, side))))
    };
    for context in &site.context {
        match context {
            Context::Loop(l) => {
                let (lower, upper) = (rename(&l.lower, &own), rename(&l.upper, &own));
                own.insert(&l.var);
                facts.enter_range(&renamed(&l.var, side), &lower, &upper);
            }
            Context::Condition { cond, holds } => facts.assume(&rename(cond, &own), *holds),
            Context::Mark(_) => {}
        }
    }
    let mut subscripts = Vec::new();
    for (d, index) in site.access.indices.iter().enumerate() {
        let mut index = rename(index, &own);
        if let Some(extent) = box_extent(site, d) {
            let inside = Name::new(format!("box#{d}#{side}"));
            facts.enter_range(&inside, &Expr::Int(0), &rename(extent, &own));
            index = index + Expr::Var(inside);
        }
        subscripts.push(index);
    }
    subscripts
}

/// Runs the function on small sizes, where only the parallel loop of this number is parallel.
/// Returns how two of its iterations conflict.
fn refute(function: &Function, number: usize) -> Option<String> {
    let mut seen = 0;
    let alone = Function { body: only(&function.body, number, &mut seen), ..function.clone() };
    let options = Options { races: true, max_steps: 30_000, max_bytes: 1 << 22, ..Options::default() };
    for sizes in small_sizes(&function.sizes) {
        let mut args = BTreeMap::new();
        let mut possible = true;
        for (k, param) in function.params.iter().enumerate() {
            let mut shape = Vec::new();
            for dim in &param.dims {
                match evaluate(dim, &sizes) {
                    Some(extent) if (0..=4096).contains(&extent) => shape.push(extent as usize),
                    _ => possible = false,
                }
            }
            let len = shape.iter().try_fold(1usize, |n, e| n.checked_mul(*e)).filter(|n| *n <= 65_536);
            possible &= len.is_some();
            if possible && param.mode != ParamMode::Out {
                args.insert(param.name.clone(), Tensor::random(&param.elem, shape, k as u64));
            }
        }
        if !possible {
            continue;
        }
        if let Err(error) = run(&alone, &sizes, args, &options)
            && error.code == Code("L0306")
        {
            let at: Vec<String> = sizes.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            let given = if at.is_empty() { String::new() } else { format!(" (for {})", at.join(", ")) };
            return Some(format!("{}{given}", error.message));
        }
    }
    None
}

/// All parallel and vector loops run in order but the one of this number.
fn only(body: &[Stmt], number: usize, seen: &mut usize) -> Vec<Stmt> {
    body.iter()
        .map(|stmt| match stmt {
            Stmt::Loop(l) => {
                let mut new = Loop { body: Vec::new(), ..l.clone() };
                if matches!(l.kind, LoopKind::Parallel | LoopKind::Vector) {
                    if *seen != number {
                        new.kind = LoopKind::Sequential;
                        new.reductions.clear();
                    }
                    *seen += 1;
                }
                new.body = only(&l.body, number, seen);
                Stmt::Loop(new)
            }
            other => other.map(&mut Expr::clone, &mut |inner| only(inner, number, seen)),
        })
        .collect()
}

/// A few small values for each size: all the same, and some different ones.
fn small_sizes(names: &[Name]) -> Vec<BTreeMap<Name, i64>> {
    let mut list: Vec<BTreeMap<Name, i64>> = Vec::new();
    for base in [2, 3, 4, 1, 8, 16] {
        list.push(names.iter().map(|name| (name.clone(), base)).collect());
        if names.len() > 1 {
            let counted = names.iter().enumerate().map(|(k, name)| (name.clone(), base + k as i64));
            list.push(counted.collect());
            let reversed = names.iter().rev().enumerate().map(|(k, name)| (name.clone(), base + k as i64));
            list.push(reversed.collect());
        }
    }
    list.truncate(if names.is_empty() { 1 } else { list.len() });
    list
}

fn evaluate(expr: &Expr, sizes: &BTreeMap<Name, i64>) -> Option<i64> {
    let constant = expr.substitute(&|name| sizes.get(name).map(|value| Expr::Int(*value)));
    match simplify::expr(&constant, &Facts::default()) {
        Expr::Int(value) => Some(value),
        _ => None,
    }
}
