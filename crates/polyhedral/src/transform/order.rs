//! Changes of what runs before what: reorder and group the branches of a sequence, fuse and distribute bands, sink a band.
//!
//! Each of these can break a dependence, so each takes the model and its dependences, and gives a tree only if [`crate::check::edit`] accepts it.

use isl::{Id, ScheduleNode, UnionPwAff, UnionSet};

use super::band;
use crate::check;
use crate::dependence::Dependence;
use crate::fault::{self, Result};
use crate::model::Model;
use crate::tree::{Band, Branch, FunctionText, LoopCode, Member, Node, SetText, Tree};

fn branches(node: Node) -> Result<(Vec<Branch>, bool)> {
    match node {
        Node::Sequence(branches) => Ok((branches, false)),
        Node::Set(branches) => Ok((branches, true)),
        other => Err(fault::edit(format!("a sequence or set is needed here, not a {} node", other.kind()))),
    }
}

fn again(branches: Vec<Branch>, any_order: bool) -> Node {
    if any_order { Node::Set(branches) } else { Node::Sequence(branches) }
}

/// Puts the branches of the sequence (or set) at `path` in another order: the new branch `k` is the old branch `order[k]`.
///
/// # Errors
/// `P0202` if there is no sequence or `order` is not a permutation; `P0401` if a dependence is violated.
pub fn reorder(
    model: &Model,
    dependences: &[Dependence],
    tree: &Tree,
    path: &[usize],
    order: &[usize],
) -> Result<Tree> {
    let new = tree.edit(path, &mut |node| {
        let (branches, any_order) = branches(node)?;
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if sorted != (0..branches.len()).collect::<Vec<_>>() {
            return Err(fault::edit(format!("{order:?} is not an order of {} branches", branches.len())));
        }
        Ok(again(order.iter().map(|k| branches[*k].clone()).collect(), any_order))
    })?;
    check::edit(model, dependences, tree, &new)?;
    Ok(new)
}

/// Fuses the bands in all branches of the sequence (or set) at `path`: one band, and the sequence in it.
///
/// The new band is not permutable and no member of it is coincident: that the parts were so says nothing of the whole.
///
/// # Errors
/// `P0202` if there is no sequence of bands with as many members each; `P0401` if a dependence is violated.
pub fn fuse(model: &Model, dependences: &[Dependence], tree: &Tree, path: &[usize]) -> Result<Tree> {
    let new = tree.edit(path, &mut |node| {
        let (branches, any_order) = branches(node)?;
        let mut members: Vec<UnionPwAff> = Vec::new();
        let mut inner = Vec::new();
        for (k, Branch { filter, child }) in branches.into_iter().enumerate() {
            let own = band(*child)?;
            let functions = restricted(model, &own, &filter)?;
            if k > 0 && functions.len() != members.len() {
                let message =
                    format!("bands of {} and of {} members cannot be fused", members.len(), functions.len());
                return Err(fault::edit(message));
            }
            members = match k {
                0 => functions,
                _ => members
                    .iter()
                    .zip(&functions)
                    .map(|(a, b)| a.union_add(b))
                    .collect::<isl::Result<_>>()
                    .map_err(fault::library)?,
            };
            inner.push(Branch { filter, child: own.child });
        }
        let members = members.iter().map(plain_member).collect();
        let child = Box::new(again(inner, any_order));
        Ok(Node::Band(Band { members, permutable: false, isolate: None, child }))
    })?;
    check::edit(model, dependences, tree, &new)?;
    Ok(new)
}

/// Distributes the band at `path` over the sequence (or set) that is its child: a sequence, and a band in each branch. The inverse of [`fuse`].
///
/// # Errors
/// `P0202` if there is no band over a sequence; `P0401` if a dependence is violated.
pub fn distribute(model: &Model, dependences: &[Dependence], tree: &Tree, path: &[usize]) -> Result<Tree> {
    let new = tree.edit(path, &mut |node| {
        let outer = band(node)?;
        let (branches, any_order) = branches((*outer.child).clone())?;
        let branches = branches
            .into_iter()
            .map(|Branch { filter, child }| {
                let functions = restricted(model, &outer, &filter)?;
                let members = outer.members.iter().zip(&functions).map(|(member, function)| Member {
                    function: FunctionText::new(function.to_string()),
                    ..member.clone()
                });
                let own =
                    Band { members: members.collect(), permutable: outer.permutable, isolate: None, child };
                Ok(Branch { filter, child: Box::new(Node::Band(own)) })
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(again(branches, any_order))
    })?;
    check::edit(model, dependences, tree, &new)?;
    Ok(new)
}

/// Sinks the band at `path` to the leaves below it: it becomes the innermost band of each.
///
/// # Errors
/// `P0202` if there is no band, or nothing but a leaf below it; `P0401` if a dependence is violated.
pub fn sink(model: &Model, dependences: &[Dependence], tree: &Tree, path: &[usize]) -> Result<Tree> {
    let new = tree.edit(path, &mut |node| {
        let outer = band(node)?;
        if *outer.child == Node::Leaf {
            return Err(fault::edit("the band is innermost already"));
        }
        to_leaves(model, &outer, (*outer.child).clone(), None)
    })?;
    check::edit(model, dependences, tree, &new)?;
    Ok(new)
}

/// The node with the band in place of each leaf; `filter` has the instances that come here, if not all do.
fn to_leaves(model: &Model, outer: &Band, node: Node, filter: Option<&UnionSet>) -> Result<Node> {
    let narrow = |text: &SetText| -> Result<UnionSet> {
        let read = UnionSet::read(&model.ctx, text.as_str());
        let narrowed = read.and_then(|set| filter.map_or(Ok(set.clone()), |filter| filter.intersect(&set)));
        narrowed.map_err(fault::library)
    };
    let mut failure = None;
    let result = match node {
        Node::Leaf => {
            let mut own = Band { isolate: None, child: Box::new(Node::Leaf), ..outer.clone() };
            if let Some(filter) = filter {
                for member in &mut own.members {
                    let function = UnionPwAff::read(&model.ctx, member.function.as_str())
                        .and_then(|f| f.intersect_domain(&filter.universe()?));
                    member.function = FunctionText::new(function.map_err(fault::library)?.to_string());
                }
            }
            Node::Band(own)
        }
        Node::Sequence(_) | Node::Set(_) => {
            let (branches, any_order) = branches(node)?;
            let branches = branches
                .into_iter()
                .map(|Branch { filter, child }| {
                    let inside = narrow(&filter)?;
                    Ok(Branch { filter, child: Box::new(to_leaves(model, outer, *child, Some(&inside))?) })
                })
                .collect::<Result<Vec<_>>>()?;
            again(branches, any_order)
        }
        Node::Filter(Branch { filter: text, child }) => {
            let inside = narrow(&text)?;
            let child = Box::new(to_leaves(model, outer, *child, Some(&inside))?);
            Node::Filter(Branch { filter: text, child })
        }
        Node::Extension { .. } | Node::Expansion { .. } => {
            let message = format!("a band cannot sink through a node of kind {}", node.kind());
            return Err(fault::edit(message));
        }
        other => other.map_children(&mut |child| {
            to_leaves(model, outer, child, filter).unwrap_or_else(|error| {
                failure.get_or_insert(error);
                Node::Leaf
            })
        }),
    };
    failure.map_or(Ok(result), Err)
}

/// Makes one statement `name` of the instances below `path` that share a time above it: they are ordered as one from outside.
///
/// # Errors
/// `P0202` if there is no such place or the name is taken; `P0401` if a dependence is violated; those of the set library.
pub fn group(
    model: &Model,
    dependences: &[Dependence],
    tree: &Tree,
    path: &[usize],
    name: &str,
) -> Result<Tree> {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if name.is_empty() || !plain || model.by_tuple(name).is_some() || crate::names::readable(name) != name {
        return Err(fault::edit(format!("`{name}` cannot be the name of a group")));
    }
    if path.is_empty() {
        return Err(fault::edit("a group cannot be above the root"));
    }
    tree.at(path)?;
    let schedule = tree.to_isl(&model.ctx)?;
    let grouped = || -> isl::Result<isl::Schedule> {
        let mut place: ScheduleNode = schedule.root()?;
        let mut node = &tree.root;
        for step in path {
            place = place.child(*step)?;
            if matches!(node, Node::Sequence(_) | Node::Set(_)) {
                // There a filter is a node of its own.
                place = place.child(0)?;
            }
            node = node.children()[*step];
        }
        place.group(&Id::new(&model.ctx, name)?)?.schedule()
    };
    let new = Tree::from_isl(&grouped().map_err(fault::library)?)?;
    check::edit(model, dependences, tree, &new)?;
    Ok(new)
}

/// The functions of a band on the statements of a filter.
fn restricted(model: &Model, band: &Band, filter: &SetText) -> Result<Vec<UnionPwAff>> {
    let restrict = || -> isl::Result<Vec<UnionPwAff>> {
        let filter = UnionSet::read(&model.ctx, filter.as_str())?.universe()?;
        band.members
            .iter()
            .map(|m| UnionPwAff::read(&model.ctx, m.function.as_str())?.intersect_domain(&filter))
            .collect()
    };
    restrict().map_err(fault::library)
}

fn plain_member(function: &UnionPwAff) -> Member {
    let function = FunctionText::new(function.to_string());
    Member { function, coincident: false, code: LoopCode::Default }
}
