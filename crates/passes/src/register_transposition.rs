//! Sums along the rows of a matrix whose lanes are rows: blocks of the matrix are transposed in
//! registers.
//!
//! In `for j { vec i in b..b + 16 { y[i] += a[i][j] * x[j] } }` the elements of a vector are a row
//! apart in memory. gcc finds out that four columns of four rows can be read as four vectors and be
//! turned; clang gathers them one by one, which took six times as long. Here the block is copied to
//! a small array that is written across, which a target writes with shuffles, and the sums of the
//! strip are in an array that only unrolled loops touch, so that they stay in registers.
//!
//! Each sum keeps its order. Left out: strips whose number of rows is not a constant multiple of
//! four, and bodies with more than one sum.

use std::collections::{BTreeMap, BTreeSet};

use crate::labels::with_own_labels;
use crate::pass::{Pass, Step, changed};
use loops::facts::Facts;
use loops::poly::Poly;
use loops::visit::{check_depth, fresh, taken};
use loops::{
    Access, ArrayDecl, Assign, BinaryOp, CompareOp, Elem, Expr, Function, Loop, LoopKind, Name, ReduceOp,
    Scalar, Stmt, Storage, UnaryOp, simplify,
};

/// The pass.
pub const PASS: Pass = Pass {
    step: Step {
        name: "register-transposition",
        literature: "vectorization of strided data by shuffles (Nuzman, Rosen, Zaks 2006)",
        about: "sums along rows whose lanes are rows read blocks of the matrix and transpose them",
    },
    run: |function| changed(function, transposed(function)),
};

/// Rows and columns of a block.
const SIDE: i64 = 4;
/// The most rows of a strip: eight vectors of sums.
const MOST_ROWS: i64 = 32;
/// The most matrices in one sum.
const MOST_MATRICES: usize = 2;

/// The function with such sums. A function that is nested too deeply comes back as it is.
fn transposed(function: &Function) -> Function {
    if check_depth(function).is_err() {
        return function.clone();
    }
    let elems = function.params.iter().map(|p| (p.name.clone(), p.elem.clone())).collect();
    let mut rewriter = Rewriter { elems, taken: taken(function) };
    let body = rewriter.block(&function.body, &Facts::of(function));
    with_own_labels(function, Function { body, ..function.clone() })
}

/// A sum along rows: a loop over columns around one over rows.
struct RowSums<'a> {
    columns: &'a Loop,
    lanes: &'a Loop,
    /// The unrolled loop over some columns, if there is one.
    some: Option<&'a Loop>,
    sum: &'a Assign,
    /// The type of all numbers.
    scalar: Scalar,
    rows: i64,
}

struct Rewriter {
    elems: BTreeMap<Name, Elem>,
    taken: BTreeSet<Name>,
}

impl Rewriter {
    fn block(&mut self, stmts: &[Stmt], facts: &Facts) -> Vec<Stmt> {
        let outside = self.elems.clone();
        let mut result = Vec::with_capacity(stmts.len());
        for stmt in stmts {
            match stmt {
                Stmt::Local(decl) => {
                    self.elems.insert(decl.name.clone(), decl.elem.clone());
                    result.push(stmt.clone());
                }
                Stmt::Loop(l) => match self.row_sums(l, facts) {
                    Some(sums) => result.extend(self.in_blocks(&sums, facts)),
                    None => {
                        let mut known = facts.clone();
                        known.enter(l);
                        result.push(Stmt::Loop(Loop { body: self.block(&l.body, &known), ..l.clone() }));
                    }
                },
                other => {
                    result.push(other.map(&mut Expr::clone, &mut |body| self.block(body, facts)));
                }
            }
        }
        self.elems = outside;
        result
    }

    /// The sum along rows that a loop over columns is.
    fn row_sums<'a>(&self, columns: &'a Loop, facts: &Facts) -> Option<RowSums<'a>> {
        let [Stmt::Loop(lanes)] = columns.body.as_slice() else { return None };
        let rows = Poly::of(&lanes.upper)?.sub(&Poly::of(&lanes.lower)?)?.as_constant()?;
        let plain = columns.kind == LoopKind::Sequential
            && lanes.kind == LoopKind::Vector
            && lanes.step == 1
            && lanes.reductions.is_empty()
            && rows % SIDE == 0
            && !is_rest(columns)
            && (2 * SIDE..=MOST_ROWS).contains(&rows);
        let (some, sum) = match lanes.body.as_slice() {
            [Stmt::Assign(sum)] if columns.step == 1 => (None, sum),
            [Stmt::Loop(some)] if columns.step == SIDE => {
                let [Stmt::Assign(sum)] = some.body.as_slice() else { return None };
                let whole = some.lower == Expr::Int(0) && some.upper == Expr::Int(SIDE) && some.step == 1;
                (whole && matches!(some.kind, LoopKind::Unroll(_))).then_some((Some(some), sum))?
            }
            _ => return None,
        };
        let update = sum.update.filter(|update| matches!(update.op, ReduceOp::Add | ReduceOp::Mul));
        let Some(Elem::Scalar(scalar @ (Scalar::F32 | Scalar::F64))) = self.elems.get(&sum.target.array)
        else {
            return None;
        };
        let sums = RowSums { columns, lanes, some, sum, scalar: *scalar, rows };
        let stays = |e: &Expr| !sums.moves(e);
        let target = sum.target.is_adjacent_along(&lanes.var) && sum.target.indices.iter().all(stays);
        let across = sums.across();
        let fits = plain
            && update.is_some()
            && target
            && (1..=MOST_MATRICES).contains(&across.len())
            && self.in_lanes(&sum.value, &sums)
            && sums.apart(facts);
        fits.then_some(sums)
    }

    /// Whether a value is arithmetic on vectors of the type of the sum.
    fn in_lanes(&self, e: &Expr, sums: &RowSums) -> bool {
        match e {
            Expr::Load(access) => {
                let alike = self.elems.get(&access.array) == Some(&Elem::Scalar(sums.scalar));
                let varies = access.indices.iter().any(|e| e.mentions(&sums.lanes.var));
                let beside = access.is_adjacent_along(&sums.lanes.var)
                    && access.indices.iter().all(|e| !sums.moves(e));
                alike && access.path.is_empty() && (!varies || beside || sums.is_across(access))
            }
            Expr::F32(_) => sums.scalar == Scalar::F32,
            Expr::F64(_) => sums.scalar == Scalar::F64,
            Expr::Unary(UnaryOp::Neg, a) => self.in_lanes(a, sums),
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div, a, b) => {
                self.in_lanes(a, sums) && self.in_lanes(b, sums)
            }
            _ => false,
        }
    }

    fn fresh(&mut self, base: &str) -> Name {
        let name = fresh(&Name::new(base), &self.taken);
        self.taken.insert(name.clone());
        name
    }

    /// A sum along rows, block by block.
    fn in_blocks(&mut self, sums: &RowSums, facts: &Facts) -> Vec<Stmt> {
        let [held, group, lane, column] = ["sums", "group", "lane", "column"].map(|name| self.fresh(name));
        let across = sums.across();
        let copies: Vec<Name> = across.iter().map(|_| self.fresh("columns")).collect();
        let at = Places { sums, held: &held, group: &group, lane: &lane, column: &column };
        let groups = |body| unrolled(&group, sums.rows / SIDE, body);
        let lanes =
            |body| Stmt::Loop(Loop::upto(lane.clone(), Expr::Int(SIDE), LoopKind::Vector, vec![body]));
        let (target, element) = (at.row(&sums.sum.target), at.element());
        let load = groups(vec![lanes(Stmt::assign(element.clone(), Expr::Load(target.clone())))]);
        let store = groups(vec![lanes(Stmt::assign(target, Expr::Load(element.clone())))]);
        let mut of_group = Vec::new();
        for (access, copy) in across.iter().zip(&copies) {
            let turned = at.turned(copy);
            of_group.push(Stmt::Local(stack(copy, SIDE, sums.scalar)));
            let copied = lanes(Stmt::assign(turned, Expr::Load(at.row(access))));
            of_group.push(unrolled(&column, SIDE, vec![copied]));
        }
        let added = Assign { target: element, value: at.value(&across, &copies), ..sums.sum.clone() };
        of_group.push(unrolled(&column, SIDE, vec![lanes(Stmt::Assign(added))]));
        let of_group = vec![Stmt::Block { mark: None, body: of_group }];
        let (blocked, rest) = sums.columns_of_blocks(facts);
        let blocked = Stmt::Loop(Loop { body: vec![groups(of_group)], ..blocked });
        let body = vec![Stmt::Local(stack(&held, sums.rows / SIDE, sums.scalar)), load, blocked, store];
        std::iter::once(Stmt::Block { mark: None, body }).chain(rest.map(Stmt::Loop)).collect()
    }
}

/// Whether a loop is over what another one has left, which went in larger steps.
fn is_rest(l: &Loop) -> bool {
    l.step == 1 && l.lower.nodes().any(|e| matches!(e, Expr::Binary(BinaryOp::FloorDiv, _, _)))
}

/// An array of so many vectors on the stack.
fn stack(name: &Name, vectors: i64, scalar: Scalar) -> ArrayDecl {
    ArrayDecl {
        name: name.clone(),
        elem: Elem::Scalar(scalar),
        dims: vec![Expr::Int(vectors), Expr::Int(SIDE)],
        storage: Storage::Stack,
    }
}

fn unrolled(var: &Name, count: i64, body: Vec<Stmt>) -> Stmt {
    Stmt::Loop(Loop::upto(var.clone(), Expr::Int(count), LoopKind::Unroll(None), body))
}

impl RowSums<'_> {
    /// Whether an expression changes from column to column.
    fn moves(&self, e: &Expr) -> bool {
        e.mentions(&self.columns.var) || self.some.is_some_and(|some| e.mentions(&some.var))
    }

    /// Whether an access goes along a row from column to column, in another row for each lane.
    fn is_across(&self, access: &Access) -> bool {
        let Some((last, rows)) = access.indices.split_last() else { return false };
        let column = self.some.map_or(&self.columns.var, |some| &some.var);
        let own_column = last.advances_with(column) && last.advances_with(&self.columns.var);
        own_column
            && !last.mentions(&self.lanes.var)
            && rows.iter().any(|e| e.mentions(&self.lanes.var))
            && rows.iter().all(|e| !self.moves(e) && !e.has_loads())
    }

    /// The accesses across rows, each once.
    fn across(&self) -> Vec<Access> {
        let mut found: Vec<Access> = Vec::new();
        for access in self.sum.value.loads().filter(|access| self.is_across(access)) {
            if !found.contains(access) {
                found.push(access.clone());
            }
        }
        found
    }

    /// Whether the value reads nothing of what is summed up: no other element of that array, or
    /// only those before the strip.
    fn apart(&self, facts: &Facts) -> bool {
        let target = &self.sum.target;
        let before =
            facts.proves(&Expr::compare(CompareOp::Le, self.columns.upper.clone(), self.lanes.lower.clone()));
        let mut own = self.sum.value.loads().filter(|access| access.array == target.array);
        own.all(|access| {
            before
                && self.some.is_none()
                && *access.indices == [Expr::Var(self.columns.var.clone())]
                && *target.indices == [Expr::Var(self.lanes.var.clone())]
        })
    }

    /// The loop over blocks of columns, and the one over the columns that are left.
    fn columns_of_blocks(&self, facts: &Facts) -> (Loop, Option<Loop>) {
        if self.some.is_some() {
            return (self.columns.clone(), None);
        }
        let (lower, upper) = (&self.columns.lower, &self.columns.upper);
        let count = simplify::expr(&(upper.clone() - lower.clone()), facts);
        let natural = Expr::binary(BinaryOp::Max, count, Expr::Int(0));
        let blocks = Expr::binary(BinaryOp::FloorDiv, natural, Expr::Int(SIDE)) * SIDE;
        let end = simplify::expr(&(lower.clone() + blocks), facts);
        let rest = (end != *upper).then(|| Loop { lower: end.clone(), ..self.columns.clone() });
        (Loop { upper: end, step: SIDE, ..self.columns.clone() }, rest)
    }
}

/// Where things are, in a block.
struct Places<'a> {
    sums: &'a RowSums<'a>,
    held: &'a Name,
    group: &'a Name,
    lane: &'a Name,
    column: &'a Name,
}

impl Places<'_> {
    /// An expression for a row and a column of a block.
    fn expr(&self, e: &Expr) -> Expr {
        let row = || {
            let group = Expr::Var(self.group.clone()) * SIDE;
            self.sums.lanes.lower.clone() + group + Expr::Var(self.lane.clone())
        };
        let column = Expr::Var(self.column.clone());
        let moved = e.substitute(&|name| match self.sums.some {
            _ if *name == self.sums.lanes.var => Some(row()),
            Some(some) if *name == some.var => Some(column.clone()),
            None if *name == self.sums.columns.var => Some(Expr::Var(name.clone()) + column.clone()),
            _ => None,
        });
        if moved == *e { moved } else { simplify::tidy(&moved) }
    }

    fn row(&self, access: &Access) -> Access {
        access.map_indices(&mut |e| self.expr(e))
    }

    /// The sum of a row.
    fn element(&self) -> Access {
        self.place(self.held, self.group)
    }

    /// An element of a block that was turned.
    fn turned(&self, copy: &Name) -> Access {
        self.place(copy, self.column)
    }

    fn place(&self, array: &Name, first: &Name) -> Access {
        let indices = vec![Expr::Var(first.clone()), Expr::Var(self.lane.clone())];
        Access { array: array.clone(), indices, path: Vec::new() }
    }

    /// What is added to a sum.
    fn value(&self, across: &[Access], copies: &[Name]) -> Expr {
        self.sums.sum.value.map_loads(&mut |access| {
            let turned = across.iter().position(|one| *one == access).map(|k| self.turned(&copies[k]));
            Expr::Load(turned.unwrap_or_else(|| self.row(&access)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(body: &str) -> String {
        let text = format!("fn f[n](a: in f64[n][n], x: in f64[n], y: inout f64[n]) {{ {body} }}");
        let function = loops::parse(&text).unwrap().functions.remove(0);
        let after = PASS.run(&function);
        after
            .inspect(|new| assert!(loops::validate(new).is_proved(), "{new}"))
            .map_or_else(String::new, |f| f.to_string())
    }

    #[test]
    fn a_block_is_turned() {
        let text = after(
            "for b in 0..n floordiv 16 { for j in 0..n - 3 step 4 { vec i in 16 * b..16 * b + 16 { \
             unroll k in 0..4 { S0: y[i] += a[i][j + k] * x[j + k] } } } }",
        );
        assert!(text.contains("columns[column][lane] = a[16 * b + 4 * group + lane][j + column]"), "{text}");
        assert!(text.contains("sums[group][lane] += columns[column][lane] * x[j + column]"), "{text}");
    }

    #[test]
    fn columns_that_are_left_stay_as_they_were() {
        let text = after(
            "for b in 0..n floordiv 16 { for j in 0..n { vec i in 16 * b..16 * b + 16 { \
             S0: y[i] += a[i][j] * x[j] } } }",
        );
        assert!(text.contains("step 4"), "{text}");
        assert!(text.contains("y[i] += a[i][j] * x[j]"), "{text}");
    }

    #[test]
    fn sums_that_need_each_other_stay() {
        for sum in ["y[i] += a[i][j] * y[j]", "y[i] += a[j][i] * x[j]", "y[i] max= a[i][j]"] {
            let text = format!(
                "for b in 0..n floordiv 16 {{ for j in 0..n {{ vec i in 16 * b..16 * b + 16 {{ {sum} }} }} }}"
            );
            assert_eq!(after(&text), "", "{sum}");
        }
        let before = after(
            "for b in 0..n floordiv 16 { for j in 0..16 * b { vec i in 16 * b..16 * b + 16 { y[i] += a[i][j] * y[j] } } }",
        );
        assert!(before.contains("columns[column][lane] * y[j + column]"), "{before}");
    }
}
