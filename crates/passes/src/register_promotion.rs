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
//!
//! An element that a loop updates and that is the same in all iterations is in a scalar, too, and
//! one that an innermost loop only reads while it stores what might overlap with it.

mod invariant_elements;

use std::collections::{BTreeMap, BTreeSet};

use crate::pass::{Pass, Step, changed};
use crate::store_forwarding::put;
use loops::facts::Facts;
use loops::visit::{check_depth, fresh, taken};
use loops::{
    Access, ArrayDecl, Assign, BinaryOp, CompareOp, Elem, Expr, Function, Loop, LoopKind, Name, Scalar, Stmt,
    Storage,
};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "register-promotion",
        literature: "register promotion (Lu and Cooper 1997); scalar replacement (Callahan, Carr, Kennedy 1990)",
        about: "elements that a loop updates in each iteration are kept in registers during the loop: one, or those of rows at once",
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
    let elems = function.params.iter().map(|p| (p.name.clone(), (p.elem.clone(), p.dims.len())));
    let mut pass = Promoter { elems: elems.collect(), taken: taken(function) };
    let body = pass.block(&function.body, &Facts::of(function), Around::default());
    Function { body, ..function.clone() }
}

struct Promoter {
    /// Types of the elements of arrays that are in memory, and how many subscripts they take.
    elems: BTreeMap<Name, (Elem, usize)>,
    taken: BTreeSet<Name>,
}

/// Where statements are.
#[derive(Clone, Copy, Default)]
struct Around {
    /// Inside a parallel loop.
    parallel: bool,
    /// Inside a loop over lanes.
    lanes: bool,
}

impl Around {
    fn inside(self, l: &Loop) -> Around {
        Around {
            parallel: self.parallel || l.kind == LoopKind::Parallel,
            lanes: self.lanes || l.kind == LoopKind::Vector,
        }
    }
}

impl Promoter {
    fn block(&mut self, stmts: &[Stmt], facts: &Facts, around: Around) -> Vec<Stmt> {
        let mut result = Vec::with_capacity(stmts.len());
        let mut hidden = Vec::new();
        let mut written = None;
        for stmt in stmts {
            match stmt {
                Stmt::Loop(l) => result.extend(self.nest(l, facts, around, written)),
                Stmt::If { cond, then, otherwise } => {
                    let mut branch = |holds: bool, stmts: &[Stmt]| {
                        let mut known = facts.clone();
                        known.assume(cond, holds);
                        self.block(stmts, &known, around)
                    };
                    let (then, otherwise) = (branch(true, then), branch(false, otherwise));
                    result.push(Stmt::If { cond: cond.clone(), then, otherwise });
                }
                Stmt::Local(local) => {
                    let before = match is_in_memory(local) {
                        true => self.elems.insert(local.name.clone(), (local.elem.clone(), local.dims.len())),
                        false => self.elems.remove(&local.name),
                    };
                    hidden.push((local.name.clone(), before));
                    result.push(stmt.clone());
                }
                other => {
                    result.push(other.map(&mut Expr::clone, &mut |inner| self.block(inner, facts, around)))
                }
            }
            written = match stmt {
                Stmt::Assign(assign) => Some(&assign.target),
                Stmt::Local(_) => written,
                _ => None,
            };
        }
        for (name, before) in hidden.into_iter().rev() {
            match before {
                Some(before) => self.elems.insert(name, before),
                None => self.elems.remove(&name),
            };
        }
        result
    }

    /// A loop, with what is in registers. `written`: the element that the statement before assigns.
    fn nest(&mut self, l: &Loop, facts: &Facts, around: Around, written: Option<&Access>) -> Vec<Stmt> {
        if let Some(elem) = rows(l).and_then(|rows| self.elem(rows.update)) {
            return self.in_registers(l, elem, facts);
        }
        let runs = Expr::compare(CompareOp::Lt, l.lower.clone(), l.upper.clone());
        let in_memory = |access: &Access| self.number(access).is_some();
        let mut elements = invariant_elements::elements(l, around.parallel, &in_memory);
        let updated = elements.len();
        // Loops in tiles are short, and a test before each costs more than what it saves.
        if around.parallel && (facts.proves(&runs) || !in_tiles(l)) {
            elements.extend(invariant_elements::only_read(l, &|access| self.number(access)));
        }
        // The element of a loop that never runs may not be there.
        let sure = elements.iter().all(|element| written == Some(element)) || facts.proves(&runs);
        if !sure && around.lanes {
            elements.clear();
        }
        let (mut before, mut after, mut names) = (Vec::new(), Vec::new(), Vec::new());
        let mut inner = l.clone();
        for (k, element) in elements.iter().enumerate() {
            let Some((elem, _)) = self.elems.get(&element.array).cloned() else { continue };
            let (local, scalar) = self.scalar(&element.array, elem);
            names.push(scalar.array.clone());
            before.extend([local, copy(&scalar, element)]);
            after.extend((k < updated).then(|| copy(element, &scalar)));
            inner = invariant_elements::replaced(&inner, element, &scalar);
        }
        let mut known = facts.clone();
        known.enter(l);
        let threads = l.kind == LoopKind::Parallel && l.reductions.is_empty();
        let body = match threads || around.parallel && l.kind == LoopKind::Sequential {
            true => self.iteration(&inner.body),
            false => None,
        };
        let body = body.unwrap_or_else(|| self.block(&inner.body, &known, around.inside(l)));
        let inner = Stmt::Loop(Loop { body, ..inner });
        // The scalars are out of scope.
        names.iter().for_each(|name| {
            self.taken.remove(name);
        });
        if before.is_empty() {
            return vec![inner];
        }
        let body = before.into_iter().chain([inner]).chain(after).collect();
        vec![match sure {
            true => Stmt::Block { mark: None, body },
            false => Stmt::If { cond: runs, then: body, otherwise: Vec::new() },
        }]
    }

    /// A scalar for an element of an array: its declaration, and the access to it. Its name is
    /// taken from here on.
    fn scalar(&mut self, array: &Name, elem: Elem) -> (Stmt, Access) {
        let name = fresh(&Name::new(format!("{array}_value")), &self.taken);
        self.taken.insert(name.clone());
        let local = ArrayDecl { name: name.clone(), elem, dims: Vec::new(), storage: Storage::Auto };
        (Stmt::Local(local), Access::element(name, Vec::new()))
    }

    /// The type of an access to a number of an array in memory.
    fn number(&self, access: &Access) -> Option<Scalar> {
        match self.elems.get(&access.array) {
            Some((Elem::Scalar(scalar), dims)) => {
                let whole = *dims == access.indices.len() && *dims > 0 && access.path.is_empty();
                whole.then_some(*scalar)
            }
            _ => None,
        }
    }

    fn elem(&self, update: &Assign) -> Option<Elem> {
        let (elem, _) = self.elems.get(&update.target.array)?;
        matches!(elem, Elem::Scalar(_)).then(|| elem.clone())
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
        let mut names = Vec::new();
        for element in again(body) {
            let Some((elem @ Elem::Scalar(_), _)) = self.elems.get(&element.array).cloned() else { continue };
            let moves = |e: &Expr| e.vars().iter().any(|name| declared.contains(name));
            if element.indices.iter().any(|e| e.has_loads() || moves(e)) {
                continue;
            }
            let (local, scalar) = self.scalar(&element.array, elem);
            names.push(scalar.array.clone());
            let reads_first = reads_before_writing(&result, &element);
            result = put(&result, &element, &scalar);
            if reads_first {
                result.insert(0, copy(&scalar, &element));
            }
            result.insert(0, local);
            result.push(copy(&element, &scalar));
        }
        names.iter().for_each(|name| {
            self.taken.remove(name);
        });
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

/// Whether a local array is in memory that compilers do not see as the function's own.
pub(crate) fn is_in_memory(local: &ArrayDecl) -> bool {
    let constant = local.dims.iter().all(|dim| matches!(dim, Expr::Int(_)));
    matches!(local.storage, Storage::Heap) || (local.storage == Storage::Auto && !constant)
}

/// The assignment of one element to another one.
fn copy(target: &Access, value: &Access) -> Stmt {
    let (target, value) = (target.clone(), Expr::Load(value.clone()));
    Stmt::Assign(Assign { label: None, target, update: None, value })
}

/// Whether a bound of a loop is one of several, as those of loops in tiles are.
fn in_tiles(l: &Loop) -> bool {
    let mut parts = l.lower.nodes().chain(l.upper.nodes());
    parts.any(|e| matches!(e, Expr::Binary(BinaryOp::Min | BinaryOp::Max, ..)))
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
        for line in [
            "a_value = a[i][j]",
            "a_value += b_value",
            "b_value = a_value",
            "a_value *= b_value",
            "a[i][j] = a_value",
            "b[i][j] = b_value",
        ] {
            assert!(new.contains(line), "{line} in {new}");
        }
        assert_eq!(text("a[i][j] += b[i][j]  b[i][j] = a[j][i]"), "unchanged");
        assert_eq!(text("a[i][j] += b[i][j]"), "unchanged");
        let scattered = of("i32", "a[i][j] = 1i32  b[i64(a[j][i]) mod n][j] = 2i32  a[i][j] += 3i32");
        assert!(!scattered.contains("a_value"), "{scattered}");
    }

    #[test]
    fn an_element_that_stays_is_read_once_where_what_is_stored_might_be_it() {
        let of = |head: &str, body: &str| {
            let text = format!("fn f[n]({head}) {{ par i in 0..n {{ {body} }} }}");
            let function = loops::parse(&text).unwrap().functions.remove(0);
            let new = PASS.run(&function)?;
            assert!(loops::validate(&new).is_proved());
            Some(new.to_string())
        };
        let same = "a: in f64[n], b: inout f64[n][n]";
        let divided = "for j in 0..n { b[i][j] = b[i][j] / a[i] }";
        let new = of(same, divided).unwrap();
        assert!(new.contains("a_value = a[i]") && new.contains("b[i][j] / a_value"), "{new}");
        let short = "for c in 0..3 { b[i][c] = a[i][c] * a[i][3] }";
        let new = of("a: in u8[n][4], b: inout u8[n][3]", short).unwrap();
        assert!(new.contains("a_value = a[i][3]") && new.contains("a[i][c] * a_value"), "{new}");
        // Of another type; not in every iteration; perhaps another element in each.
        assert_eq!(of("a: in f32[n], b: inout f64[n][n]", "for j in 0..n { b[i][j] = f64(a[i]) }"), None);
        assert_eq!(of(same, "for j in 0..n { if j < i { b[i][j] = a[i] } }"), None);
        assert_eq!(of(same, "for j in 0..n { b[i][j] = a[j] }"), None);
        // In a tile.
        assert_eq!(of(same, "for j in 4 * i..min(n, 4 * i + 4) { b[i][j] = a[i] }"), None);
    }

    #[test]
    fn what_is_read_or_is_one_element_stays() {
        for rows in ["q[i + r] += a[i + r][j] * q[j]", "q[i] += a[i + r][j]", "q[j + r] += a[i + r][j]"] {
            assert_eq!(after(rows), "unchanged", "{rows}");
        }
    }
}
