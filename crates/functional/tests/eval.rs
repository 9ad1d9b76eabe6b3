//! The evaluator: what each primitive computes, its errors and its bounds.

mod common;

use std::time::Instant;

use common::*;
use functional::build::{self, Built};
use functional::eval::{Limits, Value, evaluate};
use functional::{Arg, DataType, Prim, Term};
use loops::{Data, Scalar, Size, Tensor};

fn ap(prim: Prim, args: Vec<Arg>) -> Term {
    build::apply(prim, args).unwrap()
}

fn t(term: &Term) -> Arg {
    Arg::Term(term.clone())
}

fn n(size: i64) -> Arg {
    Arg::Size(size.into())
}

fn scalar(b: &Bench, prim: Prim, args: &[Term]) -> Value {
    b.eval(&ap(prim, args.iter().map(t).collect())).unwrap()
}

#[test]
fn scalar_operations() {
    let b = Bench::default();
    let f = |v: f64| build::literal(functional::Literal::F64(v.to_bits()));
    let f32s = |v: f32| build::literal(functional::Literal::F32(v.to_bits()));
    let i = |v: i32| build::number(Scalar::I32, v);
    let l = |v: i64| build::literal(functional::Literal::I64(v));
    let truth = |v: bool| build::number(Scalar::Bool, v.into());
    let i32v = |v: i32| Value::Tensor(Tensor { shape: vec![], data: Data::I32(vec![v]) });

    assert_eq!(scalar(&b, Prim::Add, &[f(1.5), f(2.0)]), Value::f64(3.5));
    assert_eq!(scalar(&b, Prim::Add, &[i(i32::MAX), i(1)]), i32v(i32::MIN));
    assert_eq!(scalar(&b, Prim::Sub, &[f32s(1.0), f32s(3.0)]), Value::f32(-2.0));
    assert_eq!(scalar(&b, Prim::Mul, &[l(-3), l(7)]), Value::i64(-21));
    assert_eq!(scalar(&b, Prim::Div, &[l(-7), l(2)]), Value::i64(-4));
    assert_eq!(scalar(&b, Prim::Mod, &[l(-7), l(2)]), Value::i64(1));
    assert_eq!(scalar(&b, Prim::Mod, &[l(7), l(-2)]), Value::i64(-1));
    assert_eq!(scalar(&b, Prim::Div, &[i(i32::MIN), i(-1)]), i32v(i32::MIN));
    assert_eq!(scalar(&b, Prim::Div, &[l(i64::MIN), l(-1)]), Value::i64(i64::MIN));
    assert_eq!(scalar(&b, Prim::Div, &[f(1.0), f(0.0)]), Value::f64(f64::INFINITY));
    assert_eq!(scalar(&b, Prim::Neg, &[f(0.0)]), Value::f64(-0.0));
    assert_eq!(scalar(&b, Prim::Abs, &[l(-5)]), Value::i64(5));
    assert_eq!(scalar(&b, Prim::Min, &[f(f64::NAN), f(2.0)]), Value::f64(2.0));
    assert_eq!(scalar(&b, Prim::Max, &[i(3), i(-2)]), i32v(3));
    assert_eq!(scalar(&b, Prim::Sqrt, &[f(9.0)]), Value::f64(3.0));
    assert_eq!(scalar(&b, Prim::Exp, &[f(0.0)]), Value::f64(1.0));
    assert_eq!(scalar(&b, Prim::Log, &[f32s(1.0)]), Value::f32(0.0));
    assert_eq!(scalar(&b, Prim::Tanh, &[f(0.0)]), Value::f64(0.0));
    for (prim, less, equal, greater) in [
        (Prim::Eq, false, true, false),
        (Prim::Ne, true, false, true),
        (Prim::Lt, true, false, false),
        (Prim::Le, true, true, false),
        (Prim::Gt, false, false, true),
        (Prim::Ge, false, true, true),
    ] {
        assert_eq!(scalar(&b, prim, &[f(1.0), f(2.0)]), bool_value(less), "{prim:?}");
        assert_eq!(scalar(&b, prim, &[l(2), l(2)]), bool_value(equal), "{prim:?}");
        assert_eq!(scalar(&b, prim, &[i(3), i(2)]), bool_value(greater), "{prim:?}");
    }
    for x in [false, true] {
        assert_eq!(scalar(&b, Prim::Not, &[truth(x)]), bool_value(!x));
        for y in [false, true] {
            assert_eq!(scalar(&b, Prim::And, &[truth(x), truth(y)]), bool_value(x && y));
            assert_eq!(scalar(&b, Prim::Or, &[truth(x), truth(y)]), bool_value(x || y));
        }
    }
    assert_eq!(scalar(&b, Prim::Select, &[truth(false), f(1.0), f(2.0)]), Value::f64(2.0));
    assert_eq!(scalar(&b, Prim::ToF32, &[f(0.1)]), Value::f32(0.1));
    assert_eq!(scalar(&b, Prim::ToF64, &[truth(true)]), Value::f64(1.0));
    assert_eq!(scalar(&b, Prim::ToI32, &[f(-2.9)]), i32v(-2));
    assert_eq!(scalar(&b, Prim::ToI64, &[i(-4)]), Value::i64(-4));
    assert_eq!(b.eval(&build::zero(&F32).unwrap()).unwrap(), Value::f32(0.0));
    assert_eq!(b.eval(&build::one(&I64).unwrap()).unwrap(), Value::i64(1));
}

#[test]
fn layout_operations() {
    let mut b = Bench::default();
    let xs = b.f64s(&[1., 2., 3., 4., 5., 6.]);
    let ys = b.f64s(&[7., 8., 9.]);
    let a = b.matrix(2, 3, &[1., 2., 3., 4., 5., 6.]);
    let is = b.param("is", array(4, DataType::Idx(3.into())), i64_tensor(&[4], &[2, 0, 2, 1]));
    let nine = build::number(Scalar::F64, 9);
    let eval = |term: Built| b.eval(&term.unwrap()).unwrap();

    assert_eq!(eval(build::split(2, xs.clone())), f64_tensor(&[3, 2], &[1., 2., 3., 4., 5., 6.]));
    assert_eq!(eval(build::join(a.clone())), Value::f64s(&[1., 2., 3., 4., 5., 6.]));
    assert_eq!(eval(build::transpose(a.clone())), f64_tensor(&[3, 2], &[1., 4., 2., 5., 3., 6.]));
    assert_eq!(b.eval(&ap(Prim::TransPar, vec![t(&a)])), b.eval(&build::transpose(a.clone()).unwrap()));
    let columns = build::join(build::transpose(a.clone()).unwrap());
    assert_eq!(eval(columns), Value::f64s(&[1., 4., 2., 5., 3., 6.]));
    assert_eq!(eval(build::reverse(ys.clone())), Value::f64s(&[9., 8., 7.]));
    assert_eq!(b.eval(&ap(Prim::ReverseSeq, vec![t(&ys)])).unwrap(), Value::f64s(&[9., 8., 7.]));
    for same in [Prim::Copy, Prim::CopySeq, Prim::ToMem] {
        assert_eq!(b.eval(&ap(same, vec![t(&ys)])).unwrap(), Value::f64s(&[7., 8., 9.]));
    }
    assert_eq!(
        eval(build::slide(3.into(), 2.into(), xs.clone())),
        f64_tensor(&[2, 3], &[1., 2., 3., 3., 4., 5.])
    );
    assert_eq!(eval(build::slide(7.into(), 1.into(), xs.clone())), f64_tensor(&[0, 7], &[]));
    assert_eq!(
        eval(build::pad(1.into(), 2.into(), nine.clone(), ys.clone())),
        Value::f64s(&[9., 7., 8., 9., 9., 9.])
    );
    let clamped = ap(Prim::PadClamp, vec![n(2), n(1), t(&ys)]);
    assert_eq!(b.eval(&clamped).unwrap(), Value::f64s(&[7., 7., 7., 8., 9., 9.]));
    assert_eq!(eval(build::concat(ys.clone(), ys.clone())), Value::f64s(&[7., 8., 9., 7., 8., 9.]));
    assert_eq!(eval(build::take(2, ys.clone())), Value::f64s(&[7., 8.]));
    assert_eq!(eval(build::drop_first(2, ys.clone())), Value::f64s(&[9.]));
    assert_eq!(b.eval(&ap(Prim::Gather, vec![t(&is), t(&ys)])).unwrap(), Value::f64s(&[9., 7., 9., 8.]));
    let four = build::take(4, xs.clone()).unwrap();
    let scattered = ap(Prim::Scatter, vec![t(&is), t(&ys), t(&four)]);
    assert_eq!(b.eval(&scattered).unwrap(), Value::f64s(&[2., 4., 3.]), "the later one wins");

    let pairs = build::zip(ys.clone(), build::reverse(ys.clone()).unwrap()).unwrap();
    let column = |v: &[f64]| Box::new(Data::F64(v.to_vec()));
    assert_eq!(
        b.eval(&pairs).unwrap(),
        Value::Tensor(Tensor {
            shape: vec![3],
            data: Data::Pair(column(&[7., 8., 9.]), column(&[9., 8., 7.])),
        })
    );
    let unzipped = build::unzip(pairs).unwrap();
    assert_eq!(eval(build::snd(unzipped.clone())), Value::f64s(&[9., 8., 7.]));
    assert_eq!(
        b.eval(&unzipped).unwrap(),
        Value::Pair(Box::new(Value::f64s(&[7., 8., 9.])), Box::new(Value::f64s(&[9., 8., 7.])))
    );

    let vectors = build::as_vector(3, xs.clone()).unwrap();
    assert_eq!(b.eval(&vectors).unwrap(), f64_tensor(&[2, 3], &[1., 2., 3., 4., 5., 6.]));
    let mut s = b.supply.clone();
    let v3 = DataType::Vector(3.into(), Scalar::F64);
    let twice = s
        .lambda1("v", v3, |_, v| {
            let nines = build::splat(3, build::number(Scalar::F64, 9))?;
            build::add(build::add(v.clone(), v)?, nines)
        })
        .unwrap();
    let doubled = build::as_scalar(build::map(Prim::MapSeq, twice, vectors).unwrap());
    assert_eq!(eval(doubled), Value::f64s(&[11., 13., 15., 17., 19., 21.]));
}

#[test]
fn indices() {
    let mut b = Bench::default();
    let xs = b.f64s(&[10., 20., 30., 40.]);
    let at = |k: i64| build::index(k.into(), 4.into());
    let last = ap(Prim::IdxPred, vec![n(4)]);
    let i64_of = |term: Term| ap(Prim::ToI64, vec![Arg::Term(term)]);
    let eval = |term: Term| b.eval(&term);
    assert_eq!(eval(build::at(xs.clone(), last.clone()).unwrap()).unwrap(), Value::f64(40.0));
    for (prim, x, y, result) in [
        (Prim::AddIdx, 1, 2, Some(3)),
        (Prim::AddIdx, 2, 2, None),
        (Prim::SubIdx, 3, 1, Some(2)),
        (Prim::SubIdx, 1, 3, None),
        (Prim::MulIdx, 1, 3, Some(3)),
        (Prim::MulIdx, 2, 3, None),
        (Prim::DivIdx, 3, 2, Some(1)),
        (Prim::DivIdx, 3, 0, Some(0)),
    ] {
        let found = eval(i64_of(ap(prim, vec![Arg::Term(at(x)), Arg::Term(at(y))])));
        match result {
            Some(value) => assert_eq!(found.unwrap(), Value::i64(value), "{prim:?} {x} {y}"),
            None => assert_eq!(found.unwrap_err().code.0, "F0603", "{prim:?} {x} {y}"),
        }
    }
    for (value, clamped) in [(-5, 0), (2, 2), (9, 3)] {
        let index = ap(Prim::ToIdx, vec![n(4), Arg::Term(build::number(Scalar::I64, value))]);
        assert_eq!(eval(i64_of(index)).unwrap(), Value::i64(clamped));
    }
    let nowhere = ap(Prim::ToIdx, vec![n(0), Arg::Term(build::number(Scalar::I64, 1))]);
    assert_eq!(eval(i64_of(nowhere)).unwrap_err().code.0, "F0603");
}

#[test]
fn patterns() {
    let mut b = Bench::default();
    let xs = b.f64s(&[1., 2., 4.]);
    let mut s = std::mem::take(&mut b.supply);
    let neg = s.lambda1("x", F64, |_, x| build::apply(Prim::Neg, vec![Arg::Term(x)])).unwrap();
    for map in [Prim::Map, Prim::MapSeq, Prim::MapPar, Prim::MapVec, Prim::MapUnroll] {
        let mapped = build::map(map, neg.clone(), xs.clone()).unwrap();
        assert_eq!(b.eval(&mapped).unwrap(), Value::f64s(&[-1., -2., -4.]));
    }
    // x - 2a tells the order of elements and of arguments.
    let f = s.lambda2(("x", F64), ("a", F64), |_, x, a| build::sub(x, build::add(a.clone(), a)?)).unwrap();
    let init = build::number(Scalar::F64, 10);
    for reduce in [Prim::Reduce, Prim::ReduceSeq, Prim::ReduceUnroll, Prim::ReducePar] {
        let reduced = build::reduce(reduce, f.clone(), init.clone(), xs.clone()).unwrap();
        assert_eq!(b.eval(&reduced).unwrap(), Value::f64(-76.0), "4 - 2 (2 - 2 (1 - 2 10))");
    }
    let scanned = build::reduce(Prim::ScanSeq, f, init, xs.clone()).unwrap();
    assert_eq!(b.eval(&scanned).unwrap(), Value::f64s(&[-19., 40., -76.]));

    let squares = s
        .lambda1("i", DataType::Idx(4.into()), |_, i| {
            let i = build::apply(Prim::ToI64, vec![Arg::Term(i)])?;
            build::mul(i.clone(), i)
        })
        .unwrap();
    let generated = ap(Prim::Generate, vec![n(4), Arg::Fun(squares)]);
    assert_eq!(b.eval(&generated).unwrap(), i64_tensor(&[4], &[0, 1, 4, 9]));
    assert_eq!(b.eval(&ap(Prim::Iota, vec![n(3)])).unwrap(), i64_tensor(&[3], &[0, 1, 2]));

    let rotate = s
        .lambda1("v", array(3, F64), |_, v| {
            build::concat(build::drop_first(1, v.clone())?, build::take(1, v)?)
        })
        .unwrap();
    let rotated = |k| b.eval(&ap(Prim::Iterate, vec![n(k), Arg::Fun(rotate.clone()), t(&xs)])).unwrap();
    assert_eq!(rotated(0), Value::f64s(&[1., 2., 4.]));
    assert_eq!(rotated(100_001), Value::f64s(&[4., 1., 2.]), "views do not pile up");

    let mirror = s
        .lambda1("i", DataType::Idx(3.into()), |_, i| {
            build::apply(
                Prim::SubIdx,
                vec![Arg::Term(build::apply(Prim::IdxPred, vec![n(3)])?), Arg::Term(i)],
            )
        })
        .unwrap();
    let reordered = ap(Prim::Reorder, vec![Arg::Fun(mirror), t(&xs)]);
    assert_eq!(b.eval(&reordered).unwrap(), Value::f64s(&[4., 2., 1.]));
}

#[test]
fn the_accumulator_is_read_before_it_is_written() {
    let mut b = Bench::default();
    let xs = b.f64s(&[0.]);
    let mut s = std::mem::take(&mut b.supply);
    let pair = DataType::pair(I64, I64);
    let swap = s
        .lambda2(("x", F64), ("p", pair), |_, _, p| build::pair(build::snd(p.clone())?, build::fst(p)?))
        .unwrap();
    let init = build::pair(build::number(Scalar::I64, 1), build::number(Scalar::I64, 2)).unwrap();
    let swapped = build::reduce(Prim::ReduceSeq, swap, init, xs).unwrap();
    assert_eq!(b.eval(&build::fst(swapped.clone()).unwrap()).unwrap(), Value::i64(2));
    assert_eq!(b.eval(&build::snd(swapped).unwrap()).unwrap(), Value::i64(1));
}

#[test]
fn pairs_of_arrays_in_arrays_go_in_and_out() {
    let mut b = Bench::default();
    let ty = array(2, DataType::pair(array(3, F64), I64));
    let value = Value::Pair(
        Box::new(f64_tensor(&[2, 3], &[1., 2., 3., 4., 5., 6.])),
        Box::new(i64_tensor(&[2], &[7, 8])),
    );
    let ps = b.param("ps", ty.clone(), value.clone());
    assert_eq!(b.eval(&ps).unwrap(), value);
    let mut s = std::mem::take(&mut b.supply);
    let DataType::Array(_, elem) = ty else { unreachable!() };
    let swap = s
        .lambda1("p", *elem, |_, p| build::pair(build::snd(p.clone())?, build::reverse(build::fst(p)?)?))
        .unwrap();
    let swapped = build::map(Prim::Map, swap, ps).unwrap();
    assert_eq!(
        b.eval(&swapped).unwrap(),
        Value::Pair(
            Box::new(i64_tensor(&[2], &[7, 8])),
            Box::new(f64_tensor(&[2, 3], &[3., 2., 1., 6., 5., 4.]))
        )
    );
}

#[test]
fn arguments_that_do_not_fit_are_refused() {
    let mut b = Bench::default();
    let n = b.size("n", 2);
    let xs = b.param("xs", array(n, F64), Value::f64s(&[1., 2.]));
    let definition = b.definition(&xs);
    let run = |sizes: &[(&str, i64)], args: &[Value]| {
        let sizes = sizes.iter().map(|(name, value)| ((*name).into(), *value)).collect();
        evaluate(&definition, &sizes, args, Limits::default()).map_err(|e| (e.code.0, e.message))
    };
    let good = Value::f64s(&[1., 2.]);
    let message = |r: Result<Value, (&str, String)>| {
        let (code, message) = r.unwrap_err();
        assert_eq!(code, "F0601");
        message
    };
    assert!(run(&[("n", 2)], std::slice::from_ref(&good)).is_ok());
    assert_eq!(message(run(&[], std::slice::from_ref(&good))), "`d`: size `n` has no value");
    assert_eq!(
        message(run(&[("n", -1)], std::slice::from_ref(&good))),
        "`d`: size `n` is -1, but sizes are natural numbers"
    );
    assert_eq!(message(run(&[("n", 2)], &[])), "`d` takes 1 arguments, not 0");
    assert_eq!(
        message(run(&[("n", 3)], &[good])),
        "`d`: argument `xs` must be [n]f64: the shape is [2], not [3]"
    );
    assert_eq!(
        message(run(&[("n", 2)], &[i64_tensor(&[2], &[1, 2])])),
        "`d`: argument `xs` must be [n]f64: the elements are i64, not f64"
    );
    let torn = Value::Tensor(Tensor { shape: vec![2], data: Data::F64(vec![1.0]) });
    assert!(message(run(&[("n", 2)], &[torn])).contains("number of elements"));

    let mut b = Bench::default();
    let is = b.param("is", array(2, DataType::Idx(3.into())), i64_tensor(&[2], &[0, 3]));
    let error = b.eval(&is).unwrap_err();
    assert_eq!(error.message, "`d`: argument `is` has the index 3, which is not below 3");
}

#[test]
fn faults_and_limits_are_told() {
    let mut b = Bench::default();
    let n = b.size("n", 0);
    let xs = b.param("xs", array(n.clone(), F64), Value::f64s(&[]));
    let first = build::at(xs.clone(), build::index(0.into(), n.clone())).unwrap();
    let error = b.eval(&first).unwrap_err();
    assert_eq!(
        (error.code.0, error.message.as_str()),
        ("F0603", "`d`: index 0 is outside an array of length 0")
    );
    let dropped = build::apply(Prim::Drop, vec![Arg::Size(1.into()), t(&xs)]).unwrap();
    assert_eq!(b.eval(&dropped).unwrap_err().code.0, "F0603");
    let divided = ap(Prim::Div, vec![t(&build::number(Scalar::I32, 1)), t(&build::number(Scalar::I32, 0))]);
    assert_eq!(format!("{:?}", b.eval(&divided).unwrap()), "Tensor(Tensor { shape: [], data: I32([0]) })");

    let mut b = Bench::default();
    let n = b.size("n", 1 << 60);
    let huge = ap(Prim::Iota, vec![Arg::Size(n.clone())]);
    assert_eq!(b.eval(&huge).unwrap_err().code.0, "F0602");
    let huger = ap(Prim::Iota, vec![Arg::Size(n.clone() * n.clone())]);
    assert_eq!(b.eval(&huger).unwrap_err().code.0, "F0603", "{:?}", b.eval(&huger));
    let mut s = std::mem::take(&mut b.supply);
    let id = s.lambda1("x", F64, |_, x| Ok(x)).unwrap();
    let forever = ap(Prim::Iterate, vec![Arg::Size(n), Arg::Fun(id), t(&build::number(Scalar::F64, 0))]);
    let limits = Limits { steps: 1000, ..Limits::default() };
    let error = evaluate(&b.definition(&forever), &b.sizes, &b.args, limits).unwrap_err();
    assert_eq!(error.code.0, "F0602");
}

#[test]
fn a_deep_program_is_evaluated() {
    let mut b = Bench::default();
    let mut xs = b.f64s(&[1., 2., 3.]);
    let mut s = std::mem::take(&mut b.supply);
    for _ in 0..500 {
        let f = s.lambda1("x", F64, |_, x| build::add(x.clone(), build::number(Scalar::F64, 1))).unwrap();
        xs = build::reverse(build::map(Prim::Map, f, xs).unwrap()).unwrap();
    }
    assert_eq!(b.eval(&xs).unwrap(), Value::f64s(&[501., 502., 503.]));
}

#[test]
fn a_matrix_product_of_a_million_steps_takes_about_a_second() {
    let size = 100usize;
    let values: Vec<f64> = (0..size * size).map(|k| (k % 17) as f64).collect();
    let mut b = Bench::default();
    let (x, y) = (b.matrix(size, size, &values), b.matrix(size, size, &values));
    let product = common::programs::product(&mut b.supply, x, y);
    let start = Instant::now();
    let result = b.eval(&product).unwrap();
    let time = start.elapsed();
    let expected: Vec<f64> = (0..size * size)
        .map(|ij| (0..size).map(|k| values[ij / size * size + k] * values[k * size + ij % size]).sum())
        .collect();
    assert_eq!(result, f64_tensor(&[size, size], &expected));
    assert!(time.as_secs_f64() < 10.0, "{time:?}");
    println!("{time:?}");
}

#[test]
fn sizes_are_values() {
    let mut b = Bench::default();
    let n = b.size("n", 5);
    let double = build::size(Size::constant(2) * n);
    assert_eq!(b.eval(&double).unwrap(), Value::i64(10));
}
