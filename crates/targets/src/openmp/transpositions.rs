//! Four by four numbers that are written across the way they are read: tiles whose lanes are
//! elements of different rows of the result.
//!
//! Compilers copy such a block number by number, in loops (gcc 12) or with inserts. Here four
//! vectors are read, eight shuffles turn them, and four vectors are written.

use loops::{Access, Assign, BinaryOp, Diagnostic, Elem, Expr, Loop, LoopKind, Name, Scalar, Stmt};

use crate::c::{CExpr, CStmt};
use crate::openmp::helpers::Helper;
use crate::openmp::loop_form::trips;
use crate::openmp::lower::Lower;
use crate::openmp::scope::Form;
use crate::openmp::types::elem_bytes;

/// Rows and columns of a block.
const SIDE: i64 = 4;

/// A block: what is written, in vectors along the inner loop, and what is read, in vectors along
/// the outer one.
#[derive(Clone, Copy)]
pub(crate) struct Transposition<'l> {
    inner: &'l Loop,
    to: &'l Access,
    from: &'l Access,
    scalar: Scalar,
}

impl Lower<'_> {
    /// The block that a loop which is to be unrolled copies, if it does nothing else.
    pub(crate) fn transposition<'l>(&self, l: &'l Loop) -> Option<Transposition<'l>> {
        let [Stmt::Loop(inner)] = l.body.as_slice() else { return None };
        let [Stmt::Assign(Assign { target, update: None, value: Expr::Load(from), .. })] =
            inner.body.as_slice()
        else {
            return None;
        };
        let whole = |l: &Loop| {
            trips(l) == Some(SIDE) && l.lower == Expr::Int(0) && l.step.max(1) == 1 && l.reductions.is_empty()
        };
        let kinds = matches!(l.kind, LoopKind::Unroll(_)) && inner.kind == LoopKind::Vector;
        let Elem::Scalar(scalar @ (Scalar::F32 | Scalar::F64)) = self.array(&target.array).ok()?.elem else {
            return None;
        };
        let plain = |access: &Access| access.indices.iter().all(|e| !e.has_loads());
        let along = |access: &Access, by: &Loop, other: &Loop| {
            let beside = self.adjacent(access, &by.var, scalar) || self.in_rows(access, &by.var);
            beside && access.indices.iter().any(|e| e.mentions(&other.var))
        };
        let fits = kinds
            && !self.paper()
            && (!self.native || self.is_block(target))
            && (self.native || scalar == Scalar::F32)
            && !self.in_simd
            && whole(l)
            && whole(inner)
            && target.array != from.array
            && plain(target)
            && plain(from)
            && along(target, inner, l)
            && along(from, l, inner);
        fits.then_some(Transposition { inner, to: target, from, scalar })
    }

    /// Whether an access is to a small array of our own, which holds one block.
    fn is_block(&self, access: &Access) -> bool {
        self.array(&access.array)
            .is_ok_and(|array| array.stack && array.dims.iter().all(|dim| *dim == CExpr::int(SIDE)))
    }

    /// Whether neighbouring values of `var` are elements side by side of rows that follow each
    /// other in memory: the last two subscripts are the quotient and the remainder of a place by
    /// the length of a row.
    fn in_rows(&self, access: &Access, var: &Name) -> bool {
        let Ok(array) = self.array(&access.array) else { return false };
        let [before @ .., row, Expr::Binary(rest, place, length)] = access.indices.as_slice() else {
            return false;
        };
        let (Expr::Int(n), Some(dim)) = (&**length, array.dims.last()) else { return false };
        let quotient = match rest {
            BinaryOp::Mod => BinaryOp::FloorDiv,
            BinaryOp::Rem => BinaryOp::Div,
            _ => return false,
        };
        let quotient = Expr::Binary(quotient, place.clone(), length.clone());
        array.elem == Elem::Scalar(Scalar::F32)
            && array.members.iter().all(|(after, _)| *after == 0)
            && array.form == Form::Linear
            && access.path.is_empty()
            && *dim == CExpr::int(*n)
            && *row == quotient
            && before.iter().all(|e| !e.mentions(var))
            && place.advances_with(var)
    }

    /// The call that copies a block.
    pub(crate) fn transposition_call(
        &mut self,
        l: &Loop,
        block: Transposition<'_>,
    ) -> Result<Vec<CStmt>, Diagnostic> {
        let mut args = Vec::new();
        for (access, across) in [(block.from, &block.inner.var), (block.to, &l.var)] {
            for k in 0..SIDE {
                let first = access.map_indices(&mut |e| {
                    e.substitute(&|name| match name {
                        name if name == across => Some(Expr::Int(k)),
                        name if *name == l.var || *name == block.inner.var => Some(Expr::Int(0)),
                        _ => None,
                    })
                });
                args.push(CExpr::unary("&", self.access(&first)?.0));
            }
        }
        if !self.native {
            let call = self.helper(Helper::Transpose, "lozenge_transpose_f32", args);
            return Ok(vec![CStmt::Expr(call)]);
        }
        let bytes = i64::try_from(elem_bytes(&Elem::Scalar(block.scalar))).unwrap_or(SIDE);
        let ty = CExpr::literal(self.scalar_type(block.scalar));
        args.splice(..0, [ty, CExpr::int(bytes)]);
        let call = self.helper(Helper::NativeTranspose, "LOZENGE_TRANSPOSE", args);
        Ok(vec![CStmt::Expr(call)])
    }
}

/// The function that copies a block.
pub(crate) const FUNCTION: &str = "\
/* Four numbers of each of the rows a, b, c, d become the columns of p, q, r, s. */
static inline void lozenge_transpose_f32(const float *a, const float *b, const float *c, const float *d, float *p, float *q, float *r, float *s) {
#if defined(__GNUC__)
    typedef float four __attribute__((vector_size(16), aligned(4), may_alias));
#if defined(__clang__) || __GNUC__ >= 12
#define LOZENGE_TURN(x, y, i, j, k, l) __builtin_shufflevector(x, y, i, j, k, l)
#else
    typedef int places __attribute__((vector_size(16)));
#define LOZENGE_TURN(x, y, i, j, k, l) __builtin_shuffle(x, y, (places){i, j, k, l})
#endif
    four w = *(const four *)a, x = *(const four *)b, y = *(const four *)c, z = *(const four *)d;
    four low = LOZENGE_TURN(w, x, 0, 4, 1, 5), high = LOZENGE_TURN(w, x, 2, 6, 3, 7);
    four low_2 = LOZENGE_TURN(y, z, 0, 4, 1, 5), high_2 = LOZENGE_TURN(y, z, 2, 6, 3, 7);
    *(four *)p = LOZENGE_TURN(low, low_2, 0, 1, 4, 5);
    *(four *)q = LOZENGE_TURN(low, low_2, 2, 3, 6, 7);
    *(four *)r = LOZENGE_TURN(high, high_2, 0, 1, 4, 5);
    *(four *)s = LOZENGE_TURN(high, high_2, 2, 3, 6, 7);
#undef LOZENGE_TURN
#else
    for (int k = 0; k < 4; k++) {
        const float *row = k == 0 ? a : k == 1 ? b : k == 2 ? c : d;
        p[k] = row[0];
        q[k] = row[1];
        r[k] = row[2];
        s[k] = row[3];
    }
#endif
}
";

/// The same as a macro, for numbers of a type with so many bytes: the C of a region has no place
/// for functions.
pub(crate) const MACRO: &str = "\
#define LOZENGE_TRANSPOSE(type, bytes, a, b, c, d, p, q, r, s) \\
    for (int lozenge_k = 0; lozenge_k < 4; lozenge_k++) { \\
        const type *lozenge_row = lozenge_k == 0 ? a : lozenge_k == 1 ? b : lozenge_k == 2 ? c : d; \\
        (p)[lozenge_k] = lozenge_row[0], (q)[lozenge_k] = lozenge_row[1]; \\
        (r)[lozenge_k] = lozenge_row[2], (s)[lozenge_k] = lozenge_row[3]; \\
    }
#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)
#undef LOZENGE_TRANSPOSE
#define LOZENGE_TURN(x, y, i, j, k, l) __builtin_shufflevector(lozenge_##x, lozenge_##y, i, j, k, l)
#define LOZENGE_TRANSPOSE(type, bytes, a, b, c, d, p, q, r, s) { \\
    typedef type lozenge_four __attribute__((vector_size(4 * bytes), aligned(bytes), may_alias)); \\
    lozenge_four lozenge_w = *(const lozenge_four *)(a), lozenge_x = *(const lozenge_four *)(b); \\
    lozenge_four lozenge_y = *(const lozenge_four *)(c), lozenge_z = *(const lozenge_four *)(d); \\
    lozenge_four lozenge_wx = LOZENGE_TURN(w, x, 0, 4, 2, 6), lozenge_xw = LOZENGE_TURN(w, x, 1, 5, 3, 7); \\
    lozenge_four lozenge_yz = LOZENGE_TURN(y, z, 0, 4, 2, 6), lozenge_zy = LOZENGE_TURN(y, z, 1, 5, 3, 7); \\
    *(lozenge_four *)(p) = LOZENGE_TURN(wx, yz, 0, 1, 4, 5); \\
    *(lozenge_four *)(q) = LOZENGE_TURN(xw, zy, 0, 1, 4, 5); \\
    *(lozenge_four *)(r) = LOZENGE_TURN(wx, yz, 2, 3, 6, 7); \\
    *(lozenge_four *)(s) = LOZENGE_TURN(xw, zy, 2, 3, 6, 7); \\
}
#endif";
