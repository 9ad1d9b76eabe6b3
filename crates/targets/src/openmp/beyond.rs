//! Tests on entry that arithmetic on sizes stays within 64 bits, where the arrays that callers own do not show it.

use loops::{BinaryOp, Diagnostic, Expr, Facts, Function, Stmt};

use crate::c::CExpr;
use crate::openmp::helpers::Helper;
use crate::openmp::lower::Lower;

/// A sum, difference or product of sizes.
type Operation = (BinaryOp, Expr, Expr);

/// The operations on sizes alone that may go beyond 64 bits, inner ones first, each once.
fn operations(function: &Function) -> Vec<Operation> {
    let facts = Facts::of(function);
    let mut found = Vec::new();
    for stmt in &function.body {
        stmt.walk(&mut |stmt| {
            // Extents of local arrays saturate where they are allocated.
            if !matches!(stmt, Stmt::Local(_)) {
                stmt.exprs().into_iter().for_each(|e| collect(e, function, &facts, &mut found));
            }
        });
    }
    found
}

fn collect(e: &Expr, function: &Function, facts: &Facts, found: &mut Vec<Operation>) {
    e.children().into_iter().for_each(|child| collect(child, function, facts, found));
    if let Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), a, b) = e
        && !e.is_data()
        && e.vars().iter().all(|name| function.sizes.contains(name))
        && !facts.proves_fit(e)
        && !found.iter().any(|(o, x, y)| o == op && x == &**a && y == &**b)
    {
        found.push((*op, (**a).clone(), (**b).clone()));
    }
}

impl Lower<'_> {
    /// Whether arithmetic on sizes goes beyond 64 bits; nothing where it can't.
    pub fn beyond(&mut self, function: &Function) -> Result<Option<CExpr>, Diagnostic> {
        let mut test: Option<CExpr> = None;
        for (op, a, b) in operations(function) {
            let (helper, name) = match op {
                BinaryOp::Add => (Helper::AddBeyond, "lozenge_add_beyond"),
                BinaryOp::Sub => (Helper::SubBeyond, "lozenge_sub_beyond"),
                _ => (Helper::MulBeyond, "lozenge_mul_beyond"),
            };
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
    use super::*;

    #[test]
    fn what_arrays_do_not_show_is_found() {
        let text = "fn f[m, n, k](x: in f32[m * n], y: out f32[n]) where m >= 0, n >= 0, k >= 0 {
            for i in 0..m * n { y[0] = x[i] }
            for i in 0..m * k + 1 { y[n - 1] = x[0] }
        }";
        let program = loops::parse(text).unwrap();
        let found: Vec<String> = operations(&program.functions[0])
            .into_iter()
            .map(|(op, a, b)| Expr::binary(op, a, b).to_string())
            .collect();
        assert_eq!(found, ["m * k", "m * k + 1"]);
    }
}
