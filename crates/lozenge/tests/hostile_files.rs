//! Models that were made to do harm: the command refuses them, or takes them, within 1 GiB for
//! files under 10 MB; nothing of what lies outside of the model's folder is read.
#![cfg(unix)]
#![allow(missing_docs)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A message of the format that is being written.
#[derive(Clone, Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value > 127 {
            self.0.push(value as u8 & 127 | 128);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn int(mut self, number: u64, value: u64) -> Message {
        self.varint(number << 3);
        self.varint(value);
        self
    }

    fn bytes(mut self, number: u64, value: impl AsRef<[u8]>) -> Message {
        self.varint(number << 3 | 2);
        self.varint(value.as_ref().len() as u64);
        self.0.extend_from_slice(value.as_ref());
        self
    }

    fn with(self, number: u64, inside: Message) -> Message {
        self.bytes(number, inside.0)
    }

    fn times(mut self, count: usize, more: impl Fn(usize) -> Message) -> Message {
        (0..count).for_each(|k| self.0.extend(more(k).0));
        self
    }
}

fn message() -> Message {
    Message::default()
}

fn node(op: &str, inputs: &[&str], output: &str) -> Message {
    inputs.iter().fold(message(), |m, name| m.bytes(1, name)).bytes(2, output).bytes(4, op)
}

/// An input or output with these extents.
fn value(name: &str, elem: u64, dims: &[u64]) -> Message {
    let shape = dims.iter().fold(message(), |m, d| m.with(1, message().int(1, *d)));
    message().bytes(1, name).with(2, message().with(1, message().int(1, elem).with(2, shape)))
}

fn tensor(name: &str, elem: u64, dims: &[u64], bytes: &[u8]) -> Message {
    dims.iter().fold(message(), |m, d| m.int(1, *d)).int(2, elem).bytes(8, name).bytes(9, bytes)
}

fn attribute(name: &str, value: u64) -> Message {
    message().bytes(1, name).int(3, value).int(20, 2)
}

fn model(graph: Message) -> Vec<u8> {
    let opset = message().bytes(1, "").int(2, 17);
    message().int(1, 8).with(7, graph.bytes(2, "g")).with(8, opset).0
}

/// The results of the graph between `x` and `y`, both f32[1].
fn ends(graph: Message) -> Message {
    graph.with(11, value("x", 1, &[1])).with(12, value("y", 1, &[1]))
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile").join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("the target folder can be written");
        Folder(path)
    }

    fn lozenge(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_lozenge"))
            .args(arguments)
            .current_dir(&self.0)
            .output()
            .expect("the command runs")
    }
}

/// Runs the command, and says how much memory it had at most, in MiB; 0 where the system does not
/// say.
fn measured(folder: &Folder, arguments: &[&str]) -> (Output, u64) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lozenge"))
        .args(arguments)
        .current_dir(&folder.0)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().expect("a child").is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
        most = most.max(kib.unwrap_or(0) >> 10);
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    (child.wait_with_output().expect("its output"), most)
}

/// Refused with one of these codes; no panic, no signal.
fn refused(output: &Output, codes: &[&str]) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(codes.iter().any(|code| text.contains(&format!("error[{code}]"))), "{codes:?}: {text}");
    text
}

/// Bytes of a file of 10 MB.
const LENGTH: usize = 10_000_000;

/// Files of many small parts, and of few that ask for much.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let many = |each: usize| LENGTH / each;
    let chain = ends(message().times(many(29), |k| {
        let from = if k == 0 { "x".to_owned() } else { format!("v{k}") };
        message().with(1, node("Relu", &[&from], &format!("v{}", k + 1)))
    }));
    let last = format!("v{}", many(29));
    let concat = |k: usize| {
        let twice = format!("v{k}");
        let call = node("Concat", &[&twice, &twice], &format!("v{}", k + 1));
        message().with(1, call.with(5, attribute("axis", 0)))
    };
    let doubled = message().times(40, concat).with(5, tensor("v0", 1, &[4], &[0; 16]));
    let turns = |k: usize| {
        let of = [format!("v{k}"), format!("v{}", k.saturating_sub(1))];
        let call = node("Concat", &[&of[0], &of[1]], &format!("v{}", k + 1));
        message().with(1, call.with(5, attribute("axis", 0)))
    };
    let fibonacci = message().times(60, turns).with(5, tensor("v0", 1, &[4], &[0; 16]));
    vec![
        ("empty_nodes", model(message().times(many(2), |_| message().with(1, message())))),
        ("tiny_nodes", model(message().times(many(5), |_| message().with(1, message().bytes(4, "A"))))),
        ("dims", model(message().with(11, value("x", 1, &vec![1; many(4)])))),
        ("dims_of_a_tensor", model(message().with(5, tensor("w", 1, &vec![1; many(2)], &[0; 4])))),
        (
            "attributes",
            model(ends(
                message().with(1, node("Relu", &["x"], "y").times(many(2), |_| message().bytes(5, ""))),
            )),
        ),
        (
            "inputs",
            model(ends(message().with(1, node("Max", &[], "y").times(many(3), |_| message().bytes(1, "x"))))),
        ),
        (
            "values",
            model(message().times(many(12), |k| message().with(13, message().bytes(1, format!("w{k}"))))),
        ),
        ("chain", model(chain.with(1, node("Relu", &[&last], "y")))),
        ("doubled", model(doubled.with(12, value("v40", 1, &[1 << 42])))),
        ("fibonacci", model(fibonacci.with(12, message().bytes(1, "v60")))),
    ]
}

#[test]
fn small_files_take_little_memory() {
    let folder = Folder::new("memory");
    for (name, bytes) in files() {
        assert!(bytes.len() <= LENGTH + 4096, "{name}: {}", bytes.len());
        let file = format!("{name}.onnx");
        fs::write(folder.0.join(&file), bytes).expect("a file");
        for command in ["optimize", "compile"] {
            let (output, peak) = measured(&folder, &[command, &file]);
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(
                matches!(output.status.code(), Some(0 | 1)),
                "{command} {name}: {} {text}",
                output.status
            );
            assert!(!text.contains("X0601"), "{command} {name}: {text}");
            assert!(peak < 1024, "{command} {name}: {peak} MiB");
        }
        fs::remove_file(folder.0.join(&file)).expect("the file was there");
    }
    // the textual form, too: a token of one letter each
    let text = format!("model ir 10\nopset \"\" 17\ngraph g {{\n  y = Relu({}", "[".repeat(LENGTH));
    fs::write(folder.0.join("long.graph"), text).expect("a file");
    let (output, peak) = measured(&folder, &["compile", "long.graph"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(peak < 1024, "{peak} MiB");
}

#[test]
fn what_has_no_end_is_refused() {
    let folder = Folder::new("limits");
    let body = message()
        .with(1, node("Identity", &["ci"], "co"))
        .with(1, node("Add", &["a", "a"], "ao"))
        .bytes(2, "b")
        .with(11, value("it", 7, &[]))
        .with(11, value("ci", 9, &[]))
        .with(11, value("a", 1, &[1]))
        .with(12, value("co", 9, &[]))
        .with(12, value("ao", 1, &[1]));
    let endless =
        node("Loop", &["m", "c", "w"], "y").with(5, message().bytes(1, "body").with(6, body).int(20, 5));
    let graph = message()
        .with(1, endless)
        .with(5, tensor("m", 7, &[], &(1u64 << 62).to_le_bytes()))
        .with(5, tensor("c", 9, &[], &[1]))
        .with(5, tensor("w", 1, &[1], &[0; 4]))
        .with(12, value("y", 1, &[1]));
    fs::write(folder.0.join("loop.onnx"), model(graph)).expect("a file");
    let text = refused(&folder.lozenge(&["optimize", "loop.onnx", "--check", "1"]), &["G0602"]);
    assert!(text.contains("in the Loop that makes `y`"), "{text}");

    // the budget is that of the command line, and the node is named
    let wide = message()
        .with(1, node("Concat", &["x", "x"], "y").with(5, attribute("axis", 0)))
        .with(11, value("x", 1, &[1000]))
        .with(12, value("y", 1, &[2000]));
    fs::write(folder.0.join("wide.onnx"), model(wide)).expect("a file");
    let check = ["optimize", "wide.onnx", "--check", "1"];
    assert!(folder.lozenge(&check).status.success());
    let text = refused(&folder.lozenge(&[&check[..], &["--memory", "4K"]].concat()), &["F0602", "G0602"]);
    assert!(text.contains("in the Concat that makes `y`"), "{text}");
}

#[test]
fn ranks_and_extents_are_looked_at_before_they_are_used() {
    let folder = Folder::new("ranks");
    let cases = [
        (
            "conv.graph",
            "opset \"\" 28\ngraph g {\n  input x: f32[2, 3]\n  input w: f32[3, 1]\n  y, p = CausalConvWithState(x, w)\n  output y: f32[2, 3]\n}",
            &["G0503", "G0301", "G0501", "G0214", "G0201"][..],
        ),
        (
            "linear.graph",
            "opset \"\" 28\ngraph g {\n  input q: f32[1, 2, 4]\n  input k: f32[1, 2, 4]\n  input v: f32[1, 2, 4]\n  input p: f32[1, 1, 4, 4]\n  input d: f32[1, 2]\n  y, s = LinearAttention(q, k, v, p, d) { q_num_heads: 1, kv_num_heads: 1 }\n  output y: f32[1, 2, 4]\n}",
            &["G0503"],
        ),
        (
            "reshape.graph",
            "opset \"\" 21\ngraph g {\n  input data: f32[2, 3, 4]\n  input shape: i64[9223372036854775807]\n  y = Reshape(data, shape)\n  output y: f32[24]\n}",
            &["G0504", "G0403", "G0402"],
        ),
    ];
    for (name, text, codes) in cases {
        fs::write(folder.0.join(name), format!("model ir 10\n{text}\n")).expect("a file");
        refused(&folder.lozenge(&["compile", name]), codes);
    }
    let rank = message()
        .with(1, node("Relu", &["x"], "y"))
        .with(11, value("x", 1, &[1; 65]))
        .with(12, value("y", 1, &[1; 65]));
    fs::write(folder.0.join("rank.onnx"), model(rank)).expect("a file");
    refused(&folder.lozenge(&["compile", "rank.onnx"]), &["G0106"]);
}

/// A model with weights of 16 bytes in this file.
fn outside(location: &str) -> Vec<u8> {
    let entry = |key: &str, value: &str| message().bytes(1, key).bytes(2, value);
    let weights = message()
        .int(1, 4)
        .int(2, 1)
        .bytes(8, "w")
        .with(13, entry("location", location))
        .with(13, entry("offset", "0"))
        .with(13, entry("length", "16"))
        .int(14, 1);
    let graph = message()
        .with(1, node("Add", &["x", "w"], "y"))
        .with(5, weights)
        .with(11, value("x", 1, &[4]))
        .with(12, value("y", 1, &[4]));
    model(graph)
}

#[test]
fn data_are_read_from_regular_files_of_the_folder() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new("data");
    let secret = Folder::new("secret");
    fs::write(secret.0.join("key"), [7; 64]).expect("a file");
    symlink(secret.0.join("key"), folder.0.join("link")).expect("a link");
    symlink(&secret.0, folder.0.join("away")).expect("a link");
    symlink("/dev/zero", folder.0.join("zero")).expect("a link");
    fs::write(folder.0.join("weights"), [0; 64]).expect("a file");
    symlink("weights", folder.0.join("inside")).expect("a link");
    fs::create_dir(folder.0.join("folder")).expect("a folder");
    assert!(Command::new("mkfifo").arg(folder.0.join("pipe")).status().expect("mkfifo runs").success());
    for location in ["link", "away/key", "zero", "pipe", "folder", "../secret/key", "/etc/passwd"] {
        fs::write(folder.0.join("m.onnx"), outside(location)).expect("a file");
        for command in ["compile", "optimize"] {
            let output = folder.lozenge(&[command, "m.onnx", "-o", "out.onnx"]);
            refused(&output, &["X0001", "G0105"]);
        }
    }
    for location in ["weights", "inside"] {
        fs::write(folder.0.join("m.onnx"), outside(location)).expect("a file");
        let output = folder.lozenge(&["compile", "m.onnx", "-o", "m.c"]);
        assert!(output.status.success(), "{location}: {}", String::from_utf8_lossy(&output.stderr));
    }
    // only the bytes that are named: the file may be as long as it likes
    let long = fs::File::create(folder.0.join("weights")).expect("a file");
    long.set_len(1 << 36).expect("a sparse file");
    let output = folder.lozenge(&["compile", "m.onnx", "-o", "m.c"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
