//! Compiled objects on disk, by what they were made of.
//!
//! An entry is a shared object with a digest behind it, so a file that was cut or changed is not
//! loaded but made anew. The folder has to belong to this user, and nobody else may write to it;
//! else there is no cache.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest, Sha256};

/// What stands between an object and its digest.
const MARK: &[u8; 16] = b"lozenge-object-1";

/// Bits of a mode that let others write.
const OTHERS_WRITE: u32 = 0o022;

/// The digest of these pieces, with their lengths, in hexadecimal digits.
pub fn key(pieces: &[&str]) -> String {
    let mut digest = Sha256::new();
    for piece in pieces {
        digest.update((piece.len() as u64).to_le_bytes());
        digest.update(piece.as_bytes());
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The folder of the cache: below `XDG_CACHE_HOME`, or `.cache` at home.
pub fn folder() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(base.join("lozenge"))
}

/// The folder, made if it is not there; none if it is not to be trusted.
fn trusted() -> Option<PathBuf> {
    let folder = folder()?;
    if !folder.exists() {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true).mode(0o700).create(&folder).ok()?;
    }
    let meta = fs::symlink_metadata(&folder).ok()?;
    (meta.is_dir() && own(&meta)).then_some(folder)
}

fn own(meta: &fs::Metadata) -> bool {
    meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & OTHERS_WRITE == 0
}

/// The file of an entry that is whole, belongs to this user, and can be loaded.
pub fn find(key: &str) -> Option<PathBuf> {
    let path = trusted()?.join(format!("{key}.so"));
    let meta = fs::symlink_metadata(&path).ok()?;
    if !meta.is_file() || !own(&meta) {
        return None;
    }
    let bytes = fs::read(&path).ok()?;
    let object = bytes.len().checked_sub(MARK.len() + 32)?;
    let (mark, digest) = bytes[object..].split_at(MARK.len());
    (mark == MARK && digest == Sha256::digest(&bytes[..object]).as_slice()).then_some(path)
}

/// Puts a compiled object into the cache, whole or not at all; a cache that cannot be written is
/// none.
pub fn put(key: &str, object: &Path) {
    let _ = written(key, object);
}

fn written(key: &str, object: &Path) -> Option<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let folder = trusted()?;
    let bytes = fs::read(object).ok()?;
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let partial = folder.join(format!("{key}.{}.{number}.partial", std::process::id()));
    let mut options = fs::OpenOptions::new();
    let opened = options.write(true).create_new(true).mode(0o600).open(&partial);
    let done = opened.and_then(|mut file| {
        file.write_all(&bytes)?;
        file.write_all(MARK)?;
        file.write_all(&Sha256::digest(&bytes))?;
        fs::rename(&partial, folder.join(format!("{key}.so")))
    });
    if done.is_err() {
        let _ = fs::remove_file(&partial);
    }
    done.ok()
}
