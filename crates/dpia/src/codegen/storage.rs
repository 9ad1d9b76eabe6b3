//! Where local arrays are: on the stack of the thread that has them, or on the heap.

use loops::{ArrayDecl, Elem, Expr, LoopKind, Name, Size, Stmt, Storage};

use super::layout::Layout;

/// Local arrays up to this many bytes are on the stack.
const STACK_BYTES: i64 = 32 * 1024;

/// Up to this many bytes an array may be a tile that the compiler keeps in registers: three quarters of 32 registers of 64 bytes.
const TILE_BYTES: i64 = 24 * 64;

/// Declarations of the arrays of a layout.
pub(super) fn declarations(layout: &Layout) -> Vec<Stmt> {
    let arrays = layout.arrays();
    let declare = |(name, elem, dims): &(&Name, &Elem, &[Size])| {
        let bytes = dims.iter().try_fold(elem_bytes(elem), |bytes, n| bytes.checked_mul(n.as_constant()?));
        let storage = match bytes {
            Some(bytes) if bytes <= STACK_BYTES => Storage::Stack,
            _ => Storage::Heap,
        };
        let dims = dims.iter().map(Size::to_expr).collect();
        Stmt::Local(ArrayDecl { name: (*name).clone(), elem: (*elem).clone(), dims, storage })
    };
    arrays.iter().map(declare).collect()
}

fn elem_bytes(elem: &Elem) -> i64 {
    match elem {
        Elem::Scalar(s) => i64::try_from(s.bytes()).unwrap_or(8),
        Elem::Pair(a, b) => elem_bytes(a) + elem_bytes(b),
    }
}

/// What a thread has beside a tile goes to the heap, where a pointer that nothing overlaps leads to it: beside another array of the function
/// that gcc makes of a parallel loop, it keeps the sums of a tile in memory instead of registers.
pub(super) fn beside_tiles(stmt: &Stmt) -> Stmt {
    match stmt {
        Stmt::Loop(l) if l.kind == LoopKind::Parallel && has_tile(&l.body) => apart(stmt),
        _ => stmt.map(&mut Expr::clone, &mut |body| body.iter().map(beside_tiles).collect()),
    }
}

fn apart(stmt: &Stmt) -> Stmt {
    match stmt {
        Stmt::Local(local) if stack_bytes(local).is_some_and(|bytes| bytes > TILE_BYTES) => {
            Stmt::Local(ArrayDecl { storage: Storage::Heap, ..local.clone() })
        }
        _ => stmt.map(&mut Expr::clone, &mut |body| body.iter().map(apart).collect()),
    }
}

fn has_tile(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Local(local) => stack_bytes(local).is_some_and(|bytes| bytes <= TILE_BYTES),
        _ => stmt.bodies().into_iter().any(has_tile),
    })
}

/// Bytes of an array on the stack; scalars are none.
fn stack_bytes(local: &ArrayDecl) -> Option<i64> {
    if local.storage != Storage::Stack || local.dims.is_empty() {
        return None;
    }
    local.dims.iter().try_fold(elem_bytes(&local.elem), |bytes, dim| match dim {
        Expr::Int(n) => bytes.checked_mul(*n),
        _ => None,
    })
}
