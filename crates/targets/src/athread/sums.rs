//! Sums in registers: a sum over one of two loops around a statement stays in a register while its terms are added.
//!
//! As the loops stand, each term loads the sum and stores it. Each sum is over one of the loops in its order, so the loops may change places. Sums that follow each other are
//! added up as vectors, two or more of them at a time; of sums of rows four are added up at a time, so that none waits for its own last addition.

use loops::{Access, Assign, Diagnostic, Expr, Loop, Name, Scalar, Stmt};

use super::cost::{self, LOOP};
use super::expr::{Binding, c_type, invalid, print};
use super::slave::{TILE, Writer};
use super::vector;

/// Elements of a vector.
const LANES: i64 = 4;
/// Sums of rows at a time.
const ROWS: i64 = 4;

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

/// What is around the terms of sums: it writes its beginning, the terms, and its end.
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
    let apart = !inner.lower.vars().contains(&outer.var) && !inner.upper.vars().contains(&outer.var);
    let target = &assign.target;
    let moves = |l: &Loop| target.indices.iter().any(|e| e.vars().contains(&l.var));
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
    value.walk(&mut |e| {
        if let Expr::Load(access) = e {
            own += usize::from(access == target);
            others += usize::from(access.array == target.array && access != target);
        }
    });
    let plain =
        apart && of.step == 1 && over.step == 1 && target.array == *buffer && target.indices.len() == 1;
    (plain && own == 1 && others == 0).then_some(Sums { assign, value, of, over, elem })
}

impl Sums {
    /// The sum so many iterations later, and its value.
    fn ahead(&self, by: i64) -> (Access, Expr) {
        let there = &mut |e: &Expr| {
            e.substitute(&|name| (by > 0 && *name == self.of.var).then(|| Expr::Var(name.clone()) + by))
        };
        (self.assign.target.map_indices(there), there(&self.value))
    }

    /// Whether the sums are as vectors are: they and what is added to them follow each other, or stay.
    pub fn follow(&self) -> bool {
        let mut all = vector::stride(&self.assign.target, &self.of.var) == vector::Stride::Follows;
        self.value.walk(&mut |e| {
            if let Expr::Load(access) = e {
                all &= vector::stride(access, &self.of.var) != vector::Stride::Other;
            }
        });
        all && self.elem.is_float()
    }
}

impl Writer<'_> {
    /// Sums, as vectors if they are like that, `unit` bytes at a time at most; of others there are `count`, or fewer.
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
            let (target, value) = sums.ahead(LANES * k);
            let at = print(&self.scope.access(&target)?);
            self.line(&format!("{ty} sum{k};"));
            self.line(&format!("simd_loadu(sum{k}, &{at});"));
            all.push((target, format!("sum{k}"), value));
        }
        around(self, &|writer| {
            let over = &sums.over;
            let scope = writer.scope.clone();
            let (lower, upper) = (writer.scope.text(&over.lower)?, writer.scope.text(&over.upper)?);
            writer.bind(&over.var);
            let Some((lines, cost)) = vector::terms(&writer.scope, &sums.of.var, &all)? else {
                return Err(invalid("sums that are not vectors"));
            };
            writer.open(&format!("for (long {0} = {lower}; {0} < {upper}; {0} += 1) {{", over.var));
            lines.iter().for_each(|line| writer.line(line));
            writer.close();
            writer.scope = scope;
            writer.line(&stated(cost.cycles(), cost.operations, &lower, &upper));
            Ok(())
        })?;
        for (target, register, _) in &all {
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
            let (target, value) = sums.ahead(k);
            self.line(&format!("{ty} sum{k} = {};", print(&self.scope.access(&target)?)));
            all.push((target, Name::new(format!("sum{k}")), value));
        }
        around(self, &|writer| {
            let over = &sums.over;
            let scope = writer.scope.clone();
            let (lower, upper) = (writer.scope.text(&over.lower)?, writer.scope.text(&over.upper)?);
            writer.bind(&over.var);
            writer.open(&format!("for (long {0} = {lower}; {0} < {upper}; {0} += 1) {{", over.var));
            let mut cost = cost::Cost { chain: cost::CHAIN, ..cost::Cost::default() };
            for (target, register, value) in &all {
                writer.scope.names.insert(register.clone(), Binding::Value(register.to_string()));
                writer.scope.elems.insert(register.clone(), sums.elem);
                let value = value.map_loads(&mut |access| match access == *target {
                    true => Expr::scalar(register.clone()),
                    false => Expr::Load(access),
                });
                cost = cost.plus(cost::expression(&value));
                let text = writer.scope.text(&value)?;
                writer.line(&format!("{register} = {text};"));
            }
            writer.close();
            writer.scope = scope;
            writer.line(&stated(cost.cycles(), cost.operations, &lower, &upper));
            Ok(())
        })?;
        for (target, register, _) in &all {
            let at = print(&self.scope.access(target)?);
            self.line(&format!("{at} = {register};"));
        }
        self.line(&format!("emulated_compute({}, 0);", 2 * count + 2));
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

/// What the terms from one bound to another take.
fn stated(cycles: f64, operations: f64, lower: &str, upper: &str) -> String {
    let lower = if lower.contains(' ') { format!("({lower})") } else { lower.to_owned() };
    let count = format!("LOZENGE_MAX(0, {upper} - {lower})");
    format!("emulated_compute({} * {count} + {LOOP}, {operations} * {count});", cycles + LOOP)
}
