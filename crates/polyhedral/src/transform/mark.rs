//! Marks: names for subtrees, and how the loops of a band are to be run.

use super::band;
use crate::fault::{self, Result};
use crate::tree::{Band, Node, Tree};

/// Puts a mark above the node at `path`.
///
/// # Errors
/// `P0202` if there is no such node, it is the root, or the name cannot be written.
pub fn mark(tree: &Tree, path: &[usize], name: &str) -> Result<Tree> {
    if path.is_empty() {
        return Err(fault::edit("a mark cannot be above the root"));
    }
    if name.is_empty() || name.contains(['"', '\\', '\n']) || name.trim() != name {
        return Err(fault::edit(format!("`{name}` cannot be the name of a mark")));
    }
    tree.edit(path, &mut |node| Ok(Node::Mark { name: name.to_owned(), child: Box::new(node) }))
}

/// Gives each member of the band at `path` a mark (or none): the band becomes bands of one member under their marks.
///
/// # Errors
/// `P0202` if there is no band or the number of marks is not its number of members.
pub fn mark_loops(tree: &Tree, path: &[usize], marks: &[Option<&str>]) -> Result<Tree> {
    tree.edit(path, &mut |node| mark_band(band(node)?, marks))
}

/// The nest of marked bands of one member each; members without a mark stay together.
pub(crate) fn mark_band(band: Band, marks: &[Option<&str>]) -> Result<Node> {
    if marks.len() != band.members.len() {
        return Err(fault::edit(format!("{} marks for {} members", marks.len(), band.members.len())));
    }
    let mut node = *band.child;
    let mut group = Vec::new();
    let wrap = |members: Vec<crate::tree::Member>, child: Node| {
        Node::Band(Band { members, permutable: band.permutable, isolate: None, child: Box::new(child) })
    };
    for (member, mark) in band.members.into_iter().zip(marks).rev() {
        match mark {
            None => group.insert(0, member),
            Some(name) => {
                if !group.is_empty() {
                    node = wrap(std::mem::take(&mut group), node);
                }
                node = Node::Mark { name: (*name).to_owned(), child: Box::new(wrap(vec![member], node)) };
            }
        }
    }
    Ok(if group.is_empty() { node } else { wrap(group, node) })
}
