//! Short loops over lanes as operations on vectors.
//!
//! `gcc` makes vectors of a loop with `omp simd` of constant length. `clang` unrolls such a loop
//! before it looks for vectors, and then keeps a tile of registers in memory: a product of matrices
//! took ten times as long. So the loop is written with the vector types that both compilers have. A
//! vector has as many lanes as a register of the machine holds (`LOZENGE_LANES`), which is known
//! when the C is compiled: what is longer than a register becomes several vectors, because `gcc`
//! takes a vector that is longer than a register apart in memory.

use loops::{Access, Assign, BinaryOp, Diagnostic, Elem, Expr, Loop, Name, ReduceOp, Scalar, Stmt, UnaryOp};

use crate::c::{CExpr, CFor, CStmt};
use crate::openmp::helpers::Helper;
use crate::openmp::loop_form::trips;
use crate::openmp::lower::Lower;
use crate::openmp::types::elem_bytes;

/// Bytes of the smallest vector register.
const LEAST_BYTES: i64 = 16;

/// Bytes of the largest vector register.
const MOST_BYTES: i64 = 64;

/// The most lanes of a loop that is written as vectors.
const MOST_LANES: i64 = 128;

/// The loop over lanes around the current statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vectors {
    /// Its variable in the loop program.
    var: Name,
    /// The C type of a vector.
    ty: String,
}

/// The shape of a loop over lanes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The type of the numbers.
    scalar: Scalar,
    /// Lanes of the longest vector, a power of two.
    lanes: i64,
}

impl Lower<'_> {
    /// Whether lanes side by side are elements side by side in memory, of numbers of this type.
    pub fn adjacent(&self, access: &Access, lane: &Name, scalar: Scalar) -> bool {
        let Ok(array) = self.array(&access.array) else { return false };
        array.elem == Elem::Scalar(scalar)
            && array.members.iter().all(|(after, _)| *after == 0)
            && access.is_adjacent_along(lane)
    }

    /// Whether an operation on vectors gives this value in every lane.
    fn in_lanes(&self, e: &Expr, lane: &Name, scalar: Scalar) -> bool {
        if !e.mentions(lane) {
            return true;
        }
        match e {
            Expr::Load(access) => self.adjacent(access, lane, scalar),
            Expr::Unary(UnaryOp::Neg, a) => self.in_lanes(a, lane, scalar),
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div, a, b) => {
                self.in_lanes(a, lane, scalar) && self.in_lanes(b, lane, scalar)
            }
            _ => false,
        }
    }

    /// The shape of a loop that is written as vectors: a constant number of lanes, arithmetic on
    /// floating-point numbers of one type, and elements side by side.
    pub fn vectors(&self, l: &Loop) -> Option<Shape> {
        let count = trips(l).filter(|count| (2..=MOST_LANES).contains(count))?;
        if self.paper() || l.lower != Expr::Int(0) || l.step.max(1) != 1 || !l.reductions.is_empty() {
            return None;
        }
        let mut shape: Option<Shape> = None;
        for stmt in &l.body {
            let Stmt::Assign(Assign { target, update, value, .. }) = stmt else { return None };
            if update.is_some_and(|u| !matches!(u.op, ReduceOp::Add | ReduceOp::Mul)) {
                return None;
            }
            let Elem::Scalar(scalar @ (Scalar::F32 | Scalar::F64)) = self.array(&target.array).ok()?.elem
            else {
                return None;
            };
            let bytes = i64::try_from(elem_bytes(&Elem::Scalar(scalar))).ok()?;
            let lanes = (1 << count.trailing_zeros()).min(MOST_BYTES / bytes);
            let own = Shape { scalar, lanes };
            let alike = shape.is_none_or(|s| s == own);
            if !alike || lanes * bytes < LEAST_BYTES {
                return None;
            }
            if !self.adjacent(target, &l.var, scalar) || !self.in_lanes(value, &l.var, scalar) {
                return None;
            }
            shape = Some(own);
        }
        shape
    }

    /// The C type of a vector of this shape, defined at the beginning of the function.
    fn vector_type(&mut self, shape: Shape) -> String {
        let key = (shape.scalar.keyword(), shape.lanes);
        if let Some(name) = self.vector_types.get(&key) {
            return name.clone();
        }
        self.helpers.insert(Helper::Lanes);
        let name = self.names.take(&format!("{}x{}", key.0, key.1));
        self.vector_types.insert(key, name.clone());
        name
    }

    /// The definitions of the types of vectors in use.
    pub(crate) fn vector_definitions(&self) -> Vec<CStmt> {
        let define = |(&(keyword, lanes), name): (&(&'static str, i64), &String)| {
            let scalar = if keyword == Scalar::F32.keyword() { Scalar::F32 } else { Scalar::F64 };
            let bytes = elem_bytes(&Elem::Scalar(scalar));
            let attributes = format!(
                "vector_size(LOZENGE_LANES({lanes}, {bytes}) * {bytes}), aligned({bytes}), may_alias"
            );
            CStmt::Declare {
                ty: format!("typedef {} __attribute__(({attributes}))", self.scalar_type(scalar)),
                name: name.clone(),
                dims: Vec::new(),
                init: None,
            }
        };
        self.vector_types.iter().map(define).collect()
    }

    /// A loop over lanes as operations on vectors.
    pub(crate) fn vector_loop(&mut self, l: &Loop, shape: Shape) -> Result<Vec<CStmt>, Diagnostic> {
        let ty = self.vector_type(shape);
        let bytes = i64::try_from(elem_bytes(&Elem::Scalar(shape.scalar))).unwrap_or(LEAST_BYTES);
        let count = trips(l).unwrap_or(shape.lanes);
        let upper = self.place(&l.upper)?;
        let var = self.enter_loop(l);
        let outer = self.in_vectors.replace(Vectors { var: l.var.clone(), ty });
        self.in_simd = true;
        let body = self.block(&l.body);
        self.in_simd = false;
        self.in_vectors = outer;
        self.leave_loop(l, &var);
        let most = count * bytes / LEAST_BYTES;
        let unroll = (most > 1).then(|| CStmt::Pragma(format!("GCC unroll {most}")));
        let step = CExpr::call("LOZENGE_LANES", vec![CExpr::int(shape.lanes), CExpr::int(bytes)]);
        let lower = CExpr::int(0);
        let c_for =
            CStmt::For(CFor { ty: self.index_type.clone(), var, lower, upper, step, body: body?.stmts });
        Ok(unroll.into_iter().chain([c_for]).collect())
    }

    /// An element of an access, or a vector of elements in a loop that is written as vectors.
    pub(crate) fn vector_at(&self, access: &Access, element: CExpr) -> CExpr {
        match &self.in_vectors {
            Some(vectors) if access.indices.iter().any(|e| e.mentions(&vectors.var)) => {
                let place = CExpr::Cast(format!("{} *", vectors.ty), Box::new(CExpr::unary("&", element)));
                CExpr::unary("*", place)
            }
            _ => element,
        }
    }

    /// A value that is assigned. One number becomes a vector with this number in all lanes: C
    /// converts it in arithmetic only, and subtracting 0 changes no number.
    pub(crate) fn vector_of(&self, value: &Expr, c_value: CExpr) -> CExpr {
        match &self.in_vectors {
            Some(vectors) if !value.mentions(&vectors.var) => {
                let zeros = CExpr::literal(format!("({}){{0}}", vectors.ty));
                let positive_zero = match value {
                    Expr::F32(bits) => bits.value().to_bits() == 0,
                    Expr::F64(bits) => bits.value().to_bits() == 0,
                    _ => false,
                };
                if positive_zero { zeros } else { CExpr::binary("-", c_value, zeros) }
            }
            _ => c_value,
        }
    }
}
