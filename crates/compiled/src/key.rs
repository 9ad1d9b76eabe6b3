//! The name under which the output of a command is kept: a digest of all that it depends on.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};

use sha2::{Digest, Sha256};

use crate::command::{Plan, folder};

/// Told apart from keys that earlier forms of this program made.
const FORM: &str = "5";

/// The digest of all that the output depends on; nothing if a text can't be preprocessed.
pub fn of(compiler: &Path, plan: &Plan, path: &OsStr) -> Option<String> {
    let file = compiler.canonicalize().ok()?;
    let about = fs::metadata(&file).ok()?;
    let mut digest = Sha256::new();
    let (size, seconds, parts) = (about.len(), about.mtime(), about.mtime_nsec());
    digest.update(format!("{FORM} {} {size} {seconds} {parts} {:?}", file.display(), plan.flags));
    digest.update(processor());
    let folders: BTreeSet<String> =
        plan.texts.iter().chain([&plan.output]).map(|file| folder(file)).chain(plan.searched()).collect();
    for text in &plan.texts {
        let content = if text.ends_with(".c") {
            preprocessed(compiler, plan, text, path)?
        } else {
            fs::read(text).ok()?
        };
        if contains(&content, b".incbin") {
            return None;
        }
        let content = without(&folders, &content);
        digest.update(format!("{}\n", content.len()));
        digest.update(content);
    }
    for file in &plan.objects {
        digest.update(Sha256::digest(fs::read(file).ok()?));
    }
    let mut text = String::new();
    for byte in digest.finalize() {
        // Writing into a string can't fail.
        let _ = write!(text, "{byte:02x}");
    }
    Some(text)
}

fn preprocessed(compiler: &Path, plan: &Plan, text: &str, path: &OsStr) -> Option<Vec<u8>> {
    let mut command = Command::new(compiler);
    command.args(plan.flags.iter().filter(|flag| *flag != "-c"));
    command.args(&plan.preprocessor).args(["-E", text]);
    command.env("PATH", path).stdin(Stdio::null());
    let done = command.output().ok()?;
    done.status.success().then_some(done.stdout)
}

/// What `-march=native` may depend on.
fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let kinds = ["flags", "model", "Features", "CPU part", "cache size"];
    let lines: BTreeSet<&str> =
        text.lines().filter(|line| kinds.iter().any(|kind| line.starts_with(kind))).collect();
    lines.into_iter().collect()
}

/// The text without the folders in line markers; where a program has one as a string, it counts.
fn without(folders: &BTreeSet<String>, text: &[u8]) -> Vec<u8> {
    let mut named: Vec<&String> = folders.iter().filter(|folder| folder.len() > 1).collect();
    named.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
    let mut all = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        if !line.starts_with(b"# ") {
            all.extend_from_slice(line);
            continue;
        }
        let mut marker = String::from_utf8_lossy(line).into_owned();
        for folder in &named {
            marker = marker.replace(folder.as_str(), "FOLDER");
        }
        all.extend_from_slice(marker.as_bytes());
    }
    all
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_count_in_strings_alone() {
        let folders = BTreeSet::from(["/tmp/a".to_owned(), "/tmp/a/b".to_owned(), String::new()]);
        let text = b"# 1 \"/tmp/a/b/x.c\"\nchar *s = \"/tmp/a\";\n# 2 \"/tmp/a/y.h\"\n";
        let plain = b"# 1 \"FOLDER/x.c\"\nchar *s = \"/tmp/a\";\n# 2 \"FOLDER/y.h\"\n";
        assert_eq!(without(&folders, text), plain);
    }
}
