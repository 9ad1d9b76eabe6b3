//! A C compiler for the tests that keeps what it has compiled.
//!
//! `./x test` puts links to this program, named after compilers, first on the PATH. Compiling takes
//! most of the time of the tests that run generated C, and most of these programs are those of the
//! last run. What is kept in `$LOZENGE_COMPILED/KEY` is the file that the real compiler wrote. The
//! key is made of all that this file depends on: the compiler, the processor, the flags, the text
//! after the preprocessor and the bytes of object files. Only the compiler is spared: each program
//! still runs.
//!
//! A command goes to the real compiler as it is if it does anything else than make one program,
//! library or object out of files that are named. Nothing is kept if it fails, or if what it prints
//! names the folder of a file. The folders of texts and headers have names of their own in each
//! run, so they do not count. Warnings are kept, and said again.

mod command;
mod key;

use std::env;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio, exit};

/// Variables that name more places where a compiler looks for files.
const SEARCHED: [&str; 3] = ["LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX"];

fn main() {
    let mut arguments = env::args_os();
    let own = arguments.next().map(PathBuf::from).unwrap_or_default();
    let name = own.file_name().unwrap_or_default().to_owned();
    let arguments: Vec<OsString> = arguments.collect();
    let Some((compiler, path)) = real(Path::new(&name)) else {
        eprintln!("{}: not found", name.display());
        exit(127);
    };
    let store = env::var_os("LOZENGE_COMPILED").map(PathBuf::from);
    let searched = SEARCHED.iter().any(|variable| env::var_os(variable).is_some());
    let plan = store.as_ref().filter(|_| !searched).and_then(|_| command::plan(&arguments));
    let found = plan.and_then(|plan| key::of(&compiler, &plan, &path).map(|key| (plan, key)));
    let mut real = Command::new(&compiler);
    real.args(&arguments).env("PATH", &path);
    let (Some(store), Some((plan, key))) = (&store, found) else {
        if let Some(store) = &store {
            note(store, "passed-on");
        }
        let why = real.exec();
        eprintln!("{}: {why}", compiler.display());
        exit(126);
    };
    exit(match kept_or_made(store, &plan, &key, &mut real) {
        Ok(code) => code,
        Err(why) => {
            eprintln!("{}: {why}", name.display());
            1
        }
    });
}

/// The compiler behind the link, and the PATH without the folder of the links.
fn real(name: &Path) -> Option<(PathBuf, OsString)> {
    let here = env::current_exe().ok()?.canonicalize().ok()?;
    let behind = |file: &Path| file.canonicalize().is_ok_and(|f| f != here);
    let path = env::var_os("PATH")?;
    let folders: Vec<PathBuf> = env::split_paths(&path)
        .filter(|folder| folder.join(name).canonicalize().map_or(true, |file| file != here))
        .collect();
    let compiler = folders.iter().map(|folder| folder.join(name)).find(|file| behind(file))?;
    Some((compiler, env::join_paths(folders).ok()?))
}

/// Takes the file from the store, or makes it and keeps it; the exit code of the compiler.
fn kept_or_made(store: &Path, plan: &command::Plan, key: &str, real: &mut Command) -> io::Result<i32> {
    let kept = store.join(key);
    let said = store.join(format!("{key}.said"));
    if kept.exists() {
        note(store, "taken");
        // What no test asked for in two weeks goes.
        File::open(&kept)?.set_modified(std::time::SystemTime::now())?;
        copied(&kept, Path::new(&plan.output))?;
        if let Ok(said) = fs::read(said) {
            io::stderr().write_all(&said)?;
        }
        return Ok(0);
    }
    let done = real.stdin(Stdio::inherit()).output()?;
    io::stdout().write_all(&done.stdout)?;
    io::stderr().write_all(&done.stderr)?;
    let output = Path::new(&plan.output);
    if done.status.success() && done.stdout.is_empty() && !plan.is_named_in(&done.stderr) && output.is_file()
    {
        if !done.stderr.is_empty() {
            put(&said, |new| fs::write(new, &done.stderr))?;
        }
        put(&kept, |new| fs::copy(output, new).map(|_| ()))?;
    }
    note(store, "compiled");
    Ok(done.status.code().unwrap_or(1))
}

/// A new file in the place of the old one, which a program may be running.
fn copied(from: &Path, to: &Path) -> io::Result<()> {
    match fs::remove_file(to) {
        Err(why) if why.kind() != io::ErrorKind::NotFound => return Err(why),
        _ => {}
    }
    fs::copy(from, to).map(|_| ())
}

/// Counts: a byte in a file, which several commands may write at once.
fn note(store: &Path, what: &str) {
    let file = OpenOptions::new().append(true).create(true).open(store.join(what));
    // Only a number in a message depends on this.
    let _ = file.and_then(|mut file| file.write_all(b"."));
}

/// A file that is there whole or not at all.
fn put(path: &Path, write: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let new = path.with_extension(format!("{}.new", std::process::id()));
    write(&new)?;
    fs::rename(new, path)
}
