//! Tests on entry that arithmetic on sizes and loop variables stays within 64 bits, where the arrays that callers own do not show it.
//!
//! An operation with loop variables is tested at the least and greatest values that the loops around it allow, which are expressions in sizes:
//! if these fit, all between them do.

use loops::extremes::Extremes;
use loops::{BinaryOp, Diagnostic, Expr, Facts, Function, Name, Stmt, UnaryOp, fits};

use crate::c::CExpr;
use crate::openmp::helpers::Helper;
use crate::openmp::lower::Lower;

/// A sum, difference or product of sizes.
type Operation = (BinaryOp, Expr, Expr);

/// The operations on sizes alone that may go beyond 64 bits, inner ones first, each once.
pub(crate) fn operations(function: &Function) -> Vec<Operation> {
    if function.sizes.is_empty() && fits::check(function, &fits::Ranges::new()).is_ok() {
        return Vec::new();
    }
    let entry = Facts::of(function);
    let extremes = Extremes::new(entry.clone());
    let sizes = ranges(function, &entry);
    let mut collect = Collect { facts: entry.clone(), entry, sizes, extremes, found: Vec::new() };
    collect.stmts(&function.body);
    collect.found
}

/// What 64 bits, the function's assumptions and vectors in memory say of each size.
fn ranges(function: &Function, entry: &Facts) -> fits::Ranges {
    let of = |name: &Name| {
        let size = Expr::Var(name.clone());
        let vectors = function.params.iter().filter(|p| p.dims == [size.clone()]);
        let bytes = vectors.map(|p| p.elem.bytes()).max().unwrap_or(1);
        let least = if entry.proves_natural(&size) { 0 } else { i64::MIN.into() };
        (name.clone(), (least, i128::from(i64::MAX) / bytes as i128))
    };
    function.sizes.iter().map(of).collect()
}

struct Collect {
    /// What is known before the function's body.
    entry: Facts,
    sizes: fits::Ranges,
    /// What is known at the place.
    facts: Facts,
    extremes: Extremes,
    found: Vec<Operation>,
}

impl Collect {
    fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        // Extents of local arrays saturate where they are allocated.
        if !matches!(stmt, Stmt::Local(_)) {
            stmt.exprs().into_iter().for_each(|e| self.expr(e));
        }
        match stmt {
            Stmt::Loop(l) => {
                if l.step > 1 {
                    // What the variable is after the last iteration.
                    self.expr(&Expr::binary(BinaryOp::Add, l.upper.clone(), Expr::Int(l.step - 1)));
                }
                let outside = self.facts.clone();
                self.facts.enter(l);
                self.extremes.enter(l);
                self.stmts(&l.body);
                self.extremes.leave();
                self.facts = outside;
            }
            Stmt::If { cond, then, otherwise } => {
                for (branch, holds) in [(then, true), (otherwise, false)] {
                    let outside = self.facts.clone();
                    self.facts.assume(cond, holds);
                    self.stmts(branch);
                    self.facts = outside;
                }
            }
            _ => stmt.bodies().into_iter().for_each(|body| self.stmts(body)),
        }
    }

    /// The operations of an expression at its place.
    fn expr(&mut self, e: &Expr) {
        e.children().into_iter().for_each(|child| self.expr(child));
        let wide = matches!(e, Expr::Unary(UnaryOp::Neg, _))
            || matches!(e, Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, ..));
        if !wide || e.is_data() || self.facts.proves_fit(e) {
            return;
        }
        match e {
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), a, b) => {
                let (Some(a), Some(b)) = (self.extremes.of(a), self.extremes.of(b)) else { return };
                match op {
                    BinaryOp::Add => self.both([(a.0, b.0), (a.1, b.1)], *op),
                    BinaryOp::Sub => self.both([(a.0, b.1), (a.1, b.0)], *op),
                    _ => self.extremes.corners(&a, &b).iter().for_each(|product| self.on_sizes(product)),
                }
            }
            Expr::Unary(UnaryOp::Neg, a) => {
                if let Some((low, _)) = self.extremes.of(a) {
                    self.on_sizes(&Expr::binary(BinaryOp::Sub, Expr::Int(0), low));
                }
            }
            _ => {}
        }
    }

    fn both(&mut self, of: [(Expr, Expr); 2], op: BinaryOp) {
        of.into_iter().for_each(|(a, b)| self.on_sizes(&Expr::binary(op, a, b)));
    }

    /// The operations of an expression in sizes, which is computed on entry.
    fn on_sizes(&mut self, e: &Expr) {
        e.children().into_iter().for_each(|child| self.on_sizes(child));
        if let Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), a, b) = e
            && !self.entry.proves_fit(e)
            && !fits::operation_fits(e, &self.sizes)
            && !self.found.iter().any(|(o, x, y)| o == op && x == &**a && y == &**b)
        {
            self.found.push((*op, (**a).clone(), (**b).clone()));
        }
    }
}

/// The function that tells whether an operation goes beyond 64 bits.
pub(crate) fn helper(op: BinaryOp) -> (Helper, &'static str) {
    match op {
        BinaryOp::Add => (Helper::AddBeyond, "lozenge_add_beyond"),
        BinaryOp::Sub => (Helper::SubBeyond, "lozenge_sub_beyond"),
        _ => (Helper::MulBeyond, "lozenge_mul_beyond"),
    }
}

impl Lower<'_> {
    /// Whether arithmetic on sizes goes beyond 64 bits; nothing where it can't.
    pub fn beyond(&mut self, function: &Function) -> Result<Option<CExpr>, Diagnostic> {
        let mut test: Option<CExpr> = None;
        for (op, a, b) in operations(function) {
            let (helper, name) = helper(op);
            let (a, b) = (self.assumed(&a)?, self.assumed(&b)?);
            let one = self.helper(helper, name, vec![a, b]);
            test = Some(match test {
                None => one,
                Some(before) => CExpr::binary("||", before, one),
            });
        }
        Ok(test)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use loops::{CompareOp, LoopKind};
    use proptest::prelude::*;

    use super::*;

    fn tested(text: &str) -> Vec<String> {
        let program = loops::parse(text).unwrap();
        let found = operations(&program.functions[0]).into_iter();
        found.map(|(op, a, b)| Expr::binary(op, a, b).to_string()).collect()
    }

    #[test]
    fn what_arrays_do_not_show_is_found() {
        let found = tested(
            "fn f[m, n, k](x: in f32[m * n], y: out f32[n]) where m >= 0, n >= 0, k >= 0 {
            for i in 0..m * n { y[0] = x[i] }
            for i in 0..m * k + 1 { y[n - 1] = x[0] }
        }",
        );
        assert_eq!(found, ["m * k", "m * k + 1"]);
    }

    #[test]
    fn loop_variables_are_taken_at_their_ends() {
        let found = tested(
            "fn f[n, m](x: inout f32[n]) where n >= 1, m >= 1 {
            for i in 0..n { x[i * m mod n] = 1.0 }
        }",
        );
        assert_eq!(found, ["(n - 1) * m"]);
        let found = tested(
            "fn f[n, m](x: inout f32[n]) where n >= 1, m >= 1 {
            for t in 0..m { for i in 2 * t..2 * t + n { x[i - 2 * t] = 1.0 } }
        }",
        );
        assert_eq!(found, ["2 * (m - 1)", "2 * (m - 1) + n"]);
    }

    #[test]
    fn tiles_of_what_is_in_memory_need_no_test() {
        let found = tested(
            "fn f[n](x: inout f32[n]) where n >= 1 {
            for t in 0..(n + 31) floordiv 32 { for i in 32 * t..min(n, 32 * t + 32) { x[i] = 1.0 } }
            for t in 0..n step 32 { for i in t..min(n, t + 32) { x[i] = 1.0 } }
        }",
        );
        assert_eq!(found, [] as [&str; 0]);
    }

    /// The exact value of an index expression; nothing if some part of it is beyond 64 bits.
    fn exact(e: &Expr, values: &BTreeMap<Name, i128>) -> Option<i128> {
        let value = match e {
            Expr::Int(value) => i128::from(*value),
            Expr::Var(name) => values[name],
            Expr::Binary(op, a, b) => {
                let (a, b) = (exact(a, values)?, exact(b, values)?);
                match op {
                    BinaryOp::Add => a + b,
                    BinaryOp::Sub => a - b,
                    BinaryOp::Mul => a * b,
                    BinaryOp::Min => a.min(b),
                    BinaryOp::Max => a.max(b),
                    BinaryOp::FloorDiv if b == 0 => 0,
                    BinaryOp::FloorDiv => a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0),
                    BinaryOp::Mod if b == 0 => a,
                    BinaryOp::Mod => a.rem_euclid(b) + if b < 0 && a.rem_euclid(b) != 0 { b } else { 0 },
                    _ => unreachable!("what the test draws"),
                }
            }
            _ => unreachable!("what the test draws"),
        };
        i64::try_from(value).is_ok().then_some(value)
    }

    /// Whether the first and last iterations of all loops stay within 64 bits.
    fn stays(stmts: &[Stmt], values: &mut BTreeMap<Name, i128>) -> bool {
        stmts.iter().all(|stmt| {
            let Stmt::Loop(l) = stmt else {
                return stmt.exprs().into_iter().all(|e| e.is_data() || exact(e, values).is_some());
            };
            let (Some(lower), Some(upper)) = (exact(&l.lower, values), exact(&l.upper, values)) else {
                return false;
            };
            let step = i128::from(l.step);
            let last = lower + (upper - 1 - lower).div_euclid(step) * step;
            let ends = [lower, lower + step, last - step, last];
            let stays = ends.into_iter().filter(|i| (lower..upper).contains(i)).all(|i| {
                values.insert(l.var.clone(), i);
                i64::try_from(i + step).is_ok() && stays(&l.body, values)
            });
            values.remove(&l.var);
            stays
        })
    }

    fn expression(names: &'static [&'static str]) -> impl Strategy<Value = Expr> {
        let leaf = prop_oneof![
            prop::sample::select(names).prop_map(Expr::var),
            prop::sample::select(vec![0, 1, 2, 31, 1 << 20, -3]).prop_map(Expr::Int),
        ];
        let ops = [
            BinaryOp::Add,
            BinaryOp::Sub,
            BinaryOp::Mul,
            BinaryOp::Min,
            BinaryOp::Max,
            BinaryOp::FloorDiv,
            BinaryOp::Mod,
        ];
        leaf.prop_recursive(3, 8, 2, move |inner| {
            (prop::sample::select(ops.to_vec()), inner.clone(), inner)
                .prop_map(|(op, a, b)| Expr::binary(op, a, b))
        })
    }

    fn size() -> impl Strategy<Value = i64> {
        prop_oneof![1..20i64, (0..61u32).prop_map(|bits| 1 << bits), Just((1 << 61) - 1), (1..1i64 << 40)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        /// Where a subscript, a bound or a loop variable goes beyond 64 bits, the test on entry tells.
        #[test]
        fn nothing_goes_beyond_unseen(
            (lower, upper) in (expression(&["n", "m"]), expression(&["n", "m"])),
            inner in (expression(&["n", "m", "i"]), expression(&["n", "m", "i"])),
            subscript in expression(&["n", "m", "i", "j"]),
            steps in (prop::sample::select(vec![1i64, 32]), prop::sample::select(vec![1i64, 32])),
            (n, m) in (size(), size()),
        ) {
            let store = Stmt::assign(loops::Access::element("x", vec![subscript]), Expr::f32(1.0));
            let within = Stmt::range("j", inner.0, inner.1, LoopKind::Sequential, vec![store]);
            let mut around = Stmt::range("i", lower, upper, LoopKind::Sequential, vec![within]);
            if let Stmt::Loop(l) = &mut around {
                l.step = steps.0;
                if let Stmt::Loop(l) = &mut l.body[0] {
                    l.step = steps.1;
                }
            }
            let function = Function {
                name: "f".into(),
                sizes: vec!["n".into(), "m".into()],
                assumptions: ["n", "m"]
                    .map(|s| Expr::compare(CompareOp::Ge, Expr::var(s), Expr::Int(1))).to_vec(),
                params: vec![loops::Param::new("x", loops::ParamMode::InOut, loops::Scalar::F32, vec![Expr::var("n")])],
                body: vec![around],
            };
            let mut values = BTreeMap::from([("n".into(), n.into()), ("m".into(), m.into())]);
            let fits = operations(&function)
                .into_iter()
                .all(|(op, a, b)| exact(&Expr::binary(op, a, b), &values).is_some());
            prop_assert!(!fits || stays(&function.body, &mut values));
        }
    }
}
