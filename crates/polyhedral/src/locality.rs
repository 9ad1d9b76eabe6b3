//! Which loop runs along memory, and how large tiles may be: a small model of caches.
//!
//! Left out: conflicts between arrays, TLBs, and everything that would need a run.

use std::collections::BTreeMap;

use isl::{Dim, UnionPwAff};
use loops::poly::linear;
use loops::{Elem, Expr, Name, Stmt};

use crate::fault::{self, Result};
use crate::model::{Model, Statement};
use crate::tree::{Band, Member};

/// Sizes of the machine's caches in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Caches {
    /// First level, data, of one core.
    pub l1: i64,
    /// Second level, of one core.
    pub l2: i64,
}

impl Default for Caches {
    fn default() -> Caches {
        Caches { l1: 48 << 10, l2: 2 << 20 }
    }
}

/// What a member of a band is for a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Drive {
    /// It stands still.
    Nothing,
    /// It runs over this iterator with factor 1, plus a constant.
    Iterator(usize),
    /// It is another function.
    Other,
}

fn drives(model: &Model, member: &Member) -> Result<BTreeMap<String, Drive>> {
    let read = || -> isl::Result<BTreeMap<String, Drive>> {
        let mut found = BTreeMap::new();
        for function in UnionPwAff::read(&model.ctx, member.function.as_str())?.pw_affs()? {
            let Some(tuple) = function.domain_space()?.tuple_name(Dim::SET)? else { continue };
            found.insert(tuple.clone(), Drive::Other);
            let pieces = function.pieces()?;
            let [(_, aff)] = pieces.as_slice() else { continue };
            if aff.dim(Dim::Div)? > 0 {
                continue;
            }
            let mut drive = Drive::Nothing;
            for k in 0..aff.dim(Dim::In)? {
                let coefficient = aff.coefficient(Dim::In, k)?;
                if !coefficient.is_zero()? {
                    let alone = drive == Drive::Nothing && coefficient.to_i64().is_ok_and(|c| c == 1);
                    drive = if alone { Drive::Iterator(k) } else { Drive::Other };
                }
            }
            found.insert(tuple, drive);
        }
        Ok(found)
    };
    read().map_err(fault::library)
}

/// The tuples of the statements that a member is a function of.
pub(crate) fn tuples(model: &Model, member: &Member) -> Result<Vec<String>> {
    Ok(drives(model, member)?.into_keys().collect())
}

/// For each statement (by tuple) the iterator that a member runs over, where it is one iterator
/// with factor 1 (plus a constant).
pub(crate) fn driven(model: &Model, member: &Member) -> Result<BTreeMap<String, usize>> {
    let iterator = |(tuple, drive)| match drive {
        Drive::Iterator(k) => Some((tuple, k)),
        _ => None,
    };
    Ok(drives(model, member)?.into_iter().filter_map(iterator).collect())
}

/// How an access moves when one iterator advances by one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stride {
    /// Not at all.
    Zero,
    /// To the next element.
    One,
    /// By a constant number of elements in the same row, up or down.
    Few,
    /// Further, or it is not known.
    Far,
}

/// The stride of an access along an iterator.
pub(crate) fn stride(indices: &[Expr], iterator: &Name) -> Stride {
    let Some((last, outer)) = indices.split_last() else { return Stride::Zero };
    if outer.iter().any(|e| e.mentions(iterator)) {
        return Stride::Far;
    }
    match last.mentions(iterator) {
        false => Stride::Zero,
        true if last.advances_with(iterator) || clamped(last, iterator) => Stride::One,
        true if linear::<i128>(last).is_some() => Stride::Few,
        true => Stride::Far,
    }
}

/// Whether an index expression is the iterator plus something without it, but for an end of the
/// loop where it is something else (`i > 0 ? i - 1 : 0`).
fn clamped(expr: &Expr, iterator: &Name) -> bool {
    use loops::BinaryOp::{Max, Min};
    match expr {
        Expr::Select(_, a, b) | Expr::Binary(Min | Max, a, b) => {
            let still = |e: &Expr| !e.mentions(iterator);
            let along = |e: &Expr| e.advances_with(iterator) || clamped(e, iterator);
            (along(a) && (still(b) || along(b))) || (still(a) && along(b))
        }
        _ => false,
    }
}

/// The subscripts of all accesses of a statement: its target and what it loads.
pub(crate) fn subscripts(statement: &Statement) -> Vec<(&Name, &[Expr])> {
    let mut all = vec![(&statement.assign.target.array, statement.assign.target.indices.as_slice())];
    for access in statement.assign.value.loads() {
        all.push((&access.array, access.indices.as_slice()));
    }
    all
}

/// How many loops of a statement an element needs: the subscripts of what it touches, and the loops
/// around its declaration.
pub(crate) fn rank(model: &Model, statement: &Statement) -> usize {
    let declared = |array: &Name| model.scopes.get(array).map_or(0, Vec::len);
    let own = |(array, indices): (&Name, &[Expr])| indices.len() + declared(array);
    subscripts(statement).into_iter().map(own).max().unwrap_or(0)
}

/// The score of a loop around a nest.
const NEST: i64 = -100;

/// How well a member would do as the innermost loop: along memory is good, across it is bad.
pub(crate) fn vector_score(model: &Model, member: &Member) -> Result<i64> {
    let mut score = 0;
    for (tuple, position) in driven(model, member)? {
        let Some(statement) = model.by_tuple(&tuple) else { continue };
        // What data ends is no vector's.
        if statement.nest.is_some() {
            return Ok(NEST);
        }
        let iterator = &statement.loops[position].var;
        let accesses = subscripts(statement);
        // A loop along which nothing moves to the next element gains nothing.
        if accesses.iter().all(|(_, indices)| stride(indices, iterator) != Stride::One) {
            continue;
        }
        // A store that is strided cannot be a vector's; a load that does not move is one broadcast.
        for (k, (_, indices)) in accesses.into_iter().enumerate() {
            let weight = if k == 0 { 2 } else { 1 };
            score += weight
                * match stride(indices, iterator) {
                    Stride::One => 3,
                    Stride::Zero => 1,
                    Stride::Few => 0,
                    Stride::Far => -4,
                };
        }
    }
    Ok(score)
}

/// Whether tiles of a band can keep data in a cache that the untiled loops would lose: an element,
/// or one of the same array beside it, is touched again, or whatever loop is innermost goes across
/// the memory of some array.
pub(crate) fn reuses(model: &Model, band: &Band) -> Result<bool> {
    let drives = band.members.iter().map(|m| drives(model, m)).collect::<Result<Vec<_>>>()?;
    let mut seen: BTreeMap<&Name, &[Expr]> = BTreeMap::new();
    let mut along = vec![true; drives.len()];
    for statement in &model.statements {
        let own: Vec<Drive> =
            drives.iter().filter_map(|drive| drive.get(&statement.tuple).copied()).collect();
        // What stands still in some loop of the band is not run again by it.
        if own.is_empty() || own.contains(&Drive::Nothing) {
            continue;
        }
        for (array, indices) in subscripts(statement) {
            if indices.is_empty() {
                continue;
            }
            for (along, drive) in along.iter_mut().zip(&own) {
                let Drive::Iterator(k) = drive else { return Ok(true) };
                let iterator = &statement.loops[*k].var;
                if indices.iter().all(|e| !e.mentions(iterator)) {
                    return Ok(true);
                }
                *along &= stride(indices, iterator) == Stride::One;
            }
            if seen.insert(array, indices).is_some_and(|before| before != indices) {
                return Ok(true);
            }
        }
    }
    // The first member may be the parallel loop, which stays outermost.
    Ok(!along.iter().skip(1).any(|along| *along))
}

pub(crate) fn bytes(elem: &Elem) -> i64 {
    match elem {
        Elem::Scalar(scalar) => scalar.bytes() as i64,
        Elem::Pair(a, b) => bytes(a) + bytes(b),
    }
}

/// Whether the statements of a loop begin or end at different values of it: their functions have
/// different constants, or one is in more loops than another.
pub(crate) fn shifted(model: &Model, member: &Member) -> Result<bool> {
    let read = || -> isl::Result<Vec<(i64, usize)>> {
        let mut found = Vec::new();
        for function in UnionPwAff::read(&model.ctx, member.function.as_str())?.pw_affs()? {
            let loops = function.domain_space()?.dim(Dim::SET)?;
            for (_, aff) in function.pieces()? {
                found.push((aff.constant()?.to_i64().unwrap_or(0), loops));
            }
        }
        Ok(found)
    };
    let found = read().map_err(fault::library)?;
    Ok(found.windows(2).any(|pair| pair[0] != pair[1]))
}

/// How much longer tiles are along memory than in other directions: memory is fetched in runs.
const ALONG: i64 = 4;

/// Tiles of two loops that only stream are this long along memory: long enough to be fetched ahead,
/// short enough that there are several.
const STREAM: i64 = 2048;

/// The same where the loop along memory is the parallel one, and rows that a tile has where it is
/// not: there should be tiles for many threads.
const SHARE: i64 = 1024;
const ROWS: i64 = 32;

/// Tiles of loops that touch each element once, some along memory and some across it (a
/// transposition of a matrix): so many iterations along memory, of which each is in a line of its
/// own elsewhere, and so many in the other direction, which comes back to these lines. Measured on
/// matrices of 150 to 2,595 rows of 1, 2, 4 and 8 bytes: 32 is the best or near it for all, and
/// larger tiles lose lines.
const TURNED: i64 = 32;
const ACROSS: i64 = 256;

/// Whether every access of a band's statements goes along memory with this member, or stands still.
pub(crate) fn streams(model: &Model, member: &Member) -> Result<bool> {
    for (tuple, position) in driven(model, member)? {
        let Some(statement) = model.by_tuple(&tuple) else { continue };
        let iterator = &statement.loops[position].var;
        if subscripts(statement).iter().any(|(_, indices)| stride(indices, iterator) == Stride::Far) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Elements of fewer bytes than this are loaded one by one where they do not lie side by side: no
/// processor has an instruction that gathers them.
const GATHERED: i64 = 4;

/// Whether lanes of a member would load small elements from places that do not lie side by side.
/// Such a loop is slower with vectors than without: a table of 256 bytes takes 1.6 times as long.
pub(crate) fn gathers_small(model: &Model, member: &Member) -> Result<bool> {
    for (tuple, position) in driven(model, member)? {
        let Some(statement) = model.by_tuple(&tuple) else { continue };
        let iterator = &statement.loops[position].var;
        let far = |access: &loops::Access| stride(&access.indices, iterator) == Stride::Far;
        let small = |array: &Name| element_bytes(model, array).is_some_and(|bytes| bytes < GATHERED);
        if statement.assign.value.loads().any(|access| far(access) && small(&access.array)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Bytes of an element of an array.
pub(crate) fn element_bytes(model: &Model, array: &Name) -> Option<i64> {
    let param = || model.function.params.iter().find(|p| p.name == *array).map(|p| bytes(&p.elem));
    param().or_else(|| model.locals.iter().find(|l| l.name == *array).map(|l| bytes(&l.elem)))
}

/// Whether a member goes across the memory of an array that another loop of the statement goes
/// along.
pub(crate) fn across(model: &Model, member: &Member) -> Result<bool> {
    for (tuple, position) in driven(model, member)? {
        let Some(statement) = model.by_tuple(&tuple) else { continue };
        let along = |indices: &[Expr], k: usize| {
            matches!(stride(indices, &statement.loops[k].var), Stride::One | Stride::Few)
        };
        let far = |indices: &[Expr]| stride(indices, &statement.loops[position].var) == Stride::Far;
        let others = 0..statement.loops.len();
        if subscripts(statement).iter().any(|(_, at)| far(at) && others.clone().any(|k| along(at, k))) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A sum whose loop goes across the memory of an array that another loop around it goes along.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Across {
    /// The loop.
    pub var: Name,
    /// The array.
    pub array: Name,
    /// Whether the sum is made in a scalar.
    pub scalar: bool,
}

/// The first such sum of some statements.
pub fn sum_across(body: &[Stmt]) -> Option<Across> {
    fn block<'a>(body: &'a [Stmt], around: &mut Vec<&'a Name>) -> Option<Across> {
        body.iter().find_map(|stmt| match stmt {
            Stmt::Loop(l) => {
                around.push(&l.var);
                let found = block(&l.body, around);
                around.pop();
                found
            }
            Stmt::Assign(a) if a.update.is_some() => {
                let (innermost, outer) = around.split_last()?;
                let mut found = None;
                for e in a.value.nodes() {
                    if let Expr::Load(access) = e {
                        let stride = |var: &Name| stride(&access.indices, var);
                        if stride(innermost) == Stride::Far && outer.iter().any(|v| stride(v) == Stride::One)
                        {
                            found = Some(access.array.clone());
                        }
                    }
                }
                let scalar = a.target.indices.is_empty();
                let sum = !a.target.indices.iter().any(|e| e.mentions(innermost));
                found.filter(|_| sum).map(|array| Across { var: (*innermost).clone(), array, scalar })
            }
            other => other.bodies().into_iter().find_map(|body| block(body, around)),
        })
    }
    block(body, &mut Vec::new())
}

/// Tile sizes for the members of a band such that what a tile touches fits in half of `capacity`;
/// longer along memory where the band is innermost.
pub(crate) fn tile_sizes(model: &Model, band: &Band, capacity: i64, innermost: bool) -> Result<Vec<i64>> {
    let n = band.members.len();
    let drives = band.members.iter().map(|m| driven(model, m)).collect::<Result<Vec<_>>>()?;
    // Which members move each access.
    let mut footprints: Vec<(i64, Vec<bool>)> = Vec::new();
    for statement in &model.statements {
        for (array, indices) in subscripts(statement) {
            let width = element_bytes(model, array);
            let moved: Vec<bool> = drives
                .iter()
                .map(|drive| {
                    drive.get(&statement.tuple).is_some_and(|k| {
                        let iterator = &statement.loops[*k].var;
                        indices.iter().any(|e| e.mentions(iterator))
                    })
                })
                .collect();
            let footprint = (width.unwrap_or(8), moved);
            if !footprints.contains(&footprint) {
                footprints.push(footprint);
            }
        }
    }
    let touched = |sizes: &[i64]| -> i64 {
        footprints
            .iter()
            .map(|(width, moved)| {
                moved
                    .iter()
                    .zip(sizes)
                    .filter(|(m, _)| **m)
                    .fold(*width, |area, (_, s)| area.saturating_mul(*s))
            })
            .fold(0, i64::saturating_add)
    };
    let mut along = None;
    for (k, member) in band.members.iter().enumerate() {
        let score = vector_score(model, member)?;
        if innermost && score > 0 && member.coincident && along.is_none_or(|(best, _)| score >= best) {
            along = Some((score, k));
        }
    }
    if let Some((_, k)) = along
        && n == 2
        && streams(model, &band.members[k])?
    {
        return Ok((0..n)
            .map(|member| match (member == k, member) {
                (true, 0) => SHARE,
                (true, _) => STREAM,
                (false, 0) => ROWS,
                (false, _) => 256,
            })
            .collect());
    }
    if let Some((_, k)) = along
        && footprints.iter().all(|(_, moved)| moved.iter().all(|m| *m) || moved.iter().all(|m| !*m))
        && across(model, &band.members[k])?
    {
        return Ok((0..n).map(|member| if member == k { TURNED } else { ACROSS }).collect());
    }
    let sizes = |size: i64| -> Vec<i64> {
        (0..n).map(|k| if along.is_some_and(|(_, a)| a == k) { ALONG * size } else { size }).collect()
    };
    let mut size = 256;
    while size > 8 && touched(&sizes(size)) > capacity / 2 {
        size -= if size > 64 { 32 } else { 8 };
    }
    Ok(sizes(size))
}
