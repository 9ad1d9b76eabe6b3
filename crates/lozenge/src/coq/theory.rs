//! The theory as files that Coq has compiled, kept from one run of the command to the next.
//!
//! What is kept is used only if it is the user's own, has just the files that were made, and each
//! of them is as it was made; else the theory is built again. No verdict is kept: what a theorem
//! rests on is asked in each run.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::{coqc, defect};
use crate::carried::THEORY;
use crate::digest;
use crate::failure::Failure;
use crate::files::{Scratch, reason};
use crate::process::run;

/// The file, beside the compiled theory, with the digest of each file there.
const DIGESTS: &str = "digests";

/// Building one file of the theory takes no longer than this.
const BUILD_LIMIT: Duration = Duration::from_secs(600);

/// Name and text of a file.
type Text = (&'static str, &'static str);

/// The folder with the compiled theory: what `file` needs. Built if it is not there, or is not as
/// it was built.
pub(super) fn ready(
    command: &Path,
    cache: &Path,
    file: &str,
    mut told: impl FnMut(&str),
) -> Result<PathBuf, Failure> {
    // One thread builds, the others wait for it.
    static BUILD: Mutex<()> = Mutex::new(());
    let _turn = BUILD.lock();
    let version = version(command)?;
    let needed = needed(file)?;
    let folder = cache.join(format!("theory-{}", key(&version, &needed)));
    if folder.is_dir() {
        match unchanged(&folder, &needed) {
            Ok(()) => return Ok(folder),
            Err(why) => {
                told(&format!("the theory that was kept can't be used: {why}"));
                fs::remove_dir_all(&folder).map_err(|e| cannot_write(&folder, &e))?;
            }
        }
    }
    told("building the theory, once");
    let partial = folder.with_extension(format!("{}.partial", std::process::id()));
    let built = build(command, &partial, &needed).and_then(|()| match fs::rename(&partial, &folder) {
        Ok(()) => Ok(()),
        // Another process was faster.
        Err(_) if folder.is_dir() => Ok(()),
        Err(e) => Err(cannot_write(&folder, &e)),
    });
    let _ = fs::remove_dir_all(&partial);
    built?;
    unchanged(&folder, &needed)
        .map_err(|why| defect(&format!("the theory that was just built can't be used: {why}"), ""))?;
    Ok(folder)
}

/// Whether the folder is the user's, and holds what was built and nothing else; if not, why.
fn unchanged(folder: &Path, files: &[Text]) -> Result<(), String> {
    own(folder)?;
    let read =
        |name: &str| fs::read(folder.join(name)).map_err(|e| format!("can't read {name}: {}", reason(&e)));
    let digests = String::from_utf8(read(DIGESTS)?).map_err(|_| format!("{DIGESTS} is no text"))?;
    let mut expected = BTreeSet::from([DIGESTS.to_owned()]);
    for (name, text) in files {
        let (source, compiled) = (format!("{name}.v"), format!("{name}.vo"));
        if read(&source)? != text.as_bytes() {
            return Err(format!("{source} is another text"));
        }
        let line = format!("{} {compiled}", digest::of_bytes(&read(&compiled)?));
        if !digests.lines().any(|l| l == line) {
            return Err(format!("{compiled} is not as it was built"));
        }
        expected.extend([source, compiled]);
    }
    let entries = fs::read_dir(folder).map_err(|e| format!("can't read it: {}", reason(&e)))?;
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !expected.contains(&name) {
            return Err(format!("{name} was not there when it was built"));
        }
    }
    Ok(())
}

/// Whether nobody but the user can have written the folder.
#[cfg(unix)]
fn own(folder: &Path) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    let scratch = Scratch::new().map_err(|f| f.summary())?;
    let of = |path: &Path| fs::symlink_metadata(path).map_err(|e| reason(&e));
    let (kept, mine) = (of(folder)?, of(scratch.path())?);
    if !kept.is_dir() || kept.uid() != mine.uid() {
        return Err("it is not this user's folder".to_owned());
    }
    if kept.mode() & 0o022 != 0 {
        return Err("other users can write it".to_owned());
    }
    Ok(())
}

#[cfg(not(unix))]
fn own(_: &Path) -> Result<(), String> {
    Ok(())
}

fn version(command: &Path) -> Result<String, Failure> {
    let finished = run(Command::new(command).arg("--print-version"), Duration::from_secs(60))?;
    if !finished.status.success() {
        return Err(defect(&format!("`{}` is not a Coq compiler", command.display()), &finished.stderr));
    }
    Ok(String::from_utf8_lossy(&finished.stdout).trim().to_owned())
}

/// The files of the theory that a file needs, itself included, each behind those that it needs.
fn needed(name: &str) -> Result<Vec<Text>, Failure> {
    fn visit(name: &str, seen: &mut BTreeSet<String>, found: &mut Vec<Text>) -> Result<(), Failure> {
        if !seen.insert(name.to_owned()) {
            return Ok(());
        }
        let missing = || defect(&format!("the theory has no file `{name}.v`"), "");
        let (file, text) =
            THEORY.iter().find(|(file, _)| file.strip_suffix(".v") == Some(name)).ok_or_else(missing)?;
        for sentence in text.split("From Lozenge Require").skip(1) {
            let names = sentence.split_once('.').map_or("", |(names, _)| names);
            for name in names.split_whitespace().filter(|w| !matches!(*w, "Import" | "Export")) {
                visit(name, seen, found)?;
            }
        }
        found.push((file.trim_end_matches(".v"), text));
        Ok(())
    }
    let mut found = Vec::new();
    visit(name, &mut BTreeSet::new(), &mut found)?;
    Ok(found)
}

/// Another name for another theory or another Coq.
fn key(version: &str, files: &[Text]) -> String {
    let mut all = Sha256::new();
    let texts = files.iter().flat_map(|(name, text)| [*name, *text]);
    for text in std::iter::once(version).chain(texts) {
        all.update((text.len() as u64).to_le_bytes());
        all.update(text);
    }
    digest::hex(&all.finalize())[..16].to_owned()
}

/// The folder for what can be built again.
pub(super) fn cache() -> Result<PathBuf, Failure> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    let folder = base.unwrap_or_else(std::env::temp_dir).join("lozenge");
    fs::create_dir_all(&folder).map_err(|e| cannot_write(&folder, &e))?;
    Ok(folder)
}

fn build(command: &Path, folder: &Path, files: &[Text]) -> Result<(), Failure> {
    let _ = fs::remove_dir_all(folder);
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|e| cannot_write(folder, &e))?;
    for (name, text) in files {
        let file = folder.join(format!("{name}.v"));
        fs::write(&file, text).map_err(|e| cannot_write(&file, &e))?;
        let finished = run(&mut coqc(command, folder, &file), BUILD_LIMIT)?;
        if !finished.status.success() || !file.with_extension("vo").is_file() {
            return Err(defect(&format!("Coq does not compile `{name}.v` of the theory"), &finished.stderr)
                .help("the theory is made for Coq 8.16"));
        }
    }
    keep_only_compiled(folder, files).map_err(|e| cannot_write(folder, &e))
}

/// Notes the digests of what was compiled, and removes what Coq leaves beside it.
fn keep_only_compiled(folder: &Path, files: &[Text]) -> std::io::Result<()> {
    let mut digests = String::new();
    let mut kept = BTreeSet::new();
    for (name, _) in files {
        let compiled = format!("{name}.vo");
        let _ = writeln!(digests, "{} {compiled}", digest::of_bytes(&fs::read(folder.join(&compiled))?));
        kept.extend([format!("{name}.v"), compiled]);
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !kept.contains(&*entry.file_name().to_string_lossy()) {
            fs::remove_file(entry.path())?;
        }
    }
    fs::write(folder.join(DIGESTS), digests)
}

pub(super) fn cannot_write(path: &Path, e: &std::io::Error) -> Failure {
    Failure::environment("X0004", format!("can't write {}: {}", path.display(), reason(e)))
        .help("set XDG_CACHE_HOME to a folder that can be written")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: &[Text] = &[("A", "Check nat."), ("B", "From Lozenge Require A.")];

    /// As if Coq had compiled them.
    fn compiled() -> Scratch {
        let scratch = Scratch::new().unwrap();
        for (name, text) in FILES {
            fs::write(scratch.path().join(format!("{name}.v")), text).unwrap();
            fs::write(scratch.path().join(format!("{name}.vo")), [1, 2, 3]).unwrap();
            fs::write(scratch.path().join(format!(".{name}.aux")), "").unwrap();
        }
        keep_only_compiled(scratch.path(), FILES).unwrap();
        scratch
    }

    #[test]
    fn a_theory_that_was_changed_is_not_used() {
        assert_eq!(unchanged(compiled().path(), FILES), Ok(()));
        let rejected = |change: &dyn Fn(&Path), why: &str| {
            let scratch = compiled();
            change(scratch.path());
            let said = unchanged(scratch.path(), FILES).unwrap_err();
            assert!(said.contains(why), "{said}");
        };
        rejected(&|f| fs::write(f.join("B.vo"), [1, 2, 4]).unwrap(), "B.vo is not as it was built");
        rejected(&|f| fs::write(f.join("A.v"), "Check list.").unwrap(), "A.v is another text");
        rejected(&|f| fs::write(f.join("C.vo"), "").unwrap(), "C.vo was not there");
        rejected(&|f| fs::remove_file(f.join("A.vo")).unwrap(), "can't read A.vo");
        rejected(&|f| fs::remove_file(f.join(DIGESTS)).unwrap(), "can't read digests");
    }

    #[cfg(unix)]
    #[test]
    fn a_theory_that_others_can_write_is_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let scratch = compiled();
        fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let said = unchanged(scratch.path(), FILES).unwrap_err();
        assert!(said.contains("other users can write it"), "{said}");
    }
}
