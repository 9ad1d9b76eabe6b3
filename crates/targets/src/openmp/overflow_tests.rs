//! Tests on entry that arithmetic on sizes and loop variables stays within 64 bits, where the
//! arrays that callers own do not show it.
//!
//! An operation with loop variables is tested at the least and greatest values that the loops
//! around it allow, which are expressions in sizes: if these fit, all between them do. Where data
//! bounds a variable there are no such expressions, and the function is refused, unless the
//! subscript that the operation is part of shows that it fits: subscripts are within their arrays.

use loops::extremes::{Bounds, Extremes};
use loops::{
    Access, BinaryOp, Code, CompareOp, Diagnostic, Expr, Facts, Function, Name, Stmt, UnaryOp, fits,
};

use crate::c::CExpr;
use crate::openmp::helpers::Helper;
use crate::openmp::lower::Lower;

/// A sum, difference or product of sizes.
type Operation = (BinaryOp, Expr, Expr);

/// The operations on sizes alone that may go beyond 64 bits, inner ones first, each once.
///
/// # Errors
/// `T0007` for an operation that no test on entry can cover.
pub(crate) fn operations(function: &Function) -> Result<Vec<Operation>, Diagnostic> {
    let entry = Facts::of(function);
    let extremes = Extremes::new(function, entry.clone());
    let sizes = ranges(function, &entry);
    let facts = entry.clone();
    let mut collect =
        Collect { entry, sizes, facts, subscripts: Vec::new(), extremes, found: Vec::new(), unknown: None };
    collect.stmts(&function.body);
    match collect.unknown {
        None => Ok(collect.found),
        Some(e) => Err(refusal(function, &e)),
    }
}

fn refusal(function: &Function, e: &Expr) -> Diagnostic {
    let message = format!(
        "index arithmetic of `{}` may go beyond 64 bits, and no test on entry can tell: `{e}` has no bounds in terms of sizes",
        function.name
    );
    Diagnostic::general(Code("T0007"), message).help(
        "bound the loop by sizes as well, as in `for k in max(0, p[i])..min(n, p[i + 1])`; or compute with data, which wraps: `i64(k) * 16`",
    )
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
    /// The subscripts around the place, outermost first.
    subscripts: Vec<Expr>,
    extremes: Extremes,
    found: Vec<Operation>,
    /// The first operation whose least or greatest value is not known.
    unknown: Option<Expr>,
}

impl Collect {
    fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            // Extents of local arrays saturate where they are allocated.
            Stmt::Local(_) => {}
            Stmt::Assign(assign) => {
                self.subscripts(&assign.target);
                self.expr(&assign.value);
            }
            _ => stmt.exprs().into_iter().for_each(|e| self.expr(e)),
        }
        match stmt {
            Stmt::Loop(l) => {
                if l.step > 1 {
                    self.after_last(&l.upper, l.step - 1);
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

    /// What the variable of a loop is after the last iteration.
    fn after_last(&mut self, upper: &Expr, step: i64) {
        let after = Expr::binary(BinaryOp::Add, upper.clone(), Expr::Int(step));
        if !upper.is_data() {
            self.expr(&after);
        } else if let Some(most) = self.extremes.of(upper).greatest {
            self.on_sizes(&Expr::binary(BinaryOp::Add, most, Expr::Int(step)));
        } else {
            self.unknown.get_or_insert(after);
        }
    }

    fn subscripts(&mut self, access: &Access) {
        for index in &access.indices {
            self.subscripts.push(index.clone());
            self.expr(index);
            self.subscripts.pop();
        }
    }

    /// The operations of an expression at its place.
    fn expr(&mut self, e: &Expr) {
        match e {
            Expr::Load(access) => self.subscripts(access),
            _ => e.children().for_each(|child| self.expr(child)),
        }
        if !self.widens(e) || e.is_data() || self.facts.proves_fit(e) {
            return;
        }
        if self.at_ends(e).is_none() && !self.is_below_a_bound(e) && !self.subscript_shows(e) {
            self.unknown.get_or_insert(e.clone());
        }
    }

    /// Whether the value of an operation may be beyond 64 bits where its operands are not.
    fn widens(&self, e: &Expr) -> bool {
        match e {
            Expr::Unary(op, _) => matches!(op, UnaryOp::Neg | UnaryOp::Abs),
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, ..) => true,
            // The least number by -1.
            Expr::Binary(BinaryOp::Div | BinaryOp::FloorDiv, _, by) => match &**by {
                Expr::Int(by) => *by == -1,
                by => !self.facts.proves_natural(by),
            },
            _ => false,
        }
    }

    /// Tests an operation at the ends of its operands; nothing if these are not known.
    fn at_ends(&mut self, e: &Expr) -> Option<()> {
        match e {
            Expr::Binary(BinaryOp::Mul, a, b) => {
                let (a, b) = (self.extremes.of(a), self.extremes.of(b));
                self.extremes.corners(&a, &b)?.iter().for_each(|product| self.on_sizes(product));
            }
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) => {
                let (a, b) = (self.extremes.of(a), self.extremes.of(b));
                let ends = |bounds: &Bounds| bounds.ends().map(|(least, most)| (least.clone(), most.clone()));
                let (a, b) = (ends(&a)?, ends(&b)?);
                let pairs = match op {
                    BinaryOp::Add => [(a.0, b.0), (a.1, b.1)],
                    _ => [(a.0, b.1), (a.1, b.0)],
                };
                pairs.into_iter().for_each(|(a, b)| self.on_sizes(&Expr::binary(*op, a, b)));
            }
            Expr::Unary(_, a) | Expr::Binary(_, a, _) => {
                let least = self.extremes.of(a).least?;
                self.on_sizes(&Expr::binary(BinaryOp::Sub, Expr::Int(0), least));
            }
            _ => {}
        }
        Some(())
    }

    /// Whether it is a loop's variable and 1: the variable is below the loop's bound.
    fn is_below_a_bound(&self, e: &Expr) -> bool {
        matches!(e, Expr::Binary(BinaryOp::Add, a, b) if **b == Expr::Int(1) && self.extremes.is_loop_variable(a))
    }

    /// Whether an operation fits because the subscript that it is part of does.
    fn subscript_shows(&self, e: &Expr) -> bool {
        let Some(subscript) = self.subscripts.last() else { return false };
        let mut facts = self.facts.clone();
        facts.hold(subscript);
        facts.assume(&Expr::compare(CompareOp::Ge, subscript.clone(), Expr::Int(0)), true);
        facts.proves_fit(e)
    }

    /// The operations of an expression in sizes, which is computed on entry.
    fn on_sizes(&mut self, e: &Expr) {
        e.children().for_each(|child| self.on_sizes(child));
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
        for (op, a, b) in operations(function)? {
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

    use loops::{LoopKind, Param, ParamMode, Scalar};
    use proptest::prelude::*;

    use super::*;

    fn tested(text: &str) -> Vec<String> {
        let program = loops::parse(text).unwrap();
        let found = operations(&program.functions[0]).unwrap().into_iter();
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

    fn refused(text: &str) -> Option<String> {
        let program = loops::parse(text).unwrap();
        operations(&program.functions[0]).err().map(|d| d.to_string())
    }

    #[test]
    fn what_data_bounds_is_shown_to_fit_or_refused() {
        let within = |bounds: &str, body: &str| {
            format!(
                "fn f[n, m](p: in i64[n], q: in i32[n], x: inout f32[m]) where n >= 1, m >= 1 {{
                for r in 0..n {{ for k in {bounds} {{ {body} }} }} }}"
            )
        };
        let wide = within("p[r]..p[r]", "x[k * 16 mod m] = 1.0f32");
        assert!(refused(&wide).is_some_and(|message| message.contains("`k * 16` has no bounds")), "{wide}");
        assert!(refused(&within("p[r]..p[r] step 4", "x[k] = 1.0f32")).is_some());
        // A subscript is within its array.
        let none: [&str; 0] = [];
        assert_eq!(tested(&within("p[r]..p[r]", "for i in 0..16 { x[k * 16 + i] = 1.0f32 }")), none);
        assert_eq!(tested(&within("p[r]..p[r]", "for i in k + 1..p[r] { x[i] = 1.0f32 }")), none);
        // So are integers of 32 bits, and what sizes bound.
        assert_eq!(tested(&within("q[r]..q[r]", "x[k * 16 mod m] = 1.0f32")), none);
        assert_eq!(tested(&within("i64(q[r])..i64(q[r]) step 4", "x[k * m mod m] = 1.0f32")).len(), 2);
        let sizes = within("max(0, p[r])..min(n, p[r])", "x[k * m mod m] = 1.0f32");
        assert_eq!(tested(&sizes), ["(n - 1) * m"]);
    }

    type Values = BTreeMap<Name, i128>;

    /// The exact value of an index expression; nothing if some part of it is beyond 64 bits.
    fn exact(e: &Expr, values: &Values) -> Option<i128> {
        let value = match e {
            Expr::Int(value) => i128::from(*value),
            Expr::Var(name) => values[name],
            Expr::Load(access) => values[&access.array],
            Expr::Cast(_, inner) => exact(inner, values)?,
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
    fn stays(stmts: &[Stmt], values: &mut Values) -> bool {
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

    /// A bound that data gives: of 64 bits, of 32 bits, or one that sizes limit.
    fn data_bound() -> impl Strategy<Value = Expr> {
        let load = |name: &str| Expr::Load(Access::element(name, vec![Expr::Int(0)]));
        let data = prop::sample::select(vec![load("p"), Expr::Cast(Scalar::I64, Box::new(load("q")))]);
        let limit = prop::sample::select(vec![BinaryOp::Min, BinaryOp::Max]);
        prop_oneof![
            data.clone(),
            (limit, data, expression(&["n", "m"])).prop_map(|(op, data, by)| Expr::binary(op, data, by)),
        ]
    }

    fn size() -> impl Strategy<Value = i64> {
        prop_oneof![1..20i64, (0..61u32).prop_map(|bits| 1 << bits), Just((1 << 61) - 1), (1..1i64 << 40)]
    }

    fn inputs() -> impl Strategy<Value = Values> {
        let wide = prop_oneof![any::<i64>(), -20..20i64, Just(i64::MAX), Just(i64::MIN)];
        let narrow = prop_oneof![any::<i32>(), -20..20i32, Just(i32::MAX), Just(i32::MIN)];
        (size(), size(), wide, narrow).prop_map(|(n, m, p, q)| {
            let named = [("n", n.into()), ("m", m.into()), ("p", p.into()), ("q", q.into())];
            named.into_iter().map(|(name, value): (_, i128)| (name.into(), value)).collect()
        })
    }

    type Range = (Expr, Expr, i64);

    /// A store to `x[subscript]` in two loops.
    fn nest(outer: Range, inner: Range, subscript: Expr) -> Function {
        let store = Stmt::assign(Access::element("x", vec![subscript]), Expr::f32(1.0));
        let around = |var: &str, (lower, upper, step): Range, body: Stmt| {
            let mut stmt = Stmt::range(var, lower, upper, LoopKind::Sequential, vec![body]);
            if let Stmt::Loop(l) = &mut stmt {
                l.step = step;
            }
            stmt
        };
        let array = |name: &str, mode, elem, dim| Param::new(name, mode, elem, vec![dim]);
        Function {
            name: "f".into(),
            sizes: vec!["n".into(), "m".into()],
            assumptions: ["n", "m"]
                .map(|s| Expr::compare(CompareOp::Ge, Expr::var(s), Expr::Int(1)))
                .to_vec(),
            params: vec![
                array("x", ParamMode::InOut, Scalar::F32, Expr::var("n")),
                array("p", ParamMode::In, Scalar::I64, Expr::Int(1)),
                array("q", ParamMode::In, Scalar::I32, Expr::Int(1)),
            ],
            body: vec![around("i", outer, around("j", inner, store))],
        }
    }

    fn step() -> impl Strategy<Value = i64> {
        prop::sample::select(vec![1i64, 32])
    }

    /// Whether the tests on entry let a call pass.
    fn passes(tests: &[Operation], values: &Values) -> bool {
        tests.iter().all(|(op, a, b)| exact(&Expr::binary(*op, a.clone(), b.clone()), values).is_some())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        /// Where a subscript, a bound or a loop variable goes beyond 64 bits, the test on entry
        /// tells.
        #[test]
        fn nothing_goes_beyond_unseen(
            outer in (expression(&["n", "m"]), expression(&["n", "m"]), step()),
            inner in (expression(&["n", "m", "i"]), expression(&["n", "m", "i"]), step()),
            subscript in expression(&["n", "m", "i", "j"]),
            mut values in inputs(),
        ) {
            let function = nest(outer, inner, subscript);
            // Bounds may be too long.
            if let Ok(tests) = operations(&function) {
                prop_assert!(!passes(&tests, &values) || stays(&function.body, &mut values));
            }
        }

        /// The same where data bounds the loops, for what is not refused. Here the subscript is a
        /// remainder, so that it is within its array.
        #[test]
        fn nothing_that_data_bounds_goes_beyond_unseen(
            outer in (data_bound(), data_bound(), step()),
            inner in (expression(&["n", "m", "i"]), expression(&["n", "m", "i"]), step()),
            subscript in expression(&["n", "m", "i", "j"]),
            mut values in inputs(),
        ) {
            let function = nest(outer, inner, Expr::binary(BinaryOp::Mod, subscript, Expr::var("n")));
            if let Ok(tests) = operations(&function) {
                prop_assert!(!passes(&tests, &values) || stays(&function.body, &mut values));
            }
        }
    }
}
