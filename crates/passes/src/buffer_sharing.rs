//! Arrays on the heap that are used one after another are one array.
//!
//! A program of several steps has an array for the result of each. Where the last statement that
//! uses one array stands before the first that uses another one of the same shape, the two share
//! memory, which is in the cache and needs no new pages of the system. Neither has contents before
//! it is written. Only arrays of the function's own block: those inside loops are a thread's.

use std::collections::BTreeMap;

use loops::visit::{check_depth, names, rename_arrays, with_distinct_locals};
use loops::{ArrayDecl, Function, Name, Stmt, Storage};

use crate::pass::{Pass, Step, changed};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "buffer-sharing",
        literature: "sharing of storage by lifetimes (De Greef, Catthoor, De Man 1997)",
        about: "arrays on the heap that are used one after another share memory",
    },
    run: |function| changed(function, shared(function)),
};

/// Statements of a block that are looked at: the work grows with arrays times statements.
const MOST: usize = 2000;

/// An array, and the last statement that uses it.
struct Buffer<'f> {
    decl: &'f ArrayDecl,
    last: usize,
}

/// The function with such arrays as one. A function that is nested too deeply, too long, or has
/// none comes back as it is.
fn shared(function: &Function) -> Function {
    if check_depth(function).is_err() || function.body.len() > MOST {
        return function.clone();
    }
    let distinct = with_distinct_locals(function);
    let uses: Vec<_> = distinct.body.iter().map(|stmt| names(std::slice::from_ref(stmt))).collect();
    let mut buffers: Vec<Buffer> = Vec::new();
    let mut renaming: BTreeMap<Name, Name> = BTreeMap::new();
    for (k, stmt) in distinct.body.iter().enumerate() {
        let Stmt::Local(decl) = stmt else { continue };
        let used = |name: &Name| (k + 1..uses.len()).filter(|i| uses[*i].contains(name)).collect::<Vec<_>>();
        let at = used(&decl.name);
        let (Some(first), Some(last)) = (at.first(), at.last()) else { continue };
        if decl.storage != Storage::Heap {
            continue;
        }
        let same = |b: &&mut Buffer| b.last < *first && b.decl.elem == decl.elem && b.decl.dims == decl.dims;
        match buffers.iter_mut().find(same) {
            Some(buffer) => {
                renaming.insert(decl.name.clone(), buffer.decl.name.clone());
                buffer.last = *last;
            }
            None => buffers.push(Buffer { decl, last: *last }),
        }
    }
    if renaming.is_empty() {
        return function.clone();
    }
    let gone = |stmt: &Stmt| matches!(stmt, Stmt::Local(decl) if renaming.contains_key(&decl.name));
    let kept: Vec<Stmt> = distinct.body.iter().filter(|stmt| !gone(stmt)).cloned().collect();
    Function { body: rename_arrays(&kept, &renaming), ..distinct }
}
