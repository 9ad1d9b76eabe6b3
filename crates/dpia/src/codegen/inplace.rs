//! Whether an update may write its result over the accumulator that it reads.
//!
//! The published rule for reductions always does so. That is wrong if one part of the result needs
//! a part of the accumulator that is already overwritten (`λx p. pair (snd p) (fst p)`). Here the
//! generated statements decide: every element of the accumulator must be read before it is written.
//! If the subscripts do not show that, the answer is no, and the update uses a second temporary.

use std::collections::{BTreeMap, BTreeSet};

use loops::{Access, AccessSite, BinaryOp, Expr, Loop, Name, Stmt, accesses};

/// Pairs of a read and a write that are looked at; beyond, the answer is no.
const PAIR_LIMIT: usize = 100_000;

/// Whether the statements, which write the arrays `shadow` (new name to old), may write the old
/// arrays instead.
pub(super) fn sound(body: &[Stmt], shadow: &BTreeMap<Name, Name>) -> bool {
    let old: BTreeSet<&Name> = shadow.values().collect();
    let sites = accesses(body);
    let reads: Vec<&AccessSite> =
        sites.iter().filter(|s| s.reads() && old.contains(&s.access.array)).collect();
    // What only keeps an element writes what is there, for as long as every read comes before what
    // changes it: its own read is one of them.
    let changes = |s: &AccessSite| s.writes() && !keeping(s, shadow);
    let writes: Vec<&AccessSite> =
        sites.iter().filter(|s| shadow.contains_key(&s.access.array) && changes(s)).collect();
    if reads.len().saturating_mul(writes.len()) > PAIR_LIMIT {
        return false;
    }
    reads.iter().all(|read| writes.iter().all(|write| keeps(read, write, shadow)))
}

/// Whether no instance of the write comes before an instance of the read of the same element.
fn keeps(read: &AccessSite, write: &AccessSite, shadow: &BTreeMap<Name, Name>) -> bool {
    if shadow.get(&write.access.array) != Some(&read.access.array) || apart(read.access, write.access) {
        return true;
    }
    // For one statement the reads come before the write.
    let before = read.position <= write.position;
    let common: Vec<&Loop> =
        read.loops().zip(write.loops()).take_while(|(a, b)| std::ptr::eq(*a, *b)).map(|(a, _)| a).collect();
    if common.is_empty() {
        return before;
    }
    let same = read.access.indices == write.access.indices && read.access.path == write.access.path;
    // Both sides: loops of one name need not have one range.
    let determined = |site: &AccessSite| -> BTreeSet<Name> {
        let all: Vec<&Loop> = site.loops().collect();
        site.access.indices.iter().flat_map(|index| determines(index, &all)).cloned().collect()
    };
    let (by_read, by_write) = (determined(read), determined(write));
    let once =
        |l: &Loop| matches!((&l.lower, &l.upper), (Expr::Int(a), Expr::Int(b)) if *b <= a.saturating_add(1));
    before && same && common.iter().all(|l| once(l) || by_read.contains(&l.var) && by_write.contains(&l.var))
}

/// Whether a statement stores an element of an old array at its place in the new one.
fn keeping(site: &AccessSite, shadow: &BTreeMap<Name, Name>) -> bool {
    let Stmt::Assign(a) = site.stmt else { return false };
    matches!(&a.value, Expr::Load(from) if a.update.is_none()
        && shadow.get(&a.target.array) == Some(&from.array)
        && (&from.indices, &from.path) == (&a.target.indices, &a.target.path))
}

/// Whether the accesses are to different components of pairs.
fn apart(a: &Access, b: &Access) -> bool {
    a.path.iter().zip(&b.path).any(|(a, b)| a != b)
}

/// Loop variables whose values a subscript determines: `i`, or `i` and `j` in `i * n + j` where `j`
/// runs below `n`.
fn determines<'e>(index: &'e Expr, loops: &[&Loop]) -> Vec<&'e Name> {
    match index {
        Expr::Var(name) => vec![name],
        Expr::Binary(BinaryOp::Add, a, b) => {
            if !has_loop_variable(b, loops) {
                return determines(a, loops);
            }
            if let Expr::Binary(BinaryOp::Mul, q, n) = &**a
                && let Expr::Var(r) = &**b
                && loops.iter().any(|l| l.var == *r && l.lower == Expr::Int(0) && l.upper == **n)
            {
                let mut list = determines(q, loops);
                list.push(r);
                return list;
            }
            Vec::new()
        }
        Expr::Binary(BinaryOp::Sub, a, b) => match (has_loop_variable(a, loops), has_loop_variable(b, loops))
        {
            (true, false) => determines(a, loops),
            (false, true) => determines(b, loops),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn has_loop_variable(e: &Expr, loops: &[&Loop]) -> bool {
    e.has_loads() || e.vars().iter().any(|name| loops.iter().any(|l| l.var == *name))
}

/// Statements without `x = x`.
pub(super) fn without_self_assignments(body: &mut Vec<Stmt>) {
    body.retain_mut(|stmt| match stmt {
        Stmt::Assign(a) => a.update.is_some() || !matches!(&a.value, Expr::Load(from) if *from == a.target),
        Stmt::Loop(l) => {
            let had = !l.body.is_empty();
            without_self_assignments(&mut l.body);
            !(had && l.body.is_empty())
        }
        _ => true,
    });
}
