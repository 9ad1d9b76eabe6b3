//! What is kept and what is made again.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

/// A store, the links to the compilers, and programs.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().expect("a folder"));
        fs::create_dir(place.path().join("bin")).expect("a folder");
        fs::create_dir(place.path().join("store")).expect("a folder");
        symlink(env!("CARGO_BIN_EXE_compiled"), place.path().join("bin/gcc")).expect("a link");
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Compiles `main.c` in a new folder, with a header beside it; the program's exit code.
    fn compile(&self, folder: &str, text: &str, header: &str, flags: &[&str]) -> Output {
        let folder = self.path().join(folder);
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("main.c"), text).expect("a file");
        fs::write(folder.join("value.h"), header).expect("a file");
        let path = std::env::var("PATH").expect("a path");
        Command::new(self.path().join("bin/gcc"))
            .args(flags)
            .arg(folder.join("main.c"))
            .arg("-o")
            .arg(folder.join("main"))
            .env("PATH", format!("{}:{path}", self.path().join("bin").display()))
            .env("LOZENGE_COMPILED", self.path().join("store"))
            .output()
            .expect("the compiler runs")
    }

    fn result(&self, folder: &str) -> Option<i32> {
        Command::new(self.path().join(folder).join("main")).status().expect("the program runs").code()
    }

    /// How often `what` happened.
    fn count(&self, what: &str) -> usize {
        fs::read(self.path().join("store").join(what)).map_or(0, |bytes| bytes.len())
    }
}

const MAIN: &str = "#include \"value.h\"\nint main(void) { return VALUE; }\n";

#[test]
fn the_same_text_is_compiled_once() {
    let place = Place::new();
    for folder in ["a", "b"] {
        assert!(place.compile(folder, MAIN, "#define VALUE 7\n", &["-O1"]).status.success());
        assert_eq!(place.result(folder), Some(7));
    }
    assert_eq!((place.count("compiled"), place.count("taken")), (1, 1));
}

/// Headers in a folder of another name are the same text.
#[test]
fn folders_of_headers_do_not_count() {
    let place = Place::new();
    for folder in ["first", "second"] {
        let headers = place.path().join(folder);
        fs::create_dir(&headers).expect("a folder");
        fs::write(headers.join("other.h"), "#include \"value.h\"\n").expect("a file");
        let text = MAIN.replace("value.h", "other.h");
        let flag = format!("-I{}", headers.display());
        assert!(
            place
                .compile(
                    "a",
                    &text,
                    "#define VALUE 7\n",
                    &[&flag, "-I", &format!("{}/a", place.path().display())]
                )
                .status
                .success()
        );
        assert_eq!(place.result("a"), Some(7));
    }
    assert_eq!((place.count("compiled"), place.count("taken")), (1, 1));
}

#[test]
fn headers_macros_and_flags_count() {
    let place = Place::new();
    assert!(place.compile("a", MAIN, "#define VALUE 7\n", &[]).status.success());
    assert!(place.compile("a", MAIN, "#define VALUE 8\n", &[]).status.success());
    assert_eq!(place.result("a"), Some(8));
    assert!(place.compile("a", MAIN, "", &["-DVALUE=9"]).status.success());
    assert_eq!(place.result("a"), Some(9));
    assert!(place.compile("a", MAIN, "", &["-DVALUE=9", "-O2"]).status.success());
    assert_eq!((place.count("compiled"), place.count("taken")), (4, 0));
}

#[test]
fn messages_that_name_a_folder_and_errors_are_not_kept() {
    let place = Place::new();
    let text = "int main(void) { int unused = 1; return 0; }\n";
    assert!(!place.compile("a", text, "", &["-Wall"]).stderr.is_empty());
    assert!(!place.compile("b", text, "", &["-Wall"]).stderr.is_empty());
    assert_eq!((place.count("compiled"), place.count("taken")), (2, 0));
    let wrong = "int main(void) { return x; }\n";
    for _ in 0..2 {
        assert!(!place.compile("c", wrong, "", &[]).status.success());
    }
    assert_eq!((place.count("compiled"), place.count("taken")), (4, 0));
}

#[test]
fn other_commands_go_to_the_compiler() {
    let place = Place::new();
    assert!(place.compile("a", MAIN, "#define VALUE 7\n", &["-MD"]).status.success());
    assert_eq!((place.count("passed-on"), place.count("compiled")), (1, 0));
}
