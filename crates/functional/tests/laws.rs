//! Laws of the evaluator, on random data of all small sizes.

mod common;

use common::*;
use functional::build::{self, Supply};
use functional::eval::Value;
use functional::random::Maker;
use functional::{Arg, DataType, Prim, Term};
use loops::Size;
use proptest::prelude::*;

/// A bench with a random array `[len]f64`, and a random function on numbers.
fn bench(seed: u64, len: usize) -> (Bench, Term, functional::Lambda) {
    let mut maker = Maker::new(seed, 8);
    let ty = array(len as i64, F64);
    let value = maker.value(&ty).expect("numbers");
    let mut b = Bench { sizes: maker.sizes.iter().cloned().collect(), ..Bench::default() };
    b.supply = maker.supply.clone();
    let xs = b.param("xs", ty, value);
    maker.supply = b.supply.clone();
    let f = maker.function(&[("x", &F64)], &F64);
    b.supply = maker.supply;
    (b, xs, f)
}

fn ap(prim: Prim, args: Vec<Arg>) -> Term {
    build::apply(prim, args).unwrap()
}

fn same(b: &Bench, left: &Term, right: &Term) {
    let (left, right) = (b.eval(left).unwrap(), b.eval(right).unwrap());
    assert!(same_bits(&left, &right), "{left:?}\n{right:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn views_that_undo_each_other(seed: u64, m in 0usize..5, k in 1usize..5) {
        let (b, xs, _) = bench(seed, m * k);
        let n = (m * k) as i64;
        let split = build::split(k as i64, xs.clone()).unwrap();
        same(&b, &build::join(split.clone()).unwrap(), &xs);
        let turned = build::transpose(split.clone()).unwrap();
        same(&b, &build::transpose(turned).unwrap(), &split);
        same(&b, &build::reverse(build::reverse(xs.clone()).unwrap()).unwrap(), &xs);
        let vectors = build::as_vector(k as i64, xs.clone()).unwrap();
        same(&b, &build::as_scalar(vectors).unwrap(), &xs);
        let zipped = build::unzip(build::zip(xs.clone(), xs.clone()).unwrap()).unwrap();
        same(&b, &build::snd(zipped).unwrap(), &xs);
        let padded = build::pad(2.into(), 3.into(), build::number(loops::Scalar::F64, 7), xs.clone()).unwrap();
        same(&b, &build::take(n, build::drop_first(2, padded).unwrap()).unwrap(), &xs);
        for cut in 0..=n {
            let (front, back) = (build::take(cut, xs.clone()).unwrap(), build::drop_first(cut, xs.clone()).unwrap());
            same(&b, &build::concat(front, back).unwrap(), &xs);
        }
        // Windows side by side are blocks.
        same(&b, &build::slide((k as i64).into(), (k as i64).into(), xs).unwrap(), &split);
    }

    #[test]
    fn maps_and_reductions(seed: u64, n in 0usize..9) {
        let (b, xs, f) = bench(seed, n);
        let mut s: Supply = b.supply.clone();
        let g = functional::walk::refresh_lambda(&f, &mut s);
        let twice = {
            let (f, g) = (f.clone(), g.clone());
            let x = s.binder("x", F64);
            let inner = functional::walk::instantiate(&f, &[build::var(&x)], &mut s);
            let body = functional::walk::instantiate(&g, &[inner], &mut s);
            functional::Lambda { params: vec![x], body }
        };
        let mapped = build::map(Prim::Map, f.clone(), xs.clone()).unwrap();
        same(&b, &build::map(Prim::MapPar, g, mapped).unwrap(), &build::map(Prim::MapSeq, twice, xs.clone()).unwrap());
        // A map of a generated array is a generated array.
        let at = s.lambda1("i", DataType::Idx((n as i64).into()), |s, i| {
            let x = build::at(xs.clone(), i)?;
            Ok(functional::walk::instantiate(&f, &[x], s))
        }).unwrap();
        let generated = ap(Prim::Generate, vec![Arg::Size((n as i64).into()), Arg::Fun(at)]);
        let again = functional::walk::refresh_lambda(&f, &mut s);
        same(&b, &generated, &build::map(Prim::Map, again, xs.clone()).unwrap());
        // The last element of a scan is the reduction.
        let step = |s: &mut Supply| s.lambda2(("x", F64), ("a", F64), |_, x, a| build::sub(build::mul(x, a.clone())?, a)).unwrap();
        let one = build::number(loops::Scalar::F64, 1);
        let (r, c) = (step(&mut s), step(&mut s));
        let reduced = build::reduce(Prim::ReduceSeq, r, one.clone(), xs.clone()).unwrap();
        let scanned = build::reduce(Prim::ScanSeq, c, one.clone(), xs.clone()).unwrap();
        let with_start = build::concat(ap(Prim::Generate, vec![Arg::Size(1.into()), Arg::Fun(
            s.lambda1("i", DataType::Idx(1.into()), |_, _| Ok(one)).unwrap())]), scanned).unwrap();
        let last = build::at(with_start, build::index((n as i64).into(), Size::constant(n as i64 + 1))).unwrap();
        same(&b, &last, &reduced);
    }

    #[test]
    fn gather_and_scatter_by_a_permutation_undo_each_other(seed: u64, n in 1usize..9) {
        let (mut b, xs, _) = bench(seed, n);
        let step = (1..=n).rev().find(|k| (1..=*k).rev().find(|d| n % d == 0 && k % d == 0) == Some(1)).unwrap_or(1);
        let permutation: Vec<i64> = (0..n).map(|i| (i * step % n) as i64).collect();
        let is = b.param("is", array(n as i64, DataType::Idx((n as i64).into())), i64_tensor(&[n], &permutation));
        let gathered = ap(Prim::Gather, vec![Arg::Term(is.clone()), Arg::Term(xs.clone())]);
        let back = ap(Prim::Scatter, vec![Arg::Term(is), Arg::Term(gathered.clone()), Arg::Term(gathered)]);
        same(&b, &back, &xs);
        let clamped = ap(Prim::PadClamp, vec![Arg::Size(1.into()), Arg::Size(2.into()), Arg::Term(xs.clone())]);
        let Ok(Value::Tensor(found)) = b.eval(&clamped) else { panic!("a tensor") };
        let Ok(Value::Tensor(plain)) = b.eval(&xs) else { panic!("a tensor") };
        let (loops::Data::F64(found), loops::Data::F64(plain)) = (found.data, plain.data) else { panic!("numbers") };
        prop_assert_eq!(found[0].to_bits(), plain[0].to_bits());
        prop_assert_eq!(found[n + 2].to_bits(), plain[n - 1].to_bits());
    }
}
