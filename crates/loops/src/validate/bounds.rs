//! Subscripts that are certainly outside their array when the statement is reached.
//!
//! A subscript is also evaluated at the first and last iterations of the loops around it, if these
//! are known to happen. So `for i in 0..n + 1 { a[i] = … }` with `a: f64[n]` is an error, though
//! all other iterations are right.

use std::collections::BTreeMap;

use super::{Report, at};
use crate::access::{AccessSite, Context, accesses};
use crate::diagnostic::{Code, Diagnostic};
use crate::expr::{CompareOp, Expr};
use crate::facts::Facts;
use crate::name::Name;
use crate::program::Function;
use crate::visit::locals;

const OUTSIDE: Code = Code("L0205");
/// Loops whose first and last iterations are tried, for one subscript.
const MOST_LOOPS: usize = 4;

pub(super) fn check(function: &Function, report: &mut Report) {
    // Names are not reused within a scope, but the same name may stand for different arrays in
    // different blocks.
    let mut dims: BTreeMap<&Name, Vec<&[Expr]>> = BTreeMap::new();
    for param in &function.params {
        dims.entry(&param.name).or_default().push(&param.dims);
    }
    for local in locals(&function.body) {
        dims.entry(&local.name).or_default().push(&local.dims);
    }
    let base = Facts::of(function);
    for site in accesses(&function.body) {
        let declared = dims.get(&site.access.array).map(Vec::as_slice);
        let Some([extents]) = declared else {
            report.subscripts_unknown += site.access.indices.len();
            continue;
        };
        for (d, index) in site.access.indices.iter().enumerate() {
            let Some(extent) = extents.get(d) else { continue };
            let box_extent = box_extent(&site, d);
            check_subscript(&base, &site, d, (index, extent, box_extent), report);
        }
    }
}

/// The extent of a copied box in this dimension of its array.
pub(super) fn box_extent<'a>(site: &AccessSite<'a>, dimension: usize) -> Option<&'a Expr> {
    let extents = site.extents?;
    let fixed = site.access.indices.len().checked_sub(extents.len())?;
    extents.get(dimension.checked_sub(fixed)?)
}

/// What holds where the access happens.
pub(super) fn facts_at(base: &Facts, context: &[Context<'_>]) -> Facts {
    let mut facts = base.clone();
    for context in context {
        match context {
            Context::Loop(l) => facts.enter(l),
            Context::Condition { cond, holds } => facts.assume(cond, *holds),
            Context::Mark(_) => {}
        }
    }
    facts
}

fn check_subscript(
    base: &Facts,
    site: &AccessSite<'_>,
    dimension: usize,
    (index, extent, box_extent): (&Expr, &Expr, Option<&Expr>),
    report: &mut Report,
) {
    let mut facts = facts_at(base, &site.context);
    // The last element of a box that is not empty.
    let last = match box_extent {
        Some(size) => {
            facts.assume(&size.clone().at_least(1), true);
            index.clone() + size.clone() - 1
        }
        None => index.clone(),
    };
    let zero = Expr::Int(0);
    let below = facts.decide(CompareOp::Lt, index, &zero);
    let above = facts.decide(CompareOp::Ge, &last, extent);
    if below == Some(false) && above == Some(false) {
        report.subscripts_proved += 1;
        return;
    }
    report.subscripts_unknown += 1;
    if facts.are_contradictory() {
        return; // never reached
    }
    let wrong = if below == Some(true) || above == Some(true) {
        Some((below == Some(true), "always".to_owned()))
    } else {
        at_the_ends(base, site, index, &last, extent)
    };
    // A box may be empty, and then copies nothing wherever it is.
    if box_extent.is_some_and(|size| !facts.proves(&size.clone().at_least(1))) {
        return;
    }
    if let Some((negative, when)) = wrong {
        let what = if negative { "negative".to_owned() } else { format!("not below the extent `{extent}`") };
        let last = crate::simplify::expr(&last, &Facts::default());
        let message = format!(
            "the subscript `{last}` of dimension {dimension} of `{}` is {what} {when}",
            site.access.array
        );
        report.diagnostics.push(at(site.stmt, Diagnostic::general(OUTSIDE, message)));
    }
}

/// Whether the subscript is wrong in some first or last iterations that are known to happen:
/// whether it is below zero, and when.
fn at_the_ends(
    base: &Facts,
    site: &AccessSite<'_>,
    index: &Expr,
    last: &Expr,
    extent: &Expr,
) -> Option<(bool, String)> {
    let loops: Vec<_> = site.loops().collect();
    let conditional = site.context.iter().any(|c| matches!(c, Context::Condition { .. }));
    if conditional || loops.is_empty() || loops.len() > MOST_LOOPS {
        return None;
    }
    for choice in 0..1usize << loops.len() {
        let mut facts = base.clone();
        let mut values: BTreeMap<Name, Expr> = BTreeMap::new();
        let mut happens = true;
        for (k, l) in loops.iter().enumerate() {
            let at_values = |e: &Expr| e.substitute(&|name| values.get(name).cloned());
            let (lower, upper) = (at_values(&l.lower), at_values(&l.upper));
            if k == 0 {
                // The outermost loop is taken to run; whether those inside do then must be known.
                happens &= facts.decide(CompareOp::Lt, &lower, &upper) != Some(false);
                facts.assume(&lower.clone().less(upper.clone()), true);
            } else {
                happens &= facts.decide(CompareOp::Lt, &lower, &upper) == Some(true);
            }
            let end = choice >> k & 1 == 1;
            happens &= !end || l.step == 1;
            values.insert(l.var.clone(), if end { upper - 1 } else { lower });
        }
        if !happens {
            continue;
        }
        let at_values = |e: &Expr| e.substitute(&|name| values.get(name).cloned());
        let when = || {
            let facts = Facts::default();
            let values: Vec<String> = loops
                .iter()
                .map(|l| format!("{} = {}", l.var, crate::simplify::expr(&values[&l.var], &facts)))
                .collect();
            format!("for {}", values.join(", "))
        };
        if facts.decide(CompareOp::Lt, &at_values(index), &Expr::Int(0)) == Some(true) {
            return Some((true, when()));
        }
        if facts.decide(CompareOp::Ge, &at_values(last), &at_values(extent)) == Some(true) {
            return Some((false, when()));
        }
    }
    None
}
