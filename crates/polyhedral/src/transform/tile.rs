//! Tiling: a band becomes a band over tiles around a band over the points of a tile.

use isl::Ctx;

use super::map_function;
use crate::fault::{self, Result};
use crate::tree::{Band, LoopCode, Member, Node};

fn tile_function(ctx: &Ctx, member: &Member, size: i64) -> Result<crate::tree::FunctionText> {
    map_function(ctx, &member.function, &|f| f.scale_down(size)?.floor())
}

/// The band over tiles, with the band over points as its child. Tile loops count tiles, point loops
/// keep their values: then no loop has a stride, and all bounds stay simple.
///
/// # Errors
/// `P0202` if the sizes do not fit the band, or it is not permutable and has more than one member.
pub(crate) fn tile_band(ctx: &Ctx, points: Band, sizes: &[i64]) -> Result<Band> {
    if sizes.len() != points.members.len() {
        let message = format!("{} tile sizes for a band of {} members", sizes.len(), points.members.len());
        return Err(fault::edit(message));
    }
    if let Some(size) = sizes.iter().find(|size| **size < 1) {
        return Err(fault::edit(format!("{size} is not a tile size")));
    }
    if !points.permutable && points.members.len() > 1 {
        return Err(fault::edit("a band that is not permutable cannot be tiled"));
    }
    let members = points
        .members
        .iter()
        .zip(sizes)
        .map(|(member, size)| {
            let function = tile_function(ctx, member, *size)?;
            Ok(Member { function, coincident: member.coincident, code: LoopCode::Default })
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(Band { members, permutable: points.permutable, isolate: None, child: Box::new(Node::Band(points)) })
}
