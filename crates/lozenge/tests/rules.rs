//! What rules of programs claim: where Coq is installed, it accepts every statement, and proves
//! those that are listed beside the rules. Without Coq there is nothing to see.

use std::path::{Path, PathBuf};
use std::process::Command;

use lozenge::coq::Coq;

/// The compiled theory, which the tests of certificates keep there too.
fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

/// What the command prints of a file's lemmas.
fn lemmas(file: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_lozenge"))
        .args(["check-rules", "--emit", "lemma"])
        .arg(file)
        .env("XDG_CACHE_HOME", cache())
        .env("NO_COLOR", "1")
        .output()
        .expect("the command runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", file.display());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn coq_accepts_the_lemmas_of_rules() {
    if let Err(missing) = Coq::command() {
        golden::skipped(&missing.summary());
        return;
    }
    golden::check("rules/verdicts", "loz", "lemmas", |case| {
        let printed = lemmas(&case.path);
        let lemmas = printed.lines().filter_map(|line| line.strip_prefix("(* ")?.strip_suffix(" *)"));
        lemmas.map(|line| format!("{line}\n")).collect()
    });
}

/// A certificate is about the definition before any rule, so rules of a program need no trust.
#[test]
fn loops_made_with_rules_of_a_program_are_certified() {
    if let Err(missing) = Coq::command() {
        golden::skipped(&missing.summary());
        return;
    }
    let file = golden::folder("rules/schedules").join("fusion.loz");
    for definition in ["inBlocks", "inLanes", "inTree"] {
        let output = Command::new(env!("CARGO_BIN_EXE_lozenge"))
            .args(["prove", "--def", definition])
            .arg(&file)
            .env("XDG_CACHE_HOME", cache())
            .env("NO_COLOR", "1")
            .output()
            .expect("the command runs");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains(&format!("{definition}: accepted")), "{said}");
        let laws = said.lines().find(|line| line.contains("laws of arithmetic used")).unwrap_or_default();
        assert_eq!(laws.contains("none"), definition == "inBlocks", "{laws}");
    }
}
