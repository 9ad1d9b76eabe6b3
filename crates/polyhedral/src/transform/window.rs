//! Windows: small constant loops that gather what is around an element into local scalars (`for p
//! in -1..2 for q in -1..2 count += now[i + p][j + q]`).
//!
//! C compilers write such loops out and make vectors of the loop around them, as long as they stay
//! together. A schedule that takes their statements apart, or the first steps from the others, wins
//! nothing and loses that. So the text keeps its order where it has windows and enough loops that
//! are parallel.

use std::collections::BTreeSet;

use loops::{Assign, Expr};

use super::diamond::carries_nothing;
use super::identity_schedule;
use super::mark::mark_band;
use super::{Request, Shaped};
use crate::dependence::Dependence;
use crate::fault::Result;
use crate::locality;
use crate::model::{Around, Model, Statement};
use crate::tree::{Band, Member, Node};

/// The windows of a function: which of its loops (by the order of the text) belong to one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Windows {
    loops: BTreeSet<usize>,
}

impl Windows {
    /// Finds the windows; none if a statement comes back to update the same elements in other loops
    /// than those of windows.
    pub fn find(model: &Model) -> Option<Windows> {
        let mut loops = BTreeSet::new();
        for statement in &model.statements {
            let target = &statement.assign.target;
            let Some(around) = model.scopes.get(&target.array).filter(|around| !around.is_empty()) else {
                if statement.loops.len() > locality::rank(model, statement) && updates(&statement.assign) {
                    return None;
                }
                continue;
            };
            let own = around.len() + target.indices.len();
            let Some(inner) = statement.loops.get(own..).filter(|inner| !inner.is_empty()) else { continue };
            if steps(inner).is_none_or(|steps| steps > MOST_STEPS) {
                return None;
            }
            loops.extend(inner.iter().map(|around| around.number));
        }
        Some(Windows { loops })
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.loops.is_empty()
    }

    /// Whether a loop around a statement belongs to a window.
    fn has(&self, around: &Around) -> bool {
        self.loops.contains(&around.number)
    }

    /// Whether a member is a loop of a window.
    fn is_one(&self, model: &Model, member: &Member) -> Result<bool> {
        let driven = locality::driven(model, member)?;
        let around = |(tuple, k): (&String, &usize)| model.by_tuple(tuple).and_then(|s| s.loops.get(*k));
        Ok(!driven.is_empty() && driven.iter().all(|both| around(both).is_some_and(|l| self.has(l))))
    }

    /// Whether nothing but windows is inside a band that is none itself.
    pub fn around(&self, model: &Model, band: &Band) -> Result<bool> {
        for member in &band.members {
            if self.is_one(model, member)? {
                return Ok(false);
            }
        }
        self.only(model, &band.child)
    }

    fn only(&self, model: &Model, node: &Node) -> Result<bool> {
        if let Node::Band(band) = node {
            for member in &band.members {
                if !self.is_one(model, member)? {
                    return Ok(false);
                }
            }
        }
        for child in node.children() {
            if !self.only(model, child)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether lanes of a loop can have a window each: it is written out in the lane.
    fn fits_lanes(&self, statement: &Statement) -> bool {
        let inner: Vec<&Around> = statement.loops.iter().filter(|l| self.has(l)).collect();
        steps(inner.iter().copied()).is_some_and(|steps| steps <= MOST_LANE_STEPS)
    }
}

/// Whether an assignment reads the element that it writes.
fn updates(assign: &Assign) -> bool {
    assign.update.is_some() || assign.value.loads().any(|access| *access == assign.target)
}

/// How often constant loops run what is inside them; none if their bounds are not numbers.
pub(crate) fn steps<'a>(loops: impl IntoIterator<Item = &'a Around>) -> Option<i64> {
    loops.into_iter().try_fold(1_i64, |all, around| match (&around.lower, &around.upper) {
        (Expr::Int(low), Expr::Int(high)) => all.checked_mul(high.checked_sub(*low)?.max(1)),
        _ => None,
    })
}

/// Marks the innermost loops that carry no dependence and go along memory; loops around windows are
/// innermost too.
pub(super) fn vectorise(
    model: &Model,
    dependences: &[Dependence],
    windows: &Windows,
    node: Node,
) -> Result<Node> {
    node.rewrite(&mut |node| match node {
        Node::Band(band) if band.members.len() == 1 && windows.around(model, &band)? => {
            let member = &band.members[0];
            let fits = locality::tuples(model, member)?
                .iter()
                .all(|tuple| model.by_tuple(tuple).is_some_and(|statement| windows.fits_lanes(statement)));
            let along = fits
                && locality::vector_score(model, member)? > 0
                && carries_nothing(model, dependences, member)?;
            mark_band(band, &[along.then_some("vector")])
        }
        other => Ok(other),
    })
}

/// The order of the text where it has windows, and a parallel loop around every nest; `None` if
/// another order may be better.
///
/// # Errors
/// Those of the set library.
pub fn whole(model: &Model, dependences: &[Dependence], request: Request) -> Result<Option<Shaped>> {
    let Some(windows) = Windows::find(model).filter(|windows| !windows.is_empty()) else { return Ok(None) };
    if request.width.is_some() || !request.parallel {
        return Ok(None);
    }
    let shaped = identity_schedule::text(model, dependences, request)?;
    let line = "the order of the text, with windows of constant loops as they are".to_owned();
    Ok(all_parallel(model, &windows, &shaped.tree.root)?.then_some(Shaped { line, ..shaped }))
}

/// Whether every nest has a loop that is parallel, but for single loops.
fn all_parallel(model: &Model, windows: &Windows, node: &Node) -> Result<bool> {
    match node {
        Node::Mark { name, .. } if name == "parallel" => return Ok(true),
        Node::Band(band) if depth(&band.child) == 0 => return Ok(true),
        Node::Band(band) if windows.around(model, band)? => return Ok(false),
        _ => {}
    }
    for child in node.children() {
        if !all_parallel(model, windows, child)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// How many bands are in each other.
fn depth(node: &Node) -> usize {
    let inside = node.children().into_iter().map(depth).max().unwrap_or(0);
    inside + usize::from(matches!(node, Node::Band(_)))
}

/// Steps of a window that stays as it is.
const MOST_STEPS: i64 = 128;

/// Steps of constant loops inside a loop for vectors that are written out in each lane.
pub(crate) const MOST_LANE_STEPS: i64 = 32;
