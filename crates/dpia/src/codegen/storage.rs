//! Where local arrays are stored: on the stack of the thread that uses them, or on the heap.

use std::collections::BTreeSet;

use loops::access::{AccessSite, Context, accesses};
use loops::{ArrayDecl, Elem, Expr, LoopKind, Name, Size, Stmt, Storage};

use super::layout::Layout;

/// Local arrays up to this many bytes are on the stack.
const STACK_BYTES: i64 = 32 * 1024;

/// An array of at most this many bytes may be a tile that the compiler keeps in registers: three
/// quarters of 32 registers of 64 bytes.
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

/// Other data of a thread that has a tile goes to the heap, where a pointer that nothing overlaps
/// leads to it. Next to another array of the function that gcc makes of a parallel loop, gcc would
/// keep the sums of a tile in memory instead of registers.
pub(super) fn beside_tiles(stmt: &Stmt) -> Stmt {
    match stmt {
        Stmt::Loop(l) if l.kind == LoopKind::Parallel => {
            let mut walked = BTreeSet::new();
            for site in accesses(&l.body) {
                if !site.access.indices.iter().all(|index| is_fixed(index, &site)) {
                    walked.insert(&site.access.array);
                }
            }
            if has_tile(&l.body, &walked) { apart(stmt, &walked) } else { stmt.clone() }
        }
        _ => stmt.map(&mut Expr::clone, &mut |body| body.iter().map(beside_tiles).collect()),
    }
}

/// Whether a subscript is a number after unrolled and vector loops have been expanded. Only an
/// array with such subscripts can be in registers.
fn is_fixed(index: &Expr, site: &AccessSite<'_>) -> bool {
    let taken_apart = |name: &Name| {
        site.context.iter().rev().find_map(|context| match context {
            Context::Loop(l) if l.var == *name => {
                Some(matches!(l.kind, LoopKind::Vector | LoopKind::Unroll(_)))
            }
            _ => None,
        })
    };
    let mut fixed = true;
    for part in index.nodes() {
        if let Expr::Var(name) = part {
            fixed &= taken_apart(name) == Some(true);
        }
    }
    fixed
}

fn apart(stmt: &Stmt, walked: &BTreeSet<&Name>) -> Stmt {
    match stmt {
        Stmt::Local(local) if stack_bytes(local).is_some() && !is_tile(local, walked) => {
            Stmt::Local(ArrayDecl { storage: Storage::Heap, ..local.clone() })
        }
        _ => stmt.map(&mut Expr::clone, &mut |body| body.iter().map(|stmt| apart(stmt, walked)).collect()),
    }
}

fn is_tile(local: &ArrayDecl, walked: &BTreeSet<&Name>) -> bool {
    !walked.contains(&local.name) && stack_bytes(local).is_some_and(|bytes| bytes <= TILE_BYTES)
}

fn has_tile(body: &[Stmt], walked: &BTreeSet<&Name>) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Local(local) => is_tile(local, walked),
        _ => stmt.bodies().into_iter().any(|body| has_tile(body, walked)),
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
