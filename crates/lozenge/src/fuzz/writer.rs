//! What generators of C have in common: choices, and lines with their indentation.

use std::fmt::Write as _;

use crate::random::Random;

/// Statements of C that are made at random.
pub(super) struct Writer<'r> {
    pub random: &'r mut Random,
    pub text: String,
    /// For the indentation.
    pub depth: usize,
}

impl Writer<'_> {
    /// Statements of a function's body.
    pub fn new(random: &mut Random) -> Writer<'_> {
        Writer { random, text: String::new(), depth: 2 }
    }

    /// One of these.
    pub(crate) fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.random.below(of.len() as u64) as usize]
    }

    /// True once in so many times.
    pub fn chance(&mut self, one_in: u64) -> bool {
        self.random.below(one_in) == 0
    }

    /// A line.
    pub fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{}{text}", " ".repeat(self.depth));
    }

    /// The beginning of a block.
    pub fn open(&mut self, text: &str) {
        self.line(&format!("{text} {{"));
        self.depth += 2;
    }

    /// The ends of so many blocks.
    pub fn close(&mut self, times: usize) {
        for _ in 0..times {
            self.depth -= 2;
            self.line("}");
        }
    }
}
