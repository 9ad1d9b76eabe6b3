//! Random functions of nested loops over indices, and what they compute.

use std::collections::BTreeMap;

use loops::{
    BinaryOp, CompareOp, Expr, Function, Loop, LoopKind, Name, Options, Param, ParamMode, Scalar, Stmt,
};

use super::random::Random;

/// A random `i64` expression over the variables, with the shapes that indices have.
fn index(r: &mut Random, vars: &[Name], depth: usize) -> Expr {
    let sub = |r: &mut Random| index(r, vars, depth - 1);
    if depth == 0 || r.chance(20) {
        return if r.chance(65) { Expr::Var(r.pick(vars)) } else { Expr::Int(r.range(-3, 9)) };
    }
    match r.below(15) {
        // Digits of a number.
        14 => {
            let (x, d) = (Expr::Var(r.pick(vars)), Expr::Int(r.range(2, 6)));
            if r.chance(50) { x.floor_div(d) } else { x.modulo(d) }
        }
        0..=2 => sub(r) + sub(r),
        3 => sub(r) - sub(r),
        4 | 5 => sub(r) * sub(r),
        6 | 7 => sub(r).floor_div(sub(r)),
        8 | 9 => sub(r).modulo(sub(r)),
        10 => {
            let op = r.pick(&[BinaryOp::Div, BinaryOp::Rem]);
            Expr::binary(op, sub(r), sub(r))
        }
        11 => {
            let op = r.pick(&[BinaryOp::Min, BinaryOp::Max]);
            Expr::binary(op, sub(r), sub(r))
        }
        12 => Expr::Select(Box::new(condition(r, vars, depth - 1)), Box::new(sub(r)), Box::new(sub(r))),
        // What linearised arrays have: (x * d + y) / d.
        _ => {
            let (x, y) = (Expr::Var(r.pick(vars)), Expr::Var(r.pick(vars)));
            let d = if r.chance(70) { Expr::Var(r.pick(vars)) } else { Expr::Int(r.range(1, 6)) };
            let op = r.pick(&[BinaryOp::FloorDiv, BinaryOp::Mod, BinaryOp::Div, BinaryOp::Rem]);
            Expr::binary(op, x * d.clone() + y, d)
        }
    }
}

fn condition(r: &mut Random, vars: &[Name], depth: usize) -> Expr {
    let compare = |r: &mut Random| {
        Expr::compare(r.pick(&CompareOp::ALL), index(r, vars, depth.min(2)), index(r, vars, depth.min(2)))
    };
    match r.below(6) {
        0 => compare(r).and(compare(r)),
        1 => Expr::binary(BinaryOp::Or, compare(r), compare(r)),
        2 => Expr::unary(loops::UnaryOp::Not, compare(r)),
        _ => compare(r),
    }
}

/// Nested loops whose statements mix what they see into `x`, so that any change of order or value
/// shows.
fn body(r: &mut Random, vars: &mut Vec<Name>, depth: usize) -> Vec<Stmt> {
    let mut stmts = Vec::new();
    for _ in 0..1 + r.below(2) {
        match r.below(if depth == 0 { 2 } else { 5 }) {
            0 | 1 => {
                let x = loops::Access::scalar("x");
                let mixed = Expr::Load(x.clone()) * 31 + index(r, vars, 3);
                stmts.push(Stmt::assign(x, mixed));
            }
            2 => {
                let cond = condition(r, vars, 2);
                let (then, otherwise) = (body(r, vars, depth - 1), body(r, vars, depth - 1));
                let otherwise = if r.chance(50) { otherwise } else { Vec::new() };
                stmts.push(Stmt::If { cond, then, otherwise });
            }
            _ => {
                // Names are reused, so that loops hide outer variables too.
                let var = r.pick(&["i", "j", "k", "n"].map(Name::from));
                let lower = if r.chance(60) { Expr::Int(0) } else { index(r, vars, 1) };
                let upper = match r.below(4) {
                    0 => index(r, vars, 1).min(index(r, vars, 1)),
                    1 => index(r, vars, 2),
                    2 => Expr::Int(r.range(2, 13)),
                    _ => Expr::Var(r.pick(vars)),
                };
                vars.push(var.clone());
                let inner = body(r, vars, depth - 1);
                vars.pop();
                let step = if r.chance(70) { 1 } else { r.range(1, 3) };
                let kind = LoopKind::Sequential;
                let l = Loop { var, lower, upper, step, kind, reductions: vec![], body: inner };
                stmts.push(Stmt::Loop(l));
            }
        }
    }
    stmts
}

/// A random function that mixes what its loops see into `x`.
pub fn function(r: &mut Random) -> Function {
    let sizes: Vec<Name> = ["n", "m"].map(Name::from).to_vec();
    let mut assumptions = Vec::new();
    if r.chance(50) {
        assumptions.push(Expr::var("n").at_least(r.range(-1, 2)));
    }
    if r.chance(30) {
        assumptions.push(Expr::var("m").modulo(r.range(2, 4)).equals(0));
    }
    if r.chance(30) {
        assumptions.push(condition(r, &sizes, 1));
    }
    let x = Param::new("x", ParamMode::InOut, Scalar::I64, vec![]);
    let body = body(r, &mut sizes.clone(), 3);
    Function { name: "f".into(), sizes, assumptions, params: vec![x], body }
}

/// What `x` holds after a run.
pub fn outcome(f: &Function, n: i64, m: i64, max_steps: u64) -> Result<loops::Data, loops::Diagnostic> {
    let sizes = BTreeMap::from([("n".into(), n), ("m".into(), m)]);
    let x = loops::Tensor { shape: vec![], data: loops::Data::I64(vec![1]) };
    let options = Options { max_steps, ..Options::default() };
    let out = loops::run(f, &sizes, BTreeMap::from([("x".into(), x)]), &options)?;
    Ok(out["x"].data.clone())
}
