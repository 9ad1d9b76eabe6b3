//! Results of settings in a file, a line of JSON each, so that a long benchmark can be interrupted
//! and go on.
//!
//! A result counts for a setting only if the files that were run are the same, so it never outlives
//! a change of them. The emulator may have learned to see more since: of results from an earlier
//! one it is said how many there are.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use targets::athread::Files;

use crate::athread::{Report, digest as emulator_digest};
use crate::failure::Failure;
use crate::files::reason;

/// What a result is of.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Key {
    /// Name of the kernel.
    pub kernel: String,
    /// Which of its sizes.
    pub size: String,
    /// Number of cores.
    pub threads: u32,
    /// One or two parallel loops.
    pub parallel: String,
    /// The files.
    pub files: String,
}

/// The results so far: orders of the cores that were run, and what the emulator told.
pub(super) struct Results {
    path: Option<PathBuf>,
    known: BTreeMap<Key, Known>,
    /// How many of those that were asked for are from an earlier emulator.
    earlier: Cell<usize>,
}

/// A line of the file.
struct Known {
    seeds: u64,
    emulator: String,
    report: Report,
}

/// A number for the texts of files and the macros that they are compiled with.
pub(super) fn digest(files: &Files, defines: &[String]) -> String {
    let mut hasher = DefaultHasher::new();
    (&files.host, &files.slave, &files.header, defines).hash(&mut hasher);
    // Each by itself: without any, the number is that of earlier results.
    files.micro_kernels.iter().for_each(|one| (&one.header, &one.source).hash(&mut hasher));
    format!("{:016x}", hasher.finish())
}

/// What the emulator is now.
fn emulator() -> String {
    format!("{:016x}", emulator_digest())
}

impl Results {
    /// Reads a file of results, if there is one already.
    ///
    /// # Errors
    /// `X0004` if it can't be read.
    pub fn open(path: Option<&Path>) -> Result<Results, Failure> {
        let mut results =
            Results { path: path.map(Path::to_path_buf), known: BTreeMap::new(), earlier: Cell::new(0) };
        let Some(path) = path else { return Ok(results) };
        match fs::read_to_string(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(Failure::refused(
                    "X0004",
                    format!("can't read {}: {}", path.display(), reason(&error)),
                ));
            }
            // A line that was cut off is no result.
            Ok(text) => results.known.extend(text.lines().filter_map(line)),
        }
        Ok(results)
    }

    /// The result of a setting, if it was run in as many orders of the cores.
    pub fn find(&self, key: &Key, seeds: u64) -> Option<Report> {
        let known = self.known.get(key).filter(|known| known.seeds >= seeds)?;
        if known.emulator != emulator() {
            self.earlier.set(self.earlier.get() + 1);
        }
        Some(known.report.clone())
    }

    /// What is to be said of the results that were found.
    pub fn remark(&self) -> Option<String> {
        let (count, path) = (self.earlier.get(), self.path.as_deref()?);
        (count > 0).then(|| {
            format!("{count} results of {} are from an earlier emulator, which may have seen less; without their lines they are run again", path.display())
        })
    }

    /// Keeps a result.
    ///
    /// # Errors
    /// `X0004` if it can't be written.
    pub fn add(&mut self, key: &Key, seeds: u64, report: &Report) -> Result<(), Failure> {
        let Some(path) = &self.path else { return Ok(()) };
        let value = json!({
            "kernel": key.kernel, "size": key.size, "threads": key.threads, "parallel": key.parallel, "files": key.files,
            "emulator": emulator(), "seeds": seeds, "report": report.json,
        });
        let write = || -> std::io::Result<()> {
            let mut file = OpenOptions::new().create(true).append(true).open(path)?;
            file.write_all(format!("{value}\n").as_bytes())
        };
        write().map_err(|error| {
            Failure::refused("X0004", format!("can't write {}: {}", path.display(), reason(&error)))
        })
    }
}

fn line(text: &str) -> Option<(Key, Known)> {
    let value: Json = serde_json::from_str(text).ok()?;
    let string = |name: &str| value.get(name)?.as_str().map(str::to_owned);
    let key = Key {
        kernel: string("kernel")?,
        size: string("size")?,
        threads: u32::try_from(value.get("threads")?.as_u64()?).ok()?,
        parallel: string("parallel")?,
        files: string("files")?,
    };
    let report = Report::read(&value.get("report")?.to_string()).ok()?;
    let known = Known { seeds: value.get("seeds")?.as_u64()?, emulator: string("emulator")?, report };
    Some((key, known))
}
