//! Random programs for property tests: any value of the type, whether or not it makes sense.

use crate::random::Random;
use loops::expr::Expr;
use loops::*;

fn list<T>(r: &mut Random, most: usize, mut each: impl FnMut(&mut Random) -> T) -> Vec<T> {
    (0..r.below(most + 1)).map(|_| each(r)).collect()
}

/// Names that collide, that are keywords or functions, and that are no identifiers.
pub fn name(r: &mut Random) -> Name {
    const NAMES: &[&str] = &[
        "a",
        "b",
        "c",
        "i",
        "j",
        "n",
        "m",
        "x1",
        "acc",
        "S0",
        "in",
        "out",
        "step",
        "reduce",
        "extents",
        "tag",
        "min",
        "max",
        "sqrt",
        "select",
        "mod",
        "for",
        "f32",
        "var",
        "",
        "two words",
        "`",
        "\\",
        "é",
        "0x",
        "1a",
        "new\nline",
        "//",
        "_",
        "stack",
        "inf_f32",
    ];
    let k = if r.chance(70) { r.below(9) } else { r.below(NAMES.len()) };
    Name::new(NAMES[k])
}

fn scalar(r: &mut Random) -> Scalar {
    r.pick(&Scalar::ALL)
}

fn elem(r: &mut Random, depth: usize) -> Elem {
    if depth > 0 && r.chance(20) {
        Elem::pair(elem(r, depth - 1), elem(r, depth - 1))
    } else {
        scalar(r).into()
    }
}

fn access(r: &mut Random, depth: usize) -> Access {
    let indices = if depth == 0 { Vec::new() } else { list(r, 2, |r| expr(r, depth - 1)) };
    let path =
        if r.chance(20) { list(r, 2, |r| r.pick(&[Component::First, Component::Second])) } else { vec![] };
    Access { array: name(r), indices, path }
}

fn integer(r: &mut Random) -> i64 {
    match r.below(6) {
        0 => r.next() as i64,
        1 => r.pick(&[i64::MIN, i64::MAX, -1, 0, i64::from(i32::MIN)]),
        _ => r.range(-3, 9),
    }
}

pub fn expr(r: &mut Random, depth: usize) -> Expr {
    let sub = |r: &mut Random| Box::new(expr(r, depth.saturating_sub(1)));
    match r.below(if depth == 0 { 7 } else { 14 }) {
        0 => Expr::Int(integer(r)),
        1 => Expr::I32(integer(r) as i32),
        2 => {
            let special = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -0.0, 1.5e-42, f32::MAX, 16_777_217.0];
            Expr::f32(match r.below(3) {
                0 => f32::from_bits(r.next() as u32),
                1 => r.pick(&special),
                _ => r.range(-20, 20) as f32 / 8.0,
            })
        }
        3 => {
            let special = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -0.0, 5e-324, f64::MAX, 1e22];
            Expr::f64(match r.below(3) {
                0 => f64::from_bits(r.next()),
                1 => r.pick(&special),
                _ => r.range(-20, 20) as f64 / 8.0,
            })
        }
        4 => Expr::Bool(r.chance(50)),
        5 => Expr::Var(name(r)),
        6 => Expr::Load(access(r, depth)),
        7 => Expr::Unary(r.pick(&UnaryOp::ALL), sub(r)),
        8 | 9 => Expr::Binary(r.pick(&BinaryOp::ALL), sub(r), sub(r)),
        10 => Expr::Compare(r.pick(&CompareOp::ALL), sub(r), sub(r)),
        11 => Expr::Select(sub(r), sub(r), sub(r)),
        12 => Expr::Cast(scalar(r), sub(r)),
        _ => {
            let args = list(r, 3, |r| expr(r, depth - 1));
            Expr::Call { function: name(r), ty: scalar(r), args }
        }
    }
}

pub fn body(r: &mut Random, depth: usize) -> Vec<Stmt> {
    list(r, 3, |r| stmt(r, depth))
}

fn stmt(r: &mut Random, depth: usize) -> Stmt {
    match r.below(if depth == 0 { 5 } else { 9 }) {
        0 | 1 => {
            let label = r.chance(30).then(|| name(r));
            let update = r.chance(50).then(|| Update { op: r.pick(&ReduceOp::ALL), reorder: r.chance(50) });
            Stmt::Assign(Assign { label, target: access(r, 2), update, value: expr(r, 4) })
        }
        2 => {
            let storage = r.pick(&[Storage::Auto, Storage::Stack, Storage::Heap, Storage::Scratchpad]);
            let dims = list(r, 2, |r| expr(r, 2));
            Stmt::Local(ArrayDecl { name: name(r), elem: elem(r, 2), dims, storage })
        }
        3 => {
            let kind = r.pick(&[CopyKind::Get, CopyKind::Put]);
            let extents = list(r, 2, |r| expr(r, 1));
            let tag = r.chance(50).then(|| name(r));
            Stmt::Copy(Copy { kind, from: access(r, 2), to: access(r, 2), extents, tag })
        }
        4 => Stmt::Wait(name(r)),
        5 | 6 => {
            let kinds = [
                LoopKind::Sequential,
                LoopKind::Parallel,
                LoopKind::Vector,
                LoopKind::Unroll(None),
                LoopKind::Unroll(Some(r.next() as u32)),
            ];
            let step = if r.chance(70) { 1 } else { integer(r) };
            let reductions =
                if r.chance(30) { list(r, 2, |r| (r.pick(&ReduceOp::ALL), name(r))) } else { vec![] };
            let (lower, upper) = (expr(r, 2), expr(r, 2));
            let kind = r.pick(&kinds);
            Stmt::Loop(Loop { var: name(r), lower, upper, step, kind, reductions, body: body(r, depth - 1) })
        }
        7 => Stmt::If { cond: expr(r, 2), then: body(r, depth - 1), otherwise: body(r, depth - 1) },
        _ => Stmt::Block { mark: r.chance(50).then(|| name(r)), body: body(r, depth - 1) },
    }
}

pub fn program(seed: u64) -> Program {
    let r = &mut Random(seed);
    let functions = list(r, 2, |r| {
        let sizes = list(r, 2, name);
        let params = list(r, 3, |r| {
            let mode = r.pick(&[ParamMode::In, ParamMode::Out, ParamMode::InOut]);
            Param { name: name(r), elem: elem(r, 2), dims: list(r, 2, |r| expr(r, 1)), mode }
        });
        let assumptions = list(r, 2, |r| expr(r, 2));
        Function { name: name(r), sizes, assumptions, params, body: body(r, 4) }
    });
    Program { functions }
}
