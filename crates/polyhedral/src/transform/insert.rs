//! Insertions of context, guard and filter nodes. What they say must hold already: a context that does not hold makes wrong code, a guard or
//! filter that does not hold for all instances drops some.

use isl::{Dim, Set, UnionSet};

use crate::fault::{self, Result};
use crate::model::Model;
use crate::tree::{Branch, Node, SetText, Tree};

/// Says above the node at `path` what is known of the sizes (and of the loops around, as dimensions of the set).
///
/// # Errors
/// `P0202` if there is no such place; `P0203` if it does not follow from what is assumed of the sizes and from the instances that come there.
pub fn context(model: &Model, tree: &Tree, path: &[usize], context: &str) -> Result<Tree> {
    below_root(path)?;
    let set = condition(model, tree, path, context)?;
    holds(model, tree, path, &set, "context", true)?;
    let context = SetText::new(set.to_string());
    tree.edit(path, &mut |node| Ok(Node::Context { context: context.clone(), child: Box::new(node) }))
}

/// Puts a condition on sizes (and on the loops around, as dimensions of the set) above the node at `path`.
///
/// # Errors
/// `P0202` if there is no such place; `P0203` if it would keep an instance from running.
pub fn guard(model: &Model, tree: &Tree, path: &[usize], guard: &str) -> Result<Tree> {
    below_root(path)?;
    let set = condition(model, tree, path, guard)?;
    holds(model, tree, path, &set, "guard", false)?;
    let guard = SetText::new(set.to_string());
    tree.edit(path, &mut |node| Ok(Node::Guard { guard: guard.clone(), child: Box::new(node) }))
}

/// Restricts the node at `path` to some instances.
///
/// # Errors
/// `P0202` if there is no such place; `P0203` if an instance that comes there is not among them.
pub fn filter(model: &Model, tree: &Tree, path: &[usize], filter: &str) -> Result<Tree> {
    let set = UnionSet::read(&model.ctx, filter).map_err(fault::library)?;
    below_root(path)?;
    let filter = SetText::new(set.to_string());
    let new = tree
        .edit(path, &mut |node| Ok(Node::Filter(Branch { filter: filter.clone(), child: Box::new(node) })))?;
    let (coming, _) = reaching(model, tree, path)?;
    let lost = || -> isl::Result<Option<String>> {
        let lost = coming.subtract(&set)?;
        Ok(if lost.is_empty()? { None } else { Some(lost.sample_point()?.to_string()) })
    };
    match lost().map_err(fault::library)? {
        Some(point) => Err(fault::drops("filter", &point)),
        None => Ok(new),
    }
}

fn below_root(path: &[usize]) -> Result<()> {
    if path.is_empty() { Err(fault::edit("nothing can be inserted above the root")) } else { Ok(()) }
}

/// A condition on sizes, or on sizes and the loops around a place, as a set with a dimension for each of these loops.
fn condition(model: &Model, tree: &Tree, path: &[usize], text: &str) -> Result<Set> {
    let mut loops = 0;
    for depth in 0..path.len() {
        if let Node::Band(band) = tree.at(&path[..depth])? {
            loops += band.members.len();
        }
    }
    let set = Set::read(&model.ctx, text).map_err(fault::library)?;
    if !set.is_params().map_err(fault::library)? {
        let have = set.dim(Dim::SET).map_err(fault::library)?;
        return if have == loops {
            Ok(set)
        } else {
            Err(fault::edit(format!(
                "the condition has {have} dimensions, and there are {loops} loops around"
            )))
        };
    }
    let space = set.space().and_then(|space| space.set_from_params()?.add_dims(Dim::SET, loops));
    space.and_then(|space| Set::universe(&space)?.intersect_params(&set)).map_err(fault::library)
}

/// The instances that come to a place, and their times in the loops around it.
fn reaching(model: &Model, tree: &Tree, path: &[usize]) -> Result<(UnionSet, isl::UnionMap)> {
    tree.at(path)?;
    let schedule = tree.to_isl(&model.ctx)?;
    let walk = || -> isl::Result<(UnionSet, isl::UnionMap)> {
        let mut place = schedule.root()?;
        let mut node = &tree.root;
        for step in path {
            place = place.child(*step)?;
            if matches!(node, Node::Sequence(_) | Node::Set(_)) {
                place = place.child(0)?;
            }
            node = node.children()[*step];
        }
        Ok((place.reaching_domain()?, place.prefix_schedule()?))
    };
    walk().map_err(fault::library)
}

/// Whether a condition holds wherever it is asked.
fn holds(model: &Model, tree: &Tree, path: &[usize], set: &Set, what: &str, always: bool) -> Result<()> {
    let (coming, prefix) = reaching(model, tree, path)?;
    let wrong = || -> isl::Result<Option<String>> {
        let loops = set.dim(Dim::SET)?;
        if loops == 0 || !set.involves_dims(Dim::SET, 0, loops)? {
            let sizes = set.params()?;
            let asked =
                if always { model.context.clone() } else { coming.params()?.intersect(&model.context)? };
            let exceptions = asked.subtract(&sizes)?;
            return Ok(if exceptions.is_empty()? { None } else { Some(format!("sizes in {exceptions}")) });
        }
        let times = prefix.intersect_domain(&coming)?.intersect_params(&model.context)?.range()?;
        let exceptions = times.subtract(&set.to_union()?)?;
        Ok(if exceptions.is_empty()? { None } else { Some(exceptions.sample_point()?.to_string()) })
    };
    match wrong().map_err(fault::library)? {
        Some(point) => Err(fault::drops(what, &point)),
        None => Ok(()),
    }
}
