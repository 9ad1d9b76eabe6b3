//! Time tiling of stencils by diamonds.
//!
//! A sequential loop over time around nests that each move data by a bounded distance per step is
//! tiled in time and in the first dimension of space: with `s` the position of a statement in time
//! and `i` its place, `s + i` and `s - i` (with slopes) never go backwards along a dependence, so
//! tiles of both can run as wavefronts, and the tiles of one wavefront in parallel. Inside a tile
//! the order of the text stays: rows are whole, neither tiled nor skewed, and vectorise along
//! memory.
//!
//! Nests beside the time loop, such as a copy before it or a last step behind it, keep the order of
//! the text.
//!
//! Left out: steps of more than two sweeps or with statements outside of the sweeps; stencils that
//! read what the same sweep has written in another row (Gauss-Seidel), for which no diamond exists;
//! and tiles in more than one dimension of space. The conditions are only looked at here to find
//! candidates; legality is the checker's business.

use std::collections::BTreeMap;

use isl::Dim;
use loops::{BinaryOp, Expr, Name};

use super::window::{Windows, vectorise};
use super::{Request, Shaped, exists, identity_schedule};
use crate::dependence::Dependence;
use crate::fault::{self, Result};
use crate::locality::{self, Caches};
use crate::model::{Model, Statement};
use crate::tree::{self, Band, Branch, FunctionText, LoopCode, Member, Node, SetText, Tree};

/// Tiles the time loops of a function; `None` if none of its nests is a stencil in time. Nests
/// beside them keep the order of the text, if each streams through its arrays once.
///
/// # Errors
/// Those of the set library.
pub fn diamonds(model: &Model, dependences: &[Dependence], request: Request) -> Result<Option<Shaped>> {
    let nests: Vec<Vec<&Statement>> = model
        .statements
        .chunk_by(|a, b| a.position[0] == b.position[0])
        .map(|n| n.iter().collect())
        .collect();
    let beside_each_other = nests.len() > 1;
    let mut lines = Vec::new();
    let mut branches = Vec::new();
    for nest in &nests {
        let inside = |label: &Name| nest.iter().any(|s| s.label == *label);
        let own: Vec<&Dependence> =
            dependences.iter().filter(|d| inside(&d.source) && inside(&d.target)).collect();
        let tuples = nest.iter().map(|s| Ok(tree::tuple(s)?.0)).collect::<Result<Vec<_>>>()?;
        let child = match nest_in_diamonds(model, nest, &own, dependences, request)? {
            Some((node, line)) => {
                lines.push(line);
                node
            }
            None if beside_each_other && streams(model, nest) => {
                identity_schedule::in_text_order(model, dependences, request, tree::order(nest, 0)?)?
            }
            None => return Ok(None),
        };
        branches.push(Branch {
            filter: SetText::new(format!("{{ {} }}", tuples.join("; "))),
            child: Box::new(child),
        });
    }
    if lines.is_empty() {
        return Ok(None);
    }
    let Node::Domain { domain, .. } = Tree::original(model)?.root else {
        return Err(fault::edit("a schedule that does not begin with its domain"));
    };
    let child = match beside_each_other {
        true => Box::new(Node::Sequence(branches)),
        false => branches.remove(0).child,
    };
    let root = Node::Domain { domain: SetText::new(domain.as_str()), child };
    Ok(Some(Shaped { tree: Tree { root }, line: lines.join("; "), as_written: false, on_threads: None }))
}

/// Whether no statement of a nest comes back to elements of an array.
fn streams(model: &Model, nest: &[&Statement]) -> bool {
    let plain = |s: &&Statement| {
        s.nest.is_none()
            && s.loops.iter().all(|around| around.reductions.is_empty())
            && s.loops.len() <= locality::rank(model, s)
    };
    nest.iter().all(plain)
}

/// The diamonds of one nest and what they are, if it is a stencil in time.
fn nest_in_diamonds(
    model: &Model,
    nest: &[&Statement],
    own: &[&Dependence],
    dependences: &[Dependence],
    request: Request,
) -> Result<Option<(Node, String)>> {
    let first = nest[0];
    let one_loop = nest.iter().all(|s| {
        s.loops.len() >= 2
            && s.loops[0].number == first.loops[0].number
            && s.loops.iter().all(|around| around.reductions.is_empty())
    });
    // A nest of statements has no place in space.
    let opaque = nest.iter().any(|s| s.nest.is_some());
    if !one_loop || opaque || own.iter().any(|d| d.reduction.is_some()) {
        return Ok(None);
    }
    // Tiles in time pay where a step of time comes back to the same elements.
    let again = |s: &&Statement| {
        let time = &s.loops[0].var;
        locality::subscripts(s)
            .iter()
            .any(|(_, indices)| !indices.is_empty() && !indices.iter().any(|e| moves_on(e, time)))
    };
    if !nest.iter().any(again) {
        return Ok(None);
    }
    let rank = nest.iter().map(|s| s.assign.target.indices.len()).min().unwrap_or(0);
    for dimension in 0..rank.min(2) {
        let places: Option<Vec<&Expr>> = nest
            .iter()
            .map(|s| {
                let place = &s.assign.target.indices[dimension];
                linear(place, &names(s, "a")).map(|_| place)
            })
            .collect();
        let Some(places) = places else { continue };
        let Some(plan) = Plan::find(model, nest, own, &places)? else { continue };
        return plan.tile(model, nest, dependences, request).map(Some);
    }
    Ok(None)
}

/// Whether a subscript is another one at each value of an iterator: sums of it and others are,
/// remainders need not be.
fn moves_on(index: &Expr, iterator: &Name) -> bool {
    match index {
        Expr::Var(name) => name == iterator,
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => moves_on(a, iterator) || moves_on(b, iterator),
        _ => false,
    }
}

/// Positions in time, places in space, and how far a dependence goes in space for one position in
/// time.
struct Plan<'a> {
    phases: Vec<i64>,
    period: i64,
    places: &'a [&'a Expr],
    slope: i64,
}

impl<'a> Plan<'a> {
    fn find(
        model: &Model,
        nest: &[&Statement],
        dependences: &[&Dependence],
        places: &'a [&'a Expr],
    ) -> Result<Option<Plan<'a>>> {
        let index: BTreeMap<&Name, usize> = nest.iter().enumerate().map(|(k, s)| (&s.label, k)).collect();
        let exists = |dependence: &Dependence, condition: &str| exists(model, dependence, condition);
        let place = |k: usize, prefix: &str| -> String {
            linear(places[k], &names(nest[k], prefix)).expect("was tried")
        };
        // Statements follow each other in time, except those that need not: then one position in
        // time is enough for both.
        let mut phases = vec![0i64];
        for k in 1..nest.len() {
            let mut apart = false;
            for j in (0..k).filter(|j| phases[*j] == phases[k - 1]) {
                for dependence in dependences {
                    let (from, to) = (index[&dependence.source], index[&dependence.target]);
                    if (from, to) != (j, k) {
                        continue;
                    }
                    let moves = format!("a0 = b0 and {} != {}", place(from, "a"), place(to, "b"));
                    if exists(dependence, &moves)? {
                        apart = true;
                    }
                }
            }
            phases.push(phases[k - 1] + i64::from(apart));
        }
        let period = phases[phases.len() - 1] + 1;
        if period > MAX_PERIOD {
            return Ok(None);
        }
        let mut slope = 1;
        let mut moving = false;
        for dependence in dependences {
            let (from, to) = (index[&dependence.source], index[&dependence.target]);
            let time = format!("{period}*(b0 - a0) + {}", phases[to] - phases[from]);
            let step = format!("({}) - ({})", place(to, "b"), place(from, "a"));
            while exists(dependence, &format!("{step} > {slope}*({time}) or {step} < -{slope}*({time})"))? {
                slope += 1;
                if slope > MAX_SLOPE {
                    return Ok(None);
                }
            }
            // If nothing moves along the first dimension, its loop is parallel as it is.
            moving = moving || exists(dependence, &format!("{step} != 0"))?;
        }
        Ok(moving.then_some(Plan { phases, period, places, slope }))
    }

    fn tile(
        &self,
        model: &Model,
        nest: &[&Statement],
        dependences: &[Dependence],
        request: Request,
    ) -> Result<(Node, String)> {
        let width = request.width.unwrap_or_else(|| width(nest, request.caches));
        let mut fronts = Vec::new();
        let mut diagonals = Vec::new();
        for (k, statement) in nest.iter().enumerate() {
            let (tuple, dims) = tree::tuple(statement)?;
            let iterators = statement.iterators().into_iter().zip(dims.clone()).collect();
            let place = linear(self.places[k], &iterators).expect("was tried");
            let slope = self.slope;
            let time = format!("{}*{} + {}", slope * self.period, dims[0], slope * self.phases[k]);
            let up = format!("floor(({time} + {place})/{width})");
            let down = format!("floor(({time} - ({place}))/{width})");
            fronts.push(format!("{tuple} -> [({up} + {down})]"));
            diagonals.push(format!("{tuple} -> [({up})]"));
        }
        let member = |functions: &[String], coincident: bool| Member {
            function: FunctionText::new(format!("{{ {} }}", functions.join("; "))),
            coincident,
            code: LoopCode::Default,
        };
        let band = |member: Member, child: Node| {
            Node::Band(Band {
                members: vec![member],
                permutable: false,
                isolate: None,
                child: Box::new(child),
            })
        };
        let inner = tree::order(nest, 0)?;
        let inner = match request.vector {
            true => vectorise(model, dependences, &Windows::default(), inner)?,
            false => inner,
        };
        let mut diagonal = band(member(&diagonals, true), inner);
        if request.parallel {
            diagonal = Node::Mark { name: "parallel".to_owned(), child: Box::new(diagonal) };
        }
        let line = format!(
            "stencil: diamonds of width {width} in time and space, {} in a time step{}",
            match self.period {
                1 => "one sweep".to_owned(),
                n => format!("{n} sweeps"),
            },
            if request.parallel { ", wavefronts parallel" } else { "" }
        );
        Ok((band(member(&fronts, false), diagonal), line))
    }
}

/// The most sweeps in a time step: with more of them the sets take the set library too long.
const MAX_PERIOD: i64 = 2;

/// The steepest dependences that are tiled: steeper ones make tiles of few steps.
const MAX_SLOPE: i64 = 4;

/// Width of tiles such that the rows of all arrays that a tile touches stay in the second cache.
/// Sizes are not known here: extents are taken for those of common grids.
fn width(nest: &[&Statement], caches: Caches) -> i64 {
    let inner = nest.iter().map(|s| s.loops.len()).max().unwrap_or(0).saturating_sub(2);
    // The row of an array in bytes, and where it should stay.
    let (row, capacity, most) = match inner {
        0 => (8, caches.l1 / 2, 1024),
        // Beside the rows there are those that the next tile brings: a quarter is left to them.
        // jacobi-2d is as fast with rows for the whole cache (EPYC, 1 MiB: 191 against 208 ms).
        1 => (8 << 10, caches.l2 / 4 * 3, 256),
        _ => (8 << 14, caches.l2, 256),
    };
    let mut arrays: Vec<&Name> = Vec::new();
    for statement in nest {
        for (array, indices) in locality::subscripts(statement) {
            if indices.len() > inner && !arrays.contains(&array) {
                arrays.push(array);
            }
        }
    }
    let rows = capacity / (row * arrays.len().max(1) as i64);
    // Planes are large: narrower tiles would leave the cache after two steps, and the last-level
    // cache holds some planes more.
    let mut width = if inner >= 2 { 16 } else { 8 };
    while width * 2 <= rows && width < most {
        width *= 2;
    }
    width
}

/// Names of a statement's iterators in conditions: `a0`, `a1`, ... Without that of time, which is
/// no place.
fn names(statement: &Statement, prefix: &str) -> BTreeMap<Name, String> {
    let iterators = statement.iterators().into_iter().enumerate().skip(1);
    iterators.map(|(k, name)| (name, format!("{prefix}{k}"))).collect()
}

/// A sum of loop variables and integers in the set library's notation.
fn linear(expr: &Expr, names: &BTreeMap<Name, String>) -> Option<String> {
    match expr {
        Expr::Int(value) => Some(format!("({value})")),
        Expr::Var(name) => names.get(name).cloned(),
        Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) => {
            let sign = if *op == BinaryOp::Add { '+' } else { '-' };
            Some(format!("({} {sign} {})", linear(a, names)?, linear(b, names)?))
        }
        _ => None,
    }
}

/// Whether the loop that a member is in the text carries no dependence.
pub(crate) fn carries_nothing(model: &Model, dependences: &[Dependence], member: &Member) -> Result<bool> {
    Ok(carried(model, dependences, member)?.is_some_and(|carried| carried.is_empty()))
}

/// The dependences that the loop carries that a member is in the text; none where that cannot be
/// said.
pub(crate) fn carried<'a>(
    model: &Model,
    dependences: &'a [Dependence],
    member: &Member,
) -> Result<Option<Vec<&'a Dependence>>> {
    let driven = locality::driven(model, member)?;
    let level = |label: &Name| -> Option<(usize, &Statement)> {
        let statement = model.statements.iter().find(|s| s.label == *label)?;
        driven.get(&statement.tuple).map(|level| (*level, statement))
    };
    let mut found = Vec::new();
    for dependence in dependences.iter().filter(|d| !d.private) {
        let (Some((a, source)), Some((b, target))) = (level(&dependence.source), level(&dependence.target))
        else {
            continue;
        };
        if a != b || source.loops[a].number != target.loops[b].number {
            return Ok(None);
        }
        let carried = || -> isl::Result<bool> {
            let mut here = dependence.relation.intersect_params(&model.context)?;
            for outer in 0..a {
                here = here.equate((Dim::In, outer), (Dim::Out, outer))?;
            }
            Ok(!here.order_lt((Dim::In, a), (Dim::Out, a))?.is_empty()?)
        };
        if carried().map_err(fault::library)? {
            found.push(dependence);
        }
    }
    Ok(Some(found))
}
