//! The front half on data files: source text to checked core definitions, printed; and the
//! diagnostics of bad programs.

mod support;

use functional::{print, walk};
use support::{assert_reads_back, core, diagnostics, formatted, on_large_stack, render};

#[test]
fn good_programs_have_these_core_forms() {
    golden::check("functional/types", "loz", "core", |case| {
        let definitions = core(&case.input);
        definitions.iter().for_each(assert_reads_back);
        definitions.iter().map(print::definition).collect::<Vec<_>>().join("\n")
    });
}

#[test]
fn bad_programs_are_refused_with_these_words() {
    for area in ["functional/syntax", "functional/errors"] {
        golden::check(area, "loz", "out", |case| {
            let errors = diagnostics(&case.input);
            assert!(!errors.is_empty(), "{} is not refused", case.name);
            for error in &errors {
                let page = golden::root().join(format!("docs/errors/{}.md", error.code));
                assert!(page.exists(), "{} has no page", error.code);
            }
            render::all(&case.input, &errors)
        });
    }
}

#[test]
fn the_library_is_well_typed_and_prints() {
    let mut count = 0;
    for entry in std::fs::read_dir(golden::root().join("library")).expect("the library") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|e| e != "loz") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a file");
        if text.contains("\nimport ") {
            continue;
        }
        for definition in core(&text) {
            assert_reads_back(&definition);
            count += 1;
        }
    }
    assert!(count >= 22, "the library has {count} programs");
}

/// `count` combinators, one behind another or in as many `let`s.
fn deep_program(count: usize, lets: bool) -> String {
    let mut text = String::from("def deep [n] (xs: [n]f32): [n]f32 =");
    if !lets {
        return text + " xs" + &"\n  |> mapSeq (\\x -> x + 1)".repeat(count);
    }
    let mut last = "xs".to_owned();
    for k in 0..count {
        text.push_str(&format!("\n  let x{k} = mapSeq (\\x -> x + 1) {last} in"));
        last = format!("x{k}");
    }
    text + " " + &last
}

#[test]
fn ten_thousand_combinators_pass() {
    on_large_stack(|| {
        for lets in [false, true] {
            let definitions = core(&deep_program(10_000, lets));
            assert!(walk::count(&definitions[0].body) > 30_000);
        }
    });
}

#[test]
fn sums_may_be_long() {
    on_large_stack(|| {
        let terms: Vec<String> = (0..100_000).map(|k| format!("x * {k}")).collect();
        let definitions = core(&format!("def f (x: f64): f64 = {}", terms.join(" - ")));
        assert!(walk::count(&definitions[0].body) > 300_000);
        assert!(walk::depth(&definitions[0].body) < 1_500);
    });
}

#[test]
fn what_is_nested_too_deeply_is_refused() {
    on_large_stack(|| {
        let nest = |open: &str, close: &str, n: usize| {
            format!("def f (x: f32): f32 = {}x{}", open.repeat(n), close.repeat(n))
        };
        let programs = [
            (nest("(", ")", 30_000), "F0103"),
            (nest("(", "", 1_000_000), "F0103"),
            (nest("-(", ")", 30_000), "F0103"),
            (nest("", "[0]", 300_000), "F0103"),
            (nest("\\y -> ", "", 100_000), "F0103"),
            (nest("if true then 1 else ", "", 50_000), "F0103"),
            (format!("def f (x: {}f32): f32 = x", "[1]".repeat(100_000)), "F0103"),
            (format!("def f (x: {}f32): f32 = x", "(".repeat(100_000)), "F0103"),
            (format!("def f (x: {}f32): f32 = x", "f32 -> ".repeat(100_000)), "F0103"),
            (format!("def f: f32 = let {} = x in x", "(".repeat(100_000)), "F0103"),
            ("(".repeat(10 << 20), "F0104"),
            (deep_program(15_000, true), "F0502"),
        ];
        for (program, code) in programs {
            let start = std::time::Instant::now();
            let errors = diagnostics(&program);
            let told: Vec<&str> = errors.iter().map(|e| e.code.0).collect();
            assert!(told.contains(&code), "{code} is due, not {told:?}: {}", &program[..80]);
            assert!(errors.len() <= 60 && start.elapsed().as_secs() < 60);
        }
    });
}

#[test]
fn programs_are_formatted() {
    golden::check("functional/fmt", "loz", "out", |case| formatted(&case.input));
    for area in ["functional/types", "../library", "rules"] {
        for case in golden::cases(area, "loz") {
            let text = formatted(&case.input);
            let difference = golden::diff(&case.input, &text);
            assert!(text == case.input, "{} is not formatted:\n{difference}", case.path.display());
        }
    }
}

/// Where the text between `<!-- name: ...` and the next `<!-- end -->` is.
fn section(text: &str, name: &str) -> std::ops::Range<usize> {
    let start = text.find(&format!("<!-- {name}:")).expect("the section begins");
    let start = start + text[start..].find('\n').expect("a line") + 1;
    let end = start + text[start..].find("<!-- end -->").expect("the section ends");
    start..end
}

#[test]
fn the_reference_lists_the_primitives() {
    use functional::prim::TABLE;
    use std::fmt::Write as _;
    let mut primitives = String::new();
    let mut group = None;
    for info in TABLE {
        if group != Some(info.group) {
            let _ = write!(
                primitives,
                "\n### {:?}\n\n| name | type | meaning |\n| --- | --- | --- |\n",
                info.group
            );
            group = Some(info.group);
        }
        let cell = |text: &str| text.replace('|', "\\|");
        let _ = writeln!(primitives, "| `{}` | `{}` | {} |", info.name, cell(info.scheme), cell(info.doc));
    }
    primitives.push('\n');
    let mut demands = String::from("\n");
    for info in TABLE {
        for demand in functional::infer::demands(info.prim) {
            let _ = writeln!(demands, "- `{}` (`{}`): `{demand}`", info.name, info.scheme);
        }
    }
    demands.push('\n');
    let path = golden::root().join("docs/language.md");
    let mut text = std::fs::read_to_string(&path).expect("the reference");
    for (name, wanted) in [("primitives", primitives), ("demands", demands)] {
        text.replace_range(section(&text, name), &wanted);
    }
    golden::compare(&path, &text).unwrap_or_else(|difference| panic!("{difference}"));
}

#[test]
fn programs_of_the_reference_are_right() {
    let text = std::fs::read_to_string(golden::root().join("docs/language.md")).expect("the reference");
    let mut count = 0;
    for block in text.split("```").skip(1).step_by(2).filter(|b| b.contains("def ") && !b.contains("...")) {
        core(block).iter().for_each(assert_reads_back);
        count += 1;
    }
    assert!(count >= 2);
}

#[test]
fn files_are_imported() {
    let files = [
        ("main", "import \"blas\"\nimport \"util\"\ndef f [n] (xs: [n]f32): f32 = dot xs (twice xs)\n"),
        (
            "blas",
            "import \"util\"\ndef dot [n] (xs ys: [n]f32): f32 = zip xs ys |> mapSeq (\\(x, y) -> x * y) |> reduceSeq (+) 0\n",
        ),
        ("util", "type v n = [n]f32\ndef twice [n] (xs: v n): v n = mapSeq (\\x -> 2 * x) xs\n"),
        ("circle", "import \"circle\"\ndef f: f32 = 1\n"),
        ("missing", "import \"nowhere\"\ndef f: f32 = 1\n"),
        ("wrong", "import \"broken\"\ndef f: f32 = g 1\n"),
        ("broken", "def g (x: f32): f32 = y\ndef h: f32 = 1\n"),
    ];
    let text =
        |name: &str| files.iter().find(|(n, _)| *n == name).map(|(n, t)| (n.to_string(), t.to_string()));
    let load = |name: &str| {
        let mut loader = |_: &str, path: &str| text(path).ok_or_else(|| "no such file".to_owned());
        functional::load(name, &text(name).unwrap().1, &mut loader)
    };
    let (sources, errors) = load("main");
    assert!(errors.is_empty(), "{errors:?}");
    let names: Vec<&str> = sources.files.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["util", "blas", "main"]);
    let checked = functional::check_sources(&sources).unwrap();
    assert_eq!(checked.own_definitions().iter().map(|d| d.name.to_string()).collect::<Vec<_>>(), ["f"]);
    let definition = checked.elaborate("f").unwrap();
    functional::check(&definition).unwrap();
    // All places are those of the file that was asked for.
    let mut todo = vec![&definition.body];
    while let Some(term) = todo.pop() {
        assert!((term.span().end as usize) <= sources.files[2].text.len());
        assert!((term.span().start as usize) >= definition.span.start as usize);
        todo.extend(walk::children(term).into_iter().map(|(_, t)| t));
    }
    assert_eq!(load("circle").1[0].diagnostic.code.0, "F0206");
    assert_eq!(load("missing").1[0].diagnostic.code.0, "F0206");
    let (sources, errors) = load("wrong");
    assert!(errors.is_empty());
    let errors = functional::check_sources(&sources).unwrap_err();
    let told: Vec<_> = errors.iter().map(|e| (e.file, e.diagnostic.code.0)).collect();
    assert_eq!(told, [(0, "F0201")]);
}

/// The core form of `f`, or the codes of errors with their messages, of a file that imports others.
fn with_imports(main: &str) -> Result<String, String> {
    let files = [
        ("one", "def g (x: f32): f32 = 2 * x\ndef h (x: f32): f32 = g x\n"),
        ("two", "def g (x: f32): f32 = 3 * x\n"),
        ("three", "import \"one\"\ndef g (x: f32): f32 = 5 * g x\n"),
        ("primitive", "def max (a b: f32): f32 = a - b\n"),
    ];
    let mut loader = |_: &str, path: &str| {
        let found = files.iter().find(|(name, _)| *name == path);
        found.map(|(name, text)| (name.to_string(), text.to_string())).ok_or_else(String::new)
    };
    let (sources, errors) = functional::load("main", main, &mut loader);
    assert!(errors.is_empty(), "{errors:?}");
    let checked = functional::check_sources(&sources).map_err(|errors| {
        let told = errors.iter().map(|e| format!("{}: {}", e.diagnostic.code, e.diagnostic.message));
        told.collect::<Vec<_>>().join("\n")
    })?;
    let definition = checked.elaborate("f").unwrap();
    functional::check(&definition).unwrap();
    let text = functional::print::definition(&definition);
    // What is printed means the same, whatever it is named.
    let again = functional::check_module(&functional::parse_module(&text).0).unwrap();
    assert_eq!(functional::print::definition(&again.elaborate("f").unwrap()), text);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(words.split_once(" = ").unwrap().1.replace(".0f32", ""))
}

#[test]
fn definitions_hide_primitives_and_what_is_imported() {
    let f = |main: &str| with_imports(main).unwrap();
    // In the whole file, and in those that import it; operators are not concerned.
    assert_eq!(f("def f (x: f32): f32 = sub x 1\ndef sub (a b: f32): f32 = b - a"), "1 - x");
    assert_eq!(f("import \"primitive\"\ndef f (x: f32): f32 = max x 1"), "x - 1");
    assert_eq!(f("import \"primitive\"\ndef f (x: f32): f32 = x |> max 1"), "1 - x");
    // In its own body, a name is that of what the definition hides.
    assert_eq!(f("def f (x: f32): f32 = exp x\ndef exp (x: f32): f32 = exp (x + 1)"), "exp (x + 1)");
    let own = "import \"one\"\ndef g (x: f32): f32 = 7 * g x\n";
    assert_eq!(f(&format!("{own}def f (x: f32): f32 = g x")), "7 * (2 * x)");
    // Other files go on with theirs.
    assert_eq!(f(&format!("{own}def f (x: f32): f32 = h x")), "2 * x");
    assert_eq!(f("import \"three\"\ndef f (x: f32): f32 = g (h x)"), "5 * (2 * (2 * x))");
    // Two files without a relation: the importer says which.
    let both = "import \"one\"\nimport \"two\"\n";
    assert_eq!(f(&format!("{both}def f (x: f32): f32 = h x")), "2 * x");
    assert_eq!(f(&format!("{both}def g (x: f32): f32 = x\ndef f (x: f32): f32 = g x")), "x");
    let refused = with_imports(&format!("{both}def f (x: f32): f32 = g x")).unwrap_err();
    assert_eq!(refused, "F0202: `g` is defined in `one` and in `two`");
    // Nothing is recursive, by whatever name.
    let circle = "def f (x: f32): f32 = exp x\ndef exp (x: f32): f32 = f x";
    assert!(with_imports(circle).unwrap_err().starts_with("F0506"));
    // A definition with an error does not uncover what it hides.
    let wrong = "def f (x: f32): f32 = exp x x\ndef exp (x y: f32): f32 = z";
    assert_eq!(with_imports(wrong).unwrap_err(), "F0201: there is nothing named `z` here");
}

#[test]
fn definitions_are_unfolded_at_the_types_asked_for() {
    use functional::{DataType, check_module, parse_module};
    use loops::{Name, Scalar};
    let source = "def sum [n] {t: num} (xs: [n]t): t = reduceSeq (+) 0 xs
def apply (f: f32 -> f32) (x: f32): f32 = f x
def root {t: float} (x: t): t = sqrt x
def modulo {t: int} (x y: t): t = x % y";
    let checked = check_module(&parse_module(source).0).unwrap();
    let at = |name: &str, parameter: &str, scalar: Scalar| {
        let types = std::collections::BTreeMap::from([(Name::new(parameter), DataType::Scalar(scalar))]);
        checked.elaborate_at(name, &types)
    };
    for scalar in [Scalar::F32, Scalar::F64, Scalar::I32, Scalar::I64] {
        let definition = at("sum", "t", scalar).unwrap();
        functional::check(&definition).unwrap();
        assert_eq!(*definition.body.ty(), DataType::Scalar(scalar));
    }
    let code = |result: Result<functional::Definition, Vec<loops::Diagnostic>>| result.unwrap_err()[0].code.0;
    assert_eq!(code(at("sum", "t", Scalar::Bool)), "F0507");
    assert_eq!(code(at("sum", "s", Scalar::F32)), "F0507");
    assert_eq!(code(at("root", "t", Scalar::I32)), "F0507");
    assert_eq!(code(checked.elaborate("apply")), "F0503");
    assert_eq!(code(checked.elaborate("smu")), "F0504");
    assert!(checked.elaborate("smu").unwrap_err()[0].help[0].contains("`sum`"));
    assert_eq!(*checked.elaborate("modulo").unwrap().body.ty(), DataType::Scalar(Scalar::I64));
    assert_eq!(*checked.elaborate("root").unwrap().body.ty(), DataType::Scalar(Scalar::F32));
}

/// Definitions that call each other twice: their core forms double, up to a limit that counts
/// steps.
#[test]
fn what_doubles_with_each_call_is_refused() {
    let mut text = String::from("def d0 [n] (xs: [n]f32): [n]f32 = mapPar (\\x -> x * x) xs\n");
    for k in 1..=40 {
        let body = format!("mapPar (\\(a, b) -> a + b) (zip (d{0} xs) (d{0} xs))", k - 1);
        text.push_str(&format!("def d{k} [n] (xs: [n]f32): [n]f32 = {body}\n"));
    }
    let (module, errors) = functional::parse_module(&text);
    assert!(errors.is_empty());
    let checked = functional::check_module(&module).expect("they are well typed");
    assert!(checked.elaborate("d10").is_ok());
    for name in ["d20", "d40"] {
        let errors = checked.elaborate(name).expect_err("too large");
        assert_eq!(errors.iter().map(|e| e.code.0).collect::<Vec<_>>(), ["F0505"]);
    }
}
