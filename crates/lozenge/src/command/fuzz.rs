//! `lozenge fuzz`: random programs through every stage until the time is over, or so many.

use serde_json::json;

use crate::cli::{Fuzz, Test};
use crate::command::test::test_source;
use crate::failure::{Failure, FailureKind, Source};
use crate::fuzz::{Budget, program};
use crate::process::Compiler;
use crate::report;

/// Runs the command.
///
/// # Errors
/// `X0401` with the first program on which two stages disagree, or that a stage refuses.
pub fn run(arguments: &Fuzz, as_json: bool) -> Result<(), Failure> {
    let compilers = [Compiler::find()?];
    let budget = Budget::of(arguments);
    let options = Test {
        paths: Vec::new(),
        filter: None,
        seed: arguments.seed,
        sanitize: false,
        also_cc: Vec::new(),
        reassociate: false,
        auto: false,
    };
    let (mut seed, mut cases) = (arguments.seed, 0);
    while budget.goes_on(seed - arguments.seed) {
        let source = Source { path: format!("seed-{seed}.loz"), text: program(seed) };
        let verdicts = test_source(&source, &options, &compilers)?;
        if let Some(bad) = verdicts.iter().find(|v| v.failure.is_some()) {
            let failure = bad.failure.clone().unwrap_or_else(|| Failure::told(FailureKind::Check));
            let definition: String =
                source.text.lines().skip(bad.line - 1).take(3).collect::<Vec<_>>().join("\n");
            return Err(Failure { kind: FailureKind::Check, ..failure }
                .note(format!("the program, of seed {seed}:\n{definition}"))
                .help(format!("run it again with `lozenge fuzz --seed {seed} --count 1`")));
        }
        cases += verdicts.len();
        seed += 1;
    }
    let files = seed - arguments.seed;
    if as_json {
        report::print_json(json!({ "ok": true, "files": files, "cases": cases, "next_seed": seed }));
    } else {
        report::print(&format!(
            "{cases} cases of {files} files of random programs: all stages agree (next seed {seed})\n"
        ));
    }
    Ok(())
}
