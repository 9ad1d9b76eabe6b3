//! Parallel loops whose iterations are lanes of vectors. Each lane has its own sums over an inner
//! loop (forces of bodies, sums over a window).
//!
//! The sums keep their order, so the inner loop is not vectorised. The loop around it is, if a
//! compiler sees that the inner loop runs at least once. The generated code tests this before the
//! loops.

use loops::{Access, BinaryOp, Diagnostic, Elem, Expr, Loop, LoopKind, Name, Scalar, Stmt, UnaryOp};

use crate::c::{CExpr, CStmt};
use crate::openmp::lower::Lower;

/// The loop inside of a parallel loop whose iterations are lanes.
pub struct Lanes<'a> {
    inner: &'a Loop,
}

/// The only loop among these statements, if the others are declarations and assignments.
fn only_loop(body: &[Stmt]) -> Option<&Loop> {
    let mut found = None;
    for stmt in body {
        match stmt {
            Stmt::Loop(l) if found.is_none() => found = Some(l),
            Stmt::Local(_) | Stmt::Assign(_) => {}
            _ => return None,
        }
    }
    found
}

/// Whether compilers have this as an operation on vectors, without a choice between two values.
fn straight(e: &Expr) -> bool {
    e.nodes().all(|e| match e {
        Expr::Int(_) | Expr::I32(_) | Expr::F32(_) | Expr::F64(_) | Expr::Var(_) | Expr::Load(_) => true,
        Expr::Unary(op, _) => matches!(op, UnaryOp::Neg | UnaryOp::Abs),
        Expr::Binary(op, _, _) => {
            matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div)
        }
        _ => false,
    })
}

impl Lower<'_> {
    /// Whether a parallel loop is a loop over lanes. It has scalars of one floating-point type, and
    /// one inner loop of the same length for all lanes that sums up into these scalars. The inner
    /// loop reads elements that are the same for all lanes, adjacent, or the same in all steps.
    pub fn lanes<'a>(&self, l: &'a Loop) -> Option<Lanes<'a>> {
        let inner = only_loop(&l.body)?;
        let plain = |l: &Loop| l.reductions.is_empty() && l.step.max(1) == 1;
        let alike = |e: &Expr| !e.mentions(&l.var) && !e.has_loads();
        if self.paper() || !plain(l) || !plain(inner) || inner.kind != LoopKind::Sequential {
            return None;
        }
        if !alike(&inner.lower) || !alike(&inner.upper) {
            return None;
        }
        let elem = |name: &Name| self.array(name).ok().map(|a| a.elem.clone());
        let mut scalars: Vec<(&Name, &Elem)> = Vec::new();
        for stmt in l.body.iter().chain(&inner.body) {
            if let Stmt::Local(decl) = stmt {
                decl.dims.is_empty().then_some(())?;
                scalars.push((&decl.name, &decl.elem));
            }
        }
        let first = scalars.first()?.1.clone();
        if !matches!(first, Elem::Scalar(Scalar::F32 | Scalar::F64))
            || scalars.iter().any(|(_, e)| **e != first)
        {
            return None;
        }
        let local = |name: &Name| scalars.iter().any(|(n, _)| *n == name);
        let mut sums = false;
        for stmt in &inner.body {
            let assign = match stmt {
                Stmt::Local(_) => continue,
                Stmt::Assign(assign) => assign,
                _ => return None,
            };
            if !local(&assign.target.array) || !straight(&assign.value) {
                return None;
            }
            sums |= assign.update.is_some();
            let mut fits = true;
            for access in assign.value.loads() {
                let same = |access: &Access| access.indices.iter().all(|e| !e.mentions(&l.var));
                let once = || access.indices.iter().all(|e| !e.mentions(&inner.var));
                fits &= local(&access.array)
                    || elem(&access.array).as_ref() == Some(&first)
                        && (once() || same(access) || access.is_adjacent_along(&l.var));
            }
            if !fits {
                return None;
            }
        }
        sums.then_some(Lanes { inner })
    }

    /// The region of a loop over lanes. If the inner loop may have no iterations, this is tested
    /// first.
    pub(crate) fn over_lanes(
        &mut self,
        l: &Loop,
        lanes: &Lanes<'_>,
        clauses: &str,
        text: CStmt,
    ) -> Result<Vec<CStmt>, Diagnostic> {
        let pragma = CStmt::Pragma;
        if self.runs(lanes.inner) {
            return Ok(vec![pragma(format!("omp parallel for simd{clauses}")), text]);
        }
        let shared_out = |simd: &str| vec![pragma(format!("omp for{simd}")), text.clone()];
        let (lower, upper) = (self.place(&lanes.inner.lower)?, self.place(&lanes.inner.upper)?);
        let same = lanes.inner.lower == l.lower && lanes.inner.upper == l.upper;
        let otherwise = if same { Vec::new() } else { shared_out("") };
        let question = CStmt::If(CExpr::binary("<", lower, upper), shared_out(" simd"), otherwise);
        Ok(vec![pragma(format!("omp parallel{clauses}")), CStmt::Block(None, vec![question])])
    }
}
