//! Random well-typed programs as source text, with test cases that ask all stages to agree.
//!
//! Programs are made by type, so that each is accepted; what they compute is of no interest. Not
//! here: running them (`command::fuzz`).

pub mod kernels;
pub mod models;
pub mod texts;
pub mod types;
mod writer;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::cli::Fuzz;
use crate::progress::Bar;
use crate::random::Random;

/// Definitions in one file: they share one run of the C compiler.
const DEFINITIONS: u32 = 8;

/// The most memory that the process has taken since this was asked before, in bytes; 0 where the
/// system does not say.
pub fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    // Begins anew. Where that is not allowed, the value stays what it is.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    kib.unwrap_or(0) << 10
}

/// How far to go: for some time, or to a number of programs or inputs.
pub struct Budget {
    began: Instant,
    limit: Duration,
    count: Option<u64>,
    bar: Bar,
}

impl Budget {
    /// That of the arguments; the time begins now.
    pub fn of(arguments: &Fuzz) -> Budget {
        let bar = match arguments.count {
            Some(count) => Bar::new(count, "programs or inputs"),
            None => Bar::new(arguments.seconds, "seconds"),
        };
        let limit = Duration::from_secs(arguments.seconds);
        Budget { began: Instant::now(), limit, count: arguments.count, bar }
    }

    /// Whether there is to be another one after so many.
    pub fn goes_on(&self, done: u64) -> bool {
        match self.count {
            Some(count) => self.bar.set(done, count),
            None => self.bar.set(self.began.elapsed().as_secs(), self.limit.as_secs()),
        }
        match self.count {
            Some(count) => done < count,
            None => self.began.elapsed() < self.limit,
        }
    }
}

/// A file of random programs with their test cases.
pub fn program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = String::new();
    for k in 0..DEFINITIONS {
        let float = random.below(2) == 0;
        let elem = if float {
            ["f32", "f64"][random.below(2) as usize]
        } else {
            ["i32", "i64"][random.below(2) as usize]
        };
        let mut maker = Maker { random: &mut random, float, names: 0 };
        let (result, body) = match maker.random.below(4) {
            0 => (elem.to_owned(), maker.number(4, &Scope::default())),
            1 => (format!("[n][m]{elem}"), maker.matrix(3)),
            2 => (format!("[n]({elem}, {elem})"), {
                let (a, b) = (maker.vector(2), maker.vector(2));
                format!("zip ({a}) ({b})")
            }),
            _ => (format!("[n]{elem}"), maker.vector(4)),
        };
        let mode = if random.below(3) == 0 { " mode=paper" } else { "" };
        let _ = writeln!(text, "-- test f{k} n=0,1,5 m=0,3{mode}");
        let _ = writeln!(
            text,
            "def f{k} [n m] (c: {elem}) (xs ys: [n]{elem}) (a: [n][m]{elem}): {result} =\n  {body}\n"
        );
    }
    text
}

/// Numbers that are in scope.
#[derive(Clone, Default)]
struct Scope(Vec<String>);

impl Scope {
    fn with(&self, names: &[&str]) -> Scope {
        let mut scope = self.clone();
        scope.0.extend(names.iter().map(|n| (*n).to_owned()));
        scope
    }
}

struct Maker<'r> {
    random: &'r mut Random,
    float: bool,
    names: u32,
}

impl Maker<'_> {
    fn below(&mut self, bound: u64) -> u64 {
        self.random.below(bound)
    }

    fn pick<'t>(&mut self, items: &[&'t str]) -> &'t str {
        items[self.below(items.len() as u64) as usize]
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("x{}", self.names)
    }

    fn map(&mut self) -> &'static str {
        self.pick(&["mapPar", "mapSeq"])
    }

    /// A number.
    fn number(&mut self, depth: u32, scope: &Scope) -> String {
        let choice = if depth == 0 { self.below(3) } else { self.below(10) };
        match choice {
            0 => "c".into(),
            1 if self.float => self.pick(&["0.5", "(-1.25)", "2.0", "0.0"]).to_owned(),
            1 => self.pick(&["1", "(-3)", "7", "0"]).to_owned(),
            2 => match scope.0.len() {
                0 => "c".into(),
                n => scope.0[self.below(n as u64) as usize].clone(),
            },
            3 | 4 => {
                let (a, b) = (self.number(depth - 1, scope), self.number(depth - 1, scope));
                let op = self.pick(&["+", "-", "*"]);
                format!("({a} {op} {b})")
            }
            5 => {
                let (a, b) = (self.number(depth - 1, scope), self.number(depth - 1, scope));
                let op = self.pick(&["min", "max"]);
                format!("({op} {a} {b})")
            }
            6 => format!("(abs {})", self.number(depth - 1, scope)),
            7 => {
                let [a, b, x, y] = [(); 4].map(|()| self.number(depth - 1, scope));
                let op = self.pick(&["<", "<=", "==", ">"]);
                format!("(if {a} {op} {b} then {x} else {y})")
            }
            8 if depth > 1 => {
                let (x, a) = (self.name(), self.name());
                let body = self.number(1, &scope.with(&[&x, &a]));
                let (start, xs) = (self.number(1, scope), self.vector(depth - 2));
                format!("(reduceSeq (\\{x} {a} -> {body}) {start} ({xs}))")
            }
            9 if depth > 1 => {
                let x = self.name();
                let (value, body) = (self.number(depth - 1, scope), String::new());
                let body = body + &self.number(depth - 1, &scope.with(&[&x]));
                format!("(let {x} = {value} in {body})")
            }
            _ => "c".into(),
        }
    }

    /// A vector of `n` numbers.
    fn vector(&mut self, depth: u32) -> String {
        if depth == 0 {
            return self.pick(&["xs", "ys"]).to_owned();
        }
        match self.below(10) {
            0 | 1 => {
                let (map, x) = (self.map(), self.name());
                let body = self.number(2, &Scope::default().with(&[&x]));
                format!("{map} (\\{x} -> {body}) ({})", self.vector(depth - 1))
            }
            2 | 3 => {
                let (map, x, y) = (self.map(), self.name(), self.name());
                let body = self.number(2, &Scope::default().with(&[&x, &y]));
                let (a, b) = (self.vector(depth - 1), self.vector(depth - 1));
                format!("{map} (\\({x}, {y}) -> {body}) (zip ({a}) ({b}))")
            }
            4 => {
                let (x, a) = (self.name(), self.name());
                let body = self.number(1, &Scope::default().with(&[&x, &a]));
                format!("scanSeq (\\{x} {a} -> {body}) c ({})", self.vector(depth - 1))
            }
            5 => format!("reverse ({})", self.vector(depth - 1)),
            6 => format!("toMem ({})", self.vector(depth - 1)),
            7 => {
                let view = self.pick(&["copy", "copySeq", "reverseSeq"]);
                format!("{view} ({})", self.vector(depth - 1))
            }
            8 => {
                let (map, row, x, s) = (self.map(), self.name(), self.name(), self.name());
                let body = self.number(1, &Scope::default().with(&[&x, &s]));
                format!(
                    "{map} (\\{row} -> reduceSeq (\\{x} {s} -> {body}) c {row}) ({})",
                    self.matrix(depth - 1)
                )
            }
            _ => format!("take n (concat ({}) ({}))", self.vector(depth - 1), self.vector(depth - 1)),
        }
    }

    /// A matrix of `n` rows of `m` numbers.
    fn matrix(&mut self, depth: u32) -> String {
        if depth == 0 {
            return "a".into();
        }
        match self.below(5) {
            0 | 1 => {
                let (row, x) = (self.name(), self.name());
                let body = self.number(2, &Scope::default().with(&[&x]));
                format!("mapPar (\\{row} -> mapSeq (\\{x} -> {body}) {row}) ({})", self.matrix(depth - 1))
            }
            2 => format!("transpose (transpose ({}))", self.matrix(depth - 1)),
            3 => {
                let (v, row, x) = (self.name(), self.name(), self.name());
                let body = self.number(1, &Scope::default().with(&[&v, &x]));
                let (vector, matrix) = (self.vector(depth - 1), self.matrix(depth - 1));
                format!(
                    "mapPar (\\({v}, {row}) -> mapSeq (\\{x} -> {body}) {row}) (zip ({vector}) ({matrix}))"
                )
            }
            _ => format!("mapSeq (\\r -> reverse r) ({})", self.matrix(depth - 1)),
        }
    }
}

/// A program of this many combinators in a row, for measuring how translation time grows.
pub fn chain(combinators: u32) -> String {
    let mut text = String::from("def chain [n] (xs: [n]f32): [n]f32 =\n  xs");
    for k in 0..combinators {
        text.push_str(match k % 4 {
            0 => "\n  |> mapPar (\\x -> x * 0.5)",
            1 => "\n  |> reverse",
            2 => "\n  |> mapSeq (\\x -> x + 1.0)",
            _ => "\n  |> toMem",
        });
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_program() {
        assert_eq!(program(3), program(3));
        assert_ne!(program(3), program(4));
    }
}
