//! The legality checker: holds a schedule, and above all the generated function, against the
//! dependences of the original.
//!
//! It trusts neither the scheduler, nor the edits, nor code generation. The generated function is
//! extracted again, from its text; the instance map that came with it is a claim that is verified:
//! each copy of a statement must be the original under the map, the copies together must run every
//! original instance exactly once, in an order that respects every dependence, and no parallel loop
//! may carry one. What is found wrong is shown by two concrete instances.
//!
//! Left out: rewritings that change the data that a statement touches (packing, privatised
//! accumulators); they bring their own argument.

mod copies;
mod inverse;
mod order;
mod shape;

use std::collections::{BTreeMap, BTreeSet};

use isl::{Dim, Map, Set};
use loops::{Code, Diagnostic, Function, LoopKind, Name, ReduceOp};

use copies::{Copy, copy, once_each};
use order::respected;

use crate::codegen::Generated;
use crate::dependence::Dependence;
use crate::fault::{self, Result};
use crate::known::{Known, Role};
use crate::limits::Limits;
use crate::model::{Model, Statement};
use crate::tree::Tree;

/// What was checked, for the report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Checked {
    /// Statements of the generated function.
    pub statements: usize,
    /// Dependences of the original that were looked at.
    pub dependences: usize,
    /// Parallel and vector loops.
    pub parallel_loops: usize,
}

/// Whether a tree respects dependences that may not be reordered.
///
/// # Errors
/// `P0401` with two instances if it does not; those of the set library.
pub fn tree(model: &Model, dependences: &[Dependence], tree: &Tree) -> Result<()> {
    let schedule = tree.to_isl(&model.ctx)?;
    let time = schedule.map().map_err(fault::library)?;
    for dependence in dependences.iter().filter(|d| d.reduction.is_none()) {
        let wrong = || -> isl::Result<Option<Map>> {
            let relation = dependence.relation.intersect_params(&model.context)?;
            let relation = relation.to_union()?;
            // Only the two statements of the dependence: all pairs of statements would be a square.
            let from = time.intersect_domain(&relation.domain()?.universe()?)?;
            let to = time.intersect_domain(&relation.range()?.universe()?)?;
            let late = relation.intersect(&from.lex_ge(&to)?)?;
            late.maps()?.into_iter().next().map_or(Ok(None), |map| Ok((!map.is_empty()?).then_some(map)))
        };
        if let Some(pairs) = wrong().map_err(fault::library)? {
            return Err(violation(model, dependence, &pairs, None)?);
        }
    }
    Ok(())
}

/// Checks a generated function against the function it was made from.
///
/// `limits` bound the work in the set library.
///
/// # Errors
/// `P0401` a dependence is violated; `P0402` an instance is missing, doubled or foreign; `P0403` a
/// statement is not a copy of the original; `P0404` a parallel loop carries a dependence; `P0405`
/// the interface was changed; `P0002` the limit was reached.
pub fn function(original: &Function, generated: &Generated, limits: impl Into<Limits>) -> Result<Checked> {
    let limits = limits.into();
    // A context of the checker's own: nothing that the makers of the code left behind is used.
    let known = Known::of(Role::Checker, original, limits)?;
    known.checked(generated, || limits.run(&known.ctx, || check(&known, generated)))
}

fn check(known: &Known, generated: &Generated) -> Result<Checked> {
    let Known { ctx, model: before_change, .. } = known;
    let after_change = Model::extract_in(ctx, &generated.function)?;
    same_interface(before_change, &after_change)?;
    let mut copies = Vec::new();
    for statement in &after_change.statements {
        copies.push(copy(before_change, &after_change, statement, generated)?);
    }
    for (k, statement) in before_change.statements.iter().enumerate() {
        let mut own: Vec<&mut Copy> = copies.iter_mut().filter(|c| c.original == k).collect();
        once_each(before_change, statement, &mut own)?;
    }
    let dependences = known.dependences()?;
    let mut done: BTreeMap<(&Name, &Name), Vec<&isl::Map>> = BTreeMap::new();
    for dependence in dependences {
        // Through which array a pair is ordered does not matter where it is nothing but ordered:
        // the same pairs are looked at once.
        if dependence.reduction.is_none()
            && !dependence.private
            && !after_change.scopes.contains_key(&dependence.array)
        {
            let same = done.entry((&dependence.source, &dependence.target)).or_default();
            if same.iter().any(|map| map.plain_is_equal(&dependence.relation).unwrap_or(false)) {
                continue;
            }
            same.push(&dependence.relation);
        }
        respected(before_change, dependence, &copies, &after_change.scopes)?;
    }
    let mut parallel = BTreeSet::new();
    for statement in &after_change.statements {
        for around in &statement.loops {
            if matches!(around.kind, LoopKind::Parallel | LoopKind::Vector) {
                parallel.insert(around.number);
            }
            only_updates(statement, &around.reductions, &around.var)?;
        }
    }
    Ok(Checked {
        statements: after_change.statements.len(),
        dependences: dependences.len(),
        parallel_loops: parallel.len(),
    })
}

fn same_interface(old: &Model, new: &Model) -> Result<()> {
    let (a, b) = (&old.function, &new.function);
    let locals = |model: &Model| -> BTreeMap<Name, loops::ArrayDecl> {
        model.locals.iter().map(|l| (l.name.clone(), l.clone())).collect()
    };
    let what = if a.sizes != b.sizes {
        "the sizes"
    } else if a.params != b.params {
        "the parameters"
    } else if a.assumptions != b.assumptions {
        "the assumptions"
    } else if locals(old) != locals(new) {
        "the local arrays"
    } else {
        return Ok(());
    };
    Err(Diagnostic::general(
        Code("P0405"),
        format!("{what} of `{}` were changed by the transformation", a.name),
    ))
}

/// What a loop privatises is only updated inside it, by that operation: anything else would see a
/// partial result.
fn only_updates(statement: &Statement, reductions: &[(ReduceOp, Name)], var: &Name) -> Result<()> {
    for (op, array) in reductions {
        if statement.accesses.iter().any(|touch| touch.array == *array && touch.reduction != Some(*op)) {
            let message = format!(
                "the loop `{var}` privatises `{array}`, but `{}` inside does more than update it by `{}`",
                statement.label,
                op.symbol()
            );
            return Err(Diagnostic::general(Code("P0404"), message));
        }
    }
    Ok(())
}

/// The diagnostic for a violated dependence: `pairs` are original instances.
fn violation(
    model: &Model,
    dependence: &Dependence,
    pairs: &Map,
    parallel: Option<&Name>,
) -> Result<Diagnostic> {
    let set = pairs.wrap().map_err(fault::library)?;
    let dims = |name: &Name| model.statements.iter().find(|s| s.label == *name).map_or(0, |s| s.loops.len());
    let ends =
        [(&dependence.source, dims(&dependence.source)), (&dependence.target, dims(&dependence.target))];
    let pair = describe(model, &ends, &set)?;
    let Dependence { kind, array, .. } = dependence;
    Ok(match parallel {
        None => Diagnostic::general(
            Code("P0401"),
            format!("the schedule breaks a dependence ({kind} dependence on `{array}`): {pair}"),
        ),
        Some(var) => Diagnostic::general(
            Code("P0404"),
            format!(
                "the parallel loop `{var}` carries a dependence ({kind} dependence on `{array}`): {pair}"
            ),
        ),
    })
}

/// A concrete element of a set of instances (or pairs of them), with the sizes.
fn describe(model: &Model, ends: &[(&Name, usize)], set: &Set) -> Result<String> {
    let sample = || -> isl::Result<String> {
        let sizes = &model.function.sizes;
        // Prefer small sizes, so that a person can replay it.
        let mut small = set.clone();
        for k in 0..small.dim(Dim::Param)? {
            let bounded = small.upper_bound(Dim::Param, k, 8)?.lower_bound(Dim::Param, k, -8)?;
            if !bounded.is_empty()? {
                small = bounded;
            }
        }
        let small = small.lexmin()?;
        let point = small.sample_point()?;
        let value =
            |kind: Dim, k: usize| -> isl::Result<String> { Ok(point.coordinate(kind, k)?.to_string()) };
        let mut next = 0;
        let mut parts = Vec::new();
        for (name, n) in ends {
            let coordinates =
                (next..next + n).map(|k| value(Dim::SET, k)).collect::<isl::Result<Vec<_>>>()?;
            next += n;
            parts.push(format!("{name}({})", coordinates.join(", ")));
        }
        let mut text = parts.join(" and ");
        if !sizes.is_empty() {
            let values = sizes
                .iter()
                .enumerate()
                .map(|(k, name)| Ok(format!("{name} = {}", value(Dim::Param, k)?)))
                .collect::<isl::Result<Vec<_>>>()?;
            text.push_str(&format!(" for {}", values.join(", ")));
        }
        Ok(text)
    };
    sample().map_err(fault::library)
}
