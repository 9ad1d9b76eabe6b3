//! `speculative-vectorization` keeps results to the last bit, whatever the numbers: NaN, zeros of
//! both signs, infinities and many that are equal.

#[path = "../../loops/tests/common/random.rs"]
mod random;

use std::collections::BTreeMap;

use loops::{Data, Function, Name, Options, Tensor};
use proptest::prelude::*;
use random::Random;

/// Sizes: none, one, more than are left alone, and two strips more.
const SIZES: [i64; 4] = [0, 1, 193, 300];

/// More than are done on one thread: nine parts, of which the last is short.
const PARTS: i64 = 131_073 + 37;

fn number(r: &mut Random) -> f64 {
    match r.below(12) {
        0 => f64::NAN,
        1 => f64::NEG_INFINITY,
        2 => 0.0,
        3 | 4 => -0.0,
        5 => f64::INFINITY * f64::from(r.below(20) == 0),
        6 | 7 => -1.5,
        _ => r.range(-300, 0) as f64 / 8.0,
    }
}

/// A loop of records of a random kind.
fn program(r: &mut Random) -> Function {
    let op = r.pick(&[">", ">=", "<", "<="]);
    let other = r.pick(&[">", ">=", "<", "<="]);
    let (left, right) = if r.chance(50) { ("x[i]", "m") } else { ("m", "x[i]") };
    let also = if r.chance(30) { " && y[i] < 0.0" } else { "" };
    let flip = r.chance(15);
    let place = if r.chance(60) { " at = i64(i)" } else { "" };
    let more = match r.below(3) {
        0 => format!(" else {{ if y[i] {other} s {{ s = y[i] }} }}"),
        1 => format!(" if y[i] {other} s {{ s = y[i] at = at + 1 }}"),
        _ => String::new(),
    };
    let body = match r.below(3) {
        0 => {
            format!("local c: bool c = {left} {op} {right} m = select(c, x[i], m) at = select(c, i64(i), at)")
        }
        1 if flip => format!("m = select({left} {op} {right}, m, x[i])"),
        _ => format!("if {left} {op} {right}{also} {{ m = x[i]{place} }}{more}"),
    };
    let text = format!(
        "fn f[n](x: in f64[n], y: in f64[n], m: inout f64, s: inout f64, at: inout i64) {{ for i in {}..n {{ {body} }} }}",
        r.below(3)
    );
    loops::parse(&text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}")).functions.remove(0)
}

fn bits(f: &Function, n: i64, given: &[(Name, Tensor)]) -> Vec<(Name, Vec<u64>)> {
    let sizes: BTreeMap<Name, i64> = [(Name::new("n"), n)].into();
    let given = given.iter().cloned().collect();
    let results = loops::run(f, &sizes, given, &Options::default()).expect("a run");
    let of = |data: &Data| match data {
        Data::F64(values) => values.iter().map(|v| v.to_bits()).collect(),
        Data::I64(values) => values.iter().map(|v| *v as u64).collect(),
        other => panic!("{other:?}"),
    };
    results.into_iter().map(|(name, tensor)| (name, of(&tensor.data))).collect()
}

/// Random arguments.
fn given(r: &mut Random, n: i64) -> Vec<(Name, Tensor)> {
    let mut vector = |count: i64| {
        let values = (0..count).map(|_| number(r)).collect();
        Tensor { shape: vec![count as usize], data: Data::F64(values) }
    };
    let mut given: Vec<(Name, Tensor)> =
        [("x", n), ("y", n)].map(|(name, n)| (Name::new(name), vector(n))).into();
    let one = |data| Tensor { shape: Vec::new(), data };
    for name in ["m", "s"] {
        given.push((Name::new(name), one(vector(1).data)));
    }
    given.push((Name::new("at"), one(Data::I64(vec![-1]))));
    given
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_numbers(seed: u64) {
        let r = &mut Random(seed);
        let f = program(r);
        let after = passes::SPECULATIVE_VECTORIZATION.run(&f).expect("a loop of records");
        prop_assert!(loops::validate(&after).is_proved(), "{after}");
        for n in SIZES {
            let given = given(r, n);
            prop_assert_eq!(bits(&f, n, &given), bits(&after, n, &given), "n = {}\n{}\n{}", n, f, after);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn in_parts(seed: u64) {
        let r = &mut Random(seed);
        let f = program(r);
        let after = passes::SPECULATIVE_VECTORIZATION.run(&f).expect("a loop of records");
        let mut given = given(r, PARTS);
        // Few records, near each other or far apart, so that every part may have the last one.
        for name in ["x", "y"] {
            let (_, tensor) = given.iter_mut().find(|(n, _)| n.as_str() == name).expect("it is there");
            let Data::F64(values) = &mut tensor.data else { panic!("numbers") };
            values.fill(if r.chance(50) { -2.0 } else { f64::NAN });
            for _ in 0..r.below(40) {
                values[r.below(PARTS as usize)] = number(r);
            }
        }
        prop_assert_eq!(bits(&f, PARTS, &given), bits(&after, PARTS, &given), "{}\n{}", f, after);
    }
}
