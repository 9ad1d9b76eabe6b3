//! Measuring several programs against each other: in turns, so that what the machine does besides
//! hits all alike, and each round begins with another one, so that no program always follows the
//! same neighbour.
//!
//! Not here: what is measured (`command::bench`).

use std::time::{Duration, Instant};

use crate::bind::Sizes;
use crate::execute::{Digest, Executable, Schedule};
use crate::failure::Failure;
use crate::statistics::Summary;

/// One of the programs that are compared.
#[derive(Debug)]
pub struct Variant<'a> {
    /// Its name in tables.
    pub label: String,
    /// Program and routine.
    pub executable: &'a Executable,
    /// Place of the routine.
    pub routine: usize,
    /// Values of the size parameters.
    pub sizes: Sizes,
    /// Elements of each parameter.
    pub counts: Vec<usize>,
    /// Bound of the indices in each parameter; 0 if they are no indices.
    pub bounds: Vec<i64>,
}

/// What came out for a variant.
#[derive(Debug)]
pub struct Measured {
    /// Its name.
    pub label: String,
    /// Times of all repetitions, or why it does not run.
    pub times: Result<Vec<Duration>, Failure>,
    /// Sums of its results.
    pub digest: Option<Digest>,
}

impl Measured {
    /// Median and spread.
    pub fn summary(&self) -> Option<Summary> {
        self.times.as_ref().ok().filter(|t| !t.is_empty()).map(|t| Summary::of(t))
    }
}

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Rounds; in each, every variant runs in a process of its own.
    pub rounds: u32,
    /// A variant that has taken this long is left out of further rounds.
    pub budget: Duration,
    /// OpenMP threads.
    pub threads: u32,
}

/// Measured time that a process should have: short routines are repeated.
const PER_PROCESS: f64 = 0.1;

/// Measures the variants in turns.
pub fn interleaved(variants: &[Variant<'_>], effort: Effort, told: &dyn Fn(&str)) -> Vec<Measured> {
    let mut measured: Vec<Measured> = variants
        .iter()
        .map(|v| Measured { label: v.label.clone(), times: Ok(Vec::new()), digest: None })
        .collect();
    let mut spent = vec![Duration::ZERO; variants.len()];
    let mut repetitions = vec![1u32; variants.len()];
    for round in 0..effort.rounds.max(1) {
        // All or none: a program that starts cold must not be held against one that starts warm.
        let warm_up = u32::from(spent.iter().all(|s| *s < effort.budget / 4));
        for turn in 0..variants.len() {
            let k = (turn + round as usize) % variants.len();
            let variant = &variants[k];
            let Ok(times) = &mut measured[k].times else { continue };
            if round > 0 && spent[k] > effort.budget {
                continue;
            }
            told(&variant.label);
            let began = Instant::now();
            let schedule = Schedule {
                threads: Some(effort.threads),
                repetitions: repetitions[k],
                warm_up,
                limit: Duration::from_secs(600),
            };
            let outcome = variant.executable.measure(
                variant.routine,
                &variant.sizes,
                &variant.counts,
                &variant.bounds,
                schedule,
            );
            spent[k] += began.elapsed();
            match outcome {
                Ok((more, digest)) => {
                    let one = Summary::of(&more).median.max(1e-9);
                    if round == 0 {
                        repetitions[k] = (PER_PROCESS / one).clamp(1.0, 100.0) as u32;
                    }
                    times.extend(more);
                    measured[k].digest = Some(digest);
                }
                Err(failure) => measured[k].times = Err(failure),
            }
        }
    }
    measured
}
