//! Files in and out: sources are read whole with clear errors, results appear whole or not at all.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::failure::{Failure, Source};
use crate::foreign;

/// Sources longer than this are refused: spans are 32 bits wide, and no program a person writes comes near it.
const MAX_SOURCE: u64 = 256 << 20;

/// Reads a source text.
///
/// # Errors
/// `X0001` if it can't be read, `X0002` if it is not UTF-8 (with the place of the first bad byte), `X0003` if it is too long. C may have any encoding that
/// has ASCII in it ([`foreign`]).
pub fn read_source(path: &Path) -> Result<Source, Failure> {
    let bytes = read_bytes(path, MAX_SOURCE)?;
    let is_c = path.extension().is_some_and(|e| e == "c");
    if is_c && let Some(text) = foreign::read(&bytes) {
        return Ok(Source { path: path.display().to_string(), text });
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source { path: path.display().to_string(), text }),
        Err(error) => {
            let good = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..good].iter().filter(|b| **b == b'\n').count() + 1;
            Err(Failure::refused(
                "X0002",
                format!(
                    "{} is not UTF-8 text: byte {good}, on line {line}, is {:#04x}",
                    path.display(),
                    error.as_bytes()[good]
                ),
            ))
        }
    }
}

/// Reads a file of at most `limit` bytes.
///
/// # Errors
/// `X0001` if it can't be read, `X0003` if it is too long.
pub fn read_bytes(path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    let cannot =
        |reason: String| Failure::refused("X0001", format!("can't read {}: {reason}", path.display()));
    let meta = fs::metadata(path).map_err(|e| cannot(reason(&e)))?;
    if meta.is_dir() {
        return Err(cannot("it is a directory".into()).help("name a file"));
    }
    let file = fs::File::open(path).map_err(|e| cannot(reason(&e)))?;
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len().min(limit)).unwrap_or(0).saturating_add(1));
    // A pipe has no length to look at beforehand, so the limit holds for what arrives.
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|e| cannot(reason(&e)))?;
    if bytes.len() as u64 > limit {
        return Err(Failure::refused(
            "X0003",
            format!("{} is longer than the {limit} bytes that are read", path.display()),
        ));
    }
    Ok(bytes)
}

/// Writes a file so that it is there whole or not at all: to a temporary file in the same folder, which is then renamed.
///
/// # Errors
/// `X0004` if a step fails; nothing is left behind.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_pieces(path, &[bytes])
}

/// The same for pieces one behind another.
///
/// # Errors
/// As [`write_whole`].
pub fn write_pieces(path: &Path, pieces: &[impl AsRef<[u8]>]) -> Result<(), Failure> {
    let all = |mut file: fs::File| pieces.iter().try_for_each(|piece| file.write_all(piece.as_ref()));
    let cannot = |e: std::io::Error| {
        Failure::environment("X0004", format!("can't write {}: {}", path.display(), reason(&e)))
    };
    // What is not a regular file (a terminal, /dev/null, a pipe) can't be renamed over.
    if fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir()) {
        return fs::OpenOptions::new().write(true).open(path).and_then(all).map_err(cannot);
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if target.is_dir() {
        return Err(Failure::environment(
            "X0004",
            format!("can't write {}: it is a directory", path.display()),
        ));
    }
    // A file that is not to be written is not replaced, either.
    if target.is_file() {
        fs::OpenOptions::new().append(true).open(&target).map_err(cannot)?;
    }
    let mut temporary = target.clone().into_os_string();
    temporary.push(format!(".{}.partial", std::process::id()));
    let temporary = PathBuf::from(temporary);
    let written = fs::File::create(&temporary).and_then(all).and_then(|()| {
        if let Ok(meta) = fs::metadata(&target) {
            fs::set_permissions(&temporary, meta.permissions())?;
        }
        fs::rename(&temporary, &target)
    });
    written.map_err(|e| {
        let _ = fs::remove_file(&temporary);
        cannot(e)
    })
}

/// A private folder that disappears with its value.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// A new folder that only this user can enter.
    ///
    /// # Errors
    /// `X0004` if it can't be made.
    pub fn new() -> Result<Scratch, Failure> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let base = std::env::temp_dir();
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let mut last = None;
        for _ in 0..1000 {
            // The number only keeps folders of one process apart; no output depends on it.
            let n = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = base.join(format!("lozenge-{}-{n}", std::process::id()));
            match builder.create(&path) {
                Ok(()) => return Ok(Scratch { path }),
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => last = Some(e),
                Err(e) => {
                    last = Some(e);
                    break;
                }
            }
        }
        let why = last.map_or_else(String::new, |e| reason(&e));
        Err(Failure::environment("X0004", format!("can't make a folder in {}: {why}", base.display()))
            .help("set TMPDIR to a folder that can be written"))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// The system's reason without its number: `no such file or directory`.
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_lowercase().chain(chars).collect())
}

/// The files below `path` with one of the extensions, in order; `path` itself if it is a file.
///
/// # Errors
/// `X0001` if `path` or a folder below it can't be read; `X0005` if it is a file of another kind.
pub fn find(path: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>, Failure> {
    let cannot = |path: &Path, e: &std::io::Error| {
        Failure::refused("X0001", format!("can't read {}: {}", path.display(), reason(e)))
    };
    let meta = fs::metadata(path).map_err(|e| cannot(path, &e))?;
    if !meta.is_dir() {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        if !extensions.contains(&extension) {
            let known: Vec<String> = extensions.iter().map(|e| format!(".{e}")).collect();
            let message =
                format!("{}: the extension `{extension}` is not one that is known here", path.display());
            return Err(Failure::refused("X0005", message).help(format!("known are {}", known.join(", "))));
        }
        return Ok(vec![path.to_path_buf()]);
    }
    let mut found = Vec::new();
    let mut pending = vec![path.to_path_buf()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder).map_err(|e| cannot(&folder, &e))?.flatten() {
            let path = entry.path();
            // A link to a folder is not followed, so that a circle of links ends.
            if entry.file_type().is_ok_and(|t| t.is_dir()) {
                pending.push(path);
            } else if path.extension().is_some_and(|e| extensions.iter().any(|x| e == *x)) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
