//! Random texts and mutated programs: nothing panics, what is accepted passes the verifier and
//! prints as itself, and the formatter keeps its promises. `LOZENGE_FUZZ=60` runs for that many
//! seconds, with other seeds.

mod support;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use functional::rewrite::defined::trial::{self, Effort};
use functional::syntax::token::{TokenKind, lex};
use functional::{Definition, FactKind, check, check_module, parse_module};
use loops::Name;
use support::{assert_reads_back, formatted, may_fault, on_large_stack, render, zeros};

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
    let effort = Effort { instances: 4, draws: 16, seed: 1 };
    checked.own_rules().iter().for_each(|rule| drop(trial::check(rule, effort)));
    for summary in checked.definitions().iter().filter(|d| d.stands_alone) {
        match checked.elaborate(&summary.name) {
            Err(errors) => assert!(errors.iter().all(|e| e.code.0 == "F0505"), "{text}\n{errors:?}"),
            Ok(definition) => {
                if let Err(error) = check(&definition) {
                    panic!("{text}\n{}", render::all(text, &[error]));
                }
                assert_reads_back(&definition);
                assert_evaluates(&definition, text);
            }
        }
    }
    true
}

/// At small sizes, 0 included, no length is negative, no index is out of range and no size is
/// wrong.
fn assert_evaluates(definition: &Definition, text: &str) {
    use functional::eval::{Limits, evaluate};
    let limits = Limits { elements: 1 << 14, steps: 1 << 16 };
    let may_fault = may_fault(&definition.body);
    for assignment in 0..8i64 {
        let sizes: BTreeMap<Name, i64> = definition
            .sizes
            .iter()
            .enumerate()
            .map(|(k, name)| {
                (name.clone(), (assignment * (2 * k as i64 + 1) + k as i64 * assignment / 3) % 4)
            })
            .collect();
        let value_of = |name: &Name| sizes.get(name).copied();
        let holds = definition.facts.iter().all(|fact| {
            let (left, right) = (fact.left.eval(&value_of).unwrap(), fact.right.eval(&value_of).unwrap());
            if fact.kind == FactKind::Equal { left == right } else { left <= right }
        });
        if !holds {
            continue;
        }
        let args: Option<Vec<_>> =
            definition.params.iter().map(|p| zeros(&p.ty, Vec::new(), &value_of)).collect();
        let Some(args) = args else { continue };
        match evaluate(definition, &sizes, &args, limits) {
            Ok(_) => {}
            Err(error) if error.code.0 == "F0602" || may_fault && error.code.0 == "F0603" => {}
            Err(error) => panic!("{text}\nat {sizes:?}: {}", error.message),
        }
    }
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
    "rule",
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
    sources.extend(golden::cases("rules", "loz").into_iter().map(|c| c.input));
    let definitions: Vec<String> = sources
        .iter()
        .flat_map(|s| s.split("\n\n"))
        .filter(|s| (s.contains("def ") || s.contains("rule ")) && !s.contains("import"))
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

/// The text with a few tokens removed, doubled, swapped, or replaced by tokens from elsewhere in
/// it.
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

/// What the prover says is so at all small values.
#[test]
fn what_is_proved_of_sizes_holds() {
    use functional::prove;
    use loops::Size;
    let names = ["n", "m", "k"];
    fn size(random: &mut Random, depth: usize) -> Size {
        if depth == 0 || random.below(4) == 0 {
            return match random.below(3) {
                0 => Size::constant(random.below(5) as i64 - 1),
                _ => Size::param(random.word(&["n", "m", "k"])),
            };
        }
        let (a, b) = (size(random, depth - 1), size(random, depth - 1));
        match random.below(7) {
            0 | 1 => a + b,
            2 | 3 => a - b,
            4 => a * b,
            5 => a.div(&b),
            _ => a.rem(&b),
        }
    }
    let proved = std::sync::atomic::AtomicUsize::new(0);
    repeat(800, |random| {
        let known: Vec<Size> = (0..random.below(3)).map(|_| size(random, 2)).collect();
        let goal = size(random, 3);
        let other = size(random, 2);
        let (natural, same) = (prove::nonnegative(&known, &goal), prove::equal(&known, &goal, &other));
        if !natural && !same {
            return;
        }
        proved.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        for code in 0..216i64 {
            let values = [code % 6, code / 6 % 6, code / 36];
            let value_of = |name: &Name| names.iter().position(|n| *n == name.as_str()).map(|k| values[k]);
            let at = |s: &Size| s.eval(&value_of).expect("small");
            if known.iter().any(|fact| at(fact) < 0) {
                continue;
            }
            assert!(!natural || at(&goal) >= 0, "{goal} is negative at {values:?}, given {known:?}");
            assert!(!same || at(&goal) == at(&other), "{goal} is not {other} at {values:?}, given {known:?}");
        }
    });
    let proved = proved.into_inner();
    assert!(proved > 80, "only {proved} goals were proved");
}
