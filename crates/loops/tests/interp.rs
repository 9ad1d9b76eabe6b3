//! The interpreter on the programs in `tests/loops/run`. Lines `//!` give what to run them on:
//! `//! n = 3`, `//! a[2][2] = 1 2 3 4` (pairs: one column after another, separated by `|`),
//! `//! races`, `//! shuffle 7`, `//! steps 100`, `//! bytes 100`.

use loops::{Data, Elem, Function, Name, Options, Param, Scalar, Tensor};
use std::collections::BTreeMap;
use std::fmt::Write as _;

fn data(elem: &Elem, columns: &mut dyn Iterator<Item = &str>) -> Data {
    if let Elem::Pair(a, b) = elem {
        let first = data(a, columns);
        return Data::Pair(Box::new(first), Box::new(data(b, columns)));
    }
    let words: Vec<&str> = columns.next().expect("a column").split_whitespace().collect();
    fn all<T: std::str::FromStr>(words: &[&str]) -> Vec<T> {
        words.iter().map(|w| w.parse().unwrap_or_else(|_| panic!("bad element {w}"))).collect()
    }
    match elem.as_scalar().unwrap() {
        Scalar::F32 => Data::F32(all(&words)),
        Scalar::F64 => Data::F64(all(&words)),
        Scalar::I32 => Data::I32(all(&words)),
        Scalar::I64 => Data::I64(all(&words)),
        Scalar::Bool => Data::Bool(all(&words)),
        Scalar::I8 => Data::I8(all(&words)),
        Scalar::U8 => Data::U8(all(&words)),
        Scalar::I16 => Data::I16(all(&words)),
        Scalar::U16 => Data::U16(all(&words)),
        Scalar::U32 => Data::U32(all(&words)),
        Scalar::U64 => Data::U64(all(&words)),
        Scalar::F16 => Data::F16(all(&words).into_iter().map(loops::nearest_half).collect()),
    }
}

fn show(data: &Data) -> String {
    match data {
        Data::F32(v) => format!("{v:?}"),
        Data::F64(v) => format!("{v:?}"),
        Data::I32(v) => format!("{v:?}"),
        Data::I64(v) => format!("{v:?}"),
        Data::Bool(v) => format!("{v:?}"),
        Data::I8(v) => format!("{v:?}"),
        Data::U8(v) => format!("{v:?}"),
        Data::I16(v) => format!("{v:?}"),
        Data::U16(v) => format!("{v:?}"),
        Data::U32(v) => format!("{v:?}"),
        Data::U64(v) => format!("{v:?}"),
        Data::F16(v) => format!("{v:?}"),
        Data::Pair(a, b) => format!("{} | {}", show(a), show(b)),
    }
}

fn run_case(text: &str, function: &Function) -> String {
    let (mut sizes, mut args, mut options) = (BTreeMap::new(), BTreeMap::new(), Options::default());
    for line in text.lines().filter_map(|l| l.trim().strip_prefix("//!")) {
        let Some((left, right)) = line.split_once('=') else {
            match line.split_whitespace().collect::<Vec<_>>()[..] {
                ["races"] => options.races = true,
                ["shuffle", seed] => options.shuffle = Some(seed.parse().unwrap()),
                ["steps", steps] => options.max_steps = steps.parse().unwrap(),
                ["bytes", bytes] => options.max_bytes = bytes.parse().unwrap(),
                _ => panic!("unknown directive {line}"),
            }
            continue;
        };
        let mut parts = left.trim().split(['[', ']']).filter(|p| !p.is_empty());
        let name = Name::new(parts.next().unwrap());
        match function.params.iter().find(|p| p.name == name) {
            None => {
                sizes.insert(name, right.trim().parse().unwrap());
            }
            Some(Param { elem, .. }) => {
                let shape = parts.map(|p| p.parse().unwrap()).collect();
                args.insert(name, Tensor { shape, data: data(elem, &mut right.split('|')) });
            }
        }
    }
    let mut out = String::new();
    match loops::run(function, &sizes, args, &options) {
        Ok(outputs) => {
            for (name, tensor) in outputs {
                let _ = writeln!(out, "{name} {:?} = {}", tensor.shape, show(&tensor.data));
            }
        }
        Err(error) => {
            let _ = writeln!(out, "{error}");
            for line in error.notes.iter().chain(&error.help) {
                let _ = writeln!(out, "  {line}");
            }
        }
    }
    out
}

/// Every function of a file runs on the directives between the `fn` before it and its own.
#[test]
fn programs_run() {
    golden::check("loops/run", "loops", "out", |case| {
        let program = loops::parse(&case.input).unwrap_or_else(|errors| panic!("{errors:#?}"));
        let texts = case.input.split("\nfn ");
        let mut out = String::new();
        for (function, text) in program.functions.iter().zip(texts) {
            let _ = write!(out, "{}: {}", function.name, run_case(text, function));
        }
        out
    });
}

fn matmul() -> Function {
    let text = "fn mm[n](a: in f64[n][n], b: in f64[n][n], c: out f64[n][n]) {
        par i in 0..n { for j in 0..n {
            c[i][j] = 0.0
            for k in 0..n { c[i][j] += a[i][k] * b[k][j] }
        } } }";
    loops::parse(text).unwrap().functions.remove(0)
}

#[test]
fn a_matrix_product_is_fast_enough_for_tests() {
    let f64 = Elem::from(Scalar::F64);
    let n = 100usize;
    let tensor = |seed| Tensor::random(&f64, vec![n, n], seed);
    let args = BTreeMap::from([("a".into(), tensor(1)), ("b".into(), tensor(2))]);
    let start = std::time::Instant::now();
    let sizes = BTreeMap::from([("n".into(), n as i64)]);
    let out = loops::run(&matmul(), &sizes, args, &Options::default()).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    let (Data::F64(a), Data::F64(b)) = (tensor(1).data, tensor(2).data) else { unreachable!() };
    let Data::F64(c) = &out["c"].data else { unreachable!() };
    for i in 0..n {
        for j in 0..n {
            let sum = (0..n).fold(0.0, |sum, k| sum + a[i * n + k] * b[k * n + j]);
            assert_eq!(c[i * n + j].to_bits(), f64::to_bits(sum));
        }
    }
    println!("{seconds:.3} s for 10^6 updates");
    assert!(seconds < 10.0, "{seconds} s");
}

#[test]
fn no_order_of_parallel_iterations_changes_the_result() {
    let f64 = Elem::from(Scalar::F64);
    for n in [0usize, 1, 2, 7, 12] {
        let sizes = BTreeMap::from([("n".into(), n as i64)]);
        let tensor = |seed| Tensor::random(&f64, vec![n, n], seed);
        let run = |shuffle| {
            let args = BTreeMap::from([("a".into(), tensor(1)), ("b".into(), tensor(2))]);
            loops::run(&matmul(), &sizes, args, &Options { shuffle, races: true, ..Options::default() })
                .unwrap()
        };
        let expected = run(None);
        for seed in 0..10 {
            assert_eq!(run(Some(seed)), expected);
        }
    }
}

/// The seeded order is a permutation, and different seeds give different ones.
#[test]
fn a_shuffled_loop_runs_every_iteration_once() {
    let text = "fn f[n](order: out i64[n], place: inout i64) {
        par i in 0..n { order[place] = i place += 1 } }";
    let f = loops::parse(text).unwrap().functions.remove(0);
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..40u64 {
        let n = 1 + (seed % 9) as i64;
        let args = BTreeMap::from([("place".into(), Tensor { shape: vec![], data: Data::I64(vec![0]) })]);
        let options = Options { shuffle: Some(seed), ..Options::default() };
        let out = loops::run(&f, &BTreeMap::from([("n".into(), n)]), args, &options).unwrap();
        let Data::I64(order) = out["order"].data.clone() else { unreachable!() };
        let mut sorted = order.clone();
        sorted.sort();
        assert_eq!(sorted, (0..n).collect::<Vec<_>>());
        seen.insert(order);
    }
    assert!(seen.len() > 15, "{}", seen.len());
}

#[test]
fn deep_programs_run_on_the_stack_of_a_thread() {
    use loops::{Access, Expr, Loop, LoopKind, Stmt, UnaryOp};
    let mut value = Expr::f64(1.0);
    for _ in 0..loops::MAX_DEPTH / 2 - 2 {
        value = Expr::unary(UnaryOp::Neg, value);
    }
    let mut body = vec![Stmt::assign(Access::scalar("x"), value)];
    for k in 0..loops::MAX_DEPTH / 2 - 2 {
        body = vec![Stmt::Loop(Loop::upto(format!("i{k}"), Expr::Int(1), LoopKind::Parallel, body))];
    }
    let x = Param::new("x", loops::ParamMode::Out, Scalar::F64, vec![]);
    let mut f = Function { name: "f".into(), sizes: vec![], assumptions: vec![], params: vec![x], body };
    let out =
        loops::run(&f, &BTreeMap::new(), BTreeMap::new(), &Options { races: true, ..Options::default() });
    assert_eq!(out.unwrap()["x"].data, Data::F64(vec![1.0]));
    for k in 0..8 {
        f.body = vec![Stmt::Loop(Loop::upto(format!("j{k}"), Expr::Int(1), LoopKind::Parallel, f.body))];
    }
    let error = loops::run(&f, &BTreeMap::new(), BTreeMap::new(), &Options::default()).unwrap_err();
    assert_eq!(error.code.0, "L0104");
}
