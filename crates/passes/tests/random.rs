//! The passes for C compilers keep results to the last bit: tested on random programs of sums, rows
//! and loop-invariant numbers.

#[path = "../../loops/tests/common/random.rs"]
mod random;

use std::collections::BTreeMap;
use std::fmt::Write;

use loops::{Data, Function, Name, Options, Tensor};
use proptest::prelude::*;
use random::Random;

/// Extents: enough rows for four and for some lanes with some left, long chains, and rows that are
/// short enough to be coalesced.
const ROWS: i64 = 70;
const COLUMNS: i64 = 49;

/// A number, where the variables are in scope.
fn number(r: &mut Random, vars: &[&str], depth: u32) -> String {
    let inner = |r: &mut Random| number(r, vars, depth + 1);
    // the same words again, of what may have changed, and an element of another iteration
    if r.chance(15) {
        return r.pick(&["sqrt(abs(s[0]))", "(s[0] / s[1])", "b[3]", "sqrt(b[0])"]).into();
    }
    match r.below(if depth > 2 { 4 } else { 10 }) {
        0 => format!("{}.5", r.range(0, 3)),
        1 => format!("s[{}]", r.below(2)),
        2 if vars.contains(&"i") => "b[i]".into(),
        2 | 3 if vars.contains(&"k") && vars.contains(&"i") => r.pick(&["a[i][k]", "t[k][i]"]).into(),
        4 => format!("({} + {})", inner(r), inner(r)),
        5 => format!("({} * {})", inner(r), inner(r)),
        6 => format!("({} / {})", inner(r), inner(r)),
        7 => format!("sqrt(abs({}))", inner(r)),
        8 => format!("select({} < {}, {}, {})", inner(r), inner(r), inner(r), inner(r)),
        _ => format!("s[{}]", r.below(2)),
    }
}

fn item(r: &mut Random, out: &mut String) {
    let row = ["i"];
    let element = ["i", "k"];
    let _ = match r.below(5) {
        0 => writeln!(out, "s[{}] = {}", r.below(2), number(r, &[], 0)),
        1 => writeln!(out, "for i in 0..{ROWS} {{ b[i] = {} }}", number(r, &row, 0)),
        2 => {
            let name = number(r, &row, 0);
            let value = number(r, &element, 0);
            writeln!(
                out,
                "for i in 0..{ROWS} {{ for k in 0..{COLUMNS} {{ local d: f64 d = {name} a[i][k] = {value} * d }} }}"
            )
        }
        3 => {
            let (first, each, last) = (number(r, &row, 0), number(r, &element, 0), number(r, &row, 0));
            let again = if r.chance(20) { " + acc" } else { "" };
            let also = if r.chance(20) { " s[1] = acc" } else { "" };
            writeln!(
                out,
                "for i in 0..{ROWS} {{ local acc: f64 acc = {first} {{ local own: f64 own = acc for k in 0..{COLUMNS} {{ own += {each}{again} }} acc = own }} b[i] = acc + {last}{also} }}"
            )
        }
        _ => {
            let each = number(r, &element, 0);
            writeln!(out, "for i in 0..{ROWS} {{ for k in 0..{COLUMNS} {{ s[0] += {each} }} }}")
        }
    };
}

fn program(r: &mut Random) -> Function {
    let mut body = String::new();
    item(r, &mut body);
    while r.chance(75) {
        item(r, &mut body);
    }
    let text = format!(
        "fn f(a: inout f64[{ROWS}][{COLUMNS}], t: in f64[{COLUMNS}][{ROWS}], b: inout f64[{ROWS}], s: inout f64[2]) {{\n{body}}}"
    );
    loops::parse(&text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}")).functions.remove(0)
}

/// The bits of all results.
fn outcome(f: &Function) -> BTreeMap<Name, Vec<u64>> {
    let given = f.params.iter().map(|p| {
        let shape: Vec<usize> =
            p.dims.iter().map(|dim| if let loops::Expr::Int(n) = dim { *n as usize } else { 0 }).collect();
        let count: usize = shape.iter().product();
        let data = Data::F64((0..count).map(|k| (k * 7919 % 1000) as f64 / 500.0 - 0.7).collect());
        (p.name.clone(), Tensor { shape, data })
    });
    let out = loops::run(f, &BTreeMap::new(), given.collect(), &Options::default()).expect("a run");
    let bits = |tensor: Tensor| match tensor.data {
        Data::F64(numbers) => numbers.into_iter().map(f64::to_bits).collect(),
        _ => vec![],
    };
    out.into_iter().map(|(name, tensor)| (name, bits(tensor))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bit_changes(seed: u64) {
        let f = program(&mut Random(seed));
        let arranged = passes::DEFAULT.run(f.clone(), &mut Vec::new());
        prop_assert_eq!(loops::validate(&arranged).is_proved(), loops::validate(&f).is_proved(), "{}\n{}", f, arranged);
        prop_assert_eq!(outcome(&f), outcome(&arranged), "{}\n{}", f, arranged);
    }
}
