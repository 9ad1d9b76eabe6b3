//! The simplifier: golden files in `tests/loops/simplify`, and the law that no run can tell the
//! difference.

#[path = "common/random.rs"]
mod random;

use loops::{
    BinaryOp, CompareOp, Expr, Function, Loop, LoopKind, Name, Options, Param, ParamMode, Scalar, Stmt,
    simplify,
};
use proptest::prelude::*;
use random::Random;
use std::collections::BTreeMap;

#[test]
fn functions_are_simplified() {
    golden::check("loops/simplify", "loops", "out", |case| {
        let program = loops::parse(&case.input).unwrap_or_else(|errors| panic!("{errors:#?}"));
        let mut out = String::new();
        for function in &program.functions {
            let simple = simplify::function(function);
            assert_eq!(simplify::function(&simple), simple, "simplifying again changes it: {}", simple);
            out.push_str(&format!("{simple}\n"));
            let c = simplify::function_for_c(function);
            if c != simple {
                out.push_str(&format!("// for C\n{c}\n"));
            }
            out.push('\n');
        }
        out
    });
}

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

fn function(r: &mut Random) -> Function {
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

fn outcome(f: &Function, n: i64, m: i64, max_steps: u64) -> Result<loops::Data, loops::Diagnostic> {
    let sizes = BTreeMap::from([("n".into(), n), ("m".into(), m)]);
    let x = loops::Tensor { shape: vec![], data: loops::Data::I64(vec![1]) };
    let options = Options { max_steps, ..Options::default() };
    let out = loops::run(f, &sizes, BTreeMap::from([("x".into(), x)]), &options)?;
    Ok(out["x"].data.clone())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_run_can_tell_the_difference(seed: u64) {
        let f = function(&mut Random(seed));
        let simple = simplify::function(&f);
        let for_c = simplify::function_for_c(&f);
        let split = loops::digits::split(&f);
        let borders = loops::borders::split(&f);
        let arranged = loops::arrange::arranged(&f);
        for n in -2..=5 {
            for m in [-2, 0, 1, 2, 3, 8] {
                // A run that ends in an error may end otherwise after simplification.
                let Ok(expected) = outcome(&f, n, m, 20_000) else { continue };
                for s in [&simple, &for_c, &split, &borders, &arranged] {
                    // A loop that was split takes more steps.
                    match outcome(s, n, m, 200_000) {
                        Ok(got) => prop_assert_eq!(&got, &expected, "n = {}, m = {}\n{}\n{}", n, m, f, s),
                        Err(e) => prop_assert!(false, "n = {}, m = {}: {}\n{}\n{}", n, m, e, f, s),
                    }
                }
            }
        }
    }
}

/// What a function computes of numbers that all differ, with this number for each size.
fn computed(f: &Function, n: i64) -> BTreeMap<Name, loops::Tensor> {
    let sizes: BTreeMap<Name, i64> = f.sizes.iter().map(|name| (name.clone(), n)).collect();
    let given = f.params.iter().filter(|p| p.mode != ParamMode::Out).map(|p| {
        let extent = |dim: &Expr| match dim {
            Expr::Int(n) => *n as usize,
            _ => n as usize,
        };
        let shape: Vec<usize> = p.dims.iter().map(extent).collect();
        let count: usize = shape.iter().product();
        let data = match p.elem {
            loops::Elem::Scalar(Scalar::F64) => loops::Data::F64((0..count).map(|k| k as f64).collect()),
            _ => loops::Data::F32((0..count).map(|k| k as f32).collect()),
        };
        (p.name.clone(), loops::Tensor { shape, data })
    });
    loops::run(f, &sizes, given.collect(), &Options::default()).expect("a run").into_iter().collect()
}

/// Compares what a pass makes of the functions in a folder with what is expected. The result must
/// be as parallel as it says.
fn check_split(folder: &str, split: fn(&Function) -> Function) {
    golden::check(folder, "loops", "out", |case| {
        let program = loops::parse(&case.input).unwrap_or_else(|errors| panic!("{errors:#?}"));
        let mut out = String::new();
        for function in &program.functions {
            let split = split(function);
            assert!(loops::validate(&split).is_proved(), "{split}");
            out.push_str(&format!("{split}\n\n"));
        }
        out
    });
}

#[test]
fn loops_over_numbers_that_are_taken_apart_are_split() {
    check_split("loops/digits", loops::digits::split);
}

#[test]
fn loops_of_stencils_are_taken_apart_at_their_borders() {
    check_split("loops/borders", loops::borders::split);
}

/// As [`check_split`], of passes that change no bit of what is computed, at these sizes.
fn check_same(folder: &str, sizes: &[i64], pass: fn(&Function) -> Function) {
    golden::check(folder, "loops", "out", |case| {
        let program = loops::parse(&case.input).unwrap_or_else(|errors| panic!("{errors:#?}"));
        let mut out = String::new();
        for function in &program.functions {
            let new = pass(function);
            assert!(loops::validate(&new).is_proved(), "{new}");
            for n in sizes {
                assert_eq!(computed(function, *n), computed(&new, *n), "{n}: {new}");
            }
            out.push_str(&format!("{new}\n\n"));
        }
        out
    });
}

#[test]
fn loops_across_memory_go_in_blocks_and_compute_the_same() {
    check_same("loops/blocks", &[0, 1, 15, 16, 17, 33, 48], loops::blocks::across);
}

#[test]
fn chains_of_sums_stand_side_by_side_and_compute_the_same() {
    check_same("loops/jam", &[0, 1, 3, 4, 5, 8, 17, 50], loops::jam::chains);
}

#[test]
fn what_is_the_same_in_all_iterations_is_computed_once() {
    check_same("loops/hoist", &[1, 5], loops::hoist::invariants);
}

#[test]
fn loops_over_rows_and_their_elements_become_one() {
    check_same("loops/flat", &[0, 1, 5], loops::flat::rows);
}

#[test]
fn accumulators_that_hand_over_become_one() {
    check_same("loops/merge", &[0, 1, 5], loops::merge::accumulators);
}
