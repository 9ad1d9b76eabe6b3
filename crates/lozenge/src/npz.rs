//! Arrays that the command line names: files of one (`.npy`), and members of archives (`.npz`).

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use loops::Tensor;
use zip::ZipArchive;
use zip::result::ZipError;

use crate::bind;
use crate::failure::Failure;
use crate::files::read_bytes;
use crate::npy;

/// Reads the array for a parameter: of a file, of the member that stands behind the name of an
/// archive and a colon, or of the member with the name of the parameter.
///
/// # Errors
/// `X0201` if it is no array, or the archive has no such member; what reading a file refuses.
pub fn load(parameter: &str, file: &Path) -> Result<Tensor, Failure> {
    let (path, member) = apart(file);
    // What is read, what comes out of an archive, and the array are there at the same time.
    let limit = u64::try_from(bind::available_memory() / 3).unwrap_or(u64::MAX - 1);
    let bytes = read_bytes(&path, limit)?;
    let refused = |why: String| Failure::refused("X0201", format!("{} {why}", path.display()));
    if path.extension().is_none_or(|e| e != "npz") {
        return npy::read(&bytes).map_err(refused);
    }
    let member = member.unwrap_or_else(|| parameter.to_owned());
    let bytes = unpacked(bytes, &member, limit).map_err(refused)?;
    npy::read(&bytes).map_err(|why| refused(format!("has a member `{member}` that {why}")))
}

/// The file and the member of an archive; a file that has the whole name goes before.
fn apart(file: &Path) -> (PathBuf, Option<String>) {
    let split = file.to_str().and_then(|text| {
        let (path, member) = text.rsplit_once(".npz:")?;
        Some((PathBuf::from(format!("{path}.npz")), member.to_owned()))
    });
    match split {
        Some((path, member)) if !file.exists() => (path, Some(member)),
        _ => (file.to_path_buf(), None),
    }
}

/// The bytes of a member, of which there are at most `limit`: what the archive says of their number
/// is not trusted.
fn unpacked(archive: Vec<u8>, member: &str, limit: u64) -> Result<Vec<u8>, String> {
    let wrong = |error: ZipError| format!("is no archive that can be read: {error}");
    let mut archive = ZipArchive::new(Cursor::new(archive)).map_err(wrong)?;
    let names: Vec<String> = archive.file_names().filter_map(|name| Some(name.ok()?.into_owned())).collect();
    let name = [format!("{member}.npy"), member.to_owned()].into_iter().find(|name| names.contains(name));
    let Some(name) = name else {
        let mut names: Vec<&str> = names.iter().map(|name| name.trim_end_matches(".npy")).collect();
        let more = names.len().saturating_sub(20);
        names.truncate(20);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        return Err(format!("has no member `{member}`; its members are: {}{more}", names.join(", ")));
    };
    let file = archive.by_name(&name).map_err(wrong)?;
    let mut bytes = Vec::new();
    let read = file.take(limit.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| format!("has a member `{member}` that can't be read: {error}"))?;
    if bytes.len() as u64 > limit {
        return Err(format!(
            "has a member `{member}` of more than the {limit} bytes for which there is memory"
        ));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in members {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    #[test]
    fn names_come_apart() {
        let both = |text: &str| apart(Path::new(text));
        assert_eq!(both("a.npy"), (PathBuf::from("a.npy"), None));
        assert_eq!(both("a.npz"), (PathBuf::from("a.npz"), None));
        assert_eq!(both("b/a.npz:x:y"), (PathBuf::from("b/a.npz"), Some("x:y".to_owned())));
    }

    #[test]
    fn members_are_found_and_bounded() {
        let bytes = archive(&[("x.npy", &[7; 1000]), ("plain", b"there")]);
        assert_eq!(unpacked(bytes.clone(), "x", 1000), Ok(vec![7; 1000]));
        assert_eq!(unpacked(bytes.clone(), "plain", 5), Ok(b"there".to_vec()));
        let told = |member, limit| unpacked(bytes.clone(), member, limit).unwrap_err();
        assert!(told("x", 999).contains("more than the 999 bytes"));
        assert!(told("y", 999).contains("its members are: x, plain"));
        assert!(unpacked(b"nothing".to_vec(), "x", 10).unwrap_err().contains("is no archive"));
    }

    proptest::proptest! {
        #[test]
        fn damaged_archives_never_panic(at in 0usize..200, byte in 0u8..) {
            let mut bytes = archive(&[("x.npy", &[7; 50])]);
            let length = bytes.len();
            bytes[at % length] = byte;
            let _ = unpacked(bytes, "x", 100);
        }
    }
}
