//! What `--json` prints is one object of the schema `docs/schema/output.json`, also where a command
//! fails; and manifests are of theirs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use boon::{Compiler, SchemaIndex, Schemas};
use lozenge::files::Scratch;
use serde_json::{Value, json};

struct Schema(Schemas, SchemaIndex);

impl Schema {
    /// A schema, which is checked against that of schemas.
    fn of(name: &str) -> Schema {
        let text = fs::read_to_string(golden::root().join("docs/schema").join(name)).expect(name);
        let mut compiler = Compiler::new();
        compiler.add_resource(name, serde_json::from_str(&text).expect("a schema is JSON")).expect("added");
        let mut schemas = Schemas::new();
        let index = compiler.compile(name, &mut schemas).expect("a schema is one");
        Schema(schemas, index)
    }

    /// What is wrong with a value.
    fn objection(&self, value: &Value) -> Option<String> {
        self.0.validate(value, self.1).err().map(|error| format!("{error:#}"))
    }
}

fn folder() -> Scratch {
    let scratch = Scratch::new().expect("there is room for files");
    for entry in fs::read_dir(golden::folder("cli/files")).expect("tests/cli/files is there").flatten() {
        fs::copy(entry.path(), scratch.path().join(entry.file_name())).expect("files can be copied");
    }
    scratch
}

/// What a command prints to the standard output, and its exit code.
fn run(folder: &Path, line: &str) -> (String, i32) {
    let output = Command::new(env!("CARGO_BIN_EXE_lozenge"))
        .args(line.split_whitespace())
        .arg("--json")
        .current_dir(folder)
        .env_remove("CC")
        .output()
        .expect("the command runs");
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code().unwrap_or(-1))
}

/// Command lines of every command that prints results, and their exit codes.
const LINES: &[(&str, i32)] = &[
    ("compile dot.loz", 0),
    ("compile dot.loz -o dot.c", 0),
    ("compile alias.c", 0),
    ("compile gemm.c --target athread -o cores", 0),
    ("compile gemm.c --target athread", 0),
    ("compile gemm.c --target athread --emit schedule", 0),
    ("compile half.graph", 0),
    ("compile dot.loz --static -o libdot.a", 0),
    ("compile syntax.loops", 1),
    ("compile badly-typed.loz", 1),
    ("compile missing.c", 1),
    ("compile", 2),
    ("compile dot.loz --tile x", 2),
    ("no-such-command", 2),
    ("explain dot.loz", 0),
    ("explain X0001", 0),
    ("explain --list", 0),
    ("explain Z9999", 1),
    ("run dot.loops --size n=3 --check", 0),
    ("run half.graph", 0),
    ("run scaled.graph --profile", 0),
    ("run gemm.c --target athread --size n=9", 0),
    ("check dot.loz gemm.c half.graph twice.gsl", 0),
    ("check badly-typed.loz", 1),
    ("test dot.loops", 0),
    ("test wrong.loops", 3),
    ("test plain.c", 3),
    ("fmt --check dot.loz", 0),
    ("fuzz --count 1", 0),
    ("fuzz --of texts --count 3", 0),
    ("fuzz --of kernels --count 1", 0),
    ("generate", 0),
    ("generate chain --nodes 2", 0),
    ("generate chain --nodes 2 -o chain.onnx", 0),
    ("optimize twice.graph", 0),
    ("optimize twice.graph --check 1", 0),
    ("optimize nearly.graph --why relu_relu@d", 0),
    ("check-rules twice.gsl --instances 2", 3),
    ("prove dot.loz --emit certificate", 0),
    ("poly {[i]:0<=i<3}", 0),
    ("poly { [i] }", 2),
    ("deps gemm.c", 0),
    ("schedule gemm.c", 0),
    ("tune wave.c --reps 1 --candidates 2", 0),
    ("passes", 0),
    ("show gemm.c --svg", 0),
    ("show half.graph --svg -o half.svg", 0),
    ("completions bash", 0),
    ("man -o pages", 0),
    ("bench dot.loops", 1),
    ("bench gemm.c --target athread --translation --threads 16", 0),
];

#[test]
fn results_and_errors_are_of_the_schema() {
    let (schema, folder) = (Schema::of("output.json"), folder());
    for (line, code) in LINES {
        let (text, exit) = run(folder.path(), line);
        let value: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{line}: {e}: {text}"));
        assert_eq!(exit, *code, "{line}: {text}");
        assert_eq!(schema.objection(&value), None, "{line}: {text}");
        assert_eq!(value["ok"], json!(exit == 0), "{line}");
        assert_eq!(value.get("exit").map_or(exit, |e| e.as_i64().unwrap_or(-1) as i32), exit, "{line}");
    }
}

#[test]
fn the_schema_refuses_what_is_not_of_it() {
    let schema = Schema::of("output.json");
    let good = json!({ "version": 1, "command": "fmt", "ok": true, "changed": [] });
    assert_eq!(schema.objection(&good), None);
    for (key, value) in
        [("version", json!(2)), ("command", json!("test")), ("changed", json!("a")), ("more", json!(1))]
    {
        let mut bad = good.clone();
        bad[key] = value;
        assert!(schema.objection(&bad).is_some(), "{bad}");
    }
}

#[test]
fn manifests_are_of_their_schema() {
    let (schema, folder) = (Schema::of("manifest.json"), folder());
    let sources = [
        "dot.loz",
        "gathers.loz --schedule auto",
        "gemm.c",
        "alias.c",
        "half.graph",
        "two.loops",
        "wave.c --pkg-config",
    ];
    for source in sources {
        let (text, exit) = run(folder.path(), &format!("compile {source} --static -o lib.a"));
        assert_eq!(exit, 0, "{source}: {text}");
        let text = fs::read_to_string(folder.path().join("lib.json")).expect("a manifest");
        let value: Value = serde_json::from_str(&text).expect("a manifest is JSON");
        assert_eq!(schema.objection(&value), None, "{source}: {text}");
        let named: Vec<PathBuf> = ["library", "header"]
            .iter()
            .map(|key| folder.path().join(value[*key].as_str().unwrap_or("-")))
            .collect();
        assert!(named.iter().all(|path| path.is_file()), "{source}: {text}");
        for file in ["lib.a", "lib.h", "lib.json"] {
            fs::remove_file(folder.path().join(file)).expect("it was written");
        }
    }
}
