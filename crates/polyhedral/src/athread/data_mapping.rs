//! Data mapping (sections 5.1 to 5.3): what goes to local memory, in which boxes, and inside which
//! loop it is moved.
//!
//! The four principles: what the cores read and have not written is brought in; what they write is
//! brought out; scalars are arrays of no dimensions; scalars that are only read are arguments of
//! the kernel. Accesses of one array share a buffer where a box around all is no larger than their
//! own boxes. A box has constant extents and a corner that is affine in the numbers of the tiles;
//! at the rim of the array it is cut off.

use isl::{Set, UnionMap, UnionSet};
use loops::{Access, Expr, Name, ParamMode};

use super::boxes::{self, Corner, box_map, boxed, prefix, touched};
use super::host_split::Kernel;
use super::multicast::Shared;
use crate::dependence;
use crate::fault::{self, Result};
use crate::model::{Model, Touch};
use crate::names::readable;

/// A buffer in local memory and the accesses that go to it.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// The array in main memory.
    pub array: Name,
    /// The part that it belongs to; all, if none.
    pub part: Option<usize>,
    /// Inside how many of the tile loops (the parallel ones included) it is moved.
    pub level: usize,
    /// The accesses: statement (as position in the model), and the access as the text has it.
    pub accesses: Vec<(usize, Access)>,
    /// Bytes of an element.
    pub width: i64,
    /// Extents of the box.
    pub extents: Vec<i64>,
    /// Its corner over the schedule's dimensions and the sizes.
    pub corner: Vec<Corner>,
    /// Where it ends at most in each dimension, over the loops around the kernel; none where that
    /// is the end of the array, or is not asked for.
    pub ends: Vec<Option<Corner>>,
    /// Whether it is brought in.
    pub get: bool,
    /// Whether it is brought out.
    pub put: bool,
    /// The cores that bring it in together.
    pub shared: Option<Shared>,
    /// Whether it is the same for all tiles of a core, and stays.
    pub kept: bool,
    /// Whether the cores have it in local memory already, other parts each, and may exchange it.
    pub exchanged: bool,
}

impl Group {
    /// Whether an access of the kernel goes to this buffer.
    pub fn has(&self, site: &Site) -> bool {
        self.part.is_none_or(|part| part == site.part)
            && self
                .accesses
                .iter()
                .any(|(statement, access)| *statement == site.statement && *access == site.access)
    }
}

/// An access of a kernel.
pub(super) struct Site<'a> {
    pub part: usize,
    pub statement: usize,
    pub access: Access,
    /// Which access of the statement it is.
    pub number: usize,
    pub touch: &'a Touch,
}

/// Type and extents of an array of the function.
pub(super) fn declared<'a>(model: &'a Model, array: &Name) -> Option<(&'a loops::Elem, &'a [Expr])> {
    let params =
        model.function.params.iter().find(|p| p.name == *array).map(|p| (&p.elem, p.dims.as_slice()));
    params.or_else(|| model.locals.iter().find(|l| l.name == *array).map(|l| (&l.elem, l.dims.as_slice())))
}

/// Whether an array is a scalar that is only read: an argument of the kernel.
pub(super) fn is_argument(model: &Model, array: &Name) -> bool {
    model.function.params.iter().any(|p| p.name == *array && p.dims.is_empty() && p.mode == ParamMode::In)
}

/// The accesses of a kernel to arrays that may go to local memory. Loads come in the order in which
/// the model lists them.
pub(super) fn sites<'a>(model: &'a Model, kernel: &Kernel) -> Vec<Site<'a>> {
    let mut sites = Vec::new();
    for (part, own) in kernel.parts.iter().enumerate() {
        for statement in &own.statements {
            let s = &model.statements[*statement];
            let mut texts: Vec<&Access> = Vec::new();
            for expr in s.assign.target.indices.iter().chain([&s.assign.value]) {
                texts.extend(expr.loads());
            }
            if s.assign.update.is_some() {
                texts.push(&s.assign.target);
            }
            texts.push(&s.assign.target);
            for (number, (touch, access)) in s.accesses.iter().zip(texts).enumerate() {
                if !is_argument(model, &touch.array) {
                    sites.push(Site { part, statement: *statement, access: access.clone(), number, touch });
                }
            }
        }
    }
    sites
}

/// Groups the accesses of a kernel into buffers; the kernel has sizes for its tiles. `None` for
/// accesses that no box can hold.
pub(super) fn groups(model: &Model, kernel: &Kernel) -> Result<std::result::Result<Vec<Group>, Name>> {
    let sites = sites(model, kernel);
    let mut arrays: Vec<&Name> = Vec::new();
    for site in &sites {
        if !arrays.contains(&&site.touch.array) {
            arrays.push(&site.touch.array);
        }
    }
    let outer = kernel.parallel.len();
    let mut groups = Vec::new();
    let mut classes: Vec<(&Name, Vec<&Site>)> = Vec::new();
    for array in arrays {
        let own: Vec<&Site> = sites.iter().filter(|s| s.touch.array == *array).collect();
        match kernel.apart {
            true => classes.extend(meeting(model, kernel, own)?.into_iter().map(|own| (array, own))),
            false => classes.push((array, own)),
        }
    }
    for (array, own) in classes {
        // One buffer for all parts, if the loops of the parts do not move it.
        let deep = |site: &Site| outer + kernel.parts[site.part].inner.len();
        if let Some((extents, _)) = boxed(model, kernel, &own, outer)? {
            let mut still = true;
            for part in 0..kernel.parts.len() {
                let here: Vec<&Site> = own.iter().copied().filter(|s| s.part == part).collect();
                let Some(first) = here.first() else { continue };
                still &= boxed(model, kernel, &here, deep(first))?.is_some_and(|(own, _)| own == extents);
            }
            if kernel.whole {
                // What the program has of its own never leaves; of the rest each part has boxes of
                // its own, which come before it and go after it.
                still = model.locals.iter().any(|l| l.name == *array);
            }
            if still && in_all_tiles(model, kernel, &own)? {
                groups.push(group(model, kernel, &own, None, outer)?);
                continue;
            }
        }
        for part in 0..kernel.parts.len() {
            let here: Vec<&Site> = own.iter().copied().filter(|s| s.part == part).collect();
            if here.is_empty() {
                continue;
            }
            let level = outer + kernel.parts[part].inner.len();
            let mut buffers: Vec<Vec<&Site>> = Vec::new();
            for site in &here {
                let Some((alone, _)) = boxed(model, kernel, &[site], level)? else {
                    return Ok(Err(array.clone()));
                };
                let mut found = false;
                for buffer in &mut buffers {
                    if buffer.iter().any(|other| other.access == site.access) {
                        buffer.push(site);
                        found = true;
                        break;
                    }
                    let before = boxed(model, kernel, buffer, level)?.map_or(i64::MAX, |(e, _)| volume(&e));
                    buffer.push(site);
                    let together = boxed(model, kernel, buffer, level)?.map_or(i64::MAX, |(e, _)| volume(&e));
                    if together <= before.saturating_add(volume(&alone)) {
                        found = true;
                        break;
                    }
                    buffer.pop();
                }
                if !found {
                    buffers.push(vec![site]);
                }
            }
            for buffer in buffers {
                // The outermost place from which on the inner loops do not move the box.
                let mut at = level;
                let extents = boxed(model, kernel, &buffer, level)?.map(|(e, _)| e);
                while at > outer && boxed(model, kernel, &buffer, at - 1)?.map(|(e, _)| e) == extents {
                    at -= 1;
                }
                if kernel.whole
                    && let Some((_, corner)) = boxed(model, kernel, &buffer, outer)?
                    && moves_with_tiles(kernel, &corner)
                {
                    at = outer;
                }
                groups.push(group(model, kernel, &buffer, Some(part), at)?);
            }
        }
    }
    Ok(Ok(groups))
}

/// The accesses of one array, as sets of which no two meet while the kernel runs: two planes of the
/// array, or a row and what is below it.
fn meeting<'a, 's>(
    model: &Model,
    kernel: &Kernel,
    sites: Vec<&'s Site<'a>>,
) -> Result<Vec<Vec<&'s Site<'a>>>> {
    let mut classes: Vec<(UnionMap, Vec<&Site>)> = Vec::new();
    for site in sites {
        let mut reached = boxes::reached(model, kernel, site)?;
        let mut own = Vec::new();
        let mut others = Vec::new();
        for (elements, members) in classes {
            let same = members.iter().any(|other| other.access == site.access);
            let apart = reached.intersect(&elements).and_then(|both| both.is_empty());
            if same || !apart.map_err(fault::library)? {
                reached = reached.union(&elements).map_err(fault::library)?;
                own.extend(members);
            } else {
                others.push((elements, members));
            }
        }
        own.push(site);
        others.push((reached, own));
        classes = others;
    }
    Ok(classes.into_iter().map(|(_, members)| members).collect())
}

/// Whether what is written goes out where it has been written: parts that write have instances in
/// all tiles of the kernel, if sizes are not 0. A part for the last step of a loop around has none
/// in the others. What is the program's own does not go out.
fn in_all_tiles(model: &Model, kernel: &Kernel, sites: &[&Site]) -> Result<bool> {
    let touched = |part: &usize| sites.iter().any(|s| s.part == *part);
    let own = sites.first().is_some_and(|s| model.locals.iter().any(|l| l.name == s.touch.array));
    if own || !sites.iter().any(|s| s.touch.write) || (0..kernel.parts.len()).all(|part| touched(&part)) {
        return Ok(true);
    }
    let tiles = |parts: &mut dyn Iterator<Item = usize>| -> Result<UnionSet> {
        let mut all = UnionSet::empty(&model.ctx).map_err(fault::library)?;
        for part in parts {
            let own = prefix(model, kernel, part, kernel.parallel.len())?;
            all = own.range().and_then(|own| all.union(&own)).map_err(fault::library)?;
        }
        Ok(all)
    };
    let (all, own) =
        (tiles(&mut (0..kernel.parts.len()))?, tiles(&mut (0..kernel.parts.len()).filter(touched))?);
    let sizes: Vec<String> = model.function.sizes.iter().map(|s| readable(s).to_string()).collect();
    let positive: Vec<String> = sizes.iter().map(|s| format!("{s} >= 1")).collect();
    let text = format!("[{}] -> {{ : {} }}", sizes.join(", "), positive.join(" and "));
    let covered = || -> isl::Result<bool> {
        let all = if sizes.is_empty() { all } else { all.intersect_params(&Set::read(&model.ctx, &text)?)? };
        all.is_subset(&own)
    };
    covered().map_err(fault::library)
}

/// Whether a box is another for each tile of the parallel loops.
pub(super) fn moves_with_tiles(kernel: &Kernel, corner: &[Corner]) -> bool {
    corner.iter().any(|c| c.dims.iter().any(|(depth, _)| *depth < kernel.parallel.len()))
}

pub(super) fn volume(extents: &[i64]) -> i64 {
    extents.iter().fold(1, |v: i64, e| v.saturating_mul(*e))
}

fn group(
    model: &Model,
    kernel: &Kernel,
    sites: &[&Site],
    part: Option<usize>,
    level: usize,
) -> Result<Group> {
    let array = sites[0].touch.array.clone();
    let Some((extents, corner)) = boxed(model, kernel, sites, level)? else {
        return Err(fault::edit(format!("`{array}` has no box")));
    };
    let mut accesses: Vec<(usize, Access)> = Vec::new();
    for site in sites {
        let access = (site.statement, site.access.clone());
        if !accesses.contains(&access) {
            accesses.push(access);
        }
    }
    let width = declared(model, &array).map_or(8, |(elem, _)| crate::locality::bytes(elem));
    let written = sites.iter().any(|s| s.touch.write);
    let ends = if kernel.ended { boxes::ends(model, kernel, sites)? } else { vec![None; extents.len()] };
    let mut group = Group {
        array,
        part,
        level,
        accesses,
        width,
        extents,
        corner,
        ends,
        get: true,
        put: written,
        shared: None,
        kept: false,
        exchanged: false,
    };
    // An array of the function's own that nothing but this buffer uses never leaves local memory.
    let own = model.locals.iter().any(|l| l.name == group.array);
    let elsewhere = model.statements.iter().enumerate().any(|(k, s)| {
        s.accesses.iter().any(|t| t.array == group.array) && !sites.iter().any(|site| site.statement == k)
    });
    let stays = own && !elsewhere && group.part.is_none();
    group.get = !written || !written_first(model, kernel, &group, sites)?;
    // Of what goes out the check of the text has to see that one tile writes it: no loop over tiles
    // is inside of where it is moved.
    let inner = |part: usize| kernel.parts[part].inner.len();
    let deepest = sites.iter().map(|s| kernel.parallel.len() + inner(s.part)).max();
    let seen = stays || deepest == Some(group.level);
    if written && group.get && seen && written_before(model, kernel, &group, sites)? {
        group.get = !stays && !written_whole(model, kernel, &group, sites)?;
    }
    if stays && !group.get {
        group.put = false;
    }
    Ok(group)
}

/// Whether the first thing that happens to a box is that one statement writes all of it.
fn written_first(model: &Model, kernel: &Kernel, group: &Group, sites: &[&Site]) -> Result<bool> {
    let Some(first) = sites.iter().map(|s| s.part).min() else { return Ok(false) };
    let here: Vec<&&Site> = sites.iter().filter(|s| s.part == first).collect();
    let [only] = here.as_slice() else { return Ok(false) };
    if !only.touch.write || kernel.parts[first].statements.len() != 1 {
        return Ok(false);
    }
    let Some(written) = touched(model, kernel, &[only], group.level)? else { return Ok(false) };
    // Not only of the tiles in which that statement runs: it may be under a condition.
    let Some(all) = touched(model, kernel, sites, group.level)? else { return Ok(false) };
    Ok(match box_map(model, kernel, group)? {
        Some(whole) => {
            let covers = || -> isl::Result<bool> {
                let tiles = all.domain()?;
                whole.intersect_domain(&tiles)?.is_subset(&written)
            };
            covers().map_err(fault::library)?
        }
        None => false,
    })
}

/// Whether each read of a box sees what its tile has written before. Such a write stays before the
/// read in whatever order the tile has.
fn written_before(model: &Model, kernel: &Kernel, group: &Group, sites: &[&Site]) -> Result<bool> {
    let depth = group.level;
    let tiles = |site: &Site| -> Result<UnionMap> { prefix(model, kernel, site.part, depth) };
    for read in sites.iter().filter(|s| !s.touch.write) {
        let target = &model.statements[read.statement];
        let mut left = read
            .touch
            .relation
            .intersect_params(&model.context)
            .and_then(|all| all.to_union())
            .map_err(fault::library)?;
        for write in sites.iter().filter(|s| s.touch.write) {
            let source = &model.statements[write.statement];
            let covered = || -> Result<UnionMap> {
                let back = tiles(write)?.reverse().map_err(fault::library)?;
                let same = tiles(read)?.apply_range(&back).map_err(fault::library)?;
                let own = || -> isl::Result<UnionMap> {
                    // From each read to writes of its tile that come before it, and from there to
                    // their elements.
                    let before = dependence::before(source, target)?.reverse()?.to_union()?;
                    let all = write.touch.relation.to_union()?;
                    same.intersect(&before)?.apply_range(&all)
                };
                own().map_err(fault::library)
            };
            left = left.subtract(&covered()?).map_err(fault::library)?;
        }
        if !left.is_empty().map_err(fault::library)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the statements that write to a box write all of it, in each tile that has the box.
fn written_whole(model: &Model, kernel: &Kernel, group: &Group, sites: &[&Site]) -> Result<bool> {
    let writes: Vec<&Site> = sites.iter().copied().filter(|s| s.touch.write).collect();
    let Some(written) = touched(model, kernel, &writes, group.level)? else { return Ok(false) };
    let Some(all) = touched(model, kernel, sites, group.level)? else { return Ok(false) };
    let Some(whole) = box_map(model, kernel, group)? else { return Ok(false) };
    let covers = || -> isl::Result<bool> { whole.intersect_domain(&all.domain()?)?.is_subset(&written) };
    covers().map_err(fault::library)
}
