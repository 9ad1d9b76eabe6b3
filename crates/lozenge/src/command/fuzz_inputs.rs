//! `lozenge fuzz --of models`, `--of rules` and `--of texts`: hostile inputs for what reads models,
//! rules and other texts.
//!
//! Good models and rules are damaged: bytes flipped, lengths that lie, pieces cut out, doubled and
//! exchanged; of every other model its structure ([`crate::fuzz::models`]), which then goes through
//! all stages. Other texts are made from their grammars ([`crate::fuzz::texts`]). Whatever comes
//! out must end in a value or a diagnostic, soon and in bounded memory: a panic, an input that
//! takes longer than [`SLOW`] or more than [`MOST`] fails.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use bytes::Bytes;
use graph::generate::{Scale, generate};
use gsl::RuleSet;
use serde_json::json;

use super::fuzz_texts;
use crate::cli::{Fuzz, FuzzOf};
use crate::failure::Failure;
use crate::files::Scratch;
use crate::fuzz::{Budget, models as structure, peak, texts};
use crate::random::Random;
use crate::{report, rules};

/// The longest time for one input.
const SLOW: Duration = Duration::from_secs(20);
/// The most memory for one input.
const MOST: u64 = 1 << 30;
/// The folder of node tests, whose models are damaged too, where it is there.
const CASES: &str = "LOZENGE_ONNX_CASES";
/// Names of generated models that are damaged.
const MODELS: [&str; 5] = ["mlp", "chain", "parallel", "conv_bn", "threes"];

/// Runs the command.
///
/// # Errors
/// `X0405` with the first input that panics or takes too long.
pub fn run(arguments: &Fuzz, as_json: bool) -> Result<(), Failure> {
    let corpus: Vec<Vec<u8>> = match arguments.of {
        FuzzOf::Models => models(),
        _ => rules::SHIPPED.iter().map(|(_, text)| text.as_bytes().to_vec()).collect(),
    };
    let budget = Budget::of(arguments);
    let (mut seed, mut read) = (arguments.seed, 0u64);
    let mut bad = None;
    let scratch = Scratch::new()?;
    let examine = |seed| match arguments.of {
        FuzzOf::Models => examine_model(&damaged(&corpus, arguments.of, &mut Random::new(seed)), seed),
        FuzzOf::Texts => {
            let (kind, text) = texts::text(seed);
            fuzz_texts::examine(kind, &text, &scratch)
        }
        _ => {
            let input = damaged(&corpus, arguments.of, &mut Random::new(seed));
            examine_rules(&String::from_utf8_lossy(&input))
        }
    };
    while bad.is_none() && budget.goes_on(seed - arguments.seed) {
        let timed = || {
            let clock = Instant::now();
            let outcome = catch_unwind(AssertUnwindSafe(|| examine(seed)));
            (outcome, clock.elapsed() > SLOW)
        };
        match timed() {
            (Err(panic), _) => bad = Some(format!("a panic: {}", super::told_panic(&*panic))),
            // A machine that slept is no slow input.
            (Ok(_), true) if timed().1 => bad = Some("it takes too long".into()),
            (Ok(_), _) if peak() > MOST => bad = Some("it takes more than 1 GiB".into()),
            (Ok(good), _) => read += u64::from(good),
        }
        if bad.is_none() {
            seed += 1;
        }
    }
    if let Some(what) = bad {
        let of = match arguments.of {
            FuzzOf::Models => "models",
            FuzzOf::Texts => "texts",
            _ => "rules",
        };
        let failure = Failure::check("X0405", format!("an input of seed {seed}: {what}"));
        let failure = match arguments.of {
            FuzzOf::Texts => failure.note(shown(seed)),
            _ => failure,
        };
        return Err(
            failure.help(format!("run it again with `lozenge fuzz --of {of} --seed {seed} --count 1`"))
        );
    }
    let inputs = seed - arguments.seed;
    if as_json {
        report::print_json(json!({ "ok": true, "inputs": inputs, "read": read, "next_seed": seed }));
    } else {
        report::print(&format!(
            "{inputs} {}, {read} of them {}: no panic, none slow (next seed {seed})\n",
            if arguments.of == FuzzOf::Texts { "texts" } else { "damaged inputs" },
            if arguments.of == FuzzOf::Texts { "accepted" } else { "still read" },
        ));
    }
    Ok(())
}

/// The text of a seed for a message.
fn shown(seed: u64) -> String {
    let (kind, text) = texts::text(seed);
    let start: String = text.chars().take(2000).collect();
    format!("{kind:?}:\n{start}")
}

/// Small models as files.
fn models() -> Vec<Vec<u8>> {
    let generated = MODELS.iter().filter_map(|name| generate(name, Scale::Small, 12, 1));
    let mut all: Vec<Vec<u8>> = generated.map(|m| graph::onnx::write(&m)).collect();
    let cases = std::env::var_os(CASES).and_then(|folder| std::fs::read_dir(folder).ok());
    let mut paths: Vec<_> =
        cases.into_iter().flatten().flatten().map(|entry| entry.path().join("model.onnx")).collect();
    paths.sort();
    all.extend(paths.iter().filter_map(|path| std::fs::read(path).ok()));
    all
}

/// One of the corpus with some damage.
fn damaged(corpus: &[Vec<u8>], of: FuzzOf, random: &mut Random) -> Vec<u8> {
    let mut input = corpus[random.below(corpus.len() as u64) as usize].clone();
    if of == FuzzOf::Models && random.below(2) == 0 {
        return structure::damaged(&input, random);
    }
    if of == FuzzOf::Rules {
        input = one_rule(&input, random);
    }
    for _ in 0..=random.below(6) {
        if input.is_empty() {
            break;
        }
        let at = random.below(input.len() as u64) as usize;
        let length = (random.below(24) as usize + 1).min(input.len() - at);
        match random.below(if of == FuzzOf::Rules { 4 } else { 7 }) {
            0 => {
                input.drain(at..at + length);
            }
            1 => {
                let piece = input[at..at + length].to_vec();
                let to = random.below(input.len() as u64 + 1) as usize;
                input.splice(to..to, piece);
            }
            2 => {
                let from = &corpus[random.below(corpus.len() as u64) as usize];
                let start = random.below(from.len() as u64) as usize;
                let piece = from[start..(start + length).min(from.len())].to_vec();
                input.splice(at..at + length, piece);
            }
            3 if of == FuzzOf::Rules => {
                let words: [&[u8]; 8] = [
                    b" 9223372036854775807 ",
                    b" [*] ",
                    b" either ",
                    b" not ",
                    b"..",
                    b" % 0",
                    b" - ",
                    b"[i]",
                ];
                input.splice(at..at, words[random.below(8) as usize].to_vec());
            }
            3 => input[at] ^= 1 << random.below(8),
            4 => input[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5) as usize],
            // A length of 2 GiB, and one of 63 bits.
            5 => {
                input.splice(at..at + 1, [0xff, 0xff, 0xff, 0xff, 0x07]);
            }
            _ => {
                input.splice(at..at + 1, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
            }
        }
    }
    input
}

/// One rule of a file: most damage to a whole file leaves most rules as they are.
fn one_rule(file: &[u8], random: &mut Random) -> Vec<u8> {
    let text = String::from_utf8_lossy(file).into_owned();
    let starts: Vec<usize> = text.match_indices("\nrule ").map(|(k, _)| k + 1).collect();
    if starts.is_empty() {
        return file.to_vec();
    }
    let k = random.below(starts.len() as u64) as usize;
    let end = starts.get(k + 1).copied().unwrap_or(text.len());
    text.as_bytes()[starts[k]..end].to_vec()
}

/// Reads, checks, infers, prints and writes a model; whether it could be read.
fn examine_model(bytes: &[u8], seed: u64) -> bool {
    let Ok(mut model) = graph::onnx::read(&Bytes::copy_from_slice(bytes)) else { return false };
    let sound = graph::validate(&model).is_empty();
    let again = graph::onnx::read(&graph::onnx::write(&model).into());
    assert!(again.is_ok_and(|m| m == model), "what is written is another model");
    let _ = graph::functions::inline(&mut model);
    structure::examine(&model, &mut Random::named(seed, "inputs"));
    let sound = sound && graph::validate(&model).is_empty();
    if sound && graph::infer(&mut model).is_ok() {
        let _ = model.graph.to_string();
        if let Ok(set) = rules::load(&[], &[]) {
            let options = gsl::Options { limit: Some(200), ..gsl::Options::default() };
            let _ = gsl::optimize(&mut model, &set, &options, |_, _| ());
        }
    }
    true
}

/// Parses, prints, compiles and proves rules, and applies them to a small model; whether they have
/// no errors.
fn examine_rules(text: &str) -> bool {
    let (file, errors) = gsl::parse(text);
    let printed = file.to_string();
    if !errors.is_empty() {
        return false;
    }
    let (again, more) = gsl::parse(&printed);
    assert!(more.is_empty() && again == file, "what is printed is another rule");
    let Ok(compiled) = gsl::compile(&file) else { return false };
    for rule in file.rules.iter().take(2) {
        let _ = gsl::soundness::prove(rule);
    }
    let set = RuleSet::new(compiled);
    for name in MODELS {
        let Some(mut model) = generate(name, Scale::Small, 12, 1) else { continue };
        if graph::infer(&mut model).is_ok() {
            let options = gsl::Options { ignore_cost: true, limit: Some(200), ..gsl::Options::default() };
            let _ = gsl::optimize(&mut model, &set, &options, |_, _| ());
        }
    }
    true
}
