//! The texts that the editor has open, and files that they import.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use lsp_types::Uri;
use percent_encoding::percent_decode_str;

use crate::analysis::Analysis;
use crate::place::Lines;

/// An imported file is read up to this length, in bytes.
const MAX_IMPORT: u64 = 16 << 20;

/// What a document is written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// Functional programs.
    Functional,
    /// Substitution rules.
    Rules,
    /// Loop programs.
    Loops,
}

impl Language {
    /// By the extension of a file.
    pub fn of(path: &Path) -> Option<Language> {
        match path.extension()?.to_str()? {
            "loz" => Some(Language::Functional),
            "gsl" => Some(Language::Rules),
            "loops" => Some(Language::Loops),
            _ => None,
        }
    }
}

/// An open document.
#[derive(Debug)]
pub(crate) struct Document {
    /// Where the editor says that it is.
    pub uri: Uri,
    /// Its language.
    pub language: Language,
    /// Its text as the editor has it.
    pub text: String,
    /// The lines of the text.
    pub lines: Lines,
    /// What is known of the text.
    pub analysis: Analysis,
}

/// All open documents.
#[derive(Debug, Default)]
pub struct Documents {
    open: BTreeMap<PathBuf, Document>,
}

impl Documents {
    /// Takes a new text and analyses it. Documents of other languages are ignored.
    pub fn update(&mut self, uri: &Uri, text: String) -> Option<&Document> {
        let path = path_of(uri)?;
        let language = Language::of(&path)?;
        let mut previous = self.open.remove(&path).map(|document| document.analysis);
        let analysis = Analysis::of(&path, language, &text, previous.take(), &|path| self.read(path));
        let lines = Lines::of(&text);
        let document = Document { uri: uri.clone(), language, text, lines, analysis };
        Some(self.open.entry(path).insert_entry(document).into_mut())
    }

    /// Forgets a document.
    pub fn close(&mut self, uri: &Uri) {
        if let Some(path) = path_of(uri) {
            self.open.remove(&path);
        }
    }

    /// An open document.
    pub fn get(&self, uri: &Uri) -> Option<&Document> {
        self.open.get(&path_of(uri)?)
    }

    /// The text of an imported file: as the editor has it, else as it is on the disk.
    fn read(&self, path: &Path) -> Result<String, String> {
        if let Some(document) = self.open.get(path) {
            return Ok(document.text.clone());
        }
        let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
        if !metadata.is_file() {
            return Err("it is no regular file".to_owned());
        }
        let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
        let mut text = String::new();
        let length =
            file.take(MAX_IMPORT + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
        if length as u64 > MAX_IMPORT {
            Err(format!("it is longer than {MAX_IMPORT} bytes"))
        } else {
            Ok(text)
        }
    }
}

/// The path of a `file:` address.
fn path_of(uri: &Uri) -> Option<PathBuf> {
    let path = uri.as_str().strip_prefix("file://")?;
    let path = &path[path.find('/')?..];
    Some(PathBuf::from(percent_decode_str(path).decode_utf8().ok()?.as_ref()))
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use super::*;

    fn path(uri: &str) -> Option<PathBuf> {
        path_of(&Uri::from_str(uri).expect("an address"))
    }

    #[test]
    fn addresses_of_files_are_paths() {
        assert_eq!(path("file:///a/b%20c.loz"), Some(PathBuf::from("/a/b c.loz")));
        assert_eq!(path("file://host/a.loz"), Some(PathBuf::from("/a.loz")));
        assert_eq!(path("untitled:x.loz"), None);
        assert_eq!(path("file:///%ff.loz"), None);
    }

    #[test]
    fn other_languages_are_ignored() {
        let mut documents = Documents::default();
        let uri = Uri::from_str("file:///k.c").expect("an address");
        assert!(documents.update(&uri, "int x;".to_owned()).is_none());
        assert!(documents.get(&uri).is_none());
    }
}
