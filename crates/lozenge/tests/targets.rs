//! All targets by the calls that programs use: what they say of themselves is what they do, and the
//! page `docs/targets.md` is what they say.

use lozenge::{Kind, Request, Source, Stage, Target, compile, compile_to};

const SUMS: &str = "void sums(int n, double a[restrict n][n], double s[restrict n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      s[i] += a[i][j];
#pragma endscop
}
";

fn sources() -> [(Source, Kind); 3] {
    [
        (Source::new("sums.c", SUMS), Kind::C),
        (
            Source::new("double.loz", "def double [n] (x: [n]f64): [n]f64 = mapPar (\\a -> a + a) x\n"),
            Kind::Functional,
        ),
        (
            Source::new(
                "double.loops",
                "fn double[n](x: in f64[n], y: out f64[n]) {\n  for i in 0..n { S0: y[i] = x[i] + x[i] }\n}\n",
            ),
            Kind::Loops,
        ),
    ]
}

#[test]
fn every_target_makes_files_of_every_kind_of_source() {
    for target in Target::all() {
        for (source, kind) in sources() {
            let request = Request { target: *target, stem: "work".to_owned(), ..Request::default() };
            let compiled = compile(&source, kind, &request)
                .unwrap_or_else(|failure| panic!("{target:?}, {}: {}", source.path, failure.summary()));
            let files = &compiled.output.files;
            assert!(!files.is_empty() && files.iter().all(|file| !file.text.is_empty()), "{target:?}");
            let mut names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), files.len());
            let text = compiled.output.text();
            assert!(text.contains("double"), "{target:?}: {text}");
        }
    }
}

#[test]
fn a_target_has_the_stages_that_it_names_and_no_others() {
    let (source, kind) = &sources()[1];
    for target in Target::all() {
        let request = Request { target: *target, ..Request::default() };
        for stage in Stage::ALL {
            match (compile_to(source, *kind, *stage, &request), target.stages().contains(stage)) {
                (Ok(compiled), true) => assert_eq!(compiled.output.files.len().min(1), 1),
                (Err(failure), false) => assert_eq!(failure.diagnostics[0].code.0, "X0007"),
                (Err(failure), true) => panic!("{target:?}, {stage:?}: {}", failure.summary()),
                (Ok(_), false) => panic!("{target:?} has the stage {stage:?} and does not say so"),
            }
        }
    }
}

#[test]
fn a_text_imports_nothing() {
    let source = Source::new("/etc/x.loz", "import \"passwd\"\n\ndef one: f64 = 1.0\n");
    let failure = compile(&source, Kind::Functional, &Request::default()).unwrap_err();
    assert_eq!(failure.diagnostics[0].code.0, "F0206");
}

#[test]
fn a_name_of_a_preprocessed_text_is_its_own() {
    let source = Source::new("mine.c", "#include \"nowhere.h\"\n#pragma scop\n#pragma endscop\n");
    let failure = compile(&source, Kind::C, &Request::default()).unwrap_err();
    let diagnostic = &failure.diagnostics[0];
    assert_eq!(diagnostic.code.0, "X0305");
    assert!(diagnostic.message.contains("mine.c"), "{diagnostic:?}");
    assert!(diagnostic.notes[0].starts_with("mine.c:1"), "{diagnostic:?}");
}

#[test]
fn the_page_of_targets_is_what_the_registry_has() {
    golden::compare(&golden::root().join("docs/targets.md"), &page()).unwrap_or_else(|e| panic!("{e}"));
}

fn page() -> String {
    let sections: String = Target::all().iter().map(|target| section(*target)).collect();
    format!("{PAGE}{sections}")
}

const PAGE: &str = "# Targets

<!-- Made from the code; `./x bless lozenge` makes it anew. -->

This page is for those who choose what Lozenge writes code for. `--target NAME` chooses, and so does
a line `target = \"NAME\"` in `lozenge.toml`.
";

fn section(target: Target) -> String {
    let stages: Vec<String> = target.stages().iter().map(|stage| format!("`{}`", stage.name())).collect();
    let abilities = target.abilities();
    let yes = |has: bool| if has { "yes" } else { "no" };
    let rows = [
        ("whole models", abilities.models),
        ("libraries (`--shared`, `--static`)", abilities.libraries),
        ("`--print-after`, `--verify`", abilities.passes),
        ("code for a number of threads (`compile --threads`)", abilities.threads),
        ("tiles for given sizes (`compile --size`)", abilities.sizes),
        ("its own mapping of loops", abilities.mapping),
        ("code for several ranks (`--ranks`, `--grid`, `--distribute`)", abilities.ranks),
        ("several files, in a folder", abilities.folder),
    ];
    let rows: String = rows.iter().map(|(what, has)| format!("| {what} | {} |\n", yes(*has))).collect();
    let mut text = format!(
        "\n## {}\n\n{}. Stages of `--emit`:\n{}.\n\n| it has | |\n| --- | --- |\n{rows}",
        target.name(),
        target.description(),
        stages.join(", ")
    );
    for setting in target.settings() {
        text.push_str(&format!("\n`--{}`: {}.\n\n", setting.name, setting.help));
        for (value, help) in setting.values {
            let usual = if *value == setting.default { " (default)" } else { "" };
            text.push_str(&format!("- `{value}`{usual}: {help}.\n"));
        }
    }
    text
}
