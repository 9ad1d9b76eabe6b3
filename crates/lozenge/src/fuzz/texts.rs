//! Texts made from the grammars of what the command reads: schedules, loop programs, strategies,
//! functional programs and rules, with numbers at their extremes.
//!
//! A text is first a sentence of its grammar. Then some of its words change places or are exchanged
//! for others of their kind, so that most texts come through the reader and reach what is behind
//! it. Not here: what is done with them (`command::fuzz_texts`).

use std::fmt::Write as _;

use crate::random::Random;
use crate::rules;

/// Kinds of texts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A schedule for [`SCHEDULED`].
    Schedule,
    /// A loop program.
    Loops,
    /// A strategy for `STRATEGIC`.
    Strategy,
    /// A functional program.
    Program,
    /// Substitution rules.
    Rules,
}

/// The kinds in turn.
pub(crate) const KINDS: [Kind; 5] = [Kind::Schedule, Kind::Loops, Kind::Strategy, Kind::Program, Kind::Rules];

/// What schedules are for.
pub const SCHEDULED: &str =
    "fn notes[M, N](a: inout f64[M], b: in f64[M][N + 1], c: inout f64[M], d: inout f64[M]) {
  for i in 0..M {
    S1: a[i] = 1.0
  }
  for i in 0..M {
    for j in 0..N + 1 {
      S2: c[i] += b[i][j] * a[i]
    }
    S3: d[i] = c[i]
  }
}
";

/// What strategies are for.
pub(crate) const STRATEGIC: &str = "def rows [m n] (a: [m][n]f32) (x: [n]f32): [m]f32 =
  map (\\row -> reduce (\\y acc -> y + acc) 0 (map (\\p -> fst p * snd p) (zip row x))) (map (\\r -> map (\\y -> y * 2) r) a)
";

/// Numbers at which something changes.
const NUMBERS: [&str; 22] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "8",
    "-8",
    "63",
    "64",
    "255",
    "256",
    "4095",
    "65536",
    "2147483647",
    "-2147483648",
    "4294967296",
    "4611686018427387904",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "99999999999999999999999999",
];

/// The text of a seed, and its kind.
pub fn text(seed: u64) -> (Kind, String) {
    let kind = KINDS[(seed % KINDS.len() as u64) as usize];
    let mut random = Random::named(seed, "texts");
    let mut maker = Maker { random: &mut random };
    let made = match kind {
        Kind::Schedule => maker.schedule(),
        Kind::Loops => maker.loops(),
        Kind::Strategy => maker.strategy(4),
        Kind::Program => super::program(seed),
        Kind::Rules => maker.rule(),
    };
    let changes = maker.below(4);
    (kind, maker.changed(&made, changes))
}

struct Maker<'r> {
    random: &'r mut Random,
}

impl Maker<'_> {
    fn below(&mut self, bound: u64) -> u64 {
        self.random.below(bound)
    }

    fn pick<'t>(&mut self, items: &[&'t str]) -> &'t str {
        items[self.below(items.len() as u64) as usize]
    }

    fn number(&mut self) -> &'static str {
        // Most are small, else nothing gets through.
        let bound = if self.below(3) == 0 { NUMBERS.len() as u64 } else { 8 };
        NUMBERS[self.below(bound) as usize]
    }

    fn many(&mut self, most: u64, separator: &str, mut one: impl FnMut(&mut Self) -> String) -> String {
        let count = self.below(most) + 1;
        (0..count).map(|_| one(self)).collect::<Vec<_>>().join(separator)
    }

    /// An affine expression of the variables.
    fn affine(&mut self, variables: &[&str], depth: u32) -> String {
        match self.below(if depth == 0 { 2 } else { 7 }) {
            0 => self.pick(variables).to_owned(),
            1 => self.number().to_owned(),
            2 => format!("{} * {}", self.number(), self.pick(variables)),
            3 => format!("floor(({}) / {})", self.affine(variables, depth - 1), self.number()),
            4 => format!("({}) mod {}", self.affine(variables, depth - 1), self.number()),
            5 => format!("{} - ({})", self.affine(variables, depth - 1), self.affine(variables, depth - 1)),
            _ => format!("{} + {}", self.affine(variables, depth - 1), self.affine(variables, depth - 1)),
        }
    }

    /// The times of the statements of [`SCHEDULED`], or a tree.
    fn schedule(&mut self) -> String {
        const STATEMENTS: [(&str, &[&str]); 3] =
            [("S1(i)", &["i", "M", "N"]), ("S2(i, j)", &["i", "j", "M"]), ("S3(i)", &["i", "N"])];
        if self.below(2) == 0 {
            return self.tree();
        }
        let mut text = format!("{} [M, N]\n", self.pick(&["kelly", "2d+1", "union-map", "affine"]));
        let length = self.below(4) + 1;
        for (statement, variables) in STATEMENTS {
            let times: Vec<String> = (0..length).map(|_| self.affine(variables, 2)).collect();
            let _ = writeln!(text, "{statement} -> ({})", times.join(", "));
        }
        text
    }

    fn tree(&mut self) -> String {
        let mut text = String::from(
            "domain [M, N] -> { S3[i] : 0 <= i < M; S2[i, j] : 0 <= i < M and 0 <= j <= N; S1[i] : 0 <= i < M }\nsequence\n",
        );
        let statements: [(&str, &[&str]); 3] =
            [("S1[i]", &["i"]), ("S2[i, j]", &["i", "j"]), ("S3[i]", &["i"])];
        for (statement, variables) in statements {
            let _ = writeln!(text, "  filter {{ {statement} }}");
            for _ in 0..self.below(3) {
                match self.below(4) {
                    0 => {
                        let mark = self.pick(&[
                            "parallel",
                            "vector",
                            "unroll",
                            "contraction",
                            "parallel reducing + c",
                            "jam",
                        ]);
                        let _ = writeln!(text, "    mark {mark} {}", self.number());
                    }
                    1 => {
                        let (a, b) = (self.affine(variables, 1), self.affine(variables, 1));
                        let _ = writeln!(
                            text,
                            "    {} {{ {statement} : {a} <= {b} }}",
                            self.pick(&["guard", "filter", "context"])
                        );
                    }
                    _ => {
                        let times = self.many(2, ", ", |m| m.affine(variables, 2));
                        let _ = writeln!(text, "    band\n      {{ {statement} -> [({times})] }}");
                    }
                }
            }
            text.push_str("    leaf\n");
        }
        text
    }

    fn loops(&mut self) -> String {
        let where_ = match self.below(4) {
            0 => format!(" where n >= {}, m mod {} == 0", self.number(), self.number()),
            _ => String::new(),
        };
        let extent = self.affine(&["n", "m"], 1);
        let body: String = self.many(3, "", |m| m.statement(3, &mut vec!["n", "m"]));
        format!("fn f[n, m](a: in f32[n][m], b: inout f64[{extent}], c: inout i64[n]){where_} {{\n{body}}}\n")
    }

    fn statement(&mut self, depth: u32, variables: &mut Vec<&'static str>) -> String {
        const LOOPS: [&str; 4] = ["i", "j", "k", "l"];
        let known = variables.clone();
        match self.below(if depth == 0 { 3 } else { 7 }) {
            0 => format!("b[{}] = {}\n", self.index(&known, 2), self.value(&known, 2)),
            1 => format!("c[{}] += {}\n", self.index(&known, 2), self.whole(&known, 2)),
            2 => format!("b[{}] reduce += {}\n", self.index(&known, 1), self.value(&known, 1)),
            3 => {
                let (a, b) = (self.index(&known, 1), self.index(&known, 1));
                let body = self.statement(depth - 1, variables);
                format!("if {a} {} {b} {{\n{body}}}\n", self.pick(&["<", "<=", "==", "!="]))
            }
            4 => {
                let body = self.statement(depth - 1, variables);
                let extent = self.index(&known, 1);
                format!("local t: f64[{extent}] {}\nt[0] = 0.0\n{body}", self.pick(&["stack", "heap"]))
            }
            _ => {
                let name = LOOPS[(variables.len() - 2).min(3)];
                let (low, high) = (self.index(&known, 1), self.index(&known, 1));
                let step =
                    if self.below(3) == 0 { format!(" step {}", self.number()) } else { String::new() };
                variables.push(name);
                let body = self.many(2, "", |m| m.statement(depth - 1, variables));
                variables.pop();
                let kind = self.pick(&["for", "par", "vec", "for"]);
                format!("{kind} {name} in {low}..{high}{step} {{\n{body}}}\n")
            }
        }
    }

    fn index(&mut self, variables: &[&str], depth: u32) -> String {
        match self.below(if depth == 0 { 2 } else { 6 }) {
            0 | 1 if self.below(3) > 0 => self.pick(variables).to_owned(),
            0 | 1 => self.number().to_owned(),
            2 => format!("({} floordiv {})", self.index(variables, depth - 1), self.number()),
            3 => format!("({} mod {})", self.index(variables, depth - 1), self.number()),
            4 => format!("min({}, {})", self.index(variables, depth - 1), self.index(variables, depth - 1)),
            _ => {
                let op = self.pick(&["+", "-", "*"]);
                format!("({} {op} {})", self.index(variables, depth - 1), self.index(variables, depth - 1))
            }
        }
    }

    /// A value of type i64.
    fn whole(&mut self, variables: &[&str], depth: u32) -> String {
        match self.below(4) {
            0 => format!("i64({})", self.value(variables, depth.saturating_sub(1))),
            1 => format!("c[{}]", self.index(variables, 1)),
            2 => format!(
                "({} {} {})",
                self.number(),
                self.pick(&["/", "%", "+", "*"]),
                self.index(variables, 1)
            ),
            _ => self.index(variables, depth),
        }
    }

    /// A value of type f64.
    fn value(&mut self, variables: &[&str], depth: u32) -> String {
        match self.below(if depth == 0 { 3 } else { 8 }) {
            0 => self
                .pick(&["1.0", "0.0", "-inf_f64", "bits_f64(0x7ff8000000000000)", "1e308", "5e-324"])
                .to_owned(),
            1 => format!("b[{}]", self.index(variables, 1)),
            2 => format!("f64(a[{}][{}])", self.index(variables, 1), self.index(variables, 1)),
            3 => format!("f64({})", self.index(variables, 1)),
            4 => format!("sqrt({})", self.value(variables, depth - 1)),
            5 => format!("max({}, {})", self.value(variables, depth - 1), self.value(variables, depth - 1)),
            _ => {
                let op = self.pick(&["+", "-", "*", "/"]);
                format!("({} {op} {})", self.value(variables, depth - 1), self.value(variables, depth - 1))
            }
        }
    }

    fn strategy(&mut self, depth: u32) -> String {
        if depth == 0 || self.below(4) == 0 {
            return match self.below(3) {
                0 => self
                    .pick(&[
                        "id",
                        "fail",
                        "choose",
                        "auto",
                        "fuse",
                        "simplify",
                        "fastProduct",
                        "lower",
                        "tile(row, y, 2, 3)",
                        "unrollAndJam(row, 2)",
                        "computeAt(acc, row)",
                    ])
                    .to_owned(),
                _ => {
                    let rules: Vec<&str> = functional::rewrite::rules().map(|rule| rule.name).collect();
                    let rule = self.pick(&rules);
                    match self.below(3) {
                        0 => rule.to_owned(),
                        1 => format!("{rule}({})", self.number()),
                        _ => format!("{rule}({}, {})", self.number(), self.number()),
                    }
                }
            };
        }
        let inner = self.strategy(depth - 1);
        match self.below(10) {
            0 | 1 => format!("({inner}; {})", self.strategy(depth - 1)),
            2 => format!("({inner} <+ {})", self.strategy(depth - 1)),
            3 => format!("child {} ({inner})", self.number()),
            4 => format!(
                "at {} {} ({inner})",
                self.pick(&["map", "reduce", "zip", "let", "row", "y", "map named acc"]),
                self.number()
            ),
            5 => format!("at position {}.{} ({inner})", self.below(3), self.number()),
            6 => format!("inside map ({inner})"),
            _ => {
                let word = self.pick(&[
                    "try",
                    "repeat",
                    "not",
                    "topDown",
                    "bottomUp",
                    "everywhere",
                    "normalise",
                    "all",
                    "one",
                ]);
                format!("{word} ({inner})")
            }
        }
    }

    /// One of the rules that ship.
    fn rule(&mut self) -> String {
        let (_, file) = rules::SHIPPED[self.below(rules::SHIPPED.len() as u64) as usize];
        let starts: Vec<usize> = file.match_indices("\nrule ").map(|(at, _)| at + 1).collect();
        let k = self.below(starts.len().max(1) as u64) as usize;
        let start = starts.get(k).copied().unwrap_or(0);
        let end = starts.get(k + 1).copied().unwrap_or(file.len());
        file[start..end].to_owned()
    }

    /// The text with some words changed: numbers become others, names take the place of names,
    /// groups in brackets are doubled, nested or emptied.
    fn changed(&mut self, text: &str, changes: u64) -> String {
        let mut words = words(text);
        for _ in 0..changes {
            if words.is_empty() {
                break;
            }
            let at = self.below(words.len() as u64) as usize;
            // The next word of a kind that was chosen, so that all kinds are changed.
            let kind = self.below(3);
            let wanted = |word: &String| match kind {
                0 => word.starts_with(|c: char| c.is_ascii_digit()),
                1 => word.starts_with(|c: char| c.is_alphabetic()),
                _ => matches!(word.as_str(), "(" | "[" | "{"),
            };
            let Some(at) = (at..words.len()).chain(0..at).find(|k| wanted(&words[*k])) else { continue };
            match kind {
                0 => words[at] = self.number().to_owned(),
                1 => {
                    let names: Vec<usize> =
                        (0..words.len()).filter(|k| words[*k].starts_with(char::is_alphabetic)).collect();
                    let other = names[self.below(names.len() as u64) as usize];
                    words[at] = words[other].clone();
                }
                _ => {
                    let end = closing(&words, at);
                    let group = words[at..end].to_vec();
                    match self.below(3) {
                        0 => drop(words.splice(at..at, group)),
                        1 => {
                            drop(words.drain(
                                (at + 1)..end.max(at + 2).min(words.len()).saturating_sub(1).max(at + 1),
                            ))
                        }
                        _ => {
                            let depth = self.below(2000) as usize;
                            let (open, close) = (words[at].clone(), words[end - 1].clone());
                            words.splice(end..end, std::iter::repeat_n(close, depth));
                            words.splice(at..at, std::iter::repeat_n(open, depth));
                        }
                    }
                }
            }
        }
        words.concat()
    }
}

/// Names, numbers, spaces, and all else by characters.
fn words(text: &str) -> Vec<String> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 1,
        c if c.is_whitespace() => 2,
        _ => 0,
    };
    let mut words: Vec<String> = Vec::new();
    let mut last = 0;
    for c in text.chars() {
        match words.last_mut() {
            Some(word) if kind(c) != 0 && kind(c) == last => word.push(c),
            _ => words.push(c.to_string()),
        }
        last = kind(c);
    }
    words
}

/// Behind the bracket that closes the one at this place; the end if there is none.
fn closing(words: &[String], at: usize) -> usize {
    let mut depth = 0;
    for (k, word) in words.iter().enumerate().skip(at) {
        match word.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return k + 1;
        }
    }
    words.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_text() {
        for seed in 0..50 {
            assert_eq!(text(seed), text(seed));
        }
        assert_ne!(text(1).1, text(6).1);
    }

    #[test]
    fn words_make_the_text_again() {
        let text = "fn f[n](a: in f32[n]) {\n  a[0] = 1.5\n}";
        assert_eq!(words(text).concat(), text);
        assert_eq!(closing(&words("((a)b)c"), 0), 6);
    }
}
