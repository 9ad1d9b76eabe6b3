//! Files in and out: sources are read whole with clear errors, results appear whole or not at all.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cfront::Language;

use crate::cleanup::Temporary;
use crate::encoding;
use crate::failure::{Failure, Source};
use crate::pipeline::Front;
use crate::process::Compiler;
use crate::request::{Access, Files, Kind, Request, Schedule};

/// Sources longer than this are refused: spans are 32 bits wide, and no program a person writes
/// comes near it.
const MAX_SOURCE: u64 = 256 << 20;

/// Reads a source text. From then on the command does not write to this file ([`write_whole`]).
///
/// # Errors
/// `X0001` if it can't be read, `X0002` if it is not UTF-8 (with the place of the first bad byte),
/// `X0003` if it is too long. C may have any encoding that has ASCII in it ([`encoding`]).
pub fn read_source(path: &Path) -> Result<Source, Failure> {
    let source = read_text(path)?;
    keep(path);
    Ok(source)
}

/// From now on this command does not write to this file, whatever it is called.
pub fn keep(path: &Path) {
    if let Ok(meta) = fs::metadata(path) {
        sources().insert(identity(&meta));
    }
}

/// As [`read_source`], of a text that the command may write to: a model in textual form.
///
/// # Errors
/// As [`read_source`].
pub(crate) fn read_text(path: &Path) -> Result<Source, Failure> {
    let bytes = read_bytes(path, MAX_SOURCE)?;
    if language(path).is_some()
        && let Some(text) = encoding::read(&bytes)
    {
        return Ok(Source { path: encoding::name(path), text });
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source { path: encoding::name(path), text }),
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

/// The language of a file with regions, by the extension of its name; none of other files.
pub fn language(path: &Path) -> Option<Language> {
    match path.extension()?.to_str()? {
        "c" => Some(Language::C),
        extension if CPP.contains(&extension) => Some(Language::Cpp),
        _ => None,
    }
}

/// The extensions of C++.
pub const CPP: [&str; 5] = ["cpp", "cc", "cxx", "c++", "C"];

/// The kind of a source, by the extension of its name.
///
/// # Errors
/// `X0005` for an unknown extension.
pub fn kind(source: &Source) -> Result<Kind, Failure> {
    let path = encoding::path(&source.path);
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    match extension {
        "loz" => Ok(Kind::Functional),
        _ if language(&path).is_some() => Ok(Kind::C),
        "loops" => Ok(Kind::Loops),
        other => Err(Failure::refused(
            "X0005",
            format!("{}: the extension `{other}` is not known", source.path),
        )
        .help(
            "known are .loz (functional program), .c (C with marked regions), .cpp, .cc, .cxx, .c++ and .C (the same of C++), .loops (loop program), and, for some commands, .onnx and .graph (models)",
        )),
    }
}

/// Opens a source that was read from a file.
///
/// # Errors
/// `X0005` for an unknown extension, and what the front ends refuse.
pub fn open(source: &Source, request: &Request) -> Result<Front, Failure> {
    Front::open(source, kind(source)?, request)
}

/// The file of schedules that `lozenge tune` writes for a program.
pub(crate) fn tuned_path(program: &Path) -> PathBuf {
    let mut name = program.as_os_str().to_owned();
    name.push(".tune");
    PathBuf::from(name)
}

/// The schedules that were tuned for a program, where a file of them is beside it and is to be
/// looked for.
///
/// # Errors
/// As `read_text`.
pub fn tuned(program: &Path) -> Result<Option<Source>, Failure> {
    let path = tuned_path(program);
    if !crate::config::current().tuned || !path.is_file() {
        return Ok(None);
    }
    read_text(&path).map(Some)
}

/// The order of loops that a word asks for: `auto`, `none`, or the name of a file.
///
/// # Errors
/// As [`read_source`].
pub fn schedule(word: Option<&str>) -> Result<Schedule, Failure> {
    Ok(match word {
        None => Schedule::Usual,
        Some("none") => Schedule::Original,
        Some("auto") => Schedule::Auto,
        Some(path) => Schedule::Given(
            read_source(Path::new(path)).map_err(|f| f.help("--schedule takes auto, none or a file"))?,
        ),
    })
}

/// A request for sources in files: imports are looked for beside them, and they are preprocessed
/// where they are.
pub fn request() -> Request {
    Request { files: Files::new(OnDisk), ..Request::default() }
}

/// What a source in a file refers to: other files, by their places. The name of the source has to
/// be the path of its file.
#[derive(Clone, Copy, Debug)]
pub struct OnDisk;

impl Access for OnDisk {
    fn import(&self, from: &str, path: &str) -> Result<Source, String> {
        let from = encoding::path(from);
        let found = from.parent().unwrap_or(Path::new("")).join(encoding::path(path));
        // The program names it: it must not be a device that never ends, or a pipe that waits.
        if found.metadata().is_ok_and(|meta| !meta.is_file() && !meta.is_dir()) {
            return Err(format!("{} is not a regular file", encoding::name(&found)));
        }
        read_source(&found).map_err(|failure| failure.summary())
    }

    fn preprocess(&self, source: &Source, options: &[String]) -> Result<String, Failure> {
        Compiler::find()?.preprocess(&encoding::path(&source.path), options)
    }
}

/// What a source refers to that is a text of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nowhere;

impl Access for Nowhere {
    fn import(&self, _: &str, path: &str) -> Result<Source, String> {
        Err(format!("{path} can't be looked for: the program is a text without a folder"))
    }

    fn preprocess(&self, source: &Source, options: &[String]) -> Result<String, Failure> {
        Compiler::find()?.preprocess_text(source, options)
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

/// Writes a file so that it is there whole or not at all: to a temporary file in the same folder,
/// which is then renamed. A link is followed, also one that leads to a file that is yet to be made.
///
/// # Errors
/// `X0010` if it would replace a source text that was read ([`read_source`]), `X0004` if a step
/// fails; nothing is left behind.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_pieces(path, &[bytes])
}

/// The same for pieces one behind another.
///
/// # Errors
/// As [`write_whole`].
pub fn write_pieces(path: &Path, pieces: &[impl AsRef<[u8]>]) -> Result<(), Failure> {
    spares_sources(path)?;
    replace(path, pieces)
}

/// As [`write_whole`], for what takes the place of its own source on purpose.
///
/// # Errors
/// `X0004` as [`write_whole`].
pub(crate) fn write_in_place(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    replace(path, &[bytes])
}

/// Refuses to replace a source that this command has read, under any name.
///
/// # Errors
/// `X0010` if it was read.
pub(crate) fn spares_sources(path: &Path) -> Result<(), Failure> {
    let is_source =
        fs::metadata(path).is_ok_and(|meta| meta.is_file() && sources().contains(&identity(&meta)));
    if !is_source {
        return Ok(());
    }
    let message = format!("{} is a source of this command and would be lost", encoding::name(path));
    Err(Failure::refused("X0010", message).help("name another file, or print to the standard output"))
}

/// Files that were read as source texts, by device and number.
fn sources() -> MutexGuard<'static, BTreeSet<(u64, u64)>> {
    static SOURCES: Mutex<BTreeSet<(u64, u64)>> = Mutex::new(BTreeSet::new());
    SOURCES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn identity(meta: &fs::Metadata) -> (u64, u64) {
    (meta.dev(), meta.ino())
}

/// As many links in a row are followed.
const MAX_LINKS: usize = 40;

/// Where a path leads to: links are followed, whether or not the last one leads to a file.
fn behind_links(path: &Path) -> std::io::Result<PathBuf> {
    let mut target = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        if !fs::symlink_metadata(&target).is_ok_and(|meta| meta.is_symlink()) {
            return Ok(target);
        }
        let next = fs::read_link(&target)?;
        target = target.parent().unwrap_or(Path::new("")).join(next);
    }
    Err(std::io::Error::other("too many symbolic links"))
}

fn replace(path: &Path, pieces: &[impl AsRef<[u8]>]) -> Result<(), Failure> {
    let all = |file: &mut fs::File| pieces.iter().try_for_each(|piece| file.write_all(piece.as_ref()));
    let cannot = |e: std::io::Error| {
        Failure::environment("X0004", format!("can't write {}: {}", encoding::name(path), reason(&e)))
    };
    // What is not a regular file (a terminal, /dev/null, a pipe) can't be renamed over.
    if fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir()) {
        return fs::OpenOptions::new().write(true).open(path).and_then(|mut f| all(&mut f)).map_err(cannot);
    }
    let target = behind_links(path).map_err(cannot)?;
    if target.is_dir() {
        return Err(Failure::environment(
            "X0004",
            format!("can't write {}: it is a directory", encoding::name(path)),
        ));
    }
    // A file that is not to be written is not replaced, either.
    if target.is_file() {
        fs::OpenOptions::new().append(true).open(&target).map_err(cannot)?;
    }
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    // A short name that nobody can guess; the permissions are those of any new file.
    builder.prefix(".lz").permissions(fs::Permissions::from_mode(0o666));
    let made = Temporary::make(|| builder.tempfile_in(folder), tempfile::NamedTempFile::path);
    let (mut temporary, _entered) = made.map_err(cannot)?;
    let written = all(temporary.as_file_mut()).and_then(|()| {
        if let Ok(meta) = fs::metadata(&target) {
            fs::set_permissions(temporary.path(), meta.permissions())?;
        }
        temporary.persist(&target).map(drop).map_err(|e| e.error)
    });
    written.map_err(cannot)
}

/// A private folder that disappears with its value, and if a signal ends the command.
#[derive(Debug)]
pub struct Scratch {
    folder: tempfile::TempDir,
    _entered: Temporary,
}

impl Scratch {
    /// A new folder that only this user can enter, under a name that nobody can guess.
    ///
    /// # Errors
    /// `X0004` if it can't be made.
    pub fn new() -> Result<Scratch, Failure> {
        Scratch::below(&std::env::temp_dir())
            .map_err(|failure| failure.help("set TMPDIR to a folder that can be written"))
    }

    /// The same in a folder of one's own choice.
    ///
    /// # Errors
    /// `X0004` if it can't be made.
    pub fn below(base: &Path) -> Result<Scratch, Failure> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("lozenge-").permissions(fs::Permissions::from_mode(0o700));
        let made = std::path::absolute(base)
            .and_then(|base| Temporary::make(|| builder.tempdir_in(base), tempfile::TempDir::path));
        let (folder, _entered) = made.map_err(|e| {
            let why = reason(&e);
            Failure::environment("X0004", format!("can't make a folder in {}: {why}", base.display()))
        })?;
        Ok(Scratch { folder, _entered })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
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
            let message = format!(
                "{}: this command does not take files with the extension `{extension}`",
                path.display()
            );
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
