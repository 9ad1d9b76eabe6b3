//! How much local memory is in use where the most is.

use isl::{Dim, Map, MultiPwAff, Set};
use loops::{BinaryOp, Code, Diagnostic, Elem, Expr};

use super::Kernels;
use super::elementwise::Local;
use crate::affine::Frame;
use crate::fault::{self, Result};
use crate::model::Statement;

/// Arrays begin at multiples of this, so that vectors are aligned.
const ALIGNMENT: i64 = 32;

/// Bytes where the most is in use, of one core.
pub(super) fn check(kernels: &Kernels<'_>, capacity: i64) -> Result<i64> {
    let locals = &kernels.program.locals;
    let mut bytes = Vec::new();
    for local in locals {
        bytes.push(size(kernels, local)?);
    }
    let mut most = 0;
    for (k, local) in locals.iter().enumerate() {
        let all = local.outer.iter().fold(bytes[k], |sum, outer| sum.saturating_add(bytes[*outer]));
        if all > capacity {
            let mut names: Vec<String> = local
                .outer
                .iter()
                .chain([&k])
                .map(|i| format!("`{}` {}", locals[*i].told, bytes[*i]))
                .collect();
            names.dedup();
            let message =
                format!("local memory of {capacity} bytes does not hold {all}: {}", names.join(", "));
            return Err(Diagnostic::general(Code("P0711"), message).help("smaller tiles need less of it"));
        }
        most = most.max(all);
    }
    Ok(most)
}

fn element_bytes(elem: &Elem) -> i64 {
    match elem {
        Elem::Scalar(scalar) => scalar.bytes() as i64,
        Elem::Pair(first, second) => element_bytes(first) + element_bytes(second),
    }
}

/// The most that an array takes, over all instances of its declaration and all sizes.
fn size(kernels: &Kernels<'_>, local: &Local) -> Result<i64> {
    let (begin, _) = kernels
        .statements()
        .find(|(s, _)| s.label == local.begin)
        .ok_or_else(|| fault::outside("a local array", "it has no place"))?;
    let mut bytes = element_bytes(&local.elem);
    for dim in &local.dims {
        let Some(most) = greatest(kernels, begin, dim)? else {
            let message = format!("nothing bounds the extent `{dim}` of the local array `{}`", local.told);
            return Err(Diagnostic::general(Code("P0711"), message)
                .help("an extent in local memory needs a constant bound, as in `min(32, n)`"));
        };
        bytes = bytes.saturating_mul(most.max(0));
    }
    Ok(bytes.saturating_add(ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)
}

/// The greatest value of an expression over the instances of a statement, for all sizes; none if
/// there is no bound.
fn greatest(kernels: &Kernels<'_>, statement: &Statement, expr: &Expr) -> Result<Option<i64>> {
    match expr {
        Expr::Int(n) => return Ok(Some(*n)),
        // A constant bound is there to be seen.
        Expr::Binary(BinaryOp::Min, a, b) => {
            let constant = |e: &Expr| matches!(e, Expr::Int(_));
            if constant(a) || constant(b) {
                let (a, b) = (greatest(kernels, statement, a)?, greatest(kernels, statement, b)?);
                return Ok(a.into_iter().chain(b).min());
            }
        }
        _ => {}
    }
    let frame = || -> isl::Result<Frame> {
        let mut frame = Frame::new(&kernels.model.context.space()?, &kernels.model.function.sizes)?;
        for around in &statement.loops {
            frame = frame.inside(&around.var)?;
        }
        Ok(frame)
    };
    let frame = frame().map_err(fault::library)?;
    let function = frame.function("an extent", expr)?;
    let values = || -> isl::Result<Option<i64>> {
        let from = frame.space();
        let to = from.params()?.set_from_params()?.add_dims(Dim::SET, 1)?;
        let map = Map::from_multi_pw_aff(&MultiPwAff::from_list(&from.map_to(&to)?, &[function])?)?;
        let map = map.set_tuple_name(Dim::In, &statement.tuple)?;
        let values = statement.domain.intersect_params(&kernels.context)?.apply(&map)?;
        let params = values.dim(Dim::Param)?;
        // For all sizes at once: they are projected away.
        let values: Set = values.project_out(Dim::Param, 0, params)?;
        if values.is_empty()? {
            return Ok(Some(0));
        }
        // From below it may have no bound: an array of fewer elements than none.
        let values = values.lower_bound(Dim::SET, 0, 0)?;
        if values.is_empty()? {
            return Ok(Some(0));
        }
        if !values.is_bounded()? {
            return Ok(None);
        }
        Ok(values.lexmax()?.sample_point()?.coordinate(Dim::SET, 0)?.to_string().parse().ok())
    };
    values().map_err(fault::library)
}
