//! What hostile input and hostile surroundings must not do to the command: files of others,
//! processes and folders that stay.
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
            .env("NO_COLOR", "1")
            .env("LOZENGE_PROGRESS", "off");
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

/// The command with signals that end it. Those that this process ignores, as one that a shell has
/// put into the background does, would be ignored by the command, too.
fn with_default_signals(command: &Command) -> Command {
    let mut env = Command::new("env");
    env.arg("--default-signal=INT,TERM").arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => env.env(name, value),
            None => env.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        env.current_dir(folder);
    }
    env
}

fn end_by(signal: &str, name: &str) {
    let folder = Folder::new(name);
    folder.put("s.c", &program("for (;;) { }"));
    let mut command = with_default_signals(&folder.command(&["test", "s.c"]));
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

/// The most memory that a command has while it runs, in KiB, and what it prints. It has no time
/// limit of its own: a hang ends at the end of these minutes.
fn peak(command: &mut Command) -> (u64, Output) {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let waiting = std::thread::spawn(move || child.wait_with_output().unwrap());
    let (mut peak, began) = (0, Instant::now());
    while !waiting.is_finished() {
        assert!(began.elapsed() < Duration::from_secs(600), "it hangs: {command:?}");
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0);
        peak = peak.max(now);
        std::thread::sleep(Duration::from_millis(2));
    }
    (peak, waiting.join().unwrap())
}

/// Inputs under 10 MB with much of one thing, and what they end in: the code of a diagnostic, or
/// nothing.
fn large_inputs() -> Vec<(&'static str, String, &'static str)> {
    const MANY: usize = 100_000;
    let deep =
        |open: &str, inner: &str, close: &str| format!("{}{inner}{}", open.repeat(MANY), close.repeat(MANY));
    let terms = |term: &str| vec![term; MANY].join(" + ");
    let region = |body: &str| {
        format!(
            "void k(int n, double *restrict a, const double *restrict b) {{\n#pragma scop\n{body}#pragma endscop\n}}\n"
        )
    };
    let loz = |body: &str| format!("def f (x: f32): f32 = {body}\n");
    let loops = |body: &str| format!("fn f(y: out f64[1]) {{\n{body}}}\n");
    let doubled: String = (1..60).map(|k| format!("let a{k} = (a{}, a{}) in ", k - 1, k - 1)).collect();
    vec![
        ("terms.loz", loz(&terms("x")), ""),
        ("deep.loz", loz(&deep("(", "x", ")")), "F0103"),
        ("lambdas.loz", loz(&deep("(\\y -> ", "y", ") x")), "F0103"),
        ("pairs.loz", loz(&format!("let a0 = (x, x) in {doubled}x")), "F0109"),
        ("long.loz", loz(&format!("x{}+ x", " ".repeat(9_000_000))), "F0104"),
        (
            "lets.loz",
            loz(&format!(
                "{}x",
                (0..3000).map(|k| format!("let a{k} = x + {k}.0 in\n  ")).collect::<String>()
            )),
            "",
        ),
        ("terms.loops", loops(&format!("  y[0] = {}\n", terms("1.0"))), "L0104"),
        ("deep.loops", loops(&format!("  y[0] = {}\n", deep("(", "1.0", ")"))), "L0104"),
        ("blocks.loops", format!("fn f() {}", "{".repeat(MANY)), "L0104"),
        ("statements.loops", loops(&"  y[0] = 1.0\n".repeat(MANY / 4)), ""),
        ("terms.c", region(&format!("  a[0] = {};\n", terms("b[0]"))), "C0104"),
        ("subscript.c", region(&format!("  a[{}] = 1;\n", terms("n"))), "C0104"),
        ("deep.c", region(&format!("  a[0] = {};\n", deep("(", "1", ")"))), "C0104"),
        ("signs.c", region(&format!("  a[0] = {}1;\n", "- ".repeat(MANY))), "C0104"),
        (
            "loops.c",
            region(&(0..2000).map(|k| format!("for (int i{k} = 0; i{k} < n; i{k}++)\n")).collect::<String>()),
            "C0104",
        ),
        ("statements.c", region(&(0..2000).map(|k| format!("  a[{k}] = b[{k}];\n")).collect::<String>()), ""),
        (
            "comment.c",
            format!(
                "/*{}*/\n{}",
                "x".repeat(9_000_000),
                region("  for (int i = 0; i < n; i++) a[i] = b[i];\n")
            ),
            "",
        ),
    ]
}

const BOUND: u64 = 1 << 20;

#[test]
fn large_inputs_need_little_memory() {
    let folder = Folder::new("large");
    for (name, text, code) in large_inputs() {
        folder.put(name, &text);
        let (peak, output) = peak(&mut folder.command(&["compile", name]));
        let told = String::from_utf8_lossy(&output.stderr);
        let told: String = told.chars().take(300).collect();
        assert!(peak < BOUND, "{name}: {peak} KiB");
        match code {
            "" => assert!(output.status.success(), "{name}: {told}"),
            _ => assert!(output.status.code() == Some(1) && told.contains(code), "{name}: {told}"),
        }
    }
}

#[test]
fn large_rules_and_schedules_need_little_memory() {
    const MANY: usize = 100_000;
    let folder = Folder::new("large-others");
    let rule = |k: usize, x: &str| format!("rule r{k} {{\n  match\n    y = {x}\n  replace\n    y = x\n}}\n");
    folder.put("many.gsl", &(0..20_000).map(|k| rule(k, "Neg(Neg(x))")).collect::<String>());
    folder.put("deep.gsl", &rule(0, &format!("{}x{}", "Neg(".repeat(MANY), ")".repeat(MANY))));
    folder.put("k.c", &KERNEL.replace("(int n, double a[n])", "(int n, double *restrict a)"));
    folder.put("times.txt", &format!("kelly [n]\nS0(i) -> ({})\n", vec!["i"; MANY].join(", ")));
    folder.put("sum.txt", &format!("kelly [n]\nS0(i) -> ({})\n", vec!["i"; MANY].join(" + ")));
    folder.put("open.txt", &"(".repeat(MANY));
    let band = "band\n  { S0[i] -> [(i)] }\n".repeat(5000);
    folder.put("bands.txt", &format!("domain [n] -> {{ S0[i] : 0 <= i < n }}\n{band}leaf\n"));
    let strategy = format!("{}id{}", "try (".repeat(10_000), ")".repeat(10_000));
    folder.put("f.loz", "def f [n] (xs: [n]f32): [n]f32 = map (\\x -> x + 1) xs\n");
    for (arguments, code) in [
        (vec!["fmt", "--check", "many.gsl"], Some(3)),
        (vec!["check-rules", "deep.gsl"], Some(1)),
        (vec!["compile", "k.c", "--schedule", "times.txt"], Some(1)),
        (vec!["compile", "k.c", "--schedule", "sum.txt"], Some(0)),
        (vec!["compile", "k.c", "--schedule", "open.txt"], Some(1)),
        (vec!["compile", "k.c", "--schedule", "bands.txt"], Some(1)),
        (vec!["compile", "f.loz", "--strategy", &strategy], Some(1)),
    ] {
        let (peak, output) = peak(&mut folder.command(&arguments));
        let shown: Vec<String> = arguments.iter().map(|a| a.chars().take(40).collect()).collect();
        assert!(peak < BOUND, "{shown:?}: {peak} KiB");
        let told: String = told(&output).chars().take(300).collect();
        assert_eq!(output.status.code(), code, "{shown:?}: {told}");
    }
}

#[test]
fn texts_from_the_grammars_end_in_values_or_diagnostics() {
    let folder = Folder::new("texts");
    // The others are seeds that found something once.
    for (seed, count) in [("1", "150"), ("5164", "1"), ("12009", "1")] {
        let output = folder.run(&["fuzz", "--of", "texts", "--seed", seed, "--count", count]);
        assert!(output.status.success(), "{}", told(&output));
        assert!(told(&output).contains("no panic, none slow"), "{}", told(&output));
    }
}
