//! What hostile input and hostile surroundings must not do to the command: files of others, processes and folders that stay.
#![allow(missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A fresh folder, which goes with its value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("hostile-{name}"));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("scratch")).unwrap();
        Folder(path)
    }

    fn put(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lozenge"));
        command
            .args(arguments)
            .current_dir(&self.0)
            .env("TMPDIR", self.0.join("scratch"))
            .env("NO_COLOR", "1");
        command.env_remove("CC").stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.join("scratch")).unwrap();
        entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn told(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

const KERNEL: &str = "void k(int n, double a[n]) {\n#pragma scop\n  for (int i = 0; i < n; i++) a[i] = 0;\n#pragma endscop\n}\n";

/// A program with a region that does `more` behind it.
fn program(more: &str) -> String {
    format!(
        "#include <stdio.h>\n#include <unistd.h>\nint main(void) {{\n  double a[4];\n#pragma scop\n  for (int i = 0; i < 4; i++) a[i] = i;\n#pragma endscop\n  printf(\"%f\\n\", a[0]); fflush(stdout);\n  {more}\n  return 0;\n}}\n"
    )
}

/// Processes whose command line has this text in it.
fn processes(text: &str) -> usize {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|e| fs::read(e.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(text)).count()
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(120), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn links_that_wait_for_temporary_files_are_not_followed() {
    let folder = Folder::new("partial");
    folder.put("k.c", KERNEL);
    folder.put("victim", "precious\n");
    // The process will have one of the next numbers.
    for id in std::process::id()..std::process::id() + 3000 {
        std::os::unix::fs::symlink(folder.0.join("victim"), folder.0.join(format!("o.c.{id}.partial")))
            .unwrap();
        let scratch = folder.0.join(format!("scratch/lozenge-{id}-0"));
        std::os::unix::fs::symlink(folder.0.join("victim"), scratch).unwrap();
    }
    let output = folder.run(&["compile", "k.c", "-o", "o.c"]);
    assert!(output.status.success(), "{}", told(&output));
    assert_eq!(fs::read_to_string(folder.0.join("victim")).unwrap(), "precious\n");
    let written = fs::symlink_metadata(folder.0.join("o.c")).unwrap();
    assert!(written.is_file());
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(written.permissions().mode() & 0o600, 0o600);
    assert_ne!(written.permissions().mode() & 0o044, 0, "others can read it as any new file");
}

#[test]
fn what_a_program_leaves_behind_is_killed() {
    let folder = Folder::new("grandchild");
    folder.put("g.c", &program("if (fork() == 0) { sleep(100000); _exit(0); }"));
    let began = Instant::now();
    let output = folder.run(&["test", "g.c"]);
    assert!(output.status.success(), "{}", told(&output));
    assert!(began.elapsed() < Duration::from_secs(1000));
    until("the processes end", || processes(&folder.0.display().to_string()) == 0);
    assert!(folder.left().is_empty(), "{:?}", folder.left());
}

#[test]
fn a_process_that_leaves_its_group_does_not_hold_the_command() {
    let folder = Folder::new("session");
    folder.put("g.c", &program("if (fork() == 0) { setsid(); sleep(60); _exit(0); }"));
    let began = Instant::now();
    let output = folder.run(&["test", "g.c"]);
    assert!(output.status.success(), "{}", told(&output));
    assert!(began.elapsed() < Duration::from_secs(58), "the pipes are given up");
}

fn end_by(signal: &str, name: &str) {
    let folder = Folder::new(name);
    folder.put("s.c", &program("for (;;) { }"));
    let mut command = folder.command(&["test", "s.c"]);
    let mut child: Child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let scratch = folder.0.join("scratch").display().to_string();
    let runs = || {
        processes(&scratch) > 0
            && fs::read_dir(&scratch).unwrap().flatten().any(|e| e.path().join("program").exists())
    };
    until("the program runs", runs);
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let status = child.wait().unwrap();
    assert!(!status.success());
    assert_eq!(status.code(), None, "it ends by the signal, as it would have");
    until("the program is killed", || processes(&scratch) == 0);
    assert!(folder.left().is_empty(), "{:?}", folder.left());
}

#[test]
fn a_signal_ends_everything() {
    end_by("-TERM", "term");
    end_by("-INT", "int");
}

#[test]
fn output_of_the_preprocessor_is_read_whole_or_not_at_all() {
    let folder = Folder::new("long");
    let mut macros = format!("#define A0 {}\n", "\"yyyyyyyy\" ".repeat(10));
    for k in 1..7 {
        macros.push_str(&format!("#define A{k} {}\n", format!("A{} ", k - 1).repeat(10)));
    }
    folder
        .put("two.c", &format!("{KERNEL}{macros}static const char *t = A6;\n{}", KERNEL.replace("k(", "g(")));
    let output = folder.run(&["compile", "two.c"]);
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    assert!(told(&output).starts_with("error[X0306]"), "{}", told(&output));
    assert!(folder.left().is_empty());
}

#[test]
fn names_of_folders_are_no_options_of_the_preprocessor() {
    let folder = Folder::new("folders");
    fs::create_dir(folder.0.join("@d")).unwrap();
    folder.put("@d/own.h", "static int own;\n");
    folder.put("@d/k.c", &format!("#include \"own.h\"\n{KERNEL}"));
    folder.put("k.c", &format!("#include <own.h>\n{KERNEL}"));
    folder.put("d", "-DN\n-fplugin=./none.so\n");
    for arguments in [&["compile", "@d/k.c"][..], &["compile", "k.c", "-I", "@d"]] {
        let output = folder.run(arguments);
        assert!(output.status.success(), "{}", told(&output));
    }
    let output = folder.run(&["compile", "k.c", "-D", "@d"]);
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
}
