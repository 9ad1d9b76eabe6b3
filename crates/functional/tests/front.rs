//! The front half on data files: source text to checked core definitions, printed; and the diagnostics of bad programs.

mod render;

use functional::{Definition, check, check_module, parse_module, print, walk};

/// Runs on a stack that is as large as the command's, as deep trees need it.
fn on_large_stack<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(1 << 30).spawn_scoped(scope, run);
        thread.expect("a thread").join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// All that is wrong with a text: its syntax, else its types, else its core forms.
fn diagnostics(source: &str) -> Vec<loops::Diagnostic> {
    let (module, errors) = parse_module(source);
    if !errors.is_empty() {
        return errors;
    }
    let checked = match check_module(&module) {
        Ok(checked) => checked,
        Err(errors) => return errors,
    };
    let mut all = Vec::new();
    for summary in checked.definitions().iter().filter(|d| d.stands_alone) {
        match checked.elaborate(&summary.name) {
            Ok(definition) => all.extend(check(&definition).err()),
            Err(errors) => all.extend(errors),
        }
    }
    all
}

/// The core forms of all definitions that can stand alone, verified.
fn core(source: &str) -> Vec<Definition> {
    let (module, errors) = parse_module(source);
    assert!(errors.is_empty(), "{}", render::all(source, &errors));
    let checked = check_module(&module).unwrap_or_else(|e| panic!("{}", render::all(source, &e)));
    let mut definitions = Vec::new();
    for summary in checked.definitions().iter().filter(|d| d.stands_alone) {
        let definition =
            checked.elaborate(&summary.name).unwrap_or_else(|e| panic!("{}", render::all(source, &e)));
        if let Err(error) = check(&definition) {
            panic!("{}\n{}", render::all(source, &[error]), print::definition(&definition));
        }
        definitions.push(definition);
    }
    definitions
}

/// The print of a definition means the same definition.
fn assert_reads_back(definition: &Definition) {
    let text = print::definition(definition);
    let again = core(&text);
    let [again] = again.as_slice() else { panic!("{text}") };
    let same = again.name == definition.name
        && again.sizes == definition.sizes
        && again.facts == definition.facts
        && again.params.iter().map(|p| &p.ty).eq(definition.params.iter().map(|p| &p.ty))
        && walk::alpha_equal_lambdas(
            &functional::Lambda { params: again.params.clone(), body: again.body.clone() },
            &functional::Lambda { params: definition.params.clone(), body: definition.body.clone() },
        );
    assert!(same, "the print of this means something else:\n{text}\nnamely:\n{}", print::definition(again));
}

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
        let text = std::fs::read_to_string(&path).expect("a file");
        if path.extension().is_none_or(|e| e != "loz") || text.contains("\nimport ") {
            continue;
        }
        for definition in core(&text) {
            assert_reads_back(&definition);
            count += 1;
        }
    }
    assert!(count >= 22, "the library has {count} programs");
}

#[test]
fn many_combinators_are_unfolded_in_time() {
    on_large_stack(|| {
        let mut text = String::from("def deep [n] (xs: [n]f32): [n]f32 = xs");
        for _ in 0..3000 {
            text.push_str("\n  |> mapSeq (\\x -> x + 1)");
        }
        let definitions = core(&text);
        assert_eq!(walk::count(&definitions[0].body) > 9000, true);
    });
}
