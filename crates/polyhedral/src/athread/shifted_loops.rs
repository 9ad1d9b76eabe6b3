//! Loops whose first iteration moves with a loop around the kernel: `for i in k + 1..n` in step `k`
//! of a factorisation.
//!
//! Left out are kernels that move boxes in loops inside of a tile (a factorisation whose division
//! and update are one kernel): there a box that stays is beside others of its array that come and
//! go, and the check of the text does not see that they are apart where their distance grows with
//! the loop.
//!
//! Tiles are `floor(i / size)`, so that the first one holds rows before `k + 1`, which others use
//! in this step. Counted from the first iteration on, tiles begin with it, and their boxes meet
//! neither row nor column `k`.

use isl::{UnionMap, UnionPwAff};

use super::boxes::Corner;
use super::host_split::{self, Kernel};
use crate::fault::{self, Result};
use crate::model::Model;
use crate::tree::{FunctionText, Member, SetText};

/// The kernel with parallel loops that begin at 0 in each iteration of the loops around it; none
/// where they do not move with these.
pub(super) fn from_first(model: &Model, kernel: &Kernel) -> Result<Option<Kernel>> {
    let [part] = kernel.parts.as_slice() else { return Ok(None) };
    if kernel.outer.is_empty() || !part.inner.is_empty() {
        return Ok(None);
    }
    let mut kernel = kernel.clone();
    let any = moved(model, &kernel.outer, &kernel.filter, &mut kernel.parallel)?;
    Ok(any.then_some(kernel))
}

/// Lets loops begin at 0; whether any of them began elsewhere.
fn moved(model: &Model, outer: &[Member], filter: &SetText, members: &mut [Member]) -> Result<bool> {
    let filter = host_split::read(model, filter)?;
    let domain = model.domain()?.intersect(&filter).and_then(|d| d.intersect_params(&model.context));
    let domain = domain.map_err(fault::library)?;
    let outer = outer.iter().map(|member| {
        let own = host_split::function(model, member)?.intersect_domain(&domain);
        own.map_err(fault::library)
    });
    let outer: Vec<UnionPwAff> = outer.collect::<Result<_>>()?;
    let mut around: Option<UnionMap> = None;
    for own in &outer {
        let own = || -> isl::Result<UnionMap> {
            let graph = own.graph()?;
            around.as_ref().map_or(Ok(graph.clone()), |before| before.flat_range_product(&graph))
        };
        around = Some(own().map_err(fault::library)?);
    }
    let Some(around) = around else { return Ok(false) };
    let mut moved = false;
    for member in members {
        let function = host_split::function(model, member)?;
        let first = || -> isl::Result<Option<Corner>> {
            let values = around.reverse()?.apply_range(&function.intersect_domain(&domain)?.graph()?)?;
            let values = values.maps()?;
            let [values] = values.as_slice() else { return Ok(None) };
            let first = values.coalesce()?.min_multi_pw_aff()?.pw_affs()?;
            let [first] = first.as_slice() else { return Ok(None) };
            match first.coalesce()?.pieces()?.as_slice() {
                [(_, aff)] => Corner::of(model, aff),
                _ => Ok(None),
            }
        };
        let first = first().map_err(fault::library)?;
        let Some(first) = first.filter(|first| first.sizes.is_empty() && !first.dims.is_empty()) else {
            continue;
        };
        let shifted = || -> isl::Result<UnionPwAff> {
            let value = isl::Val::int(&model.ctx, first.constant)?;
            let mut own = function.sub(&function.domain()?.constant_function(&value)?)?;
            for (depth, factor) in &first.dims {
                if let Some(around) = outer.get(*depth) {
                    own = own.sub(&around.scale(*factor)?)?;
                }
            }
            own.coalesce()
        };
        member.function = FunctionText::new(shifted().map_err(fault::library)?.to_string());
        moved = true;
    }
    Ok(moved)
}
