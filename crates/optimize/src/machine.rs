//! A processor with shared memory, as data.

use loops::Registers;

/// Bytes of a line of every cache.
pub(crate) const LINE: f64 = 64.0;

/// A cache: what it holds, and what it takes to bring a line into it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cache {
    /// What it is called.
    pub name: &'static str,
    /// Bytes that one core can use of it.
    pub bytes: f64,
    /// Cycles of one core for a line from the next level, if lines are taken in order.
    pub line: f64,
    /// By how much the cores together are faster than one at most.
    pub together: f64,
}

/// What the cost model knows of a machine.
///
/// The numbers of cycles are those of an EPYC of the fourth generation, rounded. They need not be
/// right, only their order of magnitude: candidates for one program are compared, and mostly differ
/// by what they move and by lanes.
#[derive(Clone, PartialEq, Debug)]
pub struct Machine {
    /// Threads that a parallel loop has.
    pub threads: f64,
    /// Vector registers.
    pub registers: Registers,
    /// Innermost first.
    pub caches: [Cache; 3],
    /// Arithmetic operations, and loads or stores, that begin in a cycle.
    pub per_cycle: f64,
    /// Cycles until the result of an addition can be used.
    pub latency: f64,
    /// Cycles of a division or square root.
    pub division: f64,
    /// Cycles of a division of integers.
    pub quotient: f64,
    /// Cycles of a call to `libm`.
    pub call: f64,
    /// Cycles of a parallel loop beside its iterations.
    pub fork: f64,
    /// Cycles of a parallel loop that one thread runs, beside its iterations.
    pub enter: f64,
}

impl Machine {
    /// This many threads, these vector registers, and these sizes of the first two caches in bytes.
    pub fn new(threads: u32, registers: Registers, l1: i64, l2: i64) -> Machine {
        let usual = Machine::default();
        let [first, second, third] = usual.caches;
        let caches = [Cache { bytes: l1 as f64, ..first }, Cache { bytes: l2 as f64, ..second }, third];
        Machine { threads: f64::from(threads.max(1)), registers, caches, ..usual }
    }

    /// The same machine with one thread.
    pub fn one_thread(&self) -> Machine {
        Machine { threads: 1.0, ..self.clone() }
    }
}

impl Default for Machine {
    /// Two threads of a processor with AVX2.
    fn default() -> Machine {
        let cache = |name, bytes: i64, line, together| Cache { name, bytes: bytes as f64, line, together };
        Machine {
            threads: 2.0,
            registers: Registers::default(),
            caches: [
                cache("L1", 48 << 10, 2.0, f64::INFINITY),
                cache("L2", 2 << 20, 6.0, f64::INFINITY),
                cache("L3", 16 << 20, 11.0, 2.0),
            ],
            per_cycle: 2.0,
            latency: 4.0,
            division: 8.0,
            quotient: 20.0,
            call: 40.0,
            fork: 6000.0,
            // Measured: 0.25 us.
            enter: 800.0,
        }
    }
}
