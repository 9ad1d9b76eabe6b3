//! Programs that several tests use.

use functional::build::{self, Supply};
use functional::{DataType, Prim, Term};
use loops::Scalar;

/// The product of two matrices of `f64`, plainly: rows by columns.
pub fn product(s: &mut Supply, a: Term, b: Term) -> Term {
    let f64 = DataType::Scalar(Scalar::F64);
    let DataType::Array(_, row) = a.ty().clone() else { panic!("a matrix") };
    let columns = build::transpose(b).unwrap();
    let DataType::Array(_, column) = columns.ty().clone() else { panic!("a matrix") };
    let rows = s
        .lambda1("row", *row, |s, row| {
            let dots = s.lambda1("column", *column, |s, column| {
                let pair = DataType::pair(f64.clone(), f64.clone());
                let times =
                    s.lambda1("p", pair, |_, p| build::mul(build::fst(p.clone())?, build::snd(p)?))?;
                let plus = s.lambda2(("x", f64.clone()), ("a", f64.clone()), |_, x, a| build::add(x, a))?;
                let products = build::map(Prim::Map, times, build::zip(row.clone(), column)?)?;
                build::reduce(Prim::Reduce, plus, build::number(Scalar::F64, 0), products)
            })?;
            build::map(Prim::Map, dots, columns.clone())
        })
        .unwrap();
    build::map(Prim::Map, rows, a).unwrap()
}
