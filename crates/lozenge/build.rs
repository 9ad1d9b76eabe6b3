//! Collects what the command carries with it, so that it needs no file at run time: the pages of
//! `docs/errors`, for `lozenge explain CODE`; the theory in `proofs`, for `lozenge prove`; the
//! emulator of Sunway; and the commit, for `lozenge --version`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// Name and path of every file of a folder with this extension, in order.
fn files(folder: &Path, extension: &str) -> Vec<(String, PathBuf)> {
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut files: Vec<(String, PathBuf)> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .filter_map(|path| Some((path.file_name()?.to_str()?.to_owned(), path)))
        .collect();
    files.sort();
    files
}

/// Writes names and texts as `carried.rs` reads them: each ended by a zero byte, all of it
/// deflated.
fn pack(to: &Path, files: &[(String, PathBuf)]) {
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    for (name, path) in files {
        println!("cargo:rerun-if-changed={}", path.display());
        let text = fs::read(path).expect("a file of the repository can be read");
        for part in [name.as_bytes(), &text] {
            assert!(!part.contains(&0), "{} holds a zero byte", path.display());
            packed.write_all(part).and_then(|()| packed.write_all(&[0])).expect("memory can be written");
        }
    }
    let packed = packed.finish().expect("memory can be written");
    fs::write(to, packed).expect("the output folder can be written");
}

/// The commit that is built, in release builds: others would be built anew after each commit.
fn commit(root: &Path) -> Option<String> {
    if env::var_os("PROFILE").is_none_or(|profile| profile != "release") {
        return None;
    }
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let log = git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"])?;
    println!("cargo:rerun-if-changed={log}");
    git(&["rev-parse", "--short=12", "HEAD"])
}

/// Whether the linker is the one that comes with Rust, which folds equal functions into one: 1.90
/// has it for this target unless another linker is asked for.
fn folds_functions() -> bool {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let target = "x86_64-unknown-linux-gnu";
    let own_linker = env::var_os("RUSTC_LINKER").is_some()
        || env::var("CARGO_ENCODED_RUSTFLAGS").is_ok_and(|flags| flags.contains("link"));
    let version = || {
        let rustc = env::var_os("RUSTC")?;
        let said = Command::new(rustc).arg("--version").output().ok()?;
        let said = String::from_utf8(said.stdout).ok()?;
        let mut numbers = said.split(' ').nth(1)?.split('.');
        Some((numbers.next()?.parse::<u32>().ok()?, numbers.next()?.parse::<u32>().ok()?))
    };
    is("PROFILE", "release")
        && is("TARGET", target)
        && is("HOST", target)
        && !own_linker
        && version().is_some_and(|version| version >= (1, 90))
}

/// Whether the dynamic linker of this machine, which the program is for, reads packed relocations:
/// that of glibc since 2.36. Older ones refuse a program that has them.
fn reads_packed_relocations() -> bool {
    let told = Command::new("getconf").arg("GNU_LIBC_VERSION").output();
    let told = told.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let mut numbers = told.trim().strip_prefix("glibc ").unwrap_or_default().split('.');
    let mut next = || numbers.next().and_then(|number| number.parse::<u32>().ok());
    (next(), next()) >= (Some(2), Some(36))
}

fn main() {
    // Functions of equal code are one function: the program is 1 % smaller.
    if folds_functions() {
        println!("cargo:rustc-link-arg-bin=lozenge=-Wl,--icf=all");
        // 1.7 % smaller.
        if reads_packed_relocations() {
            println!("cargo:rustc-link-arg-bin=lozenge=-Wl,-z,pack-relative-relocs");
        }
    }
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    pack(&out.join("pages"), &files(&root.join("../../docs/errors"), "md"));
    pack(&out.join("theory"), &files(&root.join("../../proofs"), "v"));
    let emulator = root.join("../../runtime/athread");
    let mut sources = vec![("host.syms".to_owned(), emulator.join("host.syms"))];
    for (folder, extension) in [("include", "h"), ("src", "h"), ("src", "c")] {
        let found = files(&emulator.join(folder), extension);
        sources.extend(found.into_iter().map(|(name, path)| (format!("{folder}/{name}"), path)));
    }
    pack(&out.join("emulator"), &sources);
    println!("cargo:rustc-env=LOZENGE_COMMIT={}", commit(&root).unwrap_or_default());
}
