//! Bad input never panics or hangs: random bytes, mutated texts, and programs that make no sense,
//! through every stage.
//!
//! `FUZZ_CASES=100000 cargo test -p loops --test fuzz --release` looks longer.

#[path = "common/programs.rs"]
mod programs;
#[path = "common/random.rs"]
mod random;

use loops::{Function, Options, ParamMode, Program, Tensor};
use proptest::prelude::*;
use random::Random;
use std::collections::BTreeMap;

fn config(cases: u32) -> ProptestConfig {
    let cases = std::env::var("FUZZ_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(cases);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Everything that can be done with a program, with little time and memory.
fn exercise(program: &Program) {
    for function in &program.functions {
        let _ = loops::accesses(&function.body);
        let _ = loops::validate(function);
        let simple = loops::simplify::function_for_c(function);
        for (shuffle, function) in [(None, function), (Some(1), &simple)] {
            let options =
                Options { shuffle, races: true, max_steps: 2_000, max_bytes: 1 << 16, ..Options::default() };
            let sizes = function.sizes.iter().map(|name| (name.clone(), 2)).collect();
            let _ = loops::run(function, &sizes, arguments(function), &options);
        }
    }
}

/// Tensors of 2 elements in each dimension: right for some programs, wrong for others.
fn arguments(function: &Function) -> BTreeMap<loops::Name, Tensor> {
    let given = function.params.iter().filter(|p| p.mode != ParamMode::Out && p.dims.len() < 8);
    given.map(|p| (p.name.clone(), Tensor::random(&p.elem, vec![2; p.dims.len()], 1))).collect()
}

/// The valid programs among the test files.
fn corpus() -> Vec<String> {
    ["loops/text", "loops/run", "loops/validate", "loops/simplify"]
        .into_iter()
        .flat_map(|area| golden::cases(area, "loops"))
        .map(|case| case.input)
        .collect()
}

/// A text with some pieces taken out, doubled, moved, or replaced by other tokens or bytes.
fn mutated(r: &mut Random, corpus: &[String]) -> String {
    const TOKENS: &[&str] = &[
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "..",
        ".",
        "=",
        "+=",
        "reduce",
        "-",
        "-1",
        "0",
        "9223372036854775807",
        "i",
        "n",
        "`",
        "//",
        "\n",
        "fn f() {",
        "for i in 0..n {",
        "step",
        "tag t",
        "wait t",
        "local x: f64",
        "inf_f32",
        "bits_f64(0xffffffffffffffff)",
        "1e400",
        "é",
        "\0",
        "select(",
        "mod 0",
        "floordiv 0",
        "get a[0] -> b[0]",
        "par i in 0..n reduce(+: s) {",
        "1.5f32",
        "x1",
        ".x2",
        "call f64 exp(1.0)",
        "i32(1e300)",
        "unroll(4) k in 0..2 {",
    ];
    let mut text = r.pick(corpus).into_bytes();
    for _ in 0..1 + r.below(6) {
        let (a, b) = (r.below(text.len() + 1), r.below(text.len() + 1));
        let (start, end) = (a.min(b), a.max(b).min(a.min(b) + 40));
        match r.below(6) {
            0 => drop(text.drain(start..end)),
            1 => {
                let piece = text[start..end].to_vec();
                text.splice(end..end, piece);
            }
            2 | 3 => {
                let token = r.pick(TOKENS);
                text.splice(start..start, token.bytes());
            }
            4 => {
                let token = r.pick(TOKENS);
                text.splice(start..end.min(start + 3), token.bytes());
            }
            _ => {
                if start < text.len() {
                    text[start] = r.next() as u8;
                }
            }
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

proptest! {
    #![proptest_config(config(2_000))]

    #[test]
    fn random_text_does_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = loops::parse(&String::from_utf8_lossy(&bytes));
    }
}

proptest! {
    #![proptest_config(config(1_500))]

    #[test]
    fn mutated_text_does_not_panic(seed: u64) {
        thread_local!(static CORPUS: Vec<String> = corpus());
        let text = CORPUS.with(|corpus| mutated(&mut Random(seed), corpus));
        match loops::parse(&text) {
            Ok(program) => {
                prop_assert_eq!(loops::parse(&program.to_string()), Ok(program.clone()));
                exercise(&program);
            }
            Err(errors) => {
                prop_assert!(!errors.is_empty());
                for label in errors.iter().flat_map(|e| &e.labels) {
                    let (start, end) = (label.span.start as usize, label.span.end as usize);
                    prop_assert!(start <= end && end <= text.len() && text.is_char_boundary(start));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(config(1_500))]

    #[test]
    fn senseless_programs_do_not_panic(seed: u64) {
        exercise(&programs::program(seed));
    }
}
