//! Files that the parameters of a model lie in: regular files in the model's folder, opened without
//! leaving it, read where the model says.
//!
//! A model is input that nobody vouches for, and so are the files that came with it. A link may
//! lead to another file of the folder, not out of it; pipes and devices are refused before they are
//! opened.

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use graph::onnx::external::{Files, Part};
use loops::{Code, Diagnostic};

use crate::files::reason;

/// The files beside a model.
#[derive(Debug)]
pub struct Beside {
    path: PathBuf,
    folder: Dir,
    open: BTreeMap<String, Opened>,
    parts: BTreeMap<Part, Bytes>,
}

#[derive(Debug)]
struct Opened {
    file: File,
    length: u64,
    /// Bytes that were read, each part once.
    read: u64,
}

impl Beside {
    /// The files in the folder of a model.
    ///
    /// # Errors
    /// `X0001` if the folder can't be opened.
    pub fn of(model: &Path) -> Result<Beside, Diagnostic> {
        let folder = model.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let open = Dir::open_ambient_dir(folder, ambient_authority());
        let folder_file = open.map_err(|e| cannot(folder, &reason(&e)))?;
        let (open, parts) = Default::default();
        Ok(Beside { path: folder.to_path_buf(), folder: folder_file, open, parts })
    }

    /// All bytes of a file.
    ///
    /// # Errors
    /// As of a part.
    pub fn whole(&mut self, location: &str) -> Result<Vec<u8>, Diagnostic> {
        let length = self.length(location)?;
        self.bytes(&Part { location: location.to_owned(), offset: 0, length })
    }

    fn opened(&mut self, location: &str) -> Result<&mut Opened, Diagnostic> {
        let shown = self.path.join(location);
        if !self.open.contains_key(location) {
            let refuse = |why: String| cannot(&shown, &why);
            if !graph::onnx::external::is_safe(location) {
                return Err(refuse("the path leaves the model's folder".to_owned()));
            }
            let meta = self.folder.metadata(location).map_err(|e| refuse(inside(&e)))?;
            regular(&meta).map_err(refuse)?;
            let file = self.folder.open_with(location, &reading()).map_err(|e| refuse(inside(&e)))?;
            // What was opened may be something else than what was looked at.
            let meta = file.metadata().map_err(|e| refuse(inside(&e)))?;
            regular(&meta).map_err(refuse)?;
            self.open.insert(location.to_owned(), Opened { file, length: meta.len(), read: 0 });
        }
        self.open.get_mut(location).ok_or_else(|| cannot(&shown, "it is not open"))
    }

    fn bytes(&mut self, part: &Part) -> Result<Vec<u8>, Diagnostic> {
        let shown = self.path.join(&part.location);
        let opened = self.opened(&part.location)?;
        opened.read = opened.read.saturating_add(part.length);
        // Tensors that lie on one another could take any amount of memory.
        if opened.read > opened.length.saturating_mul(2) {
            return Err(cannot(&shown, "its tensors overlap, and take more than twice its length"));
        }
        let mut bytes = vec![0; usize::try_from(part.length).unwrap_or(usize::MAX)];
        let file = &mut opened.file;
        let read = file.seek(SeekFrom::Start(part.offset)).and_then(|_| file.read_exact(&mut bytes));
        read.map_err(|e| cannot(&shown, &reason(&e)))?;
        Ok(bytes)
    }
}

impl Files for Beside {
    fn length(&mut self, location: &str) -> Result<u64, Diagnostic> {
        Ok(self.opened(location)?.length)
    }

    fn part(&mut self, part: &Part) -> Result<Bytes, Diagnostic> {
        if let Some(known) = self.parts.get(part) {
            return Ok(known.clone());
        }
        let bytes = Bytes::from(self.bytes(part)?);
        self.parts.insert(part.clone(), bytes.clone());
        Ok(bytes)
    }
}

/// For reading; a pipe that took the file's place meanwhile is not waited for.
fn reading() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
    }
    options
}

fn regular(meta: &Metadata) -> Result<(), String> {
    match meta.is_file() {
        true => Ok(()),
        false => Err("it is not a regular file".to_owned()),
    }
}

/// The system's reason, where the way does not lead out of the folder.
fn inside(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => {
            "a link leads out of the model's folder".to_owned()
        }
        _ if error.to_string().contains("outside of the filesystem") => {
            "a link leads out of the model's folder".to_owned()
        }
        _ => reason(error),
    }
}

fn cannot(path: &Path, why: &str) -> Diagnostic {
    Diagnostic::general(Code("X0001"), format!("can't read {}: {why}", path.display()))
        .help("the data files of a model must be regular files in its folder; copy them there")
}
