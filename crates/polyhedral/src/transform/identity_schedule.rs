//! Nests that are well ordered as they are: the outermost loop is free of dependences, and the
//! innermost ones run along memory.
//!
//! Such a nest streams through its arrays once. Tiles would cut its rows, and taking its statements
//! apart would read the arrays again; what is left to do is to run the outermost loop in parallel
//! and the innermost ones on vectors. Left out: nests that come back to the same elements in a loop
//! of their own (contractions, products of a matrix and a vector), which have ways of their own,
//! and several nests, which may be fused.

use super::diamond::{carried, carries_nothing};
use super::window::{Windows, vectorise};
use super::{Request, Shaped, band, privatised, tile};
use crate::codegen::reducing;
use loops::{Name, ReduceOp};

use crate::dependence::Dependence;
use crate::fault::Result;
use crate::locality;
use crate::model::{Model, Statement};
use crate::tree::{Band, Branch, Node, SetText, Tree};

/// The order of the text with its outermost loop in parallel; `None` if another order may be
/// better.
///
/// # Errors
/// Those of the set library.
pub fn keep(model: &Model, dependences: &[Dependence], request: Request) -> Result<Option<Shaped>> {
    // Single statements may stand before and behind the nest: the first value of a sum, say.
    let nest: Vec<&Statement> = model.statements.iter().filter(|s| !s.loops.is_empty()).collect();
    let Some(first) = nest.first() else { return Ok(None) };
    let one_nest = nest.iter().all(|statement| {
        statement.loops[0].number == first.loops[0].number
            && statement.loops.iter().all(|around| around.reductions.is_empty())
    });
    if request.width.is_some() || !request.parallel || !one_nest {
        return Ok(None);
    }
    if nest.iter().any(|statement| statement.loops.len() > locality::rank(model, statement)) {
        return Ok(None);
    }
    let none = Windows::default();
    if Windows::find(model).is_some_and(|windows| !windows.is_empty()) {
        return Ok(None);
    }
    let Node::Domain { domain, child } = Tree::original(model)?.root else { return Ok(None) };
    let (mut branches, at) = match *child {
        Node::Sequence(branches) => {
            let band = |branch: &Branch| matches!(*branch.child, Node::Band(_));
            let Some(at) = branches.iter().position(band) else { return Ok(None) };
            (branches, at)
        }
        other => {
            let filter = SetText::new("");
            (vec![Branch { filter, child: Box::new(other) }], 0)
        }
    };
    let child = std::mem::replace(&mut branches[at].child, Box::new(Node::Leaf));
    let Node::Band(outer) = &*child else { return Ok(None) };
    let [member] = outer.members.as_slice() else { return Ok(None) };
    let Some(carried) = carried(model, dependences, member)? else { return Ok(None) };
    let inside = |label: &Name| nest.iter().any(|s| s.label == *label);
    let Some(arrays) = privatised(model, &inside, &carried) else { return Ok(None) };
    // Other nests may gain by what is beside them.
    if branches.len() > 1 && arrays.is_empty() {
        return Ok(None);
    }
    // Every innermost loop goes along memory.
    let mut along = true;
    child.clone().rewrite(&mut |node| {
        if let Node::Band(band) = &node
            && !holds_band(&band.child)
        {
            let alone = *band.child == Node::Leaf;
            for member in &band.members {
                along &= !alone || locality::vector_score(model, member)? > 0;
                along &= !locality::across(model, member)?;
            }
        }
        Ok(node)
    })?;
    if !along {
        return Ok(None);
    }
    let single = nest.iter().all(|statement| statement.loops.len() == 1);
    let inner = match (single, arrays.is_empty()) {
        // A single loop has no other one for vectors.
        (true, true) => *child,
        (true, false) => Node::Band(strips_of(&model.ctx, band(*child)?, &arrays, request.vector)?),
        _ if request.vector => vectorise(model, dependences, &none, *child)?,
        _ => *child,
    };
    let line = match arrays.is_empty() {
        true => "the order of the text, outermost loop parallel",
        false => "the order of the text, outermost loop parallel with partial results for each thread",
    };
    let marked = Node::Mark { name: reducing("parallel", &arrays), child: Box::new(inner) };
    let child = match branches.len() {
        1 => marked,
        _ => {
            *branches[at].child = marked;
            Node::Sequence(branches)
        }
    };
    let root = Node::Domain { domain, child: Box::new(child) };
    let as_written = !single || arrays.is_empty();
    Ok(Some(Shaped { tree: Tree { root }, line: line.to_owned(), as_written, on_threads: None }))
}

/// The order of the text for any function: the outermost loop of each nest that carries nothing in
/// parallel, innermost ones on vectors. Single loops inside sequential ones stay sequential.
///
/// # Errors
/// Those of the set library.
pub(crate) fn text(model: &Model, dependences: &[Dependence], request: Request) -> Result<Shaped> {
    let root = in_text_order(model, dependences, request, Tree::original(model)?.root)?;
    let line = "the order of the text".to_owned();
    Ok(Shaped { tree: Tree { root }, line, as_written: true, on_threads: None })
}

/// Marks of a part of the original schedule.
pub(super) fn in_text_order(
    model: &Model,
    dependences: &[Dependence],
    request: Request,
    node: Node,
) -> Result<Node> {
    let windows = Windows::find(model).unwrap_or_default();
    let node = if request.vector { vectorise(model, dependences, &windows, node)? } else { node };
    if request.parallel { parallel(model, dependences, node, false) } else { Ok(node) }
}

/// Marks the outermost loops that carry nothing; `inside` says whether the node is in a sequential
/// loop.
fn parallel(model: &Model, dependences: &[Dependence], node: Node, inside: bool) -> Result<Node> {
    let deep = |node: &Node| node.children().into_iter().any(holds_band);
    match node {
        Node::Mark { name, child } if name == "vector" => {
            // A single loop is worth more to threads than to lanes, and one that is inside another
            // to lanes.
            Ok(match inside {
                true => Node::Mark { name, child },
                false => Node::Mark { name: "parallel".to_owned(), child },
            })
        }
        Node::Band(band) => {
            let node = Node::Band(band);
            let Node::Band(band) = &node else { return Ok(node) };
            if (deep(&node) || !inside) && carries_nothing(model, dependences, &band.members[0])? {
                return Ok(Node::Mark { name: "parallel".to_owned(), child: Box::new(node) });
            }
            map_children(node, &mut |child| parallel(model, dependences, child, true))
        }
        other => map_children(other, &mut |child| parallel(model, dependences, child, inside)),
    }
}

fn holds_band(node: &Node) -> bool {
    matches!(node, Node::Band(_)) || node.children().into_iter().any(holds_band)
}

/// As [`Node::map_children`], with errors.
fn map_children(node: Node, f: &mut dyn FnMut(Node) -> Result<Node>) -> Result<Node> {
    let mut failed = None;
    let node = node.map_children(&mut |child| match f(child) {
        Ok(child) => child,
        Err(error) => {
            failed.get_or_insert(error);
            Node::Leaf
        }
    });
    failed.map_or(Ok(node), Err)
}

/// A loop that carries reductions, in strips for threads; partial results are for lanes as well as
/// for threads.
pub(crate) fn strips_of(
    ctx: &isl::Ctx,
    points: Band,
    arrays: &[(ReduceOp, Name)],
    vector: bool,
) -> Result<Band> {
    let mut strips = tile::tile_band(ctx, points.clone(), &[STRIP])?;
    if vector {
        strips.child =
            Box::new(Node::Mark { name: reducing("vector", arrays), child: Box::new(Node::Band(points)) });
    }
    Ok(strips)
}

/// Iterations of a single loop that one thread takes at a time.
const STRIP: i64 = 4096;
