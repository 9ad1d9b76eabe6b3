//! What the tests of targets share: reading programs, running compilers.
#![allow(dead_code)] // each test file uses a part

pub mod differential;
pub mod generate;
pub mod runner;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use loops::Program;

/// Compilers that the tests use where they are installed; the first one must be.
pub const COMPILERS: [&str; 3] = ["gcc", "clang", "clang-16"];

/// Flags under which generated code has no warnings.
pub const STRICT: [&str; 6] = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"];

/// The loop program of a case.
pub fn program(case: &golden::Case) -> Program {
    loops::parse(&case.input).unwrap_or_else(|e| panic!("{}: {}", case.path.display(), e[0]))
}

/// A program as it is printed: with elements in registers.
#[allow(dead_code)]
pub fn promoted(program: &Program) -> Program {
    let functions = program.functions.iter();
    let promoted = |f: &loops::Function| passes::DIRECTED.run(f.clone(), &mut Vec::new());
    Program { functions: functions.map(promoted).collect() }
}

/// Whether a command can be run.
pub fn installed(command: &str) -> bool {
    Command::new(command).arg("--version").output().is_ok_and(|o| o.status.success())
}

/// A folder for the files of one test, empty at first.
pub fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Fails with what the command printed.
pub fn succeed(what: &str, output: &Output) {
    assert!(
        output.status.success(),
        "{what}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Compiles a source strictly.
pub fn compile(compiler: &str, name: &str, source: &str, flags: &[&str]) {
    compile_only(compiler, name, source, &[&STRICT[..], flags].concat());
}

/// Compiles a source with these flags.
pub fn compile_only(compiler: &str, name: &str, source: &str, flags: &[&str]) {
    let folder = scratch(&format!("{compiler}-{name}-{}", flags.join("")));
    let file = folder.join("code.c");
    std::fs::write(&file, source).unwrap();
    let output = Command::new(compiler)
        .args(flags)
        .args(["-c", "-o"])
        .arg(folder.join("code.o"))
        .arg(&file)
        .output()
        .unwrap();
    succeed(&format!("{compiler} {} {}", flags.join(" "), file.display()), &output);
}

/// Compiles a source that includes `declared.h`, and the header alone in C and C++.
pub fn compile_with_header(compiler: &str, name: &str, source: &str, header: &str) {
    let folder = scratch(&format!("{compiler}-{name}-header"));
    std::fs::write(folder.join("declared.h"), header).unwrap();
    std::fs::write(folder.join("code.c"), source).unwrap();
    std::fs::write(
        folder.join("alone.c"),
        "#include \"declared.h\"\n#include \"declared.h\"\nextern int user;\n",
    )
    .unwrap();
    for (language, file) in [("c", "code.c"), ("c", "alone.c"), ("c++", "alone.c")] {
        let mut command = Command::new(compiler);
        command.current_dir(&folder).args(["-Wall", "-Wextra", "-Werror", "-fopenmp", "-x", language]);
        if language == "c" {
            command.args(STRICT).arg("-Wmissing-prototypes");
        }
        let output = command.args(["-c", "-o", "out.o", file]).output().unwrap();
        succeed(&format!("{compiler} -x {language} {}/{file}", folder.display()), &output);
    }
}
