//! Coq as a child process: the theory, built once for each version of it, and verdicts on
//! certificates.
//!
//! The theory travels inside the command. Its compiled form is kept in the user's cache
//! (`$XDG_CACHE_HOME/lozenge`, else `~/.cache/lozenge`), in a folder whose name depends on the
//! theory's text and on the version of Coq. Not here: what a certificate says
//! (`dpia::certificate`).

mod evidence;
mod theory;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use dpia::certificate::{Certificate, HEAD, module_name};

use crate::failure::{Failure, FailureKind};
use crate::files::Scratch;
use crate::process::{Finished, on_path, run};
use evidence::{Challenge, words};
use theory::cannot_write;

/// The file of the theory that certificates need.
const CHECKER: &str = "Certify";

/// The file that comparisons with the theory's translation need.
const COMPARISON: &str = "Compare";

/// The file with the lemmas on rules of strategies.
const REWRITES: &str = "Rewrites";

/// The theorem that accepts certificates, as Coq prints it.
const THEOREM: &str = "accept_sound : forall ct : certificate, accept ct = true -> correct ct";

/// The question what that theorem rests on. Coq reads every proof of the theory to answer.
const QUESTION: &str = "\
From Coq Require Import NArith.
From Lozenge Require Import Syntax Certify.
Check accept_sound.
Print Assumptions accept_sound.
";

/// The parts of the checker, as the theory calls them, and what they decide.
const PARTS: [(&str, &str); 6] = [
    ("exemplary", "that there are sizes as the definition assumes"),
    ("typed", "types"),
    ("check", "values"),
    ("inbounds", "bounds of arrays"),
    ("apart_all", "that parallel iterations are apart"),
    ("sums_ok", "sums in parallel"),
];

/// Coq reads all proofs of the theory within this.
const QUESTION_LIMIT: Duration = Duration::from_secs(600);

/// Coq with the theory, ready for certificates.
#[derive(Clone, Debug)]
pub struct Coq {
    command: PathBuf,
    theory: PathBuf,
    /// What the theorem rests on, as Coq said in this run of the command.
    axioms: Vec<String>,
}

/// What Coq says of a certificate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The theorem is proved, and rests on these axioms (there should be none).
    Accepted {
        /// Names of axioms.
        axioms: Vec<String>,
    },
    /// The checker computes `false`.
    Rejected,
}

/// What Coq says of a file, and how long it took.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The verdict.
    pub verdict: Verdict,
    /// Wall-clock time of the process, with the time it takes to load the theory.
    pub time: Duration,
}

impl Coq {
    /// Finds Coq: what the variable `COQC` names, else `coqc` on the path.
    ///
    /// # Errors
    /// `X0703` if there is none.
    pub fn command() -> Result<PathBuf, Failure> {
        let named = std::env::var_os("COQC").filter(|v| !v.is_empty());
        let wanted = named.clone().map_or_else(|| PathBuf::from("coqc"), PathBuf::from);
        on_path(&wanted).ok_or_else(|| {
            let message = match named {
                Some(_) => format!("Coq is not installed: COQC names `{}`, which is not a program", wanted.display()),
                None => "Coq is not installed: there is no `coqc` on the path".to_owned(),
            };
            Failure::environment("X0703", message)
                .note("Coq decides whether the loops compute what the program says")
                .help("install it (Debian: apt-get install coq; opam: opam install coq.8.16.1), or name its compiler in the variable COQC")
                .help("without Coq, `lozenge prove --emit certificate` still writes the certificate")
        })
    }

    /// Coq with the theory; builds that if this version has not been built before. What its theorem
    /// rests on is asked each time.
    ///
    /// # Errors
    /// `X0703` if there is no Coq, `X0704` if the theory does not compile or Coq does not answer,
    /// `X0004` if there is no folder to keep it in.
    pub fn ready(told: impl FnMut(&str)) -> Result<Coq, Failure> {
        // Whether there is a Coq at all comes first.
        Coq::command()?;
        Coq::ready_in(&theory::cache()?, told)
    }

    /// As [`Coq::ready`], with the compiled theory in a folder of one's own.
    ///
    /// # Errors
    /// As [`Coq::ready`].
    pub fn ready_in(cache: &Path, told: impl FnMut(&str)) -> Result<Coq, Failure> {
        let mut coq = Coq::with(cache, told, CHECKER)?;
        let challenge = Challenge::draw();
        let finished = coq.compile(&format!("{QUESTION}{}", challenge.question()), QUESTION_LIMIT)?;
        let said = String::from_utf8_lossy(&finished.stdout);
        let axioms = challenge.axioms(&said, THEOREM).filter(|_| finished.status.success());
        coq.axioms =
            axioms.ok_or_else(|| silent("Coq does not say what the theory rests on", &said, &finished))?;
        Ok(coq)
    }

    /// As [`Coq::ready_in`], with what compares loops with the theory's translation. It decides
    /// about no certificate.
    ///
    /// # Errors
    /// As [`Coq::ready`].
    pub fn comparing_in(cache: &Path, told: impl FnMut(&str)) -> Result<Coq, Failure> {
        Coq::with(cache, told, COMPARISON)
    }

    /// As [`Coq::ready`], with the lemmas on rewrite rules. It decides about no certificate.
    ///
    /// # Errors
    /// As [`Coq::ready`].
    pub fn for_rules(told: impl FnMut(&str)) -> Result<Coq, Failure> {
        Coq::command()?;
        Coq::with(&theory::cache()?, told, REWRITES)
    }

    fn with(cache: &Path, told: impl FnMut(&str), file: &str) -> Result<Coq, Failure> {
        let command = Coq::command()?;
        let theory = theory::ready(&command, cache, file, told)?;
        Ok(Coq { command, theory, axioms: Vec::new() })
    }

    /// Lets Coq check a certificate, under this name. It is accepted if Coq says that the theorem
    /// is proved, and what it rests on.
    ///
    /// # Errors
    /// `X0704` if Coq says neither this nor that it is rejected, `X0303` if it takes longer than
    /// the limit.
    pub fn decide(&self, certificate: &Certificate, name: &str, limit: Duration) -> Result<Answer, Failure> {
        let challenge = Challenge::draw();
        let text = certificate.to_claim(name) + &challenge.question();
        let finished = self.compile(&text, limit)?;
        let said = String::from_utf8_lossy(&finished.stdout);
        if is_rejection(&finished) {
            return Ok(Answer { verdict: Verdict::Rejected, time: finished.time });
        }
        if !finished.status.success() {
            return Err(defect("Coq does not understand the certificate", &finished.stderr));
        }
        let Some(found) = challenge.axioms(&said, &Certificate::statement(name)) else {
            return Err(silent("Coq does not say that the certificate is proved", &said, &finished));
        };
        let axioms: BTreeSet<String> = self.axioms.iter().cloned().chain(found).collect();
        let verdict = Verdict::Accepted { axioms: axioms.into_iter().collect() };
        Ok(Answer { verdict, time: finished.time })
    }

    /// Of a certificate that is rejected: which parts of the checker say no, in words.
    ///
    /// # Errors
    /// As [`Coq::answer`].
    pub(crate) fn objections(
        &self,
        certificate: &Certificate,
        name: &str,
        limit: Duration,
    ) -> Result<Vec<&'static str>, Failure> {
        let own = module_name(name);
        let asked: Vec<String> = PARTS.iter().map(|(part, _)| format!("{part} {own}.c")).collect();
        let question = format!("Eval vm_compute in [{}].\n", asked.join("; "));
        let said = self.answer(&format!("{HEAD}{}{question}", certificate.to_module(name, "")), limit)?;
        let answers = said.split(|c: char| !c.is_ascii_alphanumeric());
        let answers = answers.filter(|w| matches!(*w, "true" | "false"));
        Ok(PARTS.iter().zip(answers).filter(|(_, yes)| *yes == "false").map(|((_, word), _)| *word).collect())
    }

    /// Runs a file through Coq and returns what it prints. The file has `NArith` or `ZArith`.
    ///
    /// # Errors
    /// As [`Coq::decide`]; any error of the file is one.
    pub fn answer(&self, text: &str, limit: Duration) -> Result<String, Failure> {
        let challenge = Challenge::draw();
        let finished = self.compile(&format!("{text}\n{}", challenge.question()), limit)?;
        let said = String::from_utf8_lossy(&finished.stdout);
        if !finished.status.success() {
            return Err(defect("Coq does not understand the certificates", &finished.stderr));
        }
        challenge.before(&said).ok_or_else(|| silent("Coq does not answer", &said, &finished))
    }

    fn compile(&self, text: &str, limit: Duration) -> Result<Finished, Failure> {
        let scratch = Scratch::new()?;
        let file = scratch.path().join("certificate.v");
        fs::write(&file, text).map_err(|e| cannot_write(&file, &e))?;
        run(&mut coqc(&self.command, &self.theory, &file), limit)
    }
}

fn coqc(command: &Path, theory: &Path, file: &Path) -> Command {
    let mut coqc = Command::new(command);
    coqc.args(["-q", "-noglob", "-Q"]).arg(theory).arg("Lozenge").arg(file);
    // Coq's tactics leave caches where they run.
    if let Some(folder) = file.parent() {
        coqc.current_dir(folder);
    }
    coqc
}

/// The error of `Qed` where the checker computes `false`.
fn is_rejection(finished: &Finished) -> bool {
    !finished.status.success()
        && words(&finished.stderr).contains(
            "The term \"eq_refl\" has type \"true = true\" while it is expected to have type \"accept c = true\"",
        )
}

/// Coq ended well, but did not print what it prints when it has checked something.
fn silent(message: &str, said: &str, finished: &Finished) -> Failure {
    let shown = if said.trim().is_empty() { finished.stderr.as_str() } else { said };
    defect(message, if shown.trim().is_empty() { "it prints nothing" } else { shown })
        .help("the variable COQC, or else the path, names the program that is run as `coqc`: is it Coq 8.16?")
}

fn defect(message: &str, stderr: &str) -> Failure {
    let said: String = stderr.lines().take(20).collect::<Vec<_>>().join("\n");
    let failure = Failure { kind: FailureKind::Environment, ..Failure::refused("X0704", message) };
    if said.is_empty() { failure } else { failure.note(said) }
}
