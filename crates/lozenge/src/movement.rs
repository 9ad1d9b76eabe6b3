//! What the text of a definition and its generated order move between the levels of memory, beside
//! what any order moves at least.

use std::collections::BTreeMap;

use loops::{Function, Name, ParamMode, interp};
use optimize::{Cache, Movement, Run};

use crate::bind::{self, Sizes};
use crate::check;
use crate::failure::Failure;
use crate::pipeline::{Front, Lowered};
use crate::request::Request;

/// The least value that an open size is tried with. Each next one is twice as large.
const FIRST: i64 = 5;
/// The values that are tried.
const VALUES: u32 = 20;
/// Seed of the data; what is moved depends on it only where data decides.
const SEED: u64 = 1;

/// The limits of a count, in steps of the interpreter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Steps {
    /// Where sizes are open: they become as large as these steps allow.
    pub chosen: u64,
    /// Of a run.
    pub most: u64,
}

/// What a definition moves.
#[derive(Clone, PartialEq, Debug)]
pub struct Moved {
    /// The definition.
    pub name: String,
    /// The sizes that were counted with.
    pub sizes: Sizes,
    /// The counts.
    pub movement: Movement,
}

/// Counts what each definition that is asked for moves on one core with these caches.
///
/// Takes time in proportion to the accesses.
///
/// # Errors
/// What the stages refuse; `X0101` or `X0102` for sizes; what the interpreter finds, its limits
/// included.
pub fn moved(
    front: &Front,
    request: &Request,
    given: &Sizes,
    caches: &[Cache],
    steps: Steps,
) -> Result<Vec<Moved>, Failure> {
    let histories = front.histories(request)?;
    let all = histories.iter().zip(front.wanted(request)?).map(|(history, name)| {
        let lowered = front.lower(&request.of(&name))?;
        let text = &history.before;
        request.progress.step(format!("counting what `{name}` moves"));
        let sizes = sizes(&lowered, text, given, steps.chosen)?;
        let run = run(&lowered, text, &sizes, steps.most)?;
        let movement = optimize::movement(text, &lowered.function, &run, caches)?;
        Ok(Moved { name, sizes, movement })
    });
    all.collect()
}

/// A run with random data.
fn run(lowered: &Lowered, text: &Function, sizes: &Sizes, max_steps: u64) -> Result<Run, Failure> {
    bind::check_memory(text, sizes, 6)?;
    let ranges = check::ranges(lowered.definition.as_ref(), text, Some(text), sizes);
    let inputs = bind::inputs(text, sizes, &BTreeMap::new(), &ranges, SEED)?;
    let named = text.params.iter().zip(inputs).filter(|(param, _)| param.mode != ParamMode::Out);
    Ok(Run {
        sizes: sizes.clone(),
        arguments: named.map(|(param, tensor)| (param.name.clone(), tensor)).collect(),
        options: interp::Options { max_steps, c_rules: lowered.of_c, ..interp::Options::default() },
    })
}

/// The sizes that are given; the others take one value, as large as the steps allow.
fn sizes(lowered: &Lowered, text: &Function, given: &Sizes, steps: u64) -> Result<Sizes, Failure> {
    let open: Vec<&Name> = text.sizes.iter().filter(|name| !given.contains_key(*name)).collect();
    if open.is_empty() || given.keys().any(|name| !text.sizes.contains(name)) {
        return bind::sizes(text, given, &BTreeMap::new());
    }
    let tried = |k: u32| -> Result<Sizes, Failure> {
        let mut sizes = given.clone();
        sizes.extend(open.iter().map(|name| ((*name).clone(), FIRST << k)));
        let run = run(lowered, text, &sizes, steps)?;
        interp::run(text, &run.sizes, run.arguments, &run.options)?;
        Ok(sizes)
    };
    let mut largest: Option<Result<Sizes, Failure>> = None;
    for k in 0..VALUES {
        match (tried(k), &largest) {
            (Ok(sizes), _) => largest = Some(Ok(sizes)),
            (Err(_), Some(Ok(_))) => break,
            // A text may need more than the least sizes.
            (Err(failure), _) => {
                let too_long = failure.diagnostics.first().is_some_and(|d| d.code.0 == "L0308");
                largest = Some(Err(failure.help("`--size NAME=N` sets a size")));
                if too_long {
                    break;
                }
            }
        }
    }
    largest.unwrap_or_else(|| bind::sizes(text, given, &BTreeMap::new()))
}
