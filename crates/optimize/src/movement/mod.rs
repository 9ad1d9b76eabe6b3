//! What an order of a computation moves between the levels of memory, and what any order moves at
//! least.
//!
//! The bytes of an order are counted: the interpreter runs the loops, and each access goes to a
//! model of the caches. The least number of bytes is the larger of two: each element that the
//! computation is given is read once and each result written once, and what follows for each
//! statement from its accesses (`bound`). Both are facts about the given sizes, and need no
//! measurement.
//!
//! The bound holds for every order of the same instances on one core that computes nothing twice,
//! with caches that are filled in any way.

mod bound;
mod cache;
mod facts;
mod space;

use std::collections::BTreeMap;

use loops::interp::{self, Live, Observer};
use loops::{Diagnostic, Function, Name, Options, Tensor};

use crate::machine::{Cache, LINE};
use cache::Hierarchy;
use facts::Facts;

/// What crosses the border behind a cache.
#[derive(Clone, PartialEq, Debug)]
pub struct Border {
    /// The name of the cache.
    pub cache: &'static str,
    /// What it holds, in bytes.
    pub capacity: f64,
    /// Bytes that the text moves.
    pub text: f64,
    /// Bytes that the generated order moves.
    pub generated: f64,
    /// Bytes that any order moves at least.
    pub least: f64,
    /// Whether that is more than reading what is given and writing the results.
    pub by_accesses: bool,
}

/// What two orders of a computation move.
#[derive(Clone, PartialEq, Debug)]
pub struct Movement {
    /// Assignments that the text runs.
    pub instances: u64,
    /// The borders behind the caches, the nearest cache first.
    pub borders: Vec<Border>,
}

/// Sizes and arguments of a run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The values of the sizes.
    pub sizes: BTreeMap<Name, i64>,
    /// The arguments by their names.
    pub arguments: BTreeMap<Name, Tensor>,
    /// The limits of the interpreter.
    pub options: Options,
}

/// Counts what the text and a generated order move, on one core with these caches.
///
/// Takes time in proportion to the accesses of both.
///
/// # Errors
/// Those of the interpreter, its limits included.
pub fn movement(
    text: &Function,
    generated: &Function,
    run: &Run,
    caches: &[Cache],
) -> Result<Movement, Diagnostic> {
    let follow = |function: &Function, observer: &mut dyn Observer| {
        interp::observe(function, &run.sizes, run.arguments.clone(), &run.options, observer).map(|_| ())
    };
    let mut both = Both { counted: Counted::new(caches), facts: Facts::of(text) };
    follow(text, &mut both)?;
    let mut counted = Counted::new(caches);
    follow(generated, &mut counted)?;
    let moved = [both.counted.bytes(), counted.bytes()];
    let borders = caches.iter().enumerate().map(|(level, cache)| {
        // What a nearer cache holds need not be in this one.
        let held = caches[..=level].iter().map(|cache| cache.bytes).sum();
        let (data, accesses) = (both.facts.data(), both.facts.by_accesses(held));
        Border {
            cache: cache.name,
            capacity: cache.bytes,
            text: moved[0][level],
            generated: moved[1][level],
            least: data.max(accesses),
            by_accesses: accesses > data,
        }
    });
    Ok(Movement { instances: both.facts.instances(), borders: borders.collect() })
}

/// Gives each array a place in memory, and each access to the caches.
struct Counted {
    caches: Hierarchy,
    /// Of each array: its first byte, the bytes that are reserved for it, those of an element, and
    /// where in an element each column is.
    arrays: Vec<(u64, u64, u64, Vec<u64>)>,
    free: u64,
}

impl Counted {
    fn new(caches: &[Cache]) -> Counted {
        let caches = Hierarchy::new(caches.iter().map(|cache| cache.bytes));
        Counted { caches, arrays: Vec::new(), free: 0 }
    }

    fn bytes(mut self) -> Vec<f64> {
        self.caches.finish();
        let lines = self.caches.caches.iter().map(|cache| cache.crossed);
        lines.map(|crossed| (crossed.fetched + crossed.written) as f64 * LINE).collect()
    }
}

impl Observer for Counted {
    fn array(&mut self, live: Live<'_>) {
        if self.arrays.len() <= live.array {
            self.arrays.resize(live.array + 1, (0, 0, 0, Vec::new()));
        }
        let mut bytes = 0;
        let columns = live.columns.iter().map(|scalar| {
            let at = bytes;
            bytes += scalar.bytes() as u64;
            at
        });
        let columns = columns.collect();
        let needed = bytes * live.elements as u64;
        let (mut first, mut reserved, ..) = self.arrays[live.array];
        // An array that is declared again takes the same place, if it fits.
        if reserved < needed {
            (first, reserved) = (self.free, needed.next_multiple_of(LINE as u64));
            self.free += reserved;
        }
        self.arrays[live.array] = (first, reserved, bytes, columns);
    }

    fn assignment(&mut self, _: usize) {}

    fn access(&mut self, array: usize, column: usize, element: usize, write: bool) {
        let (first, _, bytes, columns) = &self.arrays[array];
        let at = first + bytes * element as u64 + columns[column];
        self.caches.access((at / LINE as u64) as u32, write);
    }
}

/// The text: its movement and its facts, from one run.
struct Both {
    counted: Counted,
    facts: Facts,
}

impl Observer for Both {
    fn array(&mut self, live: Live<'_>) {
        self.facts.array(live.clone());
        self.counted.array(live);
    }

    fn assignment(&mut self, number: usize) {
        self.facts.assignment(number);
    }

    fn access(&mut self, array: usize, column: usize, element: usize, write: bool) {
        self.facts.access(array, column, element, write);
        self.counted.access(array, column, element, write);
    }
}
