//! The number of rule applications grows no faster than the program, on generated programs of up to
//! ten thousand combinators.
mod support;

use dpia::{Mode, translate};
use functional::build::{self, Supply};
use functional::term::{Arg, Definition, Lambda, Term};
use functional::{DataType, Prim};
use loops::{Scalar, Size};
use support::{definition, num};

fn line() -> DataType {
    support::array("n", num())
}

fn increment(s: &mut Supply) -> Lambda {
    s.lambda1("x", num(), |_, x| build::add(x.clone(), build::mul(x, build::number(Scalar::F32, 2))?))
        .unwrap()
}

fn plus(s: &mut Supply) -> Lambda {
    s.lambda2(("x", num()), ("a", num()), |_, x, a| build::add(x, a)).unwrap()
}

/// A definition of one array whose body is `step` applied `k` times.
fn chain(k: usize, mut step: impl FnMut(&mut Supply, Term) -> Term) -> Definition {
    let mut s = Supply::new();
    let xs = s.binder("xs", line());
    let mut body = build::var(&xs);
    for _ in 0..k {
        body = step(&mut s, body);
    }
    definition("chain", &["n"], vec![xs], body)
}

fn maps(k: usize) -> Definition {
    chain(k, |s, e| build::map(Prim::MapPar, increment(s), e).unwrap())
}

fn stored(k: usize) -> Definition {
    chain(k / 2, |s, e| build::to_mem(build::map(Prim::MapSeq, increment(s), e).unwrap()).unwrap())
}

fn reversed(k: usize) -> Definition {
    chain(k / 2, |s, e| build::map(Prim::MapSeq, increment(s), build::reverse(e).unwrap()).unwrap())
}

/// `let v = map f v + map g v in …`
fn lets(k: usize) -> Definition {
    let mut s = Supply::new();
    let xs = s.binder("xs", line());
    let binders: Vec<_> = (0..k / 4).map(|_| s.binder("v", line())).collect();
    let mut body = build::var(binders.last().unwrap());
    for (i, v) in binders.iter().enumerate().rev() {
        let before = if i == 0 { build::var(&xs) } else { build::var(&binders[i - 1]) };
        let f = s
            .lambda1("p", DataType::pair(num(), num()), |_, p| {
                build::add(build::fst(p.clone())?, build::snd(p)?)
            })
            .unwrap();
        let both = build::zip(before.clone(), build::map(Prim::MapPar, increment(&mut s), before).unwrap());
        let value = build::map(Prim::MapPar, f, both.unwrap()).unwrap();
        body = build::let_in(v.clone(), value, body).unwrap();
    }
    definition("lets", &["n"], vec![xs], body)
}

fn numbers(k: usize) -> Definition {
    let mut s = Supply::new();
    let x = s.binder("x", num());
    let mut body = build::var(&x);
    for _ in 0..k / 2 {
        body = build::add(build::mul(body, build::var(&x)).unwrap(), build::number(Scalar::F32, 1)).unwrap();
    }
    definition("numbers", &[], vec![x], body)
}

/// `let y = x * x + x in let z = y * y + y in …`: each value is read three times.
fn number_lets(k: usize) -> Definition {
    let mut s = Supply::new();
    let x = s.binder("x", num());
    let binders: Vec<_> = (0..k / 3).map(|_| s.binder("y", num())).collect();
    let mut body = build::var(binders.last().unwrap());
    for (i, v) in binders.iter().enumerate().rev() {
        let before = if i == 0 { build::var(&x) } else { build::var(&binders[i - 1]) };
        let square = build::mul(before.clone(), before.clone()).unwrap();
        body = build::let_in(v.clone(), build::add(square, before).unwrap(), body).unwrap();
    }
    definition("number_lets", &[], vec![x], body)
}

fn reductions(k: usize) -> Definition {
    let mut s = Supply::new();
    let xs = s.binder("xs", line());
    let mut body = build::number(Scalar::F32, 0);
    for _ in 0..k / 2 {
        let f = plus(&mut s);
        body = build::reduce(Prim::ReduceSeq, f, body, build::var(&xs)).unwrap();
    }
    definition("reductions", &["n"], vec![xs], body)
}

fn selects(k: usize) -> Definition {
    let mut s = Supply::new();
    let x = s.binder("x", num());
    let mut body = build::var(&x);
    for i in 0..k / 2 {
        let cond = build::apply(
            Prim::Lt,
            vec![Arg::Term(build::var(&x)), Arg::Term(build::number(Scalar::F32, i as i32))],
        );
        let args = [cond.unwrap(), build::number(Scalar::F32, i as i32), body];
        body = build::apply(Prim::Select, args.into_iter().map(Arg::Term).collect()).unwrap();
    }
    definition("selects", &[], vec![x], body)
}

fn blocks(k: usize) -> Definition {
    let mut s = Supply::new();
    let m = Size::param("m");
    let xs = s.binder("xs", DataType::array(m.clone() * Size::param("n"), num()));
    let mut body = build::var(&xs);
    for i in 0..k / 2 {
        body = build::join(build::split(m.clone(), body).unwrap()).unwrap();
        if i % 100 == 0 {
            let f = increment(&mut s);
            body = build::map(Prim::MapPar, f, body).unwrap();
        }
    }
    definition("blocks", &["m", "n"], vec![xs], body)
}

/// Views of which each reads the one before twice: `let v = map fst (zip u u) in …`
fn doubled(k: usize) -> Definition {
    let mut s = Supply::new();
    let xs = s.binder("xs", line());
    let binders: Vec<_> = (0..k / 3).map(|_| s.binder("v", line())).collect();
    let mut body = build::var(binders.last().unwrap());
    for (i, v) in binders.iter().enumerate().rev() {
        let before = if i == 0 { build::var(&xs) } else { build::var(&binders[i - 1]) };
        let f = s.lambda1("p", DataType::pair(num(), num()), |_, p| build::fst(p)).unwrap();
        let value = build::map(Prim::MapSeq, f, build::zip(before.clone(), before).unwrap()).unwrap();
        body = build::let_in(v.clone(), value, body).unwrap();
    }
    definition("doubled", &["n"], vec![xs], body)
}

/// The same through functions: `let v = generate n (\\i -> fst (u[i], u[i])) in …`
fn doubled_inside(k: usize) -> Definition {
    let mut s = Supply::new();
    let xs = s.binder("xs", line());
    let binders: Vec<_> = (0..k / 5).map(|_| s.binder("v", line())).collect();
    let mut body = build::var(binders.last().unwrap());
    for (i, v) in binders.iter().enumerate().rev() {
        let before = if i == 0 { build::var(&xs) } else { build::var(&binders[i - 1]) };
        let f = s
            .lambda1("i", DataType::Idx(Size::param("n")), |_, i| {
                let read = build::at(before.clone(), i)?;
                build::fst(build::pair(read.clone(), read)?)
            })
            .unwrap();
        let args = vec![Arg::Size(Size::param("n")), Arg::Fun(f)];
        body = build::let_in(v.clone(), build::apply(Prim::Generate, args).unwrap(), body).unwrap();
    }
    definition("doubled_inside", &["n"], vec![xs], body)
}

/// Branches of views: `let v = drop n (concat u u) in …`
fn doubled_branches(k: usize) -> Definition {
    let mut s = Supply::new();
    let xs = s.binder("xs", support::array("n", num()));
    let binders: Vec<_> = (0..k / 3).map(|_| s.binder("v", line())).collect();
    let mut body = build::var(binders.last().unwrap());
    for (i, v) in binders.iter().enumerate().rev() {
        let before = if i == 0 { build::var(&xs) } else { build::var(&binders[i - 1]) };
        let both = build::concat(before.clone(), before).unwrap();
        body = build::let_in(v.clone(), build::drop_first(Size::param("n"), both).unwrap(), body).unwrap();
    }
    definition("doubled_branches", &["n"], vec![xs], body)
}

type Shape = (&'static str, fn(usize) -> Definition);

const SHAPES: &[Shape] = &[
    ("maps", maps),
    ("stored", stored),
    ("reversed", reversed),
    ("lets", lets),
    ("numbers", numbers),
    ("number_lets", number_lets),
    ("reductions", reductions),
    ("selects", selects),
    ("blocks", blocks),
    ("doubled", doubled),
    ("doubled_inside", doubled_inside),
    ("doubled_branches", doubled_branches),
];

/// The command runs the pipeline on a thread like this one.
fn on_large_stack<T: Send>(f: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        std::thread::Builder::new().stack_size(1 << 30).spawn_scoped(scope, f).unwrap().join().unwrap()
    })
}

#[test]
fn steps_are_linear_in_the_size_of_the_program() {
    for (name, shape) in SHAPES {
        for mode in [Mode::Default, Mode::Paper] {
            let steps = |k: usize| {
                on_large_stack(|| {
                    let d = shape(k);
                    let start = std::time::Instant::now();
                    let t = translate(&d, mode).unwrap_or_else(|e| panic!("{name} {mode:?}: {e}"));
                    let time = start.elapsed();
                    let steps = t.derivation.steps.len();
                    println!("{name} {mode:?} {k}: {steps} steps, {time:?}");
                    steps
                })
            };
            let (small, large) = (steps(1_000), steps(10_000));
            assert!(
                large <= 11 * small,
                "{name} {mode:?}: {small} steps for 1,000 combinators, {large} for 10,000"
            );
            assert!(large <= 40 * 10_000, "{name} {mode:?}: {large} steps for 10,000 combinators");
        }
    }
}
