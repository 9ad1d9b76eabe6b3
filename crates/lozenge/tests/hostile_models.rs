//! Models whose structure is damaged go through all stages without a panic, a hang or much memory.
//! Seeds are fixed; `lozenge fuzz --of models` goes on from there, and `LOZENGE_ONNX_CASES` adds
//! the models of the node tests.
#![allow(missing_docs)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use graph::generate::{Scale, generate};
use lozenge::fuzz::{models, peak};
use lozenge::random::Random;

/// Inputs of a test run.
const INPUTS: u64 = 600;
/// Bytes that one input may take.
const MOST: u64 = 1 << 30;

fn corpus() -> Vec<Vec<u8>> {
    let names = ["mlp", "chain", "parallel", "conv_bn", "threes"];
    let generated = names.iter().filter_map(|name| generate(name, Scale::Small, 6, 1));
    let mut all: Vec<Vec<u8>> = generated.map(|model| graph::onnx::write(&model)).collect();
    for case in golden::cases("models/structure", "graph") {
        let model =
            graph::text::parse_model(&case.input).unwrap_or_else(|why| panic!("{}: {why}", case.name));
        all.push(graph::onnx::write(&model));
    }
    if let Some(folder) = std::env::var_os("LOZENGE_ONNX_CASES") {
        let mut paths: Vec<_> = std::fs::read_dir(folder)
            .expect("the folder of cases")
            .flatten()
            .map(|entry| entry.path().join("model.onnx"))
            .collect();
        paths.sort();
        all.extend(paths.iter().filter_map(|path| std::fs::read(path).ok()));
    }
    all
}

#[test]
fn damaged_structure_is_refused_or_taken() {
    let work = || {
        let corpus = corpus();
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| ()));
        let (mut bad, mut read) = (Vec::new(), 0);
        peak();
        for seed in 0..INPUTS {
            let mut random = Random::named(seed, "structure");
            let file = &corpus[random.below(corpus.len() as u64) as usize];
            let damaged = models::damaged(file, &mut random);
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                let Ok(mut model) = graph::onnx::read(&damaged.into()) else { return false };
                let _ = graph::functions::inline(&mut model);
                models::examine(&model, &mut random);
                true
            }));
            match outcome {
                Ok(good) => read += u64::from(good),
                Err(_) => bad.push(format!("seed {seed}: a panic")),
            }
            let most = peak();
            if most > MOST {
                bad.push(format!("seed {seed}: {} MiB", most >> 20));
            }
        }
        std::panic::set_hook(hook);
        assert!(bad.is_empty(), "{}", bad.join("\n"));
        assert!(read > INPUTS / 3, "only {read} of {INPUTS} are read: the test says little");
    };
    let stack = std::thread::Builder::new().stack_size(1 << 30).spawn(work).expect("a thread");
    stack.join().expect("no failure");
}
