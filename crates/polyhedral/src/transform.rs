//! Edits of schedule trees, one file each. An edit takes a tree and gives a new one.
//!
//! Nothing in this room believes that an edit is legal: [`crate::check::tree`] says whether the dependences of a model still hold, and
//! [`crate::check::function`] checks the code that comes out in the end.

mod affine;
pub mod contraction;
pub mod expand;
mod interchange;
pub(crate) mod mark;
mod split;
pub(crate) mod tile;

pub use affine::{reverse, scale, shift, skew};
pub use interchange::interchange;
pub use mark::{mark, mark_loops};
pub use split::{combine, split};
pub use tile::{strip_mine, tile};

use isl::{Ctx, UnionPwAff};

use crate::fault::{self, Result};
use crate::tree::{Band, FunctionText, Node};

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
