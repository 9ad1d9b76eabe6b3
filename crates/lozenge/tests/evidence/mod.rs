//! That a verdict of Coq's says what it seems to: who is believed, what is asked, and that wrong
//! certificates are rejected.
//!
//! Not here: the verdicts on the library, and mutants of loops.

use std::collections::BTreeMap;
use std::path::Path;

use dpia::certificate::{HEAD, module_name};
use lozenge::pipeline::Front;
use lozenge::{Kind, Request, Source};

use super::{LIMIT, coq, mutate, on_two_threads, programs, translations, verdicts};

/// Certificates of which fields are changed, and how long these may be.
const CERTIFICATES: usize = 60;
const SHORT: usize = 2500;

/// A program that says what Coq would say, as far as it can know that: no verdict comes of it.
#[test]
#[cfg(unix)]
fn only_coq_is_believed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("believed");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let closed = "echo 'Closed under the global context'";
    // What is compiled is there; each then says more than the one before.
    let build = "for file; do case $file in *.v) : >\"${file}o\";; esac; done";
    let says = [
        ("nothing", "exit 0".to_owned()),
        ("files", build.to_owned()),
        ("closed", format!("{build}; {closed}")),
        (
            "statement",
            format!("{build}; echo 'm_dl_mul_dl.ok : correct m_dl_mul_dl.c'; {closed}; echo '= 1%N : N'"),
        ),
        (
            "echo",
            format!(
                "{build}; echo 'accept_sound : forall ct : certificate, accept ct = true -> correct ct'; {closed}; grep -h Eval \"$file\""
            ),
        ),
    ];
    for (name, script) in says {
        let fake = folder.join(name);
        std::fs::write(
            &fake,
            format!("#!/bin/sh\n[ \"$1\" = --print-version ] && exec echo 8.16.1 4.13.1\n{script}\n"),
        )
        .unwrap();
        std::fs::set_permissions(&fake, std::fs::Permissions::from_mode(0o755)).unwrap();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_lozenge"))
            .args(["prove", "library/paper.loz", "--def", "dl_mul_dl"])
            .current_dir(golden::root())
            .env("COQC", &fake)
            .env("XDG_CACHE_HOME", folder.join("cache"))
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("X0704"), "{name}: {told}");
        assert!(output.stdout.is_empty(), "{name}: {}", String::from_utf8_lossy(&output.stdout));
        assert_eq!(output.status.code(), Some(4), "{name}");
    }
}

/// Certificates that say something else than the compiler did, one field at a time, are rejected.
#[test]
fn mutants_of_fields_are_rejected() {
    let Some(coq) = coq() else { return };
    let mut certificates = Vec::new();
    for path in programs() {
        for (name, sides) in translations(&path) {
            let Ok(certificate) = sides.certificate() else { continue };
            if certificate.to_module(&name, "").len() <= SHORT {
                certificates.push((name, certificate));
            }
        }
    }
    let step = certificates.len().div_ceil(CERTIFICATES).max(1);
    let chosen: Vec<_> = certificates.into_iter().step_by(step).collect();
    let counts = on_two_threads(2, |half| {
        let (mut modules, mut kinds) = (Vec::new(), Vec::new());
        for (k, (name, certificate)) in chosen.iter().enumerate().skip(half).step_by(2) {
            // Definitions of two files may have the same name.
            let name = format!("{name}__of_{k}");
            modules.push((module_name(&name), certificate.to_module(&name, "")));
            kinds.push(None);
            for (j, (what, mutant)) in mutate::fields::mutants(certificate).into_iter().enumerate() {
                let name = format!("{name}__{j}");
                modules.push((module_name(&name), mutant.to_module(&name, "")));
                kinds.push(Some(what));
            }
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let (mut accepted, mut sound) = (Vec::new(), false);
        for ((kind, verdict), (name, _)) in kinds.into_iter().zip(verdicts(&coq, &modules)).zip(&modules) {
            match kind {
                // A certificate that is rejected as it is says nothing of its mutants.
                None => sound = verdict,
                Some(_) if !sound => {}
                Some(what) if verdict => accepted.push(format!("{name}: {what}")),
                Some(what) => *counts.entry(what).or_default() += 1,
            }
        }
        assert!(accepted.is_empty(), "{accepted:#?}");
        counts
    });
    let mut total: BTreeMap<&str, usize> = BTreeMap::new();
    counts.into_iter().flatten().for_each(|(what, n)| *total.entry(what).or_default() += n);
    eprintln!("rejected: {total:#?}");
    assert!(total.len() >= 38, "too few kinds of changes: {}", total.len());
    assert!(total.values().sum::<usize>() >= 1000, "too few changes");
}

/// Certificates made by hand, with the parts of the checker that reject them.
#[test]
fn certificates_by_hand() {
    let Some(coq) = coq() else { return };
    let folder = golden::folder("prove");
    let text = std::fs::read_to_string(folder.join("by_hand.v")).unwrap();
    let said = coq.answer(&text, LIMIT).unwrap_or_else(|f| panic!("{f:?}"));
    let words: Vec<&str> = said.split('"').skip(1).step_by(2).collect();
    let lines: String = words.chunks(2).map(|pair| format!("{}: {}\n", pair[0], pair[1])).collect();
    golden::compare(&folder.join("by_hand.txt"), &lines).unwrap_or_else(|e| panic!("{e}"));
}

/// The integers of the theory are those of the one table of arithmetic
/// (`tests/arithmetic/integers.txt`).
#[test]
fn arithmetic() {
    let Some(coq) = coq() else { return };
    let table = std::fs::read_to_string(golden::root().join("tests/arithmetic/integers.txt")).unwrap();
    let names = [
        ("add", "Wadd"),
        ("sub", "Wsub"),
        ("mul", "Wmul"),
        ("floordiv", "Wdiv"),
        ("mod", "Imod"),
        ("min", "Imin"),
        ("max", "Imax"),
    ];
    let mut rows = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let [op, "i64", a, b, result] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
        if let Some((_, op)) = names.iter().find(|(name, _)| *name == op) {
            rows.push(format!("({op}, ({a}), ({b}), ({result}))"));
        }
    }
    assert!(rows.len() > 1000, "{}", rows.len());
    let text = format!(
        "{HEAD}From Lozenge Require Import Semantics.\nOpen Scope Z_scope.\n\
         Definition rows : list (op * Z * Z * Z) := [{}].\n\
         Definition right (row : op * Z * Z * Z) : bool := let '(o, a, b, c) := row in\n\
         match apply unit (fun _ _ => VZ 0) o [VZ a; VZ b] with VZ z => z =? c | _ => false end.\n\
         Eval vm_compute in List.filter (fun row => negb (right row)) rows.\n",
        rows.join("; ")
    );
    let said = coq.answer(&text, LIMIT).unwrap_or_else(|f| panic!("{f:?}"));
    assert_eq!(said, "= [] : list (op * Z * Z * Z)");
}

/// Any legal name has a certificate: words of Coq's, names of its library and of the theory.
#[test]
fn names() {
    let Some(coq) = coq() else { return };
    const NAMES: &[&str] = &[
        "Definition",
        "Theorem",
        "Lemma",
        "Module",
        "End",
        "Section",
        "Proof",
        "Qed",
        "Record",
        "Inductive",
        "Fixpoint",
        "Notation",
        "Require",
        "Import",
        "Export",
        "Check",
        "Print",
        "Eval",
        "Set",
        "Prop",
        "Type",
        "SProp",
        "IF",
        "In",
        "For",
        "Var",
        "Int",
        "Lit",
        "Op",
        "Seq",
        "Skip",
        "Local",
        "If",
        "Assign",
        "Fold",
        "Acc",
        "check",
        "correct",
        "accept",
        "accept_sound",
        "c",
        "ok",
        "sizes",
        "dims",
        "target",
        "source",
        "nat",
        "list",
        "string",
        "true",
        "eq_refl",
        "Z",
        "N",
        "forall",
        "fun",
        "match",
        "with",
        "end",
        "fix",
        "cofix",
        "exists",
        "exists2",
        "as",
        "at",
        "return",
        "using",
        "where",
        "mod",
        "struct",
        "Some",
        "x_",
        "add_f32",
    ];
    let mut modules = Vec::new();
    for name in NAMES {
        let source = Source {
            path: "names.loz".into(),
            text: format!("def {name} [n] (x: [n]f32): [n]f32 = mapSeq (\\a -> a + 1) x\n"),
        };
        // Words of the language are no names.
        let Ok(front) = Front::open(&source, Kind::Functional, &Request::default()) else { continue };
        let certificate = front.sides(&Request::default()).unwrap().certificate().unwrap();
        modules.push((module_name(name), certificate.to_module(name, "")));
    }
    assert!(modules.len() > 50, "{}", modules.len());
    assert!(verdicts(&coq, &modules).iter().all(|accepted| *accepted));
}
