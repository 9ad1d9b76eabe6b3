//! Splitting a band into two, one inside the other, and combining two such bands again.

use super::band;
use crate::fault::{self, Result};
use crate::tree::{Band, Node, Tree};

/// Splits the band at `path` after `at` members.
///
/// # Errors
/// `P0202` if there is no band or it has no members on one side.
pub fn split(tree: &Tree, path: &[usize], at: usize) -> Result<Tree> {
    tree.edit(path, &mut |node| {
        let mut outer = band(node)?;
        if at == 0 || at >= outer.members.len() {
            return Err(fault::edit(format!(
                "a band of {} members cannot be split after {at}",
                outer.members.len()
            )));
        }
        let members = outer.members.split_off(at);
        let inner = Band { members, permutable: outer.permutable, isolate: None, child: outer.child };
        outer.child = Box::new(Node::Band(inner));
        Ok(Node::Band(outer))
    })
}

/// Combines the band at `path` with the band that is its child. The result is permutable only if `permutable` says so: that
/// the two may be interchanged does not follow from their being so each.
///
/// # Errors
/// `P0202` if there are no two such bands.
pub fn combine(tree: &Tree, path: &[usize], permutable: bool) -> Result<Tree> {
    tree.edit(path, &mut |node| {
        let mut outer = band(node)?;
        let inner = band(*outer.child)?;
        outer.members.extend(inner.members);
        outer.permutable = permutable;
        outer.child = inner.child;
        Ok(Node::Band(outer))
    })
}
