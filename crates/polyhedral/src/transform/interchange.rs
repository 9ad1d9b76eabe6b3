//! Interchange: the members of a permutable band in another order.

use super::band;
use crate::fault::{self, Result};
use crate::tree::{Node, Tree};

/// Reorders the members of the band at `path`: the new member `k` is the old member `order[k]`.
///
/// # Errors
/// `P0202` if there is no band, `order` is not a permutation, or the band is not permutable.
pub fn interchange(tree: &Tree, path: &[usize], order: &[usize]) -> Result<Tree> {
    tree.edit(path, &mut |node| {
        let mut band = band(node)?;
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if sorted != (0..band.members.len()).collect::<Vec<_>>() {
            return Err(fault::edit(format!("{order:?} is not an order of {} members", band.members.len())));
        }
        if !band.permutable && sorted != order {
            return Err(fault::edit("the members of a band that is not permutable cannot be interchanged"));
        }
        band.members = order.iter().map(|k| band.members[*k].clone()).collect();
        Ok(Node::Band(band))
    })
}
