//! Marks: how the loops of a band are to be run.

use crate::fault::{self, Result};
use crate::tree::{Band, Node};

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
