//! Random texts and mutated programs: nothing panics, what is accepted passes the verifier and prints as itself, and the
//! formatter keeps its promises. `LOZENGE_FUZZ=60` runs for that many seconds, with other seeds.

mod support;

use std::time::{Duration, Instant};

use functional::syntax::token::{TokenKind, lex};
use functional::{check, check_module, parse_module};
use support::{assert_reads_back, formatted, on_large_stack, render};

/// A small generator of random numbers, so that failures can be repeated.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn word(&mut self, from: &[&'static str]) -> &'static str {
        from[self.below(from.len())]
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// Runs `round` with seeds from 1: `rounds` of them, or for the time that is asked for.
fn repeat(rounds: u64, round: impl Fn(&mut Random) + Sync) {
    let asked = std::env::var("LOZENGE_FUZZ").ok().and_then(|s| s.parse().ok());
    let end = asked.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    on_large_stack(|| {
        let first = if end.is_some() { std::process::id().into() } else { 1u64 };
        for seed in first.. {
            if end.map_or(seed > rounds, |end| Instant::now() > end) {
                break;
            }
            let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
            if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| round(&mut random))).is_err() {
                panic!("seed {seed}");
            }
        }
    });
}

/// All that the front half can do with a text; true if it is well typed.
fn survives(text: &str) -> bool {
    let (module, errors) = parse_module(text);
    if !errors.is_empty() {
        render::all(text, &errors);
        let _ = check_module(&module);
        return false;
    }
    formatted(text);
    let checked = match check_module(&module) {
        Ok(checked) => checked,
        Err(errors) => {
            assert!(!errors.is_empty());
            render::all(text, &errors);
            return false;
        }
    };
    for summary in checked.definitions().iter().filter(|d| d.stands_alone) {
        match checked.elaborate(&summary.name) {
            Err(errors) => assert!(errors.iter().all(|e| e.code.0 == "F0505"), "{text}\n{errors:?}"),
            Ok(definition) => {
                if let Err(error) = check(&definition) {
                    panic!("{text}\n{}", render::all(text, &[error]));
                }
                assert_reads_back(&definition);
            }
        }
    }
    true
}

const WORDS: &[&str] = &[
    "def",
    "let",
    "in",
    "if",
    "then",
    "else",
    "where",
    "type",
    "import",
    "strategy",
    "true",
    "inf",
    "f",
    "g",
    "x",
    "xs",
    "n",
    "m",
    "k",
    "f32",
    "i64",
    "idx",
    "vec",
    "mapSeq",
    "reduceSeq",
    "zip",
    "split",
    "join",
    "take",
    "1",
    "2.5",
    "3i32",
    "\"a\"",
    "(",
    ")",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "=",
    "->",
    "\\",
    "|>",
    "+",
    "-",
    "*",
    "/",
    "%",
    "==",
    "<",
    "<=",
    "&&",
    "!",
    "_",
    "-- c\n",
    "\n",
    "λ",
];

#[test]
fn random_words_are_read() {
    repeat(3000, |random| {
        let count = random.below(60);
        let mut text =
            String::from(random.word(&["", "def f (x: f32): f32 = ", "def f [n] (xs: [n]f32): [n]f32 = "]));
        for _ in 0..count {
            text.push_str(random.word(WORDS));
            text.push_str(random.word(&[" ", " ", " ", "", "\n"]));
        }
        survives(&text);
    });
}

#[test]
fn random_characters_are_read() {
    repeat(1000, |random| {
        let text: String = (0..random.below(80))
            .map(|_| char::from_u32(random.below(0x250) as u32).unwrap_or(' '))
            .collect();
        survives(&text);
    });
}

#[test]
fn mutated_programs_are_refused_or_right() {
    let mut sources: Vec<String> =
        golden::cases("functional/types", "loz").into_iter().map(|c| c.input).collect();
    sources.extend(golden::cases("../library", "loz").into_iter().map(|c| c.input));
    let definitions: Vec<String> = sources
        .iter()
        .flat_map(|s| s.split("\n\n"))
        .filter(|s| s.contains("def ") && !s.contains("import"))
        .map(str::to_owned)
        .collect();
    let accepted = std::sync::atomic::AtomicUsize::new(0);
    repeat(4000, |random| {
        let source = random.pick(&definitions);
        let text = mutate(random, source);
        if survives(&text) {
            accepted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    });
    let accepted = accepted.into_inner();
    assert!(accepted > 100, "only {accepted} mutants are well typed: nothing was tested");
}

/// The text with a few tokens removed, doubled, swapped, or replaced by tokens from elsewhere in it.
fn mutate(random: &mut Random, source: &str) -> String {
    let lexed = lex(source);
    let mut tokens: Vec<&str> = lexed
        .tokens
        .iter()
        .filter(|t| t.kind != TokenKind::End)
        .map(|t| &source[t.span.start as usize..t.span.end as usize])
        .collect();
    for _ in 0..1 + random.below(3) {
        let (a, b) = (random.below(tokens.len()), random.below(tokens.len()));
        match random.below(6) {
            0 => {
                tokens.remove(a);
            }
            1 => tokens.insert(a, tokens[b]),
            2 => tokens.swap(a, b),
            3 => tokens[a] = tokens[b],
            4 => tokens[a] = random.word(WORDS),
            _ => {}
        }
        if tokens.is_empty() {
            break;
        }
    }
    let mut text = String::new();
    for token in tokens {
        text.push_str(token);
        text.push_str(random.word(&[" ", " ", " ", "\n", "  "]));
    }
    text
}
