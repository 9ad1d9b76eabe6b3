//! Random C programs with a marked region over all integer types and signs: counters, sizes,
//! subscripts, conversions, conditions on data, and members of structures.
//!
//! What wraps around, loses bits or overlaps is meant to happen now and then: original and result
//! must agree there too. Three of four programs are calm: their loops end soon, and nothing in them
//! is undefined. Of the others, some have no meaning in C, or run for long; the caller finds that
//! out by running the original with checks, and passes them over.

use std::fmt::Write as _;
use std::ops::{Deref, DerefMut};

use super::writer::Writer;
use crate::random::Random;

/// Integer types with the suffix of their constants.
const INTEGERS: [&str; 8] =
    ["signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long"];

/// Elements of all arrays.
const ROOM: u32 = 400;

/// Sizes at which a program runs: nothing, one, primes, and what is at the ends of types.
const POINTS: [(&str, &str); 9] = [
    ("0", "0"),
    ("1", "0"),
    ("1", "1"),
    ("7", "11"),
    ("13", "5"),
    // From here on not for calm programs.
    ("3", "250"),
    ("255", "2"),
    ("65536 + 3", "7"),
    ("-2", "4294967291"),
];

/// So many of them are small.
const CALM: usize = 5;

/// The program of a seed.
pub fn program(seed: u64) -> String {
    let mut random = Random::named(seed, "types");
    let writer = Writer::new(&mut random);
    let mut maker = Maker { writer, counters: Vec::new(), calm: seed % 4 != 3, elements: Vec::new() };
    let (n, m) = (maker.size(), maker.size());
    let elements: Vec<&str> = (0..3).map(|_| maker.element_type()).collect();
    maker.elements.clone_from(&elements);
    let alias = maker.chance(4);
    for _ in 0..=maker.random.below(3) {
        maker.nest(2);
    }
    let calm = maker.calm;
    let region = maker.writer.text;
    let restrict = if alias { "" } else { "restrict " };
    let mut text = String::from(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <sys/resource.h>\n\nstruct S {\n  int *restrict d;\n  short w[8];\n  long k;\n};\n\n",
    );
    for (name, ty) in ["A", "B", "C"].iter().zip(&elements) {
        let _ = writeln!(text, "typedef {ty} T{name};");
    }
    let _ = writeln!(
        text,
        "\nstatic void kernel({n} n, {m} m, TA *{restrict}A, TB *{restrict}B, TC (*restrict C)[20], struct S *s, struct S *t)\n{{\n#pragma scop\n{region}#pragma endscop\n}}\n"
    );
    text.push_str(MAIN_HEAD);
    let points: Vec<String> = POINTS[..if calm { CALM } else { POINTS.len() }]
        .iter()
        .map(|(a, b)| format!("  run(out, ({n})({a}), ({m})({b}));\n  run(out, ({n})({b}), ({m})({a}));\n"))
        .collect();
    // Where they may overlap, the second array begins inside of the first.
    let second = if alias && elements[0] == elements[1] { "A + 3" } else { "b" };
    let body = MAIN_BODY
        .replace("ROOM", &ROOM.to_string())
        .replace("SECOND", second)
        .replace("NTYPE", &n)
        .replace("MTYPE", &m);
    text.push_str(&body);
    let _ = writeln!(
        text,
        "int main(int argc, char **argv)\n{{\n  limit();\n  FILE *out = argc > 1 ? fopen(argv[1], \"wb\") : stdout;\n{}  fclose(out);\n  return 0;\n}}",
        points.concat()
    );
    text
}

/// What a program may use of the machine; with a sanitizer, which reserves addresses, of time only.
const MAIN_HEAD: &str = "static void limit(void)
{
  struct rlimit time = {2, 3}, space = {1ul << 30, 1ul << 30};
  setrlimit(RLIMIT_CPU, &time);
#ifndef __SANITIZE_ADDRESS__
  setrlimit(RLIMIT_AS, &space);
#else
  (void)space;
#endif
}

";

const MAIN_BODY: &str = "static void fill(unsigned char *p, unsigned long bytes, unsigned long size)
{
  for (unsigned long k = 0; k < bytes; k++)
    p[k] = size > 2 ? (k % size == 0 ? k / size % 23 + 1 : 0) : k * 7 % 5;
}

static void run(FILE *out, NTYPE n, MTYPE m)
{
  TA *A = calloc(ROOM, sizeof(TA));
  TB *b = calloc(ROOM, sizeof(TB)), *B = SECOND;
  TC *C = calloc(ROOM, sizeof(TC));
  int *d = calloc(ROOM, sizeof(int)), *e = calloc(ROOM, sizeof(int));
  for (int k = 0; k < ROOM; k++) {
    A[k] = (TA)(k % 23 - 5);
    b[k] = (TB)(k % 17);
    C[k] = (TC)(k % 11 - 3);
    d[k] = k % 7;
    e[k] = k % 5 - 2;
  }
  struct S s = {d, {1, 2, 3, 4, 5, 6, 7, 8}, 9}, t = {e, {8, 7, 6, 5, 4, 3, 2, 1}, 3};
  kernel(n, m, A, B, (void *)C, &s, (long)n % 3 == 1 ? &s : &t);
  fwrite(A, sizeof(TA), ROOM, out);
  fwrite(b, sizeof(TB), ROOM, out);
  fwrite(C, sizeof(TC), ROOM, out);
  fwrite(d, sizeof(int), ROOM, out);
  fwrite(e, sizeof(int), ROOM, out);
  fwrite(s.w, sizeof s.w, 1, out);
  fwrite(&s.k, sizeof s.k, 1, out);
  free(A), free(b), free(C), free(d), free(e);
}

";

struct Maker<'r> {
    writer: Writer<'r>,
    /// Loops end soon, and numbers with a fraction are converted only to types that hold them.
    calm: bool,
    /// Types of the elements of the three arrays.
    elements: Vec<&'static str>,
    /// Counters of the loops around, with their types.
    counters: Vec<(String, &'static str)>,
}

impl<'r> Deref for Maker<'r> {
    type Target = Writer<'r>;

    fn deref(&self) -> &Writer<'r> {
        &self.writer
    }
}

impl<'r> DerefMut for Maker<'r> {
    fn deref_mut(&mut self) -> &mut Writer<'r> {
        &mut self.writer
    }
}

impl Maker<'_> {
    fn integer(&mut self) -> &'static str {
        self.one_of(&INTEGERS)
    }

    /// The type of a size; those of 32 bits are the most usual.
    fn size(&mut self) -> String {
        let usual = self.chance(2);
        if usual { self.one_of(&["int", "unsigned"]).to_owned() } else { self.integer().to_owned() }
    }

    fn element_type(&mut self) -> &'static str {
        match self.random.below(4) {
            0 => self.one_of(&["float", "double"]),
            _ => self.integer(),
        }
    }

    /// A size or a sum of sizes, as a bound or a first value; outer counters may be in it.
    fn bound(&mut self) -> String {
        let size = self.one_of(&["n", "m"]);
        let outer = self.counters.last().map(|(name, _)| name.clone());
        match self.random.below(14) {
            0 => format!("{size} - 1"),
            1 => format!("{size} + {}", 1 + self.random.below(9)),
            2 => "(n > m ? n : m)".to_owned(),
            3 => "(n < m ? n : m)".to_owned(),
            4 => format!("({}){size}", self.integer()),
            5 => format!("({}){size} - {}u", self.integer(), self.random.below(3)),
            6 => format!("{size} / {}", 2 + self.random.below(3)),
            7 => "n - m".to_owned(),
            8 | 9 if outer.is_some() => outer.unwrap_or_default(),
            8 => (5 + self.random.below(15)).to_string(),
            _ => size.to_owned(),
        }
    }

    /// A loop over a counter of any type.
    fn nest(&mut self, deep: u32) {
        let name = ["i", "j", "k"][self.counters.len().min(2)].to_owned();
        let ty = if self.chance(2) { self.one_of(&["int", "unsigned"]) } else { self.integer() };
        let step = 1 + self.random.below(6).saturating_sub(3);
        let (first, end) = (self.bound(), self.bound());
        let first = if self.chance(3) { first } else { self.random.below(3).to_string() };
        let form = self.random.below(10);
        let header = match form {
            // What counts down begins at a number that is not negative, and what counts up has a
            // second bound.
            0 if self.calm && step == 1 => {
                format!("{ty} {name} = 0; {name} != {}; {name}++", self.one_of(&["n", "m"]))
            }
            1 | 2 if self.calm => {
                format!("{ty} {name} = {}; {name} > 0; {name}--", self.one_of(&["n", "m", "n + 5"]))
            }
            3 if self.calm => format!("{ty} {name} = {}; {name}-- > 0;", self.one_of(&["n", "m", "m + 2"])),
            4 if self.calm => {
                format!("{ty} {name} = {first}; {name} <= {end} && {name} < 100; {name} += {step}")
            }
            _ if self.calm => {
                format!("{ty} {name} = {first}; {name} < {end} && {name} < 100; {name} += {step}")
            }
            0 if step == 1 => format!("{ty} {name} = {first}; {name} != {end}; {name}++"),
            1 => format!("{ty} {name} = {end}; {name} >= {first} + 1; {name} -= {step}"),
            2 => format!("{ty} {name} = {end}; {name} > 0; {name}--"),
            3 => format!("{ty} {name} = {end}; {name}-- > 0;"),
            4 => format!("{ty} {name} = {first}; {name} <= {end}; {name} += {step}"),
            5 => format!("{ty} {name} = {first}; {name} + {step} < {end}; {name}++"),
            _ => format!("{ty} {name} = {first}; {name} < {end}; {name} += {step}"),
        };
        self.line(&format!("for ({header}) {{"));
        self.depth += 2;
        self.counters.push((name.clone(), ty));
        // Most subscripts are inside of the arrays only where the counter is small.
        self.line(&format!("if ({name} >= 0 && {name} < 180) {{"));
        self.depth += 2;
        for _ in 0..=self.random.below(2) {
            if deep > 0 && self.chance(3) {
                self.nest(deep - 1);
            } else {
                self.statement();
            }
        }
        self.depth -= 2;
        self.line("}");
        self.counters.pop();
        self.depth -= 2;
        self.line("}");
    }

    fn counter(&mut self) -> String {
        let count = self.counters.len() as u64;
        let at = self.random.below(count) as usize;
        self.counters[at].0.clone()
    }

    fn subscript(&mut self) -> String {
        let i = self.counter();
        match self.random.below(10) {
            0 => format!("{i} + {}", self.random.below(6)),
            1 => format!("{i} + 3u"),
            2 => format!("{i} / 2"),
            3 => format!("2 * {i} + 1"),
            4 => format!(
                "({}){i}",
                self.one_of(&["int", "unsigned char", "short", "unsigned", "unsigned long"])
            ),
            5 => format!("({i} >> 1) + 1"),
            6 => format!("{i} & 7"),
            _ => i,
        }
    }

    fn place(&mut self) -> String {
        match self.random.below(8) {
            0 => format!("C[{} & 15][{}]", self.counter(), self.random.below(20)),
            1 => format!("C[{}][{} & 15]", self.random.below(10), self.counter()),
            2 => format!("s->d[{}]", self.subscript()),
            3 => format!("s->w[{} & 7]", self.counter()),
            4 | 5 => format!("A[{}]", self.subscript()),
            _ => format!("B[{}]", self.subscript()),
        }
    }

    /// What is read at a place.
    fn read(&mut self) -> String {
        let place = self.place();
        let of = ["A", "B", "C"].iter().position(|name| place.starts_with(name));
        let fraction = of.is_some_and(|k| matches!(self.elements[k], "float" | "double"));
        if fraction && self.calm { format!("(int){place}") } else { place }
    }

    fn value(&mut self, deep: u32) -> String {
        if deep == 0 || self.chance(3) {
            return match self.random.below(6) {
                0 => self.counter(),
                1 => self.one_of(&["n", "m", "3", "2u", "5L", "t->k"]).to_owned(),
                2 => format!("t->d[{}]", self.subscript()),
                _ => self.read(),
            };
        }
        let (a, b) = (self.value(deep - 1), self.value(deep - 1));
        match self.random.below(9) {
            0 => format!("({a} > {b} ? {a} : {b})"),
            1 => format!("({})({a})", self.integer()),
            2 => format!("(unsigned long)({a} < 0 ? 1 : {a}) % 9"),
            3 => format!("({a} == {b})"),
            4 => format!("!({a})"),
            5 => format!("(unsigned)({a}) - {b}"),
            6 => format!("({a} != 0 && {b} > 1)"),
            _ => format!("({a} + (unsigned short)({b}))"),
        }
    }

    fn statement(&mut self) {
        let guarded = self.chance(4);
        if guarded {
            let i = self.counter();
            let guard = match self.random.below(5) {
                0 => format!("{i} < n"),
                1 => format!("{i} % 3 == 1"),
                2 => format!("{i} + 1 < m"),
                3 => format!("{} > 2", self.place()),
                _ => format!("n - {i} > 2"),
            };
            self.line(&format!("if ({guard})"));
            self.depth += 2;
        }
        let (place, value) = (self.place(), self.value(2));
        let ty = self.one_of(&["unsigned char", "short", "unsigned", "long"]);
        self.line(&format!("{place} = ({ty})({value}) % 100;"));
        if guarded {
            self.depth -= 2;
        }
    }
}
