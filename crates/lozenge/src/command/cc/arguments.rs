//! The words of a C compiler's command line, as far as they have to be understood: which of them
//! are C files, what is made of these, and which words a preprocessor needs.
//!
//! Not here: what is done with them (`cc`).

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// What one or two words of a command line are for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Role {
    /// A C file, or `-` for the standard input.
    C,
    /// Another file.
    Input,
    /// `-c` or `-S`: nothing is linked.
    Unlinked,
    /// Nothing is compiled: `-E`, `-M`, `-fsyntax-only` and the like.
    Uncompiled,
    /// `-o`, with the name.
    Output(PathBuf),
    /// `-MD`, `-MMD`: a file of dependences, under its usual name.
    Depends,
    /// A file of dependences with this name.
    DependsIn(PathBuf),
    /// What only says where something is written.
    Writes,
    /// The language of the files behind it.
    Language,
    /// A standard in which loops cannot declare variables.
    OldStandard,
    /// Whether there is OpenMP.
    OpenMp,
    /// The result has no libraries, or is no program.
    Bare,
    /// Any other option.
    Option,
}

/// One option with its value, or one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    /// As they were given.
    pub texts: Vec<OsString>,
    /// What they are for.
    pub role: Role,
}

/// A command line.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Line {
    /// The words, but for those that are for this command.
    pub words: Vec<Word>,
    /// `--lozenge-auto`: without pragmas, every loop nest is looked at.
    pub auto: bool,
    /// `--lozenge-remarks`: say what stays as it is, and why.
    pub remarks: bool,
    /// `--lozenge-assume-no-alias`: pointers never overlap.
    pub assume_no_alias: bool,
}

/// Options whose value is a word of its own.
const WITH_VALUE: [&str; 46] = [
    "-o",
    "-x",
    "-I",
    "-D",
    "-U",
    "-L",
    "-l",
    "-T",
    "-u",
    "-z",
    "-e",
    "-A",
    "-B",
    "-G",
    "-F",
    "-h",
    "-R",
    "-include",
    "-imacros",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isystem",
    "-isysroot",
    "-iquote",
    "-idirafter",
    "-imultilib",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xclang",
    "-mllvm",
    "-target",
    "--param",
    "-aux-info",
    "-arch",
    "-wrapper",
    "-dumpbase",
    "-dumpdir",
    "-dumpbase-ext",
    "--sysroot",
    "--language",
];

/// As many files of options may be read.
const MOST_FILES: usize = 100;

/// Reads a command line.
///
/// # Errors
/// An option of this command that it does not know.
pub fn read(words: &[OsString]) -> Result<Line, String> {
    let mut left = MOST_FILES;
    let mut words = expanded(words, &mut left).into_iter().peekable();
    let mut line = Line::default();
    let mut language: Option<bool> = None;
    while let Some(word) = words.next() {
        if let Some(own) = word.to_str().and_then(|w| w.strip_prefix("--lozenge-")) {
            match own {
                "auto" => line.auto = true,
                "remarks" => line.remarks = true,
                "assume-no-alias" => line.assume_no_alias = true,
                _ => {
                    return Err(format!(
                        "unknown option `--lozenge-{own}`; known are --lozenge-auto, --lozenge-remarks and --lozenge-assume-no-alias"
                    ));
                }
            }
            continue;
        }
        let name = word.to_string_lossy().into_owned();
        let mut texts = vec![word];
        if WITH_VALUE.contains(&name.as_str()) {
            texts.extend(words.next());
        }
        let value = texts.get(1).cloned();
        let role = role(&name, value.as_deref(), language);
        if role == Role::Language {
            let given = value.map(|v| v.to_string_lossy().into_owned());
            let given = given.as_deref().unwrap_or_else(|| language_in(&name));
            language = (given != "none").then_some(given == "c");
        }
        line.words.push(Word { texts, role });
    }
    Ok(line)
}

/// `c` of `-xc` and `--language=c`.
fn language_in(name: &str) -> &str {
    name.strip_prefix("--language=").or_else(|| name.strip_prefix("-x")).unwrap_or_default()
}

fn role(name: &str, value: Option<&OsStr>, language: Option<bool>) -> Role {
    if name == "-" || !name.starts_with('-') {
        let is_c =
            language.unwrap_or_else(|| name != "-" && crate::files::language(Path::new(name)).is_some());
        return if is_c { Role::C } else { Role::Input };
    }
    let path = |value: &OsStr| PathBuf::from(value);
    match name {
        "-c" | "-S" => return Role::Unlinked,
        "-E" | "-M" | "-MM" | "-fsyntax-only" | "-###" | "--preprocess" => return Role::Uncompiled,
        "-o" => return value.map_or(Role::Option, |v| Role::Output(path(v))),
        "-MD" | "-MMD" => return Role::Depends,
        "-MF" => return value.map_or(Role::Option, |v| Role::DependsIn(path(v))),
        "-MT" | "-MQ" | "-MJ" | "-MP" | "-MG" | "-aux-info" | "-dumpdir" | "-dumpbase" => {
            return Role::Writes;
        }
        "-x" | "--language" => return Role::Language,
        "-ansi" => return Role::OldStandard,
        "-fopenmp" | "-fno-openmp" | "-fopenmp-simd" => return Role::OpenMp,
        "-r" | "-nostdlib" | "-nodefaultlibs" | "-ffreestanding" => return Role::Bare,
        _ => {}
    }
    let begins = |start: &str| name.strip_prefix(start);
    if let Some(standard) = begins("-std=") {
        let old = ["c89", "c90", "gnu89", "gnu90", "iso9899:1990", "iso9899:199409"];
        return if old.contains(&standard) { Role::OldStandard } else { Role::Option };
    }
    if let Some(file) = begins("-Wp,-MD,").or_else(|| begins("-Wp,-MMD,")) {
        return Role::DependsIn(PathBuf::from(file.split(',').next().unwrap_or(file)));
    }
    if let Some(file) = begins("-MF") {
        return Role::DependsIn(PathBuf::from(file));
    }
    if let Some(file) = begins("-o").filter(|_| !name.starts_with("-objc") && !name.starts_with("-on")) {
        return Role::Output(PathBuf::from(file));
    }
    let writes = ["-save-temps", "--save-temps", "-fdump-", "-MT", "-MQ", "-MJ", "-ftime-trace"];
    match name {
        _ if begins("--language=").is_some() || begins("-x").is_some() => Role::Language,
        _ if writes.iter().any(|start| name.starts_with(start)) => Role::Writes,
        _ => Role::Option,
    }
}

/// The words with those of the files of options (`@file`) in the place of these. A file that cannot
/// be read stays a word.
fn expanded(words: &[OsString], left: &mut usize) -> Vec<OsString> {
    let mut all = Vec::new();
    for word in words {
        let inner = word.as_bytes().strip_prefix(b"@").map(|name| Path::new(OsStr::from_bytes(name)));
        let text = inner.filter(|_| *left > 0).and_then(|name| std::fs::read(name).ok());
        match text {
            Some(text) => {
                *left -= 1;
                all.extend(expanded(&split(&text), left));
            }
            None => all.push(word.clone()),
        }
    }
    all
}

/// The words of a file of options: white space is between them, quotes and backslashes keep it.
fn split(text: &[u8]) -> Vec<OsString> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<Vec<u8>>, None);
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) => word.get_or_insert_default().extend(bytes.next()),
            (b'"' | b'\'', None) => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (byte, Some(open)) if byte == open => quote = None,
            (byte, None) if byte.is_ascii_whitespace() => words.extend(word.take().map(OsString::from_vec)),
            (byte, _) => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word.map(OsString::from_vec));
    words
}

/// Words as a file of options has them.
pub(crate) fn as_file(words: &[OsString]) -> Vec<u8> {
    let mut text = Vec::new();
    for word in words {
        text.push(b'"');
        for byte in word.as_bytes() {
            if matches!(byte, b'"' | b'\\') {
                text.push(b'\\');
            }
            text.push(*byte);
        }
        text.extend(b"\"\n");
    }
    text
}

impl Line {
    /// Whether some word has this role.
    pub fn has(&self, role: &Role) -> bool {
        self.words.iter().any(|word| word.role == *role)
    }

    /// Whether C is compiled, and not only read.
    pub fn compiles(&self) -> bool {
        self.has(&Role::C) && !self.has(&Role::Uncompiled)
    }

    /// Whether something is linked.
    pub fn links(&self) -> bool {
        let has_input = self.has(&Role::C) || self.has(&Role::Input);
        has_input && ![Role::Unlinked, Role::Uncompiled, Role::Bare].iter().any(|role| self.has(role))
    }

    /// All words, as the compiler is to get them.
    pub fn texts(&self) -> Vec<OsString> {
        self.words.iter().flat_map(|word| word.texts.iter().cloned()).collect()
    }

    /// The words that a preprocessor needs.
    pub fn preprocessor(&self) -> Vec<OsString> {
        let wanted = [Role::Option, Role::OldStandard, Role::OpenMp, Role::Bare];
        let words = self.words.iter().filter(|word| wanted.contains(&word.role));
        let words = words.filter(|word| {
            let first = word.texts[0].as_bytes();
            !(first.starts_with(b"-l") || first.starts_with(b"-L") || first.starts_with(b"-Wl,"))
        });
        words.flat_map(|word| word.texts.iter().cloned()).collect()
    }

    /// Where files of dependences may be that this command line asks for, of a C file.
    pub fn depends(&self, source: &Path) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut usual = self.has(&Role::Depends);
        for word in &self.words {
            if let Role::DependsIn(file) = &word.role {
                files.push(file.clone());
                usual = false;
            }
        }
        if !usual {
            return files;
        }
        let stem = source.file_stem().unwrap_or_default();
        let output = self.words.iter().rev().find_map(|word| match &word.role {
            Role::Output(file) => Some(file),
            _ => None,
        });
        files.push(output.map_or_else(|| PathBuf::from(stem), Clone::clone).with_extension("d"));
        if let Some(output) = output {
            let mut linked = output.clone().into_os_string();
            linked.push("-");
            linked.push(stem);
            linked.push(".d");
            files.push(PathBuf::from(linked));
        }
        files
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &[&str]) -> Line {
        read(&words.iter().map(OsString::from).collect::<Vec<_>>()).unwrap()
    }

    fn c_files(line: &Line) -> Vec<String> {
        let files = line.words.iter().filter(|w| w.role == Role::C);
        files.map(|w| w.texts[0].to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn c_files_are_told_from_values_of_options_and_other_languages() {
        let all = line(&["-O2", "-o", "x.c", "a.c", "-D", "b.c", "-x", "c++", "c.c", "-xnone", "d.c", "e.o"]);
        assert_eq!(c_files(&all), ["a.c", "d.c"]);
        assert!(all.links() && all.compiles());
        assert_eq!(c_files(&line(&["-xc", "-c", "-", "weird"])), ["-", "weird"]);
        assert!(!line(&["-E", "a.c"]).compiles());
        assert!(!line(&["-c", "a.c"]).links());
        assert!(!line(&["--version"]).links());
    }

    #[test]
    fn a_preprocessor_gets_no_outputs() {
        let all = line(&["-Iinc", "-MD", "-MF", "a.d", "-o", "a.o", "-c", "a.c", "-isystem", "x", "-lm"]);
        assert_eq!(all.preprocessor(), ["-Iinc", "-isystem", "x"]);
    }

    #[test]
    fn files_of_dependences_have_their_usual_names() {
        let of = |words: &[&str]| line(words).depends(Path::new("src/a.c"));
        assert_eq!(of(&["-MD", "-c", "src/a.c"]), [Path::new("a.d")]);
        assert_eq!(of(&["-MD", "-MF", "x/y.Tpo", "-c", "src/a.c"]), [Path::new("x/y.Tpo")]);
        assert_eq!(of(&["-Wp,-MD,.a.o.d", "-c", "src/a.c"]), [Path::new(".a.o.d")]);
        assert!(of(&["-MMD", "-o", "b/a.o", "-c", "src/a.c"]).contains(&PathBuf::from("b/a.d")));
        assert!(of(&["-c", "src/a.c"]).is_empty());
    }

    #[test]
    fn files_of_options_read_as_they_are_written() {
        let words: Vec<OsString> = ["a b", "-DX=\"1\"", "", "\\"].iter().map(OsString::from).collect();
        assert_eq!(split(&as_file(&words)), words);
        assert_eq!(split(b"-c  'x y'.c\n-D\\\"Z"), ["-c", "x y.c", "-D\"Z"]);
    }

    #[test]
    fn own_options_are_known_or_refused() {
        assert!(line(&["--lozenge-auto", "a.c"]).auto);
        assert!(read(&["--lozenge-fast".into()]).is_err());
    }
}
