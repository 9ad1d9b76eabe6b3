//! From C to a library file: the C compiler, and the archiver for static ones.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::encoding;
use crate::failure::Failure;
use crate::files::{Scratch, read_bytes, reason};
use crate::process::{self, Compiler, Optimise};
use crate::progress;

/// Kinds of libraries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Loaded when a program starts, or later: `.so`.
    Shared,
    /// Linked into a program: `.a`.
    Static,
}

impl Kind {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Shared => "shared",
            Kind::Static => "static",
        }
    }
}

/// What a library is made of.
#[derive(Debug)]
pub struct Recipe<'a> {
    /// Files by name and text; the first is compiled, the others are for it to include.
    pub files: &'a [(&'a str, &'a str)],
    /// Where a C file looks for its own headers.
    pub includes: &'a [OsString],
    /// The edition of C.
    pub standard: &'a str,
    /// More flags, which go last.
    pub flags: &'a [String],
    /// The kind.
    pub kind: Kind,
    /// The file name of the library.
    pub name: &'a str,
}

/// What comes before any other flag that compiles a library.
pub fn flags(standard: &str) -> Vec<String> {
    let own = [standard, "-fopenmp", "-fPIC"];
    own.iter().chain(&Optimise::Fast.configured()).map(|flag| (*flag).to_owned()).collect()
}

/// More than this is no library that is made here.
const MAX_LIBRARY: u64 = 4 << 30;

/// The bytes of the library.
///
/// # Errors
/// `X0302` if the C compiler refuses the files or does not link them, `X0301` if there is no
/// archiver, `X0004` if a file can't be written.
pub fn build(compiler: &Compiler, recipe: &Recipe<'_>) -> Result<Vec<u8>, Failure> {
    let scratch = Scratch::new()?;
    let paths = recipe.files.iter().map(|(name, text)| write(&scratch, name, text));
    let paths = paths.collect::<Result<Vec<_>, _>>()?;
    let source: Vec<&Path> = paths.first().map(PathBuf::as_path).into_iter().collect();
    let mut all: Vec<OsString> = flags(recipe.standard).into_iter().map(OsString::from).collect();
    all.extend(recipe.includes.iter().cloned());
    all.extend(recipe.flags.iter().map(OsString::from));
    let library = scratch.path().join("library");
    match recipe.kind {
        Kind::Shared => {
            let mut soname = OsString::from("-Wl,-soname,");
            soname.push(OsStr::new(recipe.name));
            all.extend(["-shared".into(), soname]);
            compiler.compile_plain(&source, &library, &all, &[])?;
        }
        Kind::Static => {
            all.push("-c".into());
            let object = scratch.path().join(format!("{}.o", stem(recipe.name)));
            compiler.compile_plain(&source, &object, &all, &[])?;
            archive(&object, &library, compiler)?;
        }
    }
    read_bytes(&library, MAX_LIBRARY)
}

fn write(scratch: &Scratch, name: &str, text: &str) -> Result<PathBuf, Failure> {
    let path = scratch.path().join(name);
    let written = fs::write(&path, encoding::written(text));
    written
        .map(|()| path.clone())
        .map_err(|e| Failure::environment("X0004", format!("can't write {}: {}", path.display(), reason(&e))))
}

/// What an object file in an archive is called: tools show it.
fn stem(name: &str) -> String {
    targets::stem(name.split('.').next().unwrap_or(name))
}

fn archive(object: &Path, library: &Path, compiler: &Compiler) -> Result<(), Failure> {
    let given = std::env::var_os("AR").filter(|ar| !ar.is_empty()).map(PathBuf::from);
    let names = given.map_or_else(|| ["ar", "gcc-ar", "llvm-ar"].map(PathBuf::from).to_vec(), |ar| vec![ar]);
    let ar = names.iter().find_map(|name| process::on_path(name)).ok_or_else(|| {
        let tried: Vec<String> = names.iter().map(|name| format!("`{}`", name.display())).collect();
        Failure::environment(
            "X0301",
            format!("there is no archiver for static libraries: not {}", tried.join(", ")),
        )
        .help("install binutils, or set AR")
    })?;
    progress::say("making the archive");
    let mut command = Command::new(&ar);
    // Without times and owners: the same input gives the same file.
    command.arg("rcsD").arg(library).arg(object);
    let finished = process::run(&mut command, compiler.limit)?;
    if finished.status.success() {
        return Ok(());
    }
    Err(Failure::environment("X0302", format!("`{}` does not make the library", ar.display()))
        .note(finished.stderr))
}
