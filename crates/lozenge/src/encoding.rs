//! C files in another encoding than UTF-8 (Latin-1, GBK): comments and strings outside of regions
//! are to come out as they went in. So are names of files.
//!
//! A byte that is no UTF-8 is a character of a private plane while the text is here, and that byte
//! again where the text is written as C.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The character of byte 0; bytes from 128 on are used.
const FIRST: u32 = 0x10_FF00;

fn byte(c: char) -> Option<u8> {
    u32::from(c).checked_sub(FIRST).and_then(|b| u8::try_from(b).ok()).filter(|b| *b >= 128)
}

/// Bytes as a text; none if it has the private characters itself.
pub fn read(bytes: &[u8]) -> Option<String> {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        if chunk.valid().chars().any(|c| byte(c).is_some()) {
            return None;
        }
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().filter_map(|b| char::from_u32(FIRST + u32::from(*b))));
    }
    Some(text)
}

/// The bytes of a text that was read so.
pub fn written(text: &str) -> Cow<'_, [u8]> {
    if !text.chars().any(|c| byte(c).is_some()) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match byte(c) {
            Some(b) => bytes.push(b),
            None => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    Cow::Owned(bytes)
}

/// The name of a file as a text, from which [`path`] makes the name again.
pub fn name(path: &Path) -> String {
    read(path.as_os_str().as_bytes()).unwrap_or_else(|| path.display().to_string())
}

/// The file of this name.
pub fn path(name: &str) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(&written(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_out_as_they_went_in() {
        let all: Vec<u8> = (0..=255).chain("ä ⊕ 漢".bytes()).chain([0xC3]).collect();
        assert_eq!(&*written(&read(&all).unwrap()), all.as_slice());
        assert_eq!(read("\u{10FFF0}".as_bytes()), None);
        assert!(matches!(written("plain"), Cow::Borrowed(_)));
        let file = Path::new(OsStr::from_bytes(b"a/\xff\xc3.c"));
        assert_eq!(path(&name(file)), file);
    }
}
