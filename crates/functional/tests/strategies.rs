//! Strategies beside programs: what each makes of its definition, its trace, replay, and values
//! that stay.

mod common;

use std::fmt::Write as _;

use common::{f64_tensor, same_bits};
use functional::eval::{Limits, Value, evaluate};
use functional::random::Dice;
use functional::strategy::{LIBRARY, Options, Strategies, Strategy, parse};
use functional::{Checked, DataType, Definition, check_module, parse_module, print, rewrite};
use loops::{Diagnostic, Name, Registers};
use proptest::prelude::*;

fn checked(text: &str) -> Checked {
    let (module, errors) = parse_module(text);
    assert!(errors.is_empty(), "{errors:?}");
    check_module(&module).unwrap_or_else(|errors| panic!("{errors:?}"))
}

fn told(text: &str, diagnostic: &Diagnostic) -> String {
    let mut out = format!("{diagnostic}\n");
    for label in &diagnostic.labels {
        let (from, to) = (label.span.start as usize, label.span.end as usize);
        let line = text[..from].lines().count().max(1);
        let _ = writeln!(out, "  line {line}: `{}`: {}", &text[from..to], label.text);
    }
    for note in &diagnostic.notes {
        let _ = writeln!(out, "  note: {note}");
    }
    for help in &diagnostic.help {
        let _ = writeln!(out, "  help: {help}");
    }
    out
}

/// Random arguments of a definition whose parameters are arrays of `f64`.
fn arguments(
    definition: &Definition,
    sizes: &std::collections::BTreeMap<Name, i64>,
    dice: &mut Dice,
) -> Vec<Value> {
    let value = |ty: &DataType, dice: &mut Dice| {
        let (mut shape, mut inner) = (Vec::new(), ty);
        while let DataType::Array(n, t) = inner {
            shape.push(n.eval(&|name| sizes.get(name).copied()).unwrap() as usize);
            inner = t;
        }
        let count = shape.iter().product();
        let values: Vec<f64> = (0..count).map(|_| dice.below(2001) as f64 / 7.0 - 140.0).collect();
        f64_tensor(&shape, &values)
    };
    definition.params.iter().map(|p| value(&p.ty, dice)).collect()
}

/// At sizes 0, 1 and some others: the same value bit for bit, or nearly where additions were
/// regrouped.
fn same_values(original: &Definition, rewritten: &Definition, exact: bool) {
    let mut dice = Dice::new(7);
    for case in 0..12 {
        let sizes = (original.sizes.iter())
            .map(|name| (name.clone(), if case < 2 { case } else { dice.below(14) as i64 }))
            .collect();
        let args = arguments(original, &sizes, &mut dice);
        let expected = evaluate(original, &sizes, &args, Limits::default()).unwrap();
        let found = evaluate(rewritten, &sizes, &args, Limits::default())
            .unwrap_or_else(|e| panic!("{} at {sizes:?}: {e}", rewritten.name));
        if exact {
            assert!(same_bits(&expected, &found), "{} at {sizes:?}\n{expected:?}\n{found:?}", rewritten.name);
        } else if let (loops::Data::F64(x), loops::Data::F64(y)) =
            (&expected.tensor().unwrap().data, &found.tensor().unwrap().data)
        {
            assert!(x.iter().zip(y).all(|(x, y)| (x - y).abs() <= 1e-9 * (1.0 + x.abs())), "{x:?} {y:?}");
        }
    }
}

#[test]
fn schedules_are_applied_recorded_and_replayed() {
    golden::check("strategies", "loz", "out", |case| {
        let (module, errors) = parse_module(&case.input);
        assert!(errors.is_empty(), "{errors:?}");
        let checked = check_module(&module).unwrap();
        let mut out = String::new();
        for text in &module.strategies {
            let name = &text.name.name;
            let _ = writeln!(out, "== {name}");
            let one = [(name, text.text.as_str(), Some(text.span))];
            let strategies = match Strategies::with(one) {
                Ok(strategies) => strategies,
                Err(errors) => {
                    errors.iter().for_each(|error| out += &told(&case.input, error));
                    continue;
                }
            };
            let target = strategies.get(name).and_then(|s| s.target.clone()).unwrap();
            let original = checked.elaborate(&target).unwrap();
            let options = Options { limit: 50_000, ..Options::default() };
            match strategies.schedule(name, &original, options) {
                Err(error) => out += &told(&case.input, &error),
                Ok(outcome) => {
                    let (rewritten, trace) = (&outcome.definition, &outcome.trace);
                    let replayed = trace.replay(&original).unwrap();
                    assert_eq!(replayed.body, rewritten.body, "the replay of {name}");
                    let read =
                        functional::strategy::replay(&trace.to_text(), &original, &strategies).unwrap();
                    assert_eq!(read.definition.body, rewritten.body, "the replay of the text of {name}");
                    assert_eq!(read.trace, *trace, "the trace of the replay of {name}");
                    same_values(&original, rewritten, !trace.reassociates());
                    let _ = write!(out, "{}{}", trace.to_text(), print::definition(rewritten));
                }
            }
        }
        out
    });
}

#[test]
fn a_trace_of_another_program_is_refused() {
    let text = "def a [n] (xs: [n]f64): f64 = reduce (\\x a -> x + a) 0 xs\n\
                def b [n] (xs: [n]f64): [n]f64 = map (\\x -> x + 1) xs\n";
    let checked = checked(text);
    let (a, b) = (checked.elaborate("a").unwrap(), checked.elaborate("b").unwrap());
    let trace = Strategies::library().apply("useReduceSeq", &a, Options::default()).unwrap().trace;
    assert_eq!(trace.to_text(), "trace of a\nuseReduceSeq at root\n");
    let error = trace.replay(&b).unwrap_err();
    assert_eq!(
        error.message,
        "step 1 of the trace: `useReduceSeq` does not apply at root: it is not a reduction"
    );
    for (bad, message) in [
        ("", "line 1 of the trace: it starts with `trace of NAME`"),
        ("trace of a\nuseReduceSeq", "line 2 of the trace: a step is `rule(sizes) at position`"),
        ("trace of a\nuseReduceSeq at here", "line 2 of the trace: the position is malformed"),
        ("trace of a\nnoSuchRule at root", "step 1 of the trace: there is no rule `noSuchRule`"),
        ("trace of a\nuseReduceSeq at 7", "step 1 of the trace: `a` has no place 7"),
        (
            "trace of a\nuseReduceSeq(4) at root",
            "step 1 of the trace: the rule `useReduceSeq` takes 0 sizes, not 1",
        ),
        ("trace of b\nuseMapSeq at root", "there is no trace of `a` in the text"),
    ] {
        let error = functional::strategy::replay(bad, &a, &Strategies::library()).unwrap_err();
        assert_eq!((error.code.0, error.message.as_str()), ("S0106", message));
    }
}

#[test]
fn strategies_may_be_given_by_name_or_written_out() {
    let checked = checked("def b [n] (xs: [n]f64): [n]f64 = map (\\x -> x + 1) (map (\\x -> x * 2) xs)\n");
    let b = checked.elaborate("b").unwrap();
    let strategies = Strategies::library();
    let apply = |s: &str| strategies.apply(s, &b, Options::default());
    assert!(
        print::definition(&apply("auto").unwrap().definition)
            .contains("mapPar (\\x -> x * 2.0f64 + 1.0f64) xs")
    );
    assert_eq!(apply("mapFusion; useMapSeq").unwrap().trace.steps.len(), 2);
    assert_eq!(apply("auto_").unwrap_err().help, ["did you mean `auto`?"]);
    assert_eq!(apply("tileProduct").unwrap_err().code.0, "S0103");
    assert_eq!(apply("useMapSeq; (").unwrap_err().code.0, "S0101");
}

#[test]
fn two_sizes_are_those_of_the_registers() {
    let checked = checked(
        "def single [n] (xs: [n]f32): [n]f32 = map (\\x -> x + 1) xs\n\
         def double [n] (xs: [n]f64): [n]f64 = map (\\x -> x + 1) xs\n\
         def pairs [n] (xs: [n](i64, f32)): [n](i64, f32) = map (\\p -> (fst p, snd p + 1)) xs\n\
         def own [tileRows] (xs: [tileRows]f64): [tileRows]f64 = map (\\x -> x + 1) xs\n",
    );
    let with = |rule: &str, name: &str, size: &str, count: i64, bytes: i64| {
        let definition = checked.elaborate(name).unwrap();
        let options = Options { registers: Registers { count, bytes }, ..Options::default() };
        let outcome = Strategies::library().apply(&format!("{rule}({size})"), &definition, options);
        outcome.unwrap().trace.steps[0].args[0].to_string()
    };
    let pad = |name: &str, size: &str, count: i64, bytes: i64| with("padMap", name, size, count, bytes);
    assert_eq!(pad("single", "tileRows", 32, 64), "8");
    assert_eq!(pad("single", "tileColumns", 32, 64), "48");
    assert_eq!(pad("double", "tileColumns", 32, 64), "24");
    assert_eq!(pad("pairs", "tileColumns", 32, 64), "48");
    assert_eq!(pad("single", "tileRows", 16, 32), "6");
    assert_eq!(pad("single", "tileColumns", 16, 32), "16");
    assert_eq!(pad("double", "tileColumns", 16, 16), "4");
    // A size of the definition comes first.
    assert_eq!(with("splitJoin", "own", "tileRows", 16, 32), "tileRows");
}

#[test]
fn a_thousand_maps_become_one() {
    let mut text = String::from("def chain [n] (xs: [n]f64): [n]f64 = xs");
    let mut lets = String::from("def lets [n] (xs: [n]f64): [n]f64 =\n");
    for k in 0..1000 {
        let _ = write!(text, " |> map (\\x -> x * {k} + 1)");
        let before = if k == 0 { "xs".to_string() } else { format!("v{}", k - 1) };
        let _ = writeln!(lets, "  let v{k} = map (\\x -> x + {k}) {before} in");
    }
    // The front end needs a stack as deep as the program.
    let work = move || {
        let checked = checked(&format!("{text}\n{lets}  v999\n"));
        for name in ["chain", "lets"] {
            let definition = checked.elaborate(name).unwrap();
            let outcome = Strategies::library().apply("auto", &definition, Options::default()).unwrap();
            let maps = outcome.trace.steps.iter().filter(|step| step.rule.name() == "useMapPar").count();
            assert_eq!(maps, 1, "{name}");
        }
    };
    std::thread::Builder::new().stack_size(1 << 29).spawn(work).unwrap().join().unwrap();
}

/// A paragraph in lines of at most 100 columns.
fn wrapped(paragraph: &str) -> String {
    let mut lines = vec![String::new()];
    for word in paragraph.split(' ') {
        match lines.last_mut().expect("a line") {
            line if line.is_empty() => line.push_str(word),
            line if line.chars().count() + 1 + word.chars().count() <= 100 => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

/// The tables in the guide are made from the code.
#[test]
fn the_guide_lists_every_rule_and_strategy() {
    let path = golden::root().join("docs/strategies.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let marker = "<!-- From here on this page is generated: `BLESS=1 cargo test -p functional --test strategies`. -->\n";
    let (guide, _) = page.split_once(marker).expect("the marker");
    let mut generated = String::from("\n## Rules\n");
    for family in rewrite::RULES {
        for rule in *family {
            let params =
                if rule.params.is_empty() { String::new() } else { format!("({})", rule.params.join(", ")) };
            let marked =
                if rule.reassociates { " *Changes the order of floating-point operations.*" } else { "" };
            let doc = if rule.doc.is_empty() {
                String::new()
            } else {
                wrapped(&format!("{}{marked}", rule.doc)) + "\n\n"
            };
            let _ = write!(
                generated,
                "\n### `{}{params}` ({:?})\n\n```text\n{}\n```\n\n{doc}",
                rule.name,
                rule.family,
                rule.statement.replace(" -> reduce", "\n  -> reduce").replace(" -> map (", "\n  -> map (")
            );
        }
    }
    generated += "\n## Strategies of the library\n";
    for (name, doc, text) in LIBRARY {
        let doc = wrapped(doc);
        let _ = write!(generated, "\n### `{name}`\n\n{doc}\n\n```text\n{text}\n```\n");
    }
    let wanted = format!("{guide}{marker}{}", generated.replace("\n\n\n", "\n\n"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &wanted).unwrap();
    } else {
        assert!(page == wanted, "docs/strategies.md is out of date; bless it");
    }
}

#[test]
fn the_fast_product_is_right_at_every_small_size() {
    let text = std::fs::read_to_string(golden::folder("strategies").join("product.loz")).unwrap();
    let checked = checked(&text);
    let original = checked.elaborate("gemm").unwrap();
    let strategies = checked.strategy_set().unwrap();
    for name in ["small_tiles", "fast"] {
        let rewritten = strategies.schedule(name, &original, Options::default()).unwrap().definition;
        let mut dice = Dice::new(3);
        for (m, n, k) in [
            (0, 0, 0),
            (1, 1, 1),
            (0, 3, 2),
            (3, 0, 2),
            (3, 2, 0),
            (2, 3, 4),
            (5, 7, 11),
            (9, 25, 13),
            (8, 24, 260),
        ] {
            let sizes = [("m".into(), m), ("n".into(), n), ("k".into(), k)].into();
            let args = arguments(&original, &sizes, &mut dice);
            let expected = evaluate(&original, &sizes, &args, Limits::default()).unwrap();
            let found = evaluate(&rewritten, &sizes, &args, Limits::default()).unwrap();
            assert!(same_bits(&expected, &found), "{name} at {m} {n} {k}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any text ends in a strategy or a diagnostic.
    #[test]
    fn any_text_is_read(text in "[a-z0-9(); <+.,\\\\-]{0,60}|\\PC{0,40}") {
        let _ = parse(&"s".into(), &text, 0);
    }

    /// A strategy prints as text that reads back to the same value.
    #[test]
    fn strategies_print_as_they_read(words in proptest::collection::vec(0usize..12, 1..30)) {
        let parts = ["try", "repeat", "(a; b)", "x(1, n)", "topDown", "at map 2", "inside let", "everywhere", "child 1", "at position 0.1", "not", "one"];
        let mut text: String = words.iter().map(|w| format!("{} ", parts[*w])).collect();
        text += "id";
        if let Ok(named) = parse(&"s".into(), &text, 0) {
            let again = parse(&"s".into(), &named.body.to_string(), 0).unwrap();
            prop_assert_eq!(named.body.to_string(), again.body.to_string());
            prop_assert!(!matches!(again.body, Strategy::Fail));
        }
    }
}
