//! Elements that several rows at once update in every iteration of a loop are kept in registers
//! during the loop.
//!
//! After [unroll-and-jam](super::unroll_and_jam), `for j { unroll r in 0..4 { q[i + r] += a[i +
//! r][j] * p[j] } }` updates four elements in each iteration. A C compiler stores them each time,
//! because for all it knows `q` and `p` overlap. So they are loaded before the loop into a small
//! array with constant subscripts, which compilers keep in registers, and stored behind it. No
//! operation changes, nor the order of those on one element.
//!
//! The rows are an unrolled loop of one update whose element moves with the row and not with the
//! loop, and nothing else in it mentions the array.
//!
//! For the same reason an element that one iteration writes and then reads or writes again is kept
//! in a scalar, in innermost loops inside of parallel ones: in the function that a C compiler makes
//! of a parallel loop, `restrict` no longer holds. Every mention of the array in the iteration is
//! this element.

use std::collections::{BTreeMap, BTreeSet};

use crate::pass::{Pass, Step, changed};
use crate::store_forwarding::put;
use loops::facts::Facts;
use loops::visit::{check_depth, fresh, taken};
use loops::{
    Access, ArrayDecl, Assign, CompareOp, Elem, Expr, Function, Loop, LoopKind, Name, Stmt, Storage,
};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "register-promotion",
        literature: "register promotion (Lu and Cooper 1997); scalar replacement (Callahan, Carr, Kennedy 1990)",
        about: "elements that rows at once update in each iteration of a loop are kept in registers during the loop",
    },
    run: |function| changed(function, promoted(function)),
};

/// The most rows: as many values as half of the registers of a small machine hold.
const ROWS: i64 = 8;

/// The function with such elements in registers. A function that is nested too deeply comes back as
/// it is.
fn promoted(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let elems = function.params.iter().map(|p| (p.name.clone(), p.elem.clone())).collect();
    let mut pass = Promoter { elems, taken: taken(function) };
    Function { body: pass.block(&function.body, &Facts::of(function), false), ..function.clone() }
}

struct Promoter {
    /// Types of the elements of parameters.
    elems: BTreeMap<Name, Elem>,
    taken: BTreeSet<Name>,
}

impl Promoter {
    /// `parallel`: whether a parallel loop is around the statements.
    fn block(&mut self, stmts: &[Stmt], facts: &Facts, parallel: bool) -> Vec<Stmt> {
        let mut result = Vec::with_capacity(stmts.len());
        for stmt in stmts {
            match stmt {
                Stmt::Loop(l) => match rows(l).and_then(|rows| self.elem(rows.update)) {
                    Some(elem) => result.extend(self.in_registers(l, elem, facts)),
                    None => {
                        let mut known = facts.clone();
                        known.enter(l);
                        let body = match parallel && l.kind == LoopKind::Sequential {
                            true => self.iteration(&l.body),
                            false => None,
                        };
                        let inside = parallel || l.kind == LoopKind::Parallel;
                        let body = body.unwrap_or_else(|| self.block(&l.body, &known, inside));
                        result.push(Stmt::Loop(Loop { body, ..l.clone() }));
                    }
                },
                Stmt::If { cond, then, otherwise } => {
                    let mut branch = |holds: bool, stmts: &[Stmt]| {
                        let mut known = facts.clone();
                        known.assume(cond, holds);
                        self.block(stmts, &known, parallel)
                    };
                    let (then, otherwise) = (branch(true, then), branch(false, otherwise));
                    result.push(Stmt::If { cond: cond.clone(), then, otherwise });
                }
                other => {
                    result.push(other.map(&mut Expr::clone, &mut |inner| self.block(inner, facts, parallel)))
                }
            }
        }
        result
    }

    fn elem(&self, update: &Assign) -> Option<Elem> {
        self.elems.get(&update.target.array).filter(|elem| matches!(elem, Elem::Scalar(_))).cloned()
    }

    /// The iteration of an innermost loop with elements in scalars that it writes and mentions
    /// again; none if there are none, or other loops or conditions.
    fn iteration(&mut self, body: &[Stmt]) -> Option<Vec<Stmt>> {
        if !body.iter().all(|stmt| matches!(stmt, Stmt::Assign(_) | Stmt::Local(_))) {
            return None;
        }
        let declared: BTreeSet<&Name> =
            body.iter().filter_map(|s| if let Stmt::Local(l) = s { Some(&l.name) } else { None }).collect();
        let mut result = body.to_vec();
        for element in again(body) {
            let Some(elem @ Elem::Scalar(_)) = self.elems.get(&element.array).cloned() else { continue };
            let moves = |e: &Expr| e.vars().iter().any(|name| declared.contains(name));
            if element.indices.iter().any(|e| e.has_loads() || moves(e)) {
                continue;
            }
            let name = fresh(&element.array, &self.taken);
            self.taken.insert(name.clone());
            let scalar = Access::element(name.clone(), Vec::new());
            let reads_first = reads_before_writing(&result, &element);
            result = put(&result, &element, &scalar);
            let copy = |target: &Access, value: &Access| {
                let (target, value) = (target.clone(), Expr::Load(value.clone()));
                Stmt::Assign(Assign { label: None, target, update: None, value })
            };
            if reads_first {
                result.insert(0, copy(&scalar, &element));
            }
            let local = ArrayDecl { name, elem, dims: Vec::new(), storage: Storage::Auto };
            result.insert(0, Stmt::Local(local));
            result.push(copy(&element, &scalar));
        }
        (result.len() > body.len()).then_some(result)
    }

    /// The loop between loads and stores of the elements.
    fn in_registers(&mut self, l: &Loop, elem: Elem, facts: &Facts) -> Vec<Stmt> {
        let Some(Rows { all, count, update }) = rows(l) else { return vec![Stmt::Loop(l.clone())] };
        let name = fresh(&update.target.array, &self.taken);
        self.taken.insert(name.clone());
        let register = Access::element(name.clone(), vec![Expr::Var(all.var.clone())]);
        let row = |stmt: Assign| Stmt::Loop(Loop { body: vec![Stmt::Assign(stmt)], ..all.clone() });
        let copy = |target: &Access, value: &Access| {
            let (target, value) = (target.clone(), Expr::Load(value.clone()));
            row(Assign { label: None, target, update: None, value })
        };
        let updates = row(Assign { target: register.clone(), ..update.clone() });
        let local =
            Stmt::Local(ArrayDecl { name, elem, dims: vec![Expr::Int(count)], storage: Storage::Stack });
        let body = vec![
            local,
            copy(&register, &update.target),
            Stmt::Loop(Loop { body: vec![updates], ..l.clone() }),
            copy(&update.target, &register),
        ];
        let runs = Expr::compare(CompareOp::Lt, l.lower.clone(), l.upper.clone());
        match facts.proves(&runs) {
            true => vec![Stmt::Block { mark: None, body }],
            // Elements of a loop that never runs may not be there.
            false => vec![Stmt::If { cond: runs, then: body, otherwise: Vec::new() }],
        }
    }
}

/// Elements that statements write and mention again, where they mention nothing else of the array.
fn again(body: &[Stmt]) -> Vec<Access> {
    let mut all: Vec<(Access, bool)> = Vec::new();
    for stmt in body {
        let Stmt::Assign(assign) = stmt else { continue };
        // What is stored may be at a place that is read.
        for e in assign.target.indices.iter().chain([&assign.value]) {
            for access in e.loads() {
                all.push((access.clone(), false));
            }
        }
        all.push((assign.target.clone(), true));
    }
    let mut found: Vec<Access> = Vec::new();
    for (k, (access, _)) in all.iter().enumerate().filter(|(_, (_, writes))| *writes) {
        let same = |(other, _): &(Access, bool)| other.array != access.array || other == access;
        let later = all[k + 1..].iter().any(|(other, _)| other == access);
        let plain = !access.indices.is_empty() && access.path.is_empty();
        if plain && later && !found.contains(access) && all.iter().all(same) {
            found.push(access.clone());
        }
    }
    found
}

/// Whether the first of the statements that mention an element reads it.
fn reads_before_writing(body: &[Stmt], element: &Access) -> bool {
    for stmt in body {
        let Stmt::Assign(assign) = stmt else { continue };
        let read = |e: &Expr| e.reads(&element.array);
        if read(&assign.value) || assign.target.indices.iter().any(read) {
            return true;
        }
        if assign.target == *element {
            return assign.update.is_some();
        }
    }
    false
}

/// Rows at once in a loop.
struct Rows<'a> {
    all: &'a Loop,
    count: i64,
    update: &'a Assign,
}

/// The rows of a loop, if it is of the kind.
fn rows(l: &Loop) -> Option<Rows<'_>> {
    let [Stmt::Loop(all)] = l.body.as_slice() else { return None };
    let [Stmt::Assign(update)] = all.body.as_slice() else { return None };
    let (Expr::Int(0), Expr::Int(count)) = (&all.lower, &all.upper) else { return None };
    let plain = |l: &Loop, kind: LoopKind| l.kind == kind && l.step == 1 && l.reductions.is_empty();
    let Access { array, indices, path } = &update.target;
    let stays = indices.iter().all(|e| !e.mentions(&l.var) && !e.has_loads());
    // Different rows are different elements.
    let apart = indices.iter().any(|e| e.advances_with(&all.var));
    let alone = !update.value.reads(array);
    (plain(l, LoopKind::Sequential)
        && plain(all, LoopKind::Unroll(None))
        && (2..=ROWS).contains(count)
        && update.update.is_some()
        && path.is_empty()
        && stays
        && apart
        && alone)
        .then_some(Rows { all, count: *count, update })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(rows: &str) -> String {
        let text = format!(
            "fn f[n](a: in f64[n + 4][n], p: in f64[n], q: inout f64[n + 4]) {{ for i in 0..n step 4 {{ \
             for j in 0..n {{ unroll r in 0..4 {{ {rows} }} }} }} }}"
        );
        let function = loops::parse(&text).unwrap().functions.remove(0);
        PASS.run(&function).map_or_else(|| "unchanged".to_owned(), |function| function.to_string())
    }

    #[test]
    fn sums_of_rows_are_in_registers() {
        let text = after("S0: q[i + r] += a[i + r][j] * p[j]");
        for line in ["q_1[r] = q[i + r]", "S0: q_1[r] += a[i + r][j] * p[j]", "q[i + r] = q_1[r]"] {
            assert!(text.contains(line), "{line} in {text}");
        }
    }

    #[test]
    fn an_element_that_is_written_twice_is_in_a_scalar() {
        let of = |ty: &str, body: &str| {
            let text = format!(
                "fn f[n](a: inout {ty}[n][n], b: inout {ty}[n][n]) {{ par i in 0..n {{ for j in 0..n {{ {body} }} }} }}"
            );
            let function = loops::parse(&text).unwrap().functions.remove(0);
            PASS.run(&function).map_or_else(|| "unchanged".to_owned(), |function| function.to_string())
        };
        let text = |body: &str| of("u8", body);
        let new = text("a[i][j] += b[i][j]  b[i][j] = a[i][j]  a[i][j] *= b[i][j]");
        for line in
            ["a_1 = a[i][j]", "a_1 += b_1", "b_1 = a_1", "a_1 *= b_1", "a[i][j] = a_1", "b[i][j] = b_1"]
        {
            assert!(new.contains(line), "{line} in {new}");
        }
        assert_eq!(text("a[i][j] += b[i][j]  b[i][j] = a[j][i]"), "unchanged");
        assert_eq!(text("a[i][j] += b[i][j]"), "unchanged");
        let scattered = of("i32", "a[i][j] = 1i32  b[i64(a[j][i]) mod n][j] = 2i32  a[i][j] += 3i32");
        assert!(!scattered.contains("a_1"), "{scattered}");
    }

    #[test]
    fn what_is_read_or_is_one_element_stays() {
        for rows in ["q[i + r] += a[i + r][j] * q[j]", "q[i] += a[i + r][j]", "q[j + r] += a[i + r][j]"] {
            assert_eq!(after(rows), "unchanged", "{rows}");
        }
    }
}
