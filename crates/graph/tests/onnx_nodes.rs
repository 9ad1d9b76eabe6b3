//! The node tests of the `onnx` package through the operator library.
//!
//! `./x onnx` writes the cases (`tests/onnx/cases.py`) and runs this; without the folder in
//! `LOZENGE_ONNX_CASES` it says so and does nothing. `tests/onnx/expected.txt` lists what is
//! expected of each case that does not pass, so that a regression fails.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use graph::evaluate::{Datum, evaluate};
use graph::{Model, Tensor, operators};
use loops::{Data, Diagnostic};

/// One case.
#[derive(Clone)]
struct Case {
    name: String,
    relative: f64,
    absolute: f64,
    inputs: usize,
}

#[derive(Clone, PartialEq, Debug)]
enum Verdict {
    Passes,
    /// Why it is none of the library's business.
    Outside(String),
    Fails(String),
}

fn read(path: &Path) -> Result<Model, Verdict> {
    let bytes = bytes::Bytes::from(std::fs::read(path).map_err(|e| Verdict::Fails(e.to_string()))?);
    let model = graph::onnx::read(&bytes).map_err(|d| Verdict::Fails(d.message))?;
    // What nothing was changed in is written as it was read.
    if graph::onnx::write(&model) != bytes {
        Err(Verdict::Fails("other bytes are written".to_owned()))
    } else {
        Ok(model)
    }
}

/// Operators and types that the library does not have are outside; the rest is a failure.
fn refused(d: Diagnostic) -> Verdict {
    let outside = [operators::UNKNOWN_OPERATOR, operators::TYPES].contains(&d.code);
    if outside { Verdict::Outside(d.message) } else { Verdict::Fails(format!("{} {}", d.code.0, d.message)) }
}

fn run(folder: &Path, case: &Case) -> Verdict {
    match try_run(folder, case) {
        Ok(()) => Verdict::Passes,
        Err(verdict) => verdict,
    }
}

fn try_run(folder: &Path, case: &Case) -> Result<(), Verdict> {
    let place = folder.join(&case.name);
    let model = read(&place.join("model.onnx"))?;
    let data = evaluate(&read(&place.join("data.onnx"))?, HashMap::new()).map_err(refused)?;
    let (given, wanted) = data.split_at(case.inputs.min(data.len()));
    let inputs = model
        .graph
        .inputs()
        .iter()
        .zip(given)
        .map(|(id, datum)| (model.graph.value(*id).name().clone(), datum.clone()))
        .collect();
    let got = evaluate(&model, inputs).map_err(refused)?;
    if got.len() < wanted.len() {
        return Err(Verdict::Fails(format!("{} outputs of {}", got.len(), wanted.len())));
    }
    for (k, (got, want)) in got.iter().zip(wanted).enumerate() {
        compare(got, want, case).map_err(|why| Verdict::Fails(format!("output {k}: {why}")))?;
    }
    Ok(())
}

fn compare(got: &Datum, want: &Datum, case: &Case) -> Result<(), String> {
    match (got, want) {
        (Datum::Tensor(got), Datum::Tensor(want)) => compare_tensors(got, want, case),
        (Datum::Sequence(got), Datum::Sequence(want)) if got.len() == want.len() => {
            got.iter().zip(want).try_for_each(|(g, w)| compare(g, w, case))
        }
        (Datum::Optional(Some(got)), want) => compare(got, want, case),
        (got, Datum::Optional(Some(want))) => compare(got, want, case),
        (got, want) if got == want => Ok(()),
        _ => Err("another kind of value".to_owned()),
    }
}

fn numbers(tensor: &Tensor) -> Option<Vec<f64>> {
    Some(match operators::decode(tensor)?.data {
        Data::F32(v) => v.into_iter().map(f64::from).collect(),
        Data::F64(v) => v,
        Data::I32(v) => v.into_iter().map(f64::from).collect(),
        Data::I64(v) => v.into_iter().map(|x| x as f64).collect(),
        Data::Bool(v) => v.into_iter().map(|x| f64::from(u8::from(x))).collect(),
        _ => return None,
    })
}

fn compare_tensors(got: &Tensor, want: &Tensor, case: &Case) -> Result<(), String> {
    if got.elem != want.elem || got.dims != want.dims {
        return Err(format!("{} {:?} instead of {} {:?}", got.elem, got.dims, want.elem, want.dims));
    }
    let (Some(g), Some(w)) = (numbers(got), numbers(want)) else {
        return if got == want { Ok(()) } else { Err("other elements".to_owned()) };
    };
    for (k, (g, w)) in g.iter().zip(&w).enumerate() {
        let close =
            (g.is_nan() && w.is_nan()) || g == w || (g - w).abs() <= case.absolute + case.relative * w.abs();
        if !close {
            return Err(format!("element {k} is {g} instead of {w}"));
        }
    }
    Ok(())
}

fn index(folder: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(folder.join("index.txt")).expect("the list of cases");
    let mut cases = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [name, relative, absolute, inputs] = words[..] else { panic!("`{line}`") };
        cases.push(Case {
            name: name.to_owned(),
            relative: relative.parse().expect("a tolerance"),
            absolute: absolute.parse().expect("a tolerance"),
            inputs: inputs.parse().expect("a number"),
        });
    }
    cases
}

#[test]
fn node_tests_come_out_as_expected() {
    let Some(folder) = std::env::var_os("LOZENGE_ONNX_CASES").map(PathBuf::from) else {
        golden::skipped(
            "LOZENGE_ONNX_CASES names no folder of cases; `./x onnx` writes one and runs this test",
        );
        return;
    };
    let filter = std::env::var("CASES").unwrap_or_default();
    let cases: Vec<Case> = index(&folder).into_iter().filter(|c| c.name.contains(&filter)).collect();
    let (next, verdicts) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, |n| n.get()) {
            let work = || {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let verdict = std::panic::catch_unwind(|| run(&folder, case))
                        .unwrap_or_else(|_| Verdict::Fails("panics".to_owned()));
                    verdicts.lock().expect("no panic holds it").insert(case.name.clone(), verdict);
                }
            };
            std::thread::Builder::new().stack_size(256 << 20).spawn_scoped(scope, work).expect("a thread");
        }
    });
    let verdicts = verdicts.into_inner().expect("no panic holds it");
    let (mut passed, mut failed) = (0, 0);
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let mut list = String::new();
    for (name, verdict) in &verdicts {
        match verdict {
            Verdict::Passes => passed += 1,
            Verdict::Outside(why) => {
                *reasons.entry(why.clone()).or_default() += 1;
                let _ = writeln!(list, "{name}: outside: {why}");
            }
            Verdict::Fails(why) => {
                failed += 1;
                let _ = writeln!(list, "{name}: fails: {why}");
            }
        }
    }
    let outside: usize = reasons.values().sum();
    println!(
        "{} cases: {} in scope, {passed} pass, {failed} fail; {outside} outside",
        verdicts.len(),
        passed + failed
    );
    for (why, count) in &reasons {
        println!("  {count:4} outside: {why}");
    }
    if filter.is_empty() {
        golden::compare(&golden::root().join("tests/onnx/expected.txt"), &list)
            .unwrap_or_else(|e| panic!("{e}"));
    } else {
        print!("{list}");
    }
}
