//! `lozenge passes`, and the options of `compile` that look at what passes do.

use passes::{Pipeline, Step};
use serde_json::json;

use crate::cli::Look;
use crate::failure::Failure;
use crate::pipeline::History;
use crate::report;
use crate::target::{self, Target};

/// Prints every pass, and the pipelines that are lists of them.
pub fn run(as_json: bool) {
    if as_json {
        let steps: Vec<_> = steps().iter().map(step_json).collect();
        let lists: Vec<_> = passes::PIPELINES.iter().map(|list| pipeline_json(list)).collect();
        report::print_json(json!({ "ok": true, "passes": steps, "pipelines": lists }));
        return;
    }
    report::print(&text());
}

/// Every pass and pipeline, for people.
pub fn text() -> String {
    let mut text = String::from("Passes on loop programs:\n");
    for Step { name, literature, about } in passes::ALL.iter().map(|pass| pass.step) {
        text.push_str(&format!("\n  {name}\n      {about}\n      ({literature})\n"));
    }
    text.push_str("\nSteps of the affine scheduler, after `region` and the expansions that it tries:\n");
    for Step { name, literature, about } in polyhedral::optimize::STEPS {
        text.push_str(&format!("\n  {name}\n      {about}\n      ({literature})\n"));
    }
    text.push_str("\nPipelines:\n");
    for list in passes::PIPELINES {
        let names: Vec<&str> = list.passes.iter().map(|pass| pass.name()).collect();
        text.push_str(&format!("\n  {}: {}\n      {}\n", list.name, list.about, names.join(", ")));
    }
    text
}

/// The page `docs/passes.md`.
pub fn page() -> String {
    let item = |Step { name, literature, about }: Step| {
        format!(
            "{}\n{}\n",
            wrapped(&format!("- `{name}`: {about}.")),
            wrapped(&format!("  In the literature: {literature}."))
        )
    };
    let all: String = passes::ALL.iter().map(|pass| item(pass.step)).collect();
    let scheduling: String = polyhedral::optimize::STEPS.into_iter().map(item).collect();
    let pipelines: String = passes::PIPELINES
        .iter()
        .map(|list| {
            let names: Vec<String> =
                list.passes.iter().map(|pass| format!("  - `{}`\n", pass.name())).collect();
            format!("- `{}`: {}\n{}", list.name, list.about, names.concat())
        })
        .collect();
    format!(
        "{PAGE}\n## Passes\n\n{all}\n## Scheduling\n\n{SCHEDULING}\n{scheduling}\n## Pipelines\n\n{pipelines}"
    )
}

/// A line of a list, in lines of at most 100 columns.
fn wrapped(line: &str) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in line.split_inclusive(' ') {
        if column + word.trim_end().chars().count() > 100 {
            text.truncate(text.trim_end().len());
            text.push_str("\n  ");
            column = 2;
        }
        text.push_str(word);
        column += word.chars().count();
    }
    text
}

const PAGE: &str = "# Passes

<!-- Made from the code; `./x bless lozenge` makes it anew. -->

This page is for those who want to see what Lozenge does to loops between the input and C. Each
transformation of loop programs is a pass with a name. A pass keeps every bit of the results, unless
`--reassociate` lets it change the order of floating-point operations.

- `lozenge passes` prints this list.
- `lozenge compile FILE --print-after PASS` prints the loop program after a pass, and
  `--print-after-all` after each pass that changed it.
- `lozenge compile FILE --verify` checks the loops after each pass: by the validator, and by the
  interpreter at small sizes, bit by bit.
- The first line of what `--emit schedule` prints names the passes around the schedule, so that
  `--schedule FILE` gives the same code again.
";

const SCHEDULING: &str =
    "C regions, and other loops with `--schedule auto`, go through these steps after the passes of the
pipeline `region`. Before them the optimizer tries `store-forwarding`, `scalar-expansion`,
`array-expansion` and `copy-propagation`, and takes them where they let a nest be tiled or parallel.
";

fn steps() -> Vec<Step> {
    passes::ALL.iter().map(|pass| pass.step).chain(polyhedral::optimize::STEPS).collect()
}

fn step_json(step: &Step) -> serde_json::Value {
    json!({ "name": step.name, "literature": step.literature, "about": step.about })
}

fn pipeline_json(list: &Pipeline) -> serde_json::Value {
    let names: Vec<&str> = list.passes.iter().map(|pass| pass.name()).collect();
    json!({ "name": list.name, "about": list.about, "passes": names })
}

/// Does what `--print-after`, `--print-after-all` and `--verify` ask for.
///
/// # Errors
/// `X0009` for a name that no pass has; what the stages refuse; `X0601` if a pass is found wrong.
pub fn look(look: &Look, histories: impl FnOnce() -> Result<Vec<History>, Failure>) -> Result<(), Failure> {
    if *look == Look::default() {
        return Ok(());
    }
    let known: Vec<&str> = steps().iter().map(|step| step.name).collect();
    if let Some(unknown) = look.print_after.iter().find(|name| !known.contains(&name.as_str())) {
        let failure = Failure::usage("X0009", format!("there is no pass `{unknown}`"));
        return Err(match loops::suggest::nearest(unknown, known.iter().copied()) {
            Some(near) => failure.help(format!("did you mean `{near}`?")),
            None => failure.help("`lozenge passes` lists them"),
        });
    }
    for history in histories()? {
        report::print_error(&after(&history, look));
        if look.verify {
            report::print_error(&verified(&history)?);
        }
    }
    Ok(())
}

/// Looking at passes, where no command shows them.
pub(super) fn not_here() -> Failure {
    let others = Target::all().iter().copied().filter(|target| !target.abilities().passes);
    let message = format!(
        "`--print-after`, `--print-after-all` and `--verify` have no effect for libraries and for the targets {}",
        target::names(others)
    );
    Failure::usage("X0009", message)
        .help("leave out `--target`, `--shared` or `--static`; for athread, `--emit schedule` prints the tree after each module")
}

/// The loops after the passes that are asked for.
fn after(history: &History, look: &Look) -> String {
    let wanted = |name: &str| look.print_after_all || look.print_after.iter().any(|one| one == name);
    let shown = history.applied.iter().filter(|one| wanted(one.pass));
    shown.map(|one| format!("// {} after {}\n{}\n\n", history.before.name, one.pass, one.function)).collect()
}

fn verified(history: &History) -> Result<String, Failure> {
    let name = &history.before.name;
    match passes::verify(&history.before, &history.applied) {
        Ok(passes::Verified { valid: 0, .. }) => Ok(format!("verified `{name}`: no pass changed it\n")),
        Ok(passes::Verified { valid, runs }) => Ok(format!(
            "verified `{name}`: {valid} passes changed it; all results are valid, and {runs} runs of the interpreter at small sizes gave the same bits\n"
        )),
        Err(fault) => {
            let mut failure = Failure::refused(
                "X0601",
                format!("the pass {} is wrong for `{name}`: {}", fault.pass, fault.what),
            );
            failure.diagnostics.extend(fault.diagnostics);
            Err(failure)
        }
    }
}
