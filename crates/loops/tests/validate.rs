//! The validator: golden files in `tests/loops/validate`, and the law that what it proves no run
//! refutes.

#[path = "common/random.rs"]
mod random;

use loops::{Function, Options, ParamMode, Safety, Severity, Tensor};
use proptest::prelude::*;
use random::Random;
use std::collections::BTreeMap;
use std::fmt::Write as _;

#[test]
fn programs_are_judged() {
    golden::check("loops/validate", "loops", "out", |case| {
        let program = loops::parse(&case.input).unwrap_or_else(|errors| panic!("{errors:#?}"));
        let mut out = String::new();
        for (function, report) in program.functions.iter().zip(loops::validate::validate_program(&program)) {
            let known = (report.subscripts_proved, report.subscripts_proved + report.subscripts_unknown);
            let _ = writeln!(out, "{}: {} of {} subscripts proved", function.name, known.0, known.1);
            for d in &report.diagnostics {
                let _ = writeln!(out, "  {d}");
                for line in d.notes.iter().filter(|n| !n.starts_with("in function")).chain(&d.help) {
                    let _ = writeln!(out, "    {line}");
                }
            }
            for verdict in &report.loops {
                let safety = match &verdict.safety {
                    Safety::Proved => "proved",
                    Safety::Refuted(_) => "refuted",
                    Safety::Unknown(_) => "unknown",
                };
                let _ = writeln!(out, "  {safety}: {}", verdict.header);
            }
        }
        out
    });
}

/// The text of a random function with parallel loops, of the kinds that front ends and
/// transformations make.
fn function(r: &mut Random) -> String {
    let mut text = String::from("fn f[n, m](a: inout f64[n * m + 40], b: inout f64[n + 40][m + 40]) {\n");
    let kind = |r: &mut Random| r.pick(&["par", "par", "for", "vec"]);
    let bound = |r: &mut Random, outer: &str| {
        let bounds = ["n", "m", "4", "n floordiv 2", "min(n, m)", "n * m"];
        if r.chance(20) { format!("{outer} + {}", r.range(1, 3)) } else { r.pick(&bounds).to_owned() }
    };
    let (upper_i, upper_j) = (bound(r, "2"), bound(r, "i"));
    let lower_j = r.pick(&["0", "0", "0", "i", "1", "i * 4"]);
    let step = r.pick(&["", "", " step 2", " step 3"]);
    let _ = writeln!(text, "{} i in 0..{upper_i}{step} {{", kind(r));
    if r.chance(30) {
        text.push_str("local t: f64[4]\nt[0] = 1.0 t[1] = 2.0\n");
    }
    let _ = writeln!(text, "{} j in {lower_j}..{upper_j} {{", kind(r));
    let index = |r: &mut Random| {
        let c = r.range(0, 4);
        let shapes = [
            "i",
            "j",
            "i + j",
            "i * m + j",
            "m * j + i",
            "2 * i",
            "2 * i + 1",
            "i floordiv 2",
            "j mod 2",
            "i * 4 + j",
            "i - j",
            "n - 1 - i",
            "i * n + j",
            "3",
            "(i * m + j) mod 7",
            "max(i, j)",
        ];
        let shape = r.pick(&shapes);
        if r.chance(30) { format!("{shape} + {c}") } else { shape.to_owned() }
    };
    for _ in 0..1 + r.below(2) {
        let access = |r: &mut Random| match r.below(4) {
            0 => format!("b[{}][{}]", index(r), index(r)),
            1 => {
                let d = r.pick(&["m", "4", "2"]);
                let x = r.pick(&["i", "j", "i * m + j"]);
                format!("b[({x}) floordiv {d}][({x}) mod {d}]")
            }
            _ => format!("a[{}]", index(r)),
        };
        let cond = r.pick(&["", "", "if i < j {", "if i == 0 {", "if j >= 2 && i mod 2 == 0 {"]);
        let end = if cond.is_empty() { "" } else { "}" };
        let op = r.pick(&["=", "+=", "reduce +="]);
        let _ = writeln!(text, "{cond} {} {op} {} * 0.5 {end}", access(r), access(r));
    }
    text.push_str("} } }\n");
    text
}

fn random_args(f: &Function, n: i64, m: i64) -> BTreeMap<loops::Name, Tensor> {
    let (n, m) = (n as usize, m as usize);
    let shapes = [vec![n * m + 40], vec![n + 40, m + 40]];
    let inputs = f.params.iter().zip(shapes).filter(|(p, _)| p.mode != ParamMode::Out);
    inputs.map(|(p, shape)| (p.name.clone(), Tensor::random(&p.elem, shape, 1))).collect()
}

/// Whether the loops of [`function`]'s text come to an iteration of the innermost one.
fn innermost_runs(text: &str, n: i64, m: i64) -> bool {
    let header = |line: &&str| ["fn ", "par ", "for ", "vec "].iter().any(|word| line.starts_with(word));
    let headers: Vec<String> = text.lines().filter(header).map(|line| format!("{line}\n")).collect();
    let probe = headers.concat().replace("par ", "for ").replace("vec ", "for ") + "a[0] = 7777.0\n} } }";
    let f = loops::parse(&probe).unwrap().functions.remove(0);
    let sizes = BTreeMap::from([("n".into(), n), ("m".into(), m)]);
    let outputs = loops::run(&f, &sizes, random_args(&f, n, m), &Options::default()).unwrap();
    outputs.iter().any(|(name, a)| name.as_str() == "a" && format!("{:?}", a.data).contains("7777.0"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_proved_no_run_refutes(seed: u64) {
        let text = function(&mut Random(seed));
        let f = loops::parse(&text).unwrap().functions.remove(0);
        let report = loops::validate(&f);
        let names_or_types = report.errors().find(|d| !["L0205", "L0206"].contains(&d.code.0));
        prop_assert_eq!(names_or_types, None, "{}", text);
        let outside = report.diagnostics.iter().any(|d| d.code.0 == "L0205");
        for (n, m) in [(0, 3), (1, 1), (2, 3), (3, 2), (4, 4), (5, 7)] {
            let sizes = BTreeMap::from([("n".into(), n), ("m".into(), m)]);
            let options = Options { races: true, max_steps: 100_000, ..Options::default() };
            let result = loops::run(&f, &sizes, random_args(&f, n, m), &options);
            if let Err(error) = result {
                // Every error of such a program is a race or a subscript.
                match error.code.0 {
                    "L0306" => prop_assert!(!report.is_proved(), "n = {} m = {}: {}\n{}", n, m, error, text),
                    "L0303" => prop_assert!(report.subscripts_unknown > 0, "{}\n{}", error, text),
                    "L0308" => {}
                    other => prop_assert!(false, "{} {}\n{}", other, error, text),
                }
            } else if outside && innermost_runs(&text, n, m) {
                // What is told to be outside is outside as soon as the loops run.
                prop_assert!(!report.diagnostics.iter().any(|d| d.message.ends_with("always")) || text.contains("if"), "{}", text);
            }
        }
    }
}

/// A subscript that is negative wherever its loop runs, in a loop that runs from `n = 4` on.
#[test]
fn what_is_always_outside_may_not_run() {
    let text = "fn f[n, m](a: inout f64[n * m + 40], b: inout f64[n + 40][m + 40]) {
        for i in 0..2 + 1 step 3 {
        par j in 1..n floordiv 2 {
        a[i - j] = b[i][j] } } }";
    let report = loops::validate(&loops::parse(text).unwrap().functions[0]);
    assert!(report.errors().any(|d| d.message.ends_with("is negative always")));
    let trimmed: String = text.lines().map(|line| format!("{}\n", line.trim_start())).collect();
    assert!(!innermost_runs(&trimmed, 3, 2) && innermost_runs(&trimmed, 4, 4));
}

/// A fair part of the random functions is proved, and the other verdicts occur too. So the test
/// above is not empty.
#[test]
fn all_verdicts_occur() {
    let mut counts = [0; 3];
    for seed in 0..300 {
        let f = loops::parse(&function(&mut Random(seed))).unwrap().functions.remove(0);
        for verdict in loops::validate(&f).loops {
            match verdict.safety {
                Safety::Proved => counts[0] += 1,
                Safety::Refuted(_) => counts[1] += 1,
                Safety::Unknown(_) => counts[2] += 1,
            }
        }
    }
    println!("proved, refuted, unknown: {counts:?}");
    assert!(counts[0] >= 60 && counts[1] >= 60, "{counts:?}");
    assert!(counts[2] * 2 <= counts[0] + counts[1], "{counts:?}");
}

/// A refuted loop is an error, one that is not shown to be safe a warning.
#[test]
fn severities() {
    let text = "fn f[n](x: inout f64[n], p: in i64[n], s: inout f64) {
        par i in 0..n { s = x[i] }
        par i in 0..n { x[p[i]] = 1.0 } }";
    let report = loops::validate(&loops::parse(text).unwrap().functions[0]);
    let severities: Vec<Severity> = report.diagnostics.iter().map(|d| d.severity).collect();
    assert_eq!(severities, [Severity::Error, Severity::Warning]);
    assert!(!report.is_valid() && !report.is_proved());
}
