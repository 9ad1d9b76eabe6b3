//! Operations on data in C, and the functions that they call, for other targets: one definition of
//! the arithmetic for all generated code.

use std::collections::BTreeSet;

use loops::{BinaryOp, Diagnostic, Expr, Scalar, UnaryOp};

use crate::c::CExpr;
use crate::openmp::Options;
use crate::openmp::function::start;
use crate::openmp::helpers::{self, Helper};
use crate::openmp::lower::Lower;

/// What the printer of readable code makes of something.
fn readable<T>(make: impl FnOnce(&mut Lower<'_>) -> T) -> T {
    let options = Options::default();
    make(&mut start(&[], &options))
}

/// A number.
///
/// # Errors
/// If it is none.
pub(crate) fn literal(e: &Expr) -> Result<CExpr, Diagnostic> {
    readable(|lower| {
        // Without macros of `math.h`.
        lower.native = true;
        lower.index(e)
    })
}

/// An operation on a value of this type.
pub(crate) fn unary(op: UnaryOp, a: CExpr, ty: Scalar) -> CExpr {
    readable(|lower| lower.unary(op, a, ty, ty.is_int()))
}

/// An operation on values of this type.
pub(crate) fn binary(op: BinaryOp, a: CExpr, b: CExpr, ty: Scalar) -> CExpr {
    readable(|lower| {
        let kind = lower.of_data(ty);
        lower.binary(op, a, b, ty, kind)
    })
}

/// A conversion.
pub(crate) fn cast(to: Scalar, from: Scalar, value: CExpr) -> CExpr {
    readable(|lower| lower.cast(to, from, value, false))
}

/// The macros of operations on indices.
pub(crate) fn macros() -> String {
    let all = [Helper::NativeMin, Helper::NativeMax, Helper::NativeFloorDiv, Helper::NativeMod];
    all.map(|helper| format!("{}\n", helper.text())).concat()
}

/// The definitions of the functions that a text calls.
pub(crate) fn definitions(text: &str) -> String {
    let called = |helper: &Helper| {
        helper.function().is_some_and(|name| {
            text.match_indices(name).any(|(at, _)| text[at + name.len()..].starts_with('('))
        })
    };
    let used: BTreeSet<Helper> = Helper::OF_DATA.into_iter().filter(called).collect();
    helpers::text(&used)
}
