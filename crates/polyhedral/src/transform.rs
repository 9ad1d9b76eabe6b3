//! Schedules for programs of certain shapes, and changes of bands: tiles, marks, parts.
//!
//! Nothing here is believed to be legal: [`crate::check::tree`] says whether the dependences of a
//! model still hold, and [`crate::check::function`] checks the code that comes out in the end.

pub(crate) mod blocked_factorisation;
pub(crate) mod blocked_recurrence;
pub mod contraction;
pub mod diamond;
pub(crate) mod identity_schedule;
pub(crate) mod isolate;
pub(crate) mod mark;
pub(crate) mod row_fusion;
pub(crate) mod tile;
pub(crate) mod unroll_and_jam;
pub(crate) mod window;

use std::collections::BTreeSet;

use isl::{Ctx, Map, UnionPwAff};
use loops::{Expr, Name, ReduceOp};

use crate::dependence::Dependence;
use crate::fault::{self, Result};
use crate::locality::Caches;
use crate::model::Model;
use crate::tree::{Band, FunctionText, Node, Tree};

/// What programs of a certain shape are to get, that are scheduled in a way of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Width of tiles; `None` lets the caches decide.
    pub width: Option<i64>,
    /// The caches.
    pub caches: Caches,
    /// Whether loops may run in parallel.
    pub parallel: bool,
    /// Whether innermost loops are marked for vectors.
    pub vector: bool,
}

/// A schedule for a program of a certain shape.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shaped {
    /// The schedule.
    pub tree: Tree,
    /// What was done, for people.
    pub line: String,
    /// Whether the tree has the order of the text, so that the text can stay as it is.
    pub as_written: bool,
    /// Another schedule for several threads, if there is one.
    pub on_threads: Option<OnThreads>,
}

/// A schedule for several threads, where that for one thread has no parallel loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OnThreads {
    /// The schedule.
    pub tree: Tree,
    /// What has to be more than a number each, so that there is something for each thread.
    pub sizes: Vec<(Expr, i64)>,
    /// What was done, for people.
    pub line: String,
}

/// Whether a dependence has pairs with a condition on their iterators `a0, a1, ...` and
/// `b0, b1, ...`.
pub(crate) fn exists(model: &Model, dependence: &Dependence, condition: &str) -> Result<bool> {
    let tuple = |label: &Name, prefix: &str| -> String {
        let statement = model.statements.iter().find(|s| s.label == *label);
        let (tuple, n) = statement.map_or(("", 0), |s| (s.tuple.as_str(), s.loops.len()));
        let dims: Vec<String> = (0..n).map(|k| format!("{prefix}{k}")).collect();
        format!("{tuple}[{}]", dims.join(", "))
    };
    let (source, target) = (tuple(&dependence.source, "a"), tuple(&dependence.target, "b"));
    Map::read(&model.ctx, &format!("{{ {source} -> {target} : {condition} }}"))
        .and_then(|pairs| dependence.relation.intersect_params(&model.context)?.intersect(&pairs))
        .and_then(|pairs| Ok(!pairs.is_empty()?))
        .map_err(fault::library)
}

/// What a loop must privatise that carries these dependences of statements inside it: none if it
/// carries one that is not a reduction's, or if something inside does more with such an array than
/// update it.
pub(crate) fn privatised(
    model: &Model,
    inside: &dyn Fn(&Name) -> bool,
    carried: &[&Dependence],
) -> Option<Vec<(ReduceOp, Name)>> {
    let mut found = BTreeSet::new();
    for dependence in carried {
        found.insert((dependence.reduction?, dependence.array.clone()));
    }
    let touches = || model.statements.iter().filter(|s| inside(&s.label)).flat_map(|s| &s.accesses);
    let only = |(op, array): &(ReduceOp, Name)| {
        touches().filter(|touch| touch.array == *array).all(|touch| touch.reduction == Some(*op))
    };
    found.iter().all(only).then(|| found.into_iter().collect())
}

/// The band of a band node.
pub(crate) fn band(node: Node) -> Result<Band> {
    match node {
        Node::Band(band) => Ok(band),
        other => Err(fault::edit(format!("a band is needed here, not a {} node", other.kind()))),
    }
}

/// A member's function with an operation of the set library on it.
pub(crate) fn map_function(
    ctx: &Ctx,
    function: &FunctionText,
    f: &dyn Fn(UnionPwAff) -> isl::Result<UnionPwAff>,
) -> Result<FunctionText> {
    let new = UnionPwAff::read(ctx, function.as_str()).and_then(f).map_err(fault::library)?;
    Ok(FunctionText::new(new.to_string()))
}
