//! SHA-256 in hexadecimal digits, as `sha256sum` prints it.

use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

/// The digest of a file. The file is read in pieces.
///
/// # Errors
/// If the file can't be read.
pub fn of_file(path: &Path) -> io::Result<String> {
    let mut all = Sha256::new();
    io::copy(&mut File::open(path)?, &mut all)?;
    Ok(hex(&all.finalize()))
}

/// The digest of bytes.
pub fn of_bytes(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes in hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
