//! What loops move between caches, against what is counted by hand and against the bound.
#![allow(missing_docs)]

use std::collections::BTreeMap;

use loops::{Data, Function, Name, Options, ParamMode, Tensor};
use optimize::{Border, Cache, Machine, Run, movement};

fn function(text: &str) -> Function {
    loops::parse(text).expect("the text is a program").functions.remove(0)
}

/// The border behind a cache of so many bytes; all arrays have n x n or n elements.
fn border(text: &str, generated: &str, n: i64, bytes: f64) -> Border {
    let (text, generated) = (function(text), function(generated));
    let arguments = text.params.iter().filter(|param| param.mode != ParamMode::Out).map(|param| {
        let shape = vec![n as usize; param.dims.len()];
        let data = Data::F64(vec![1.0; shape.iter().product()]);
        (param.name.clone(), Tensor { shape, data })
    });
    let run = Run {
        sizes: BTreeMap::from([(Name::new("n"), n)]),
        arguments: arguments.collect(),
        options: Options::default(),
    };
    let cache = Cache { bytes, ..Machine::default().caches[0] };
    movement(&text, &generated, &run, &[cache]).expect("the loops run").borders.remove(0)
}

const COPY: &str = "fn f[n](a: in f64[n], b: out f64[n]) { for i in 0..n { b[i] = a[i] } }";

#[test]
fn a_copy_moves_its_lines() {
    let moved = border(COPY, COPY, 1000, 4096.0);
    // 125 lines are read, and as many are brought in before they are written.
    assert_eq!((moved.text, moved.generated), (3.0 * 8000.0, 3.0 * 8000.0));
    assert_eq!((moved.least, moved.by_accesses), (2.0 * 8000.0, false));
}

fn product(loops: &str) -> String {
    let close = "}".repeat(loops.matches('{').count());
    let arrays = "a: in f64[n][n], b: in f64[n][n], c: inout f64[n][n]";
    format!("fn f[n]({arrays}) {{ {loops} c[i][j] += a[i][k] * b[k][j] {close} }}")
}

#[test]
fn tiles_of_a_product_come_close_to_the_bound() {
    let text = product("for i in 0..n { for j in 0..n { for k in 0..n {");
    let tiles = |t: i64| {
        let tile = |v: &str| format!("for {v}t in 0..n step {t} {{ ");
        let point = |v: &str| format!("for {v} in {v}t..min(n, {v}t + {t}) {{ ");
        product(&(["i", "j", "k"].map(tile).concat() + &["i", "k", "j"].map(point).concat()))
    };
    let ratio = |t: i64| {
        let moved = border(&text, &tiles(t), 128, 16384.0);
        assert!(moved.by_accesses && moved.least <= moved.generated.min(moved.text), "{moved:?}");
        moved.generated / moved.least
    };
    // Three tiles of 16 x 16 fit; of 48 x 48 not one.
    let (small, right, large) = (ratio(8), ratio(16), ratio(48));
    assert!(right < 4.0 && right < small && right < large, "{small} {right} {large}");
}

#[test]
fn what_is_written_over_says_nothing() {
    // Elements of `c` take a new value for each k, so that no element stands for one value.
    let other = "fn f[n](a: in f64[n][n], b: in f64[n][n], c: inout f64[n][n]) {
        for i in 0..n { for j in 0..n { for k in 0..n { c[i][j] = a[i][k] * b[k][j] } } } }";
    let all = product("for i in 0..n { for j in 0..n { for k in 0..n {");
    let (over, sums) = (border(other, other, 64, 2048.0), border(&all, &all, 64, 2048.0));
    assert!(over.least < sums.least, "{over:?} {sums:?}");
}
