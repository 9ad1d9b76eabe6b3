//! Coq as a child process: the theory, built once for each version of it, and verdicts on certificates.
//!
//! The theory travels inside the command. Its compiled form is kept in the user's cache (`$XDG_CACHE_HOME/lozenge`, else `~/.cache/lozenge`), in a
//! folder whose name depends on the theory's text and on the version of Coq. Not here: what a certificate says (`dpia::certificate`).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

use crate::failure::{Failure, FailureKind};
use crate::files::{Scratch, reason};
use crate::process::{on_path, run};

mod generated {
    include!(concat!(env!("OUT_DIR"), "/theory.rs"));
}

/// The file of the theory that certificates need.
const CHECKER: &str = "Certify";

/// The file that comparisons with the theory's translation need.
const COMPARISON: &str = "Compare";

/// The theorem that accepts certificates.
const THEOREM: &str = "accept_sound";

/// The file, beside the compiled theory, of the axioms that the theorem rests on: one to a line.
const AXIOMS: &str = "axioms";

/// Building one file of the theory takes no longer than this.
const BUILD_LIMIT: Duration = Duration::from_secs(600);

/// Coq with the theory, ready for certificates.
#[derive(Clone, Debug)]
pub struct Coq {
    command: PathBuf,
    theory: PathBuf,
    /// What [`THEOREM`] rests on, as Coq said when the theory was built.
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
                Some(_) => format!("Coq is not there: COQC names `{}`, which is no program", wanted.display()),
                None => "Coq is not installed: there is no `coqc` on the path".to_owned(),
            };
            Failure::environment("X0703", message)
                .note("Coq decides whether the loops compute what the program says")
                .help("install it (Debian: apt-get install coq; opam: opam install coq.8.16.1), or name its compiler in the variable COQC")
                .help("without Coq, `lozenge prove --emit certificate` still writes the certificate")
        })
    }

    /// Coq with the theory; builds that if this version has not been built before.
    ///
    /// # Errors
    /// `X0703` if there is no Coq, `X0704` if the theory does not compile, `X0004` if there is no folder to keep it in.
    pub fn ready(told: impl FnMut(&str)) -> Result<Coq, Failure> {
        // Whether there is a Coq at all comes first.
        Coq::command()?;
        Coq::ready_in(&cache()?, told)
    }

    /// As [`Coq::ready`], with the compiled theory in a folder of one's own.
    ///
    /// # Errors
    /// As [`Coq::ready`].
    pub fn ready_in(cache: &Path, told: impl FnMut(&str)) -> Result<Coq, Failure> {
        Coq::with(cache, told, CHECKER, Some(THEOREM))
    }

    /// As [`Coq::ready_in`], with what compares loops with the theory's translation. It decides about no certificate.
    ///
    /// # Errors
    /// As [`Coq::ready`].
    pub fn comparing_in(cache: &Path, told: impl FnMut(&str)) -> Result<Coq, Failure> {
        Coq::with(cache, told, COMPARISON, None)
    }

    fn with(
        cache: &Path,
        mut told: impl FnMut(&str),
        file: &str,
        theorem: Option<&str>,
    ) -> Result<Coq, Failure> {
        // One thread builds, the others wait for it.
        static BUILD: Mutex<()> = Mutex::new(());
        let _turn = BUILD.lock();
        let command = Coq::command()?;
        let version = version(&command)?;
        let needed = needed(file)?;
        let folder = cache.join(format!("theory-{:016x}", key(&version, &needed)));
        if folder.is_dir() {
            return opened(command, folder);
        }
        told("building the theory, once");
        let partial = folder.with_extension(format!("{}.partial", std::process::id()));
        let built = build(&command, &partial, &needed, file, theorem).and_then(|()| {
            match fs::rename(&partial, &folder) {
                Ok(()) => Ok(()),
                // Another process was faster.
                Err(_) if folder.is_dir() => Ok(()),
                Err(e) => Err(cannot_write(&folder, &e)),
            }
        });
        let _ = fs::remove_dir_all(&partial);
        built.and_then(|()| opened(command, folder))
    }

    /// Runs a file through Coq whose theorem is `accept_sound` of its data, and which asks what these rest on (`Certificate::to_claim`).
    ///
    /// # Errors
    /// `X0704` if Coq fails in another way than by a rejection, `X0303` if it takes longer than the limit.
    pub fn decide(&self, text: &str, limit: Duration) -> Result<Answer, Failure> {
        let (finished, _) = self.compile(text, limit)?;
        let said = String::from_utf8_lossy(&finished.stdout);
        if finished.status.success() {
            let axioms: BTreeSet<String> = self.axioms.iter().cloned().chain(axioms(&said)).collect();
            let axioms = axioms.into_iter().collect();
            return Ok(Answer { verdict: Verdict::Accepted { axioms }, time: finished.time });
        }
        if is_rejection(&finished.stderr) {
            return Ok(Answer { verdict: Verdict::Rejected, time: finished.time });
        }
        Err(defect("Coq does not understand the certificate", &finished.stderr))
    }

    /// Runs a file through Coq and returns what it prints.
    ///
    /// # Errors
    /// As [`Coq::decide`]; any error of the file is one.
    pub fn answer(&self, text: &str, limit: Duration) -> Result<String, Failure> {
        let (finished, _) = self.compile(text, limit)?;
        if finished.status.success() {
            return Ok(String::from_utf8_lossy(&finished.stdout).into_owned());
        }
        Err(defect("Coq does not understand the certificates", &finished.stderr))
    }

    fn compile(&self, text: &str, limit: Duration) -> Result<(crate::process::Finished, Scratch), Failure> {
        let scratch = Scratch::new()?;
        let file = scratch.path().join("certificate.v");
        fs::write(&file, text).map_err(|e| cannot_write(&file, &e))?;
        let finished = run(&mut coqc(&self.command, &self.theory, &file), limit)?;
        Ok((finished, scratch))
    }
}

/// A theory that is built.
fn opened(command: PathBuf, theory: PathBuf) -> Result<Coq, Failure> {
    let list = theory.join(AXIOMS);
    let text = fs::read_to_string(&list).map_err(|e| {
        Failure::environment("X0004", format!("can't read {}: {}", list.display(), reason(&e)))
            .help("delete the folder: the theory is then built again")
    })?;
    Ok(Coq { command, theory, axioms: text.lines().map(str::to_owned).collect() })
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
fn is_rejection(stderr: &str) -> bool {
    let words: Vec<&str> = stderr.split_whitespace().collect();
    words.join(" ").contains(
        "The term \"eq_refl\" has type \"true = true\" while it is expected to have type \"accept c = true\"",
    )
}

/// The axioms that `Print Assumptions` lists.
fn axioms(said: &str) -> Vec<String> {
    let Some((_, list)) = said.split_once("Axioms:") else { return Vec::new() };
    let names = list.lines().filter(|l| !l.starts_with(char::is_whitespace));
    names.filter_map(|l| l.split_whitespace().next().map(str::to_owned)).collect()
}

fn version(command: &Path) -> Result<String, Failure> {
    let finished = run(Command::new(command).arg("--print-version"), Duration::from_secs(60))?;
    if !finished.status.success() {
        return Err(defect(&format!("`{}` is no Coq compiler", command.display()), &finished.stderr));
    }
    Ok(String::from_utf8_lossy(&finished.stdout).trim().to_owned())
}

/// The files of the theory that a file needs, itself included, each behind those that it needs.
fn needed(name: &str) -> Result<Vec<(&'static str, &'static str)>, Failure> {
    fn visit(
        name: &str,
        seen: &mut BTreeSet<String>,
        found: &mut Vec<(&'static str, &'static str)>,
    ) -> Result<(), Failure> {
        if !seen.insert(name.to_owned()) {
            return Ok(());
        }
        let missing = || defect(&format!("the theory has no file `{name}.v`"), "");
        let (name, text) = generated::THEORY.iter().find(|(n, _)| *n == name).ok_or_else(missing)?;
        for sentence in text.split("From Lozenge Require").skip(1) {
            let names = sentence.split_once('.').map_or("", |(names, _)| names);
            for name in names.split_whitespace().filter(|w| !matches!(*w, "Import" | "Export")) {
                visit(name, seen, found)?;
            }
        }
        found.push((name, text));
        Ok(())
    }
    let mut found = Vec::new();
    visit(name, &mut BTreeSet::new(), &mut found)?;
    Ok(found)
}

/// A number that is another one for another theory or another Coq (FNV-1a).
fn key(version: &str, files: &[(&str, &str)]) -> u64 {
    let texts = files.iter().flat_map(|(name, text)| [*name, *text]);
    let bytes = std::iter::once(version).chain(texts).flat_map(|t| t.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The folder for what can be built again.
fn cache() -> Result<PathBuf, Failure> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    let folder = base.unwrap_or_else(std::env::temp_dir).join("lozenge");
    fs::create_dir_all(&folder).map_err(|e| cannot_write(&folder, &e))?;
    Ok(folder)
}

fn build(
    command: &Path,
    folder: &Path,
    files: &[(&str, &str)],
    last: &str,
    theorem: Option<&str>,
) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|e| cannot_write(folder, &e))?;
    for (name, text) in files {
        let file = folder.join(format!("{name}.v"));
        fs::write(&file, text).map_err(|e| cannot_write(&file, &e))?;
        let finished = run(&mut coqc(command, folder, &file), BUILD_LIMIT)?;
        if !finished.status.success() {
            return Err(defect(&format!("Coq does not compile `{name}.v` of the theory"), &finished.stderr)
                .help("the theory is made for Coq 8.16"));
        }
    }
    let found = match theorem {
        None => Vec::new(),
        Some(theorem) => {
            let question = folder.join("question.v");
            let text = format!("From Lozenge Require Import {last}.\nPrint Assumptions {theorem}.\n");
            fs::write(&question, text).map_err(|e| cannot_write(&question, &e))?;
            let finished = run(&mut coqc(command, folder, &question), BUILD_LIMIT)?;
            if !finished.status.success() {
                return Err(defect("Coq does not say what the theory rests on", &finished.stderr));
            }
            axioms(&String::from_utf8_lossy(&finished.stdout))
        }
    };
    let list = folder.join(AXIOMS);
    fs::write(&list, found.join("\n")).map_err(|e| cannot_write(&list, &e))
}

fn cannot_write(path: &Path, e: &std::io::Error) -> Failure {
    Failure::environment("X0004", format!("can't write {}: {}", path.display(), reason(e)))
        .help("set XDG_CACHE_HOME to a folder that can be written")
}

fn defect(message: &str, stderr: &str) -> Failure {
    let said: String = stderr.lines().take(20).collect::<Vec<_>>().join("\n");
    let failure = Failure { kind: FailureKind::Environment, ..Failure::refused("X0704", message) };
    if said.is_empty() { failure } else { failure.note(said) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axioms_are_read_from_what_coq_prints() {
        assert!(axioms("Closed under the global context\n").is_empty());
        let said = "Axioms:\nfunctional_extensionality_dep\n  : forall A, A\nclassic : forall P : Prop, P\n";
        assert_eq!(axioms(said), ["functional_extensionality_dep", "classic"]);
    }
}
