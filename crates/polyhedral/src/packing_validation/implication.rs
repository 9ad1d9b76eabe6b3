//! What holds on a path through loops and tests, as linear rows, and what it implies: decided by
//! Fourier-Motzkin elimination.
//!
//! How bounds and tests are read is this module's own, so that a mistake of the packing is not made
//! again here. The elimination is that of [`arith::System`]: it knows no loops, and its tests hold
//! it against enumeration and against the set library.

use std::collections::BTreeMap;

use arith::{Budget, Linear, System};
use loops::expr::CompareOp;
use loops::poly::linear;
use loops::{BinaryOp, Expr, LoopKind, Name};

use super::{Site, Step, refused};
use crate::fault::Result;
use crate::transform::contraction::Claim;

/// The condition of one of several sites: fast ones for whole tiles and whole vectors and a slow
/// one for the rest give the slow one's test, if the tests of the fast ones imply it.
pub(super) fn condition_of(sites: &[Site]) -> Option<Expr> {
    let tests = |site: &Site| -> Option<Expr> {
        let holds = site.path.iter().filter_map(|s| match s {
            Step::Holds(cond) => Some(cond.clone()),
            _ => None,
        });
        holds.reduce(|a, b| a.and(b))
    };
    let (slow, fast) = sites.split_last()?;
    let inside = tests(slow)?;
    let needed = conjuncts(&inside);
    let exceeds = |fast: &&Site| {
        let premises = site_rows(&fast.path);
        !needed.iter().all(|c| row_of(c).is_some_and(|row| implies(&premises, &row)))
    };
    // A fast site without a test is passed always.
    let more = fast.iter().filter(exceeds).map(tests).collect::<Option<Vec<Expr>>>()?;
    Some(more.into_iter().rev().fold(inside, |all, full| Expr::binary(BinaryOp::Or, full, all)))
}

fn conjuncts(cond: &Expr) -> Vec<Expr> {
    match cond {
        Expr::Binary(BinaryOp::And, a, b) => conjuncts(a).into_iter().chain(conjuncts(b)).collect(),
        other => vec![other.clone()],
    }
}

/// `cond` as a row that is at least 0.
fn row_of(cond: &Expr) -> Option<Linear<Name>> {
    let Expr::Compare(op, a, b) = cond else { return None };
    let difference =
        |high: &Expr, low: &Expr, slack: i128| linear(&(high.clone() - low.clone()))?.plus_constant(-slack);
    match op {
        CompareOp::Le => difference(b, a, 0),
        CompareOp::Lt => difference(b, a, 1),
        CompareOp::Ge => difference(a, b, 0),
        CompareOp::Gt => difference(a, b, 1),
        CompareOp::Eq | CompareOp::Ne => None,
    }
}

/// Bounds of a loop as rows, with whether the rows say all that the bounds say.
struct Bounds {
    rows: Vec<Linear<Name>>,
    complete: bool,
}

/// `var >= lower` and `var < upper` as rows: maxima and minima are several, quotients by constants
/// are multiplied out.
fn loop_rows(var: &Name, lower: &Expr, upper: &Expr) -> Bounds {
    let mut bounds = Bounds { rows: Vec::new(), complete: true };
    let x = Expr::Var(var.clone());
    bounds.add(&x, lower, 0, BinaryOp::Max);
    bounds.add(&x, upper, 0, BinaryOp::Min);
    bounds
}

impl Bounds {
    /// `x >= bound + slack` where `several` is `Max`, `x < bound + slack` where it is `Min`.
    fn add(&mut self, x: &Expr, bound: &Expr, slack: i64, several: BinaryOp) {
        let at_least = several == BinaryOp::Max;
        let row = match bound {
            Expr::Binary(op, a, b) if *op == several => {
                self.add(x, a, slack, several);
                return self.add(x, b, slack, several);
            }
            Expr::Binary(BinaryOp::Add, a, c) if matches!(**c, Expr::Int(_)) => {
                let Expr::Int(c) = **c else { return };
                match slack.checked_add(c) {
                    Some(slack) => return self.add(x, a, slack, several),
                    None => None,
                }
            }
            Expr::Binary(BinaryOp::FloorDiv, e, d) if matches!(**d, Expr::Int(d) if d > 0) => {
                let (e, d) = ((**e).clone(), (**d).clone());
                linear(&if at_least {
                    // x - s >= floor(e / d) is d (x - s) >= e - d + 1
                    (x.clone() - slack) * d.clone() - (e - d + 1)
                } else {
                    // x - s < floor(e / d) is d (x - s + 1) <= e
                    e - (x.clone() - slack + 1) * d
                })
            }
            other if at_least => linear(&(x.clone() - other.clone() - slack)),
            other => linear(&(other.clone() + slack - x.clone() - 1)),
        };
        match row {
            Some(row) => self.rows.push(row),
            None => self.complete = false,
        }
    }
}

/// A path with upper bounds that are maxima, and lower bounds that are minima, split into cases
/// without; none if they are too many.
fn cases(path: &[Step]) -> Option<Vec<Vec<Step>>> {
    fn split(expr: &Expr, op: BinaryOp) -> Vec<Expr> {
        match expr {
            Expr::Binary(o, a, b) if *o == op => split(a, op).into_iter().chain(split(b, op)).collect(),
            other => vec![other.clone()],
        }
    }
    let mut all: Vec<Vec<Step>> = vec![Vec::new()];
    for step in path {
        let choices = match step {
            Step::Loop { var, lower, upper, kind } => {
                let (lowers, uppers) = (split(lower, BinaryOp::Min), split(upper, BinaryOp::Max));
                let pairs = lowers.iter().flat_map(|l| uppers.iter().map(move |u| (l.clone(), u.clone())));
                pairs
                    .map(|(lower, upper)| Step::Loop { var: var.clone(), lower, upper, kind: *kind })
                    .collect()
            }
            other => vec![other.clone()],
        };
        if all.len() * choices.len() > 32 {
            return None;
        }
        all = all
            .iter()
            .flat_map(|path| choices.iter().map(move |c| path.iter().cloned().chain([c.clone()]).collect()))
            .collect();
    }
    Some(all)
}

/// What is known on a path, as rows; conditions that are no rows say nothing here.
fn site_rows(path: &[Step]) -> Vec<Linear<Name>> {
    path.iter()
        .flat_map(|step| match step {
            // A bound that is no row says nothing here: that only weakens what is known.
            Step::Loop { var, lower, upper, .. } => loop_rows(var, lower, upper).rows,
            Step::Holds(cond) => conjuncts(cond).iter().filter_map(row_of).collect(),
            Step::Fails => Vec::new(),
        })
        .collect()
}

fn implies(premises: &[Linear<Name>], row: &Linear<Name>) -> bool {
    System { rows: premises.to_vec() }.implies(row, &Budget::default())
}

/// Each element that is used was filled: what holds at the use implies bounds and tests of the
/// (slow) fill at the same subscripts.
pub(super) fn covered(
    claim: &Claim,
    fills: &[Site],
    site: &Site,
    outside: &[Step],
    conditions: &[Expr],
) -> Result<()> {
    let missing = |what: String| {
        refused(format!("an element of `{}` may be used that was not filled: {what}", claim.local))
    };
    let fill = fills.last().ok_or_else(|| missing("it is never filled".to_owned()))?;
    let mut premises: Vec<Linear<Name>> =
        conditions.iter().flat_map(conjuncts).filter_map(|c| row_of(&c)).collect();
    // An upper bound that is a maximum leaves a choice: each case must imply the same.
    let path: Vec<Step> = outside.iter().chain(&site.path).cloned().collect();
    let cases = cases(&path).ok_or_else(|| missing("its bounds have too many cases".to_owned()))?;
    // The fill with its own loop variables set apart, and tied to the use by the subscripts.
    let mut renaming = BTreeMap::new();
    for step in &fill.path {
        if let Step::Loop { var, .. } = step {
            renaming.insert(var.clone(), Expr::var(format!("{var}'")));
        }
    }
    let rename = |e: &Expr| e.substitute(&|name| renaming.get(name).cloned());
    for (a, b) in fill.indices.iter().zip(&site.indices) {
        let row = linear(&(rename(a) - b.clone()));
        let pair = row.and_then(|row| Some([row.negated()?, row]));
        premises.extend(pair.ok_or_else(|| missing(format!("the subscript `{a}` is not linear")))?);
    }
    // A fast fill under a test comes first; it must not copy more than the slow one's test allows,
    // for the source may end there.
    for step in &fill.path {
        let (rows, text) = match step {
            Step::Loop { var, lower, upper, .. } => {
                let (low, high) = (rename(lower), rename(upper));
                let bounds = loop_rows(&Name::new(format!("{var}'")), &low, &high);
                let text = format!("{var} in {lower}..{upper}");
                if !bounds.complete {
                    return Err(missing(format!("the bounds of `{text}` are not linear")));
                }
                (bounds.rows, text)
            }
            Step::Holds(cond) => {
                let cond = rename(cond);
                let rows: Option<Vec<_>> = conjuncts(&cond).iter().map(row_of).collect();
                (rows.ok_or_else(|| missing(format!("the test `{cond}` is not linear")))?, cond.to_string())
            }
            Step::Fails => continue,
        };
        for row in rows {
            let in_case = |case: &Vec<Step>| {
                let premises: Vec<Linear<Name>> =
                    site_rows(case).into_iter().chain(premises.iter().cloned()).collect();
                implies(&premises, &row)
            };
            if !cases.iter().all(in_case) {
                return Err(missing(text));
            }
        }
    }
    let Some((slow, fast)) = fills.split_last() else { return Ok(()) };
    fast.iter().try_for_each(|fast| as_much(claim, fast, slow))
}

/// Of two fills, one for whole strips or vectors and one with a test for each lane, the strips,
/// steps and lanes must be the same, and what the fast one copies must pass the test of the other.
fn as_much(claim: &Claim, fast: &Site, slow: &Site) -> Result<()> {
    let loops = |s: &Site| -> Vec<Step> {
        s.path.iter().filter(|s| matches!(s, Step::Loop { .. })).cloned().map(plain).collect()
    };
    if fast.indices != slow.indices || loops(fast) != loops(slow) {
        return Err(refused(format!("the fills of `{}` have different loops", claim.local)));
    }
    let Some(tests) = condition_of(std::slice::from_ref(slow)) else { return Ok(()) };
    let premises = site_rows(&fast.path);
    for test in conjuncts(&tests) {
        if !row_of(&test).is_some_and(|row| implies(&premises, &row)) {
            return Err(refused(format!(
                "the fast fill of `{}` copies more than the other one",
                claim.local
            )));
        }
    }
    Ok(())
}

/// A step without the kind of its loop, which has no bearing on what is visited.
fn plain(step: Step) -> Step {
    match step {
        Step::Loop { var, lower, upper, .. } => Step::Loop { var, lower, upper, kind: LoopKind::Sequential },
        other => other,
    }
}
