//! Order: every dependence holds between the instances of the copies, and no parallel loop carries
//! one.
//!
//! The new loops are functions of the original ones ([`Copy::inverse`]), so the questions are asked
//! of pairs of original instances: is there one for which a loop goes the wrong way while the loops
//! outside of it stand still? Sets grow by one condition at a time and the questions stop at the
//! first that is answered; in a permutable band that is the very first.

use std::collections::BTreeMap;

use isl::{Dim, Map, MultiPwAff, PwAff, Set};
use loops::{LoopKind, Name};

use super::copies::Copy;
use super::violation;
use crate::dependence::{Dependence, not_before, shared_loops};
use crate::fault::{self, Result};
use crate::model::{Around, Model, Statement};

/// A dependence holds in the new order, and no parallel loop carries it. `scopes` has the new loops
/// around the declarations of local arrays.
pub(super) fn respected(
    model: &Model,
    dependence: &Dependence,
    copies: &[Copy],
    scopes: &BTreeMap<Name, Vec<usize>>,
) -> Result<()> {
    let scope = scopes.get(&dependence.array).map_or(&[][..], Vec::as_slice);
    let label = |k: usize| &model.statements[k].label;
    for source in copies.iter().filter(|c| *label(c.original) == dependence.source) {
        for target in copies.iter().filter(|c| *label(c.original) == dependence.target) {
            let found = match (&source.inverse, &target.inverse) {
                (Some(from), Some(to)) => {
                    by_functions(model, (dependence, scope), (source, from), (target, to))
                }
                _ => by_pairs(model, (dependence, scope), source, target),
            };
            if let Some((pairs, parallel)) = found.map_err(fault::library)? {
                return Err(violation(model, dependence, &pairs, parallel.map(|around| &around.var))?);
            }
        }
    }
    Ok(())
}

/// Original instances that are wrong, and the parallel loop that carries them if it is that.
type Found<'a> = Option<(Map, Option<&'a Around>)>;

/// Whether a loop must not carry this dependence. A privatised accumulator is combined by the loop:
/// that is what frees a reduction. An array that is declared inside the loop has new contents in
/// each iteration: nothing passes through it from one to another, whatever the loop's kind.
fn forbidden(around: &Around, (dependence, scope): (&Dependence, &[usize])) -> bool {
    if scope.contains(&around.number) {
        return !dependence.private;
    }
    matches!(around.kind, LoopKind::Parallel | LoopKind::Vector)
        && !dependence.reduction.is_some_and(|op| around.reductions.contains(&(op, dependence.array.clone())))
}

type Inverse = (Vec<PwAff>, Set);

fn by_functions<'a>(
    model: &Model,
    (dependence, scope): (&Dependence, &[usize]),
    (source, (first, source_run)): (&Copy<'a>, &Inverse),
    (target, (second, target_run)): (&Copy<'a>, &Inverse),
) -> isl::Result<Found<'a>> {
    // What stands where it stood is in the order of the text, which dependences have.
    let kept = keeps_order(model, source, target);
    let ordered = kept || dependence.reduction.is_some();
    let shared = shared_loops(source.new, target.new);
    let forbids = |level: &usize| forbidden(&source.new.loops[*level], (dependence, scope));
    let Some(last) = (if ordered { (0..shared).rev().find(forbids) } else { Some(shared) }) else {
        return Ok(None);
    };
    let relation = dependence.relation.intersect_params(&model.context)?;
    let relation = relation.intersect_domain(source_run)?.intersect_range(target_run)?;
    let mut pairs = relation.wrap()?;
    if pairs.is_empty()? {
        return Ok(None);
    }
    let (sources, targets) = projections(&relation)?;
    let zero = PwAff::constant(&pairs.space()?, 0)?;
    let mut outer: Vec<PwAff> = Vec::new();
    for level in 0..shared.min(last + 1) {
        let step = second[level].pullback(&targets)?.sub(&first[level].pullback(&sources)?)?;
        let around = &source.new.loops[level];
        // Different iterations have different storage where the declaration is inside.
        let apart = dependence.private && scope.contains(&around.number);
        if !ordered
            && !apart
            && let Some(wrong) = possible(&pairs, &step.lt_set(&zero)?, &outer)?
        {
            return Ok(Some((wrong.unwrap()?, None)));
        }
        if forbidden(around, (dependence, scope))
            && let Some(wrong) = possible(&pairs, &step.ne_set(&zero)?, &outer)?
        {
            return Ok(Some((wrong.unwrap()?, Some(around))));
        }
        if quotients(&step)? {
            outer.push(step);
            continue;
        }
        // Most dependences are carried by an outer loop: there is nothing left to ask then.
        pairs = pairs.intersect(&step.eq_set(&zero)?)?;
        if pairs.is_empty()? {
            return Ok(None);
        }
    }
    if !ordered
        && source.new.position[shared] >= target.new.position[shared]
        && let Some(wrong) = possible(&pairs, &pairs, &outer)?
    {
        return Ok(Some((wrong.unwrap()?, None)));
    }
    Ok(None)
}

/// Whether two copies are in the loops of their originals, and follow each other as these do.
fn keeps_order(model: &Model, source: &Copy, target: &Copy) -> bool {
    let (first, second) = (&model.statements[source.original], &model.statements[target.original]);
    let shared = shared_loops(source.new, target.new);
    let follows = |a: &Statement, b: &Statement| a.position[shared] < b.position[shared];
    source.unmoved
        && target.unmoved
        && shared == shared_loops(first, second)
        && follows(source.new, target.new) == follows(first, second)
}

/// Functions from pairs to their first and second halves.
fn projections(relation: &Map) -> isl::Result<(MultiPwAff, MultiPwAff)> {
    let space = relation.wrap()?.space()?;
    let (n, m) = (relation.dim(Dim::In)?, relation.dim(Dim::Out)?);
    let half = |first: usize, n: usize, to: isl::Space| -> isl::Result<MultiPwAff> {
        let variables = (first..first + n)
            .map(|k| PwAff::variable(&space, Dim::SET, k))
            .collect::<isl::Result<Vec<_>>>()?;
        MultiPwAff::from_list(&space.map_to(&to)?, &variables)
    };
    Ok((half(0, n, relation.space()?.domain()?)?, half(n, m, relation.space()?.range()?)?))
}

/// Whether a function has quotients.
fn quotients(function: &PwAff) -> isl::Result<bool> {
    Ok(function.pieces()?.iter().any(|(_, aff)| aff.dim(Dim::Div).is_ok_and(|n| n > 0)))
}

/// The pairs in `wrong` for which all of `outer` is zero, if there are any.
fn possible(pairs: &Set, wrong: &Set, outer: &[PwAff]) -> isl::Result<Option<Set>> {
    let mut left = wrong.intersect(pairs)?;
    if left.is_empty()? {
        return Ok(None);
    }
    for function in outer {
        let zero = PwAff::constant(&pairs.space()?, 0)?;
        left = left.intersect(&function.eq_set(&zero)?)?;
        if left.is_empty()? {
            return Ok(None);
        }
    }
    Ok(Some(left))
}

/// The same question for copies whose loops are not functions of the original ones: on pairs of new
/// instances.
fn by_pairs<'a>(
    model: &Model,
    (dependence, scope): (&Dependence, &[usize]),
    source: &Copy<'a>,
    target: &Copy<'a>,
) -> isl::Result<Found<'a>> {
    let pairs = dependence.relation.intersect_params(&model.context)?;
    let pairs = pairs.apply_domain(&source.to_new)?.apply_range(&target.to_new)?;
    let original = |pairs: Map| pairs.apply_domain(&source.to_old)?.apply_range(&target.to_old);
    if dependence.reduction.is_none() {
        for piece in not_before(source.new, target.new)? {
            let late = pairs.intersect(&piece)?;
            if !late.is_empty()? {
                return Ok(Some((original(late)?, None)));
            }
        }
    }
    let mut here = pairs;
    for level in 0..shared_loops(source.new, target.new) {
        let around = &source.new.loops[level];
        if forbidden(around, (dependence, scope)) {
            let up = here.order_lt((Dim::In, level), (Dim::Out, level))?;
            let apart = up.union(&here.order_gt((Dim::In, level), (Dim::Out, level))?)?;
            if !apart.is_empty()? {
                return Ok(Some((original(apart)?, Some(around))));
            }
        }
        here = here.equate((Dim::In, level), (Dim::Out, level))?;
    }
    Ok(None)
}
