//! Sums in registers: a sum over one of two loops around a statement stays in a register while its
//! terms are added.
//!
//! As the loops are written, each term loads the sum and stores it. Each sum is over one of the
//! loops in its order, so the loops may be interchanged. Adjacent sums are added up as vectors, two
//! or more of them at a time. Sums of rows are added up four at a time, so that none waits for its
//! own last addition. An iteration has four terms of each.

use loops::{Access, Assign, Diagnostic, Expr, Loop, Name, Scalar, Stmt};

use super::cost::{self, LOOP};
use super::expr::{Binding, Scope, c_type, invalid, print};
use super::slave::{TILE, Writer};
use super::vector;

/// Elements of a vector.
const LANES: i64 = 4;
/// Sums of rows at a time.
const ROWS: i64 = 4;
/// Terms of an iteration.
const TERMS: i64 = 4;

/// Sums over one loop for each iteration of another.
pub(super) struct Sums {
    assign: Assign,
    /// What a sum gets with each term.
    value: Expr,
    /// The loop over the sums, and the one over their terms.
    of: Loop,
    over: Loop,
    elem: Scalar,
}

/// An element, and its value with one more term.
type Sum = (Access, Expr);

/// An expression so many iterations later.
fn later(e: &Expr, var: &Name, by: i64) -> Expr {
    e.substitute(&|name| (by > 0 && name == var).then(|| Expr::Var(name.clone()) + by))
}

/// Lines of terms, and their cost.
type Lines = (Vec<String>, cost::Cost);

/// The code around the terms of sums: it writes a beginning, the terms, and an end.
pub(super) type Around<'a> =
    &'a dyn Fn(&mut Writer, &dyn Fn(&mut Writer) -> Result<(), Diagnostic>) -> Result<(), Diagnostic>;

/// The one statement that some are.
fn only(body: &[Stmt]) -> Option<&Stmt> {
    match body {
        [Stmt::Block { body, mark }] if mark.as_ref().is_none_or(|m| m.as_str() == TILE) => only(body),
        [one] => Some(one),
        _ => None,
    }
}

/// The sums that some statements are, and nothing else; `buffer` has them.
pub(super) fn find(body: &[Stmt], buffer: &Name, elem: Scalar) -> Option<Sums> {
    let Stmt::Loop(outer) = only(body)?.clone() else { return None };
    let Stmt::Loop(inner) = only(&outer.body)?.clone() else { return None };
    let Stmt::Assign(assign) = only(&inner.body)?.clone() else { return None };
    let apart = !inner.lower.mentions(&outer.var) && !inner.upper.mentions(&outer.var);
    let target = &assign.target;
    let moves = |l: &Loop| target.indices.iter().any(|e| e.mentions(&l.var));
    let (of, over) = match (moves(&outer), moves(&inner)) {
        (true, false) => (outer, inner),
        (false, true) => (inner, outer),
        _ => return None,
    };
    let sum = Expr::Load(target.clone());
    let value = match assign.update {
        Some(update) => Expr::binary(update.op.binary(), sum, assign.value.clone()),
        None => assign.value.clone(),
    };
    let (mut own, mut others) = (0, 0);
    for access in value.loads() {
        own += usize::from(access == target);
        others += usize::from(access.array == target.array && access != target);
    }
    let plain =
        apart && of.step == 1 && over.step == 1 && target.array == *buffer && target.indices.len() == 1;
    (plain && own == 1 && others == 0).then_some(Sums { assign, value, of, over, elem })
}

impl Sums {
    /// The sum so many iterations later.
    fn ahead(&self, by: i64) -> Sum {
        let there = &mut |e: &Expr| later(e, &self.of.var, by);
        (self.assign.target.map_indices(there), there(&self.value))
    }

    /// Some terms of sums that are in registers.
    fn terms(&self, sums: &[(Sum, String)], count: i64) -> Vec<(Access, String, Expr)> {
        let term = |k: i64| {
            let each = move |((target, value), register): &(Sum, String)| {
                (target.clone(), register.clone(), later(value, &self.over.var, k))
            };
            sums.iter().map(each)
        };
        (0..count).flat_map(term).collect()
    }

    /// Whether the sums can be vectors: they and what is added to them are consecutive, or
    /// constant.
    pub fn follow(&self) -> bool {
        let all = vector::stride(&self.assign.target, &self.of.var) == vector::Stride::Follows
            && self.value.loads().all(|access| vector::stride(access, &self.of.var) != vector::Stride::Other);
        all && self.elem.is_float()
    }
}

impl Writer<'_> {
    /// Sums, as vectors if they are like that, `unit` bytes at a time at most; of others there are
    /// `count`, or fewer.
    pub(super) fn sums(
        &mut self,
        sums: &Sums,
        unit: i64,
        count: i64,
        around: Around,
    ) -> Result<(), Diagnostic> {
        let scope = self.scope.clone();
        self.bind(&sums.of.var);
        let (var, lower, upper) =
            (&sums.of.var, self.scope.text(&sums.of.lower)?, self.scope.text(&sums.of.upper)?);
        self.open("{");
        self.line(&format!("long {var} = {lower};"));
        self.line(&format!("const long {var}_end = {upper};"));
        if sums.follow() {
            let mut vectors = vec![unit / sums.elem.bytes() as i64 / LANES, 1];
            vectors.dedup();
            for vectors in vectors.into_iter().filter(|n| *n > 0) {
                self.open(&ahead(var, vectors * LANES));
                self.vector_sums(sums, vectors, around)?;
                self.close();
            }
            self.open(&ahead(var, 1));
            self.scalar_sums(sums, 1, around)?;
            self.close();
        } else {
            let mut rows = vec![ROWS.min(count), count % ROWS, 1];
            rows.retain(|n| *n > 0);
            rows.dedup();
            for rows in rows {
                self.open(&ahead(var, rows));
                self.scalar_sums(sums, rows, around)?;
                self.close();
            }
        }
        self.close();
        self.scope = scope;
        Ok(())
    }

    fn vector_sums(&mut self, sums: &Sums, vectors: i64, around: Around) -> Result<(), Diagnostic> {
        let ty = if sums.elem == Scalar::F32 { "floatv4" } else { "doublev4" };
        let mut all = Vec::new();
        for k in 0..vectors {
            let sum = sums.ahead(LANES * k);
            let at = print(&self.scope.access(&sum.0)?);
            self.line(&format!("{ty} sum{k};"));
            self.line(&format!("simd_loadu(sum{k}, &{at});"));
            all.push((sum, format!("sum{k}")));
        }
        around(self, &|writer| {
            writer.terms(sums, &|scope, count| {
                let terms = vector::terms(scope, &sums.of.var, &sums.terms(&all, count))?;
                terms.ok_or_else(|| invalid("sums that are not vectors"))
            })
        })?;
        for ((target, _), register) in &all {
            let at = print(&self.scope.access(target)?);
            self.line(&format!("simd_storeu({register}, &{at});"));
        }
        // Two slots for each load or store at any address.
        self.line(&format!("emulated_compute({}, 0);", 4 * vectors + 2));
        Ok(())
    }

    fn scalar_sums(&mut self, sums: &Sums, count: i64, around: Around) -> Result<(), Diagnostic> {
        let ty = c_type(sums.elem);
        let mut all = Vec::new();
        for k in 0..count {
            let sum = sums.ahead(k);
            self.line(&format!("{ty} sum{k} = {};", print(&self.scope.access(&sum.0)?)));
            all.push((sum, format!("sum{k}")));
        }
        around(self, &|writer| {
            writer.terms(sums, &|scope, count| {
                let mut scope = scope.clone();
                let (mut lines, mut cost) = (Vec::new(), cost::Cost::default());
                for (target, register, value) in sums.terms(&all, count) {
                    let name = Name::new(register.as_str());
                    scope.names.insert(name.clone(), Binding::Value(register.clone()));
                    scope.elems.insert(name.clone(), sums.elem);
                    let value = value.map_loads(&mut |access| match access == target {
                        true => Expr::scalar(name.clone()),
                        false => Expr::Load(access),
                    });
                    cost = cost.plus(cost::expression(&value));
                    lines.push(format!("{register} = {};", scope.text(&value)?));
                }
                Ok((lines, cost))
            })
        })?;
        for ((target, _), register) in &all {
            let at = print(&self.scope.access(target)?);
            self.line(&format!("{at} = {register};"));
        }
        self.line(&format!("emulated_compute({}, 0);", 2 * count + 2));
        Ok(())
    }

    /// The loop over the terms: some at a time, then one by one.
    fn terms(
        &mut self,
        sums: &Sums,
        lines: &dyn Fn(&Scope, i64) -> Result<Lines, Diagnostic>,
    ) -> Result<(), Diagnostic> {
        let (var, scope) = (&sums.over.var, self.scope.clone());
        let (lower, upper) = (self.scope.text(&sums.over.lower)?, self.scope.text(&sums.over.upper)?);
        self.open("{");
        self.line(&format!("long {var} = {lower};"));
        self.line(&format!("const long {var}_end = {upper}, {var}_all = LOZENGE_MAX(0, {var}_end - {var});"));
        self.bind(var);
        let mut stated = Vec::new();
        for count in [TERMS, 1] {
            let (lines, cost) = lines(&self.scope, count)?;
            self.open(&ahead(var, count));
            lines.iter().for_each(|line| self.line(line));
            self.close();
            let chain = cost::CHAIN * count as f64;
            stated.push((cost::Cost { chain, ..cost }.cycles() + LOOP, cost.operations));
        }
        self.line(&format!(
            "emulated_compute({} * ({var}_all / {TERMS}) + {} * ({var}_all % {TERMS}) + {LOOP}, {} * {var}_all);",
            stated[0].0, stated[1].0, stated[1].1
        ));
        self.close();
        self.scope = scope;
        Ok(())
    }
}

/// The head of a loop that goes on where the one before has ended.
fn ahead(var: &Name, by: i64) -> String {
    match by {
        1 => format!("for (; {var} < {var}_end; {var} += 1) {{"),
        by => format!("for (; {var} + {} < {var}_end; {var} += {by}) {{", by - 1),
    }
}
