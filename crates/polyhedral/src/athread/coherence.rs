//! Whether buffers are coherent with main memory: what a core brings out no other may touch, and no
//! value is read through another box than it was written to.

use isl::{Dim, Map, UnionSet};

use super::boxes::{box_map, prefix};
use super::data_mapping::{Group, Site, sites};
use super::host_split::Kernel;
use crate::dependence;
use crate::fault::{self, Result};
use crate::model::Model;

/// Why a kernel cannot be mapped, and what a user can do about it.
pub(super) struct Conflict {
    pub reason: String,
    pub way_out: String,
}

/// Why the buffers of a kernel would not be coherent with main memory, if they would not.
///
/// Cores share nothing while a kernel runs: what one brings out no other may touch. On one core, a
/// value that is read through another buffer than the one that it was written to must have gone out
/// and come in between.
pub(super) fn conflict(model: &Model, kernel: &Kernel, mapped: usize) -> Result<Option<Conflict>> {
    let because = |reason: String, way_out: &str| Ok(Some(Conflict { reason, way_out: way_out.to_owned() }));
    let sites = sites(model, kernel);
    if let Some(moved) = kernel.groups.iter().find(|g| (g.put || g.get) && g.width % 4 != 0) {
        return because(
            format!(
                "elements of `{}` have {} bytes, and transfers move multiples of 4",
                moved.array, moved.width
            ),
            "declare what the cores read and write with elements of 4 or 8 bytes, for example `int`",
        );
    }
    for written in kernel.groups.iter().filter(|g| g.put) {
        let Some(out) = by_core(model, kernel, written, mapped)? else {
            return because(
                format!("the extents of `{}` are not affine", written.array),
                "declare the array with a dimension for each loop instead of products of sizes",
            );
        };
        for other in kernel.groups.iter().filter(|g| g.array == written.array) {
            let Some(there) = by_core(model, kernel, other, mapped)? else { continue };
            let clash = || -> isl::Result<bool> {
                // Pairs of tiles of different cores that touch a common element.
                let pairs = out.apply_range(&there.reverse()?)?;
                let equal = isl::Map::identity(&pairs.space()?)?;
                Ok(!pairs.subtract(&equal)?.is_empty()?)
            };
            if clash().map_err(fault::library)? {
                let (writers, users) =
                    (labels(model, &sites, written, true), labels(model, &sites, other, false));
                return because(
                    format!(
                        "the boxes of `{}` of two cores overlap: what {writers} writes and what {users} touches",
                        written.array
                    ),
                    "write the results to a second array, with a statement of its own that copies them back; or use `--target openmp`",
                );
            }
            if std::ptr::eq(other, written) {
                continue;
            }
            let elsewhere = || -> isl::Result<bool> {
                out.reverse()?.domain()?.intersect(&there.reverse()?.domain()?)?.is_empty()
            };
            if kernel.apart && elsewhere().map_err(fault::library)? {
                // Elements of the array that have nothing to do with those.
                continue;
            }
            if let (Some(a), Some(b)) = (written.part, other.part)
                && a != b
            {
                continue;
            }
            if other.put && (written.part == other.part || kernel.apart) {
                return because(
                    format!(
                        "`{}` is written through two boxes, by {} and by {}",
                        written.array,
                        labels(model, &sites, written, true),
                        labels(model, &sites, other, true)
                    ),
                    "put the statements that write it into loops of their own",
                );
            }
            if goes_stale(model, kernel, written, other)? {
                return because(
                    format!(
                        "a box of `{}` stays while {} writes to elements of it through another",
                        written.array,
                        labels(model, &sites, written, true)
                    ),
                    "read it from a second array, or put the statements into loops of their own",
                );
            }
            let level = written.level.min(other.level);
            for w in sites.iter().filter(|s| s.touch.write && written.has(s)) {
                for r in sites.iter().filter(|s| !s.touch.write && other.has(s)) {
                    let flows = || -> Result<bool> {
                        let (a, b) = (&model.statements[w.statement], &model.statements[r.statement]);
                        let pairs = w
                            .touch
                            .relation
                            .apply_range(&r.touch.relation.reverse().map_err(fault::library)?);
                        let pairs = pairs
                            .and_then(|p| p.intersect(&dependence::before(a, b)?))
                            .map_err(fault::library)?;
                        let (left, right) =
                            (prefix(model, kernel, w.part, level)?, prefix(model, kernel, r.part, level)?);
                        let same = left
                            .apply_range(&right.reverse().map_err(fault::library)?)
                            .map_err(fault::library)?;
                        let both = pairs.to_union().and_then(|p| p.intersect(&same)?.is_empty());
                        Ok(!both.map_err(fault::library)?)
                    };
                    if flows()? {
                        return because(
                            format!(
                                "`{}` is read by `{}` through another box than `{}` writes it to",
                                written.array,
                                model.statements[r.statement].label,
                                model.statements[w.statement].label
                            ),
                            "read it from a second array, or put the statement that reads it into a loop of its own",
                        );
                    }
                }
            }
        }
    }
    Ok(None)
}

/// Whether a box stays while another one of its part, which has elements of it, goes out.
fn goes_stale(model: &Model, kernel: &Kernel, written: &Group, other: &Group) -> Result<bool> {
    if written.part != other.part || other.level >= written.level {
        return Ok(false);
    }
    let at = |group: &Group| by_core(model, kernel, group, other.level);
    let (Some(out), Some(there)) = (at(written)?, at(other)?) else { return Ok(true) };
    let both = out.intersect(&there).and_then(|both| both.is_empty());
    both.map(|empty| !empty).map_err(fault::library)
}

/// The statements that have a group's accesses, or write by them: as many as a reader can follow.
fn labels(model: &Model, sites: &[Site], group: &Group, writing: bool) -> String {
    const MOST: usize = 4;
    let mut names: Vec<String> = Vec::new();
    for site in sites.iter().filter(|s| (s.touch.write || !writing) && group.has(s)) {
        let name = format!("`{}`", model.statements[site.statement].label);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let others = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    let more = if others > 0 { format!(" and {others} others") } else { String::new() };
    names.join(", ") + &more
}

/// The box of a group by outer loops and the tile numbers that are mapped to cores; the outer loops
/// are kept on the side of the elements too.
fn by_core(model: &Model, kernel: &Kernel, group: &Group, mapped: usize) -> Result<Option<Map>> {
    let Some(whole) = box_map(model, kernel, group)? else { return Ok(None) };
    let outer = kernel.outer.len();
    let build = || -> Result<Map> {
        let part = group.part.unwrap_or(0);
        let mut tiles: Option<UnionSet> = None;
        let parts: Vec<usize> = match group.part {
            Some(_) => vec![part],
            None => (0..kernel.parts.len()).collect(),
        };
        for part in parts {
            let range = prefix(model, kernel, part, group.level)?.range().map_err(fault::library)?;
            tiles = Some(match tiles {
                None => range,
                Some(before) => before.union(&range).map_err(fault::library)?,
            });
        }
        let tiles = tiles.ok_or_else(|| fault::edit("a kernel without parts"))?;
        let own = || -> isl::Result<Map> {
            let whole = whole.to_union()?.intersect_domain(&tiles)?;
            let whole = whole.maps()?.into_iter().next();
            let Some(map) = whole else { return Map::empty(&box_space(model, kernel, group)?) };
            // Same outer iteration: its numbers become coordinates of the elements.
            let mut map = map;
            for k in 0..outer {
                map = map.insert_dims(Dim::Out, k, 1)?.equate((Dim::In, k), (Dim::Out, k))?;
            }
            let n = map.dim(Dim::In)?;
            let first = outer + mapped;
            if n > first { map.project_out(Dim::In, first, n - first) } else { Ok(map) }
        };
        own().map_err(fault::library)
    };
    build().map(Some)
}

fn box_space(model: &Model, kernel: &Kernel, group: &Group) -> isl::Result<isl::Space> {
    let tiles = vec!["0"; kernel.outer.len() + group.level].join(", ");
    let elements = vec!["0"; kernel.outer.len() + group.extents.len()].join(", ");
    Map::read(&model.ctx, &format!("{{ [{tiles}] -> [{elements}] }}"))?.space()
}
