//! The file format: what was read is written back, parts that were not changed keep their bytes,
//! and nothing in a file is trusted.

use bytes::Bytes;
use graph::text::parse_model;
use graph::{Model, NewNode, Place, Storage, ValueId, onnx};
use proptest::prelude::*;

const MODEL: &str = r#"model ir 10
opset "" 21
opset "com.example" 1
meta "author" "someone"
raw hex"120474657374c201080a06756e6b6e6f77"
graph "the graph" {
  input x: f32[batch, 4]
  input state: sequence(f32[..])
  input options: optional(map(i64, string[?]))
  input with_default: f32[2]
  init w: f32[4, 2] = [0.5, 1.0, -1.5, 2.0, inf, 3.0, 3.5e-10, 4.0]
  init with_default: f32[2] = [1.0, 2.0]
  init half: f16[2] = hex"003c0040"
  init words: string[2] = ["a", "\xff"]
  init far: f32[8] = external "weights.bin" 4 32 "checksum" "abc"
  value h: f32[batch, 2]
  h = Gemm(x, w, _) { alpha: 1.0, transB: 0 } @"first layer"
  a, _, b = Split(h, _) { axis: 1, num_outputs: 3 } raw hex"3200"
  "input" = "com.example".Odd(a) { empty: ints [], some: [1.5, nan7fc00001], texts: ["a", "b"], t: type f32[1], k: tensor i64[2] [1, -2] }
  y = If(cond) { then_branch: graph then {
      outer x
      t = Relu(x)
      output t
    }, else_branch: graph else {
      outer b
      output b
    } }
  output y: f32[..]
}
"#;

fn example() -> (Model, Bytes) {
    let model = parse_model(MODEL).unwrap();
    let bytes = Bytes::from(onnx::write(&model));
    (model, bytes)
}

#[test]
fn a_model_is_written_and_read_back() {
    let (model, bytes) = example();
    let read = onnx::read(&bytes).unwrap();
    assert_eq!(read.to_string(), model.to_string());
    assert_eq!(read, model);
    assert_eq!(onnx::write(&read), bytes);
}

#[test]
fn parts_that_were_not_changed_keep_their_bytes() {
    let (_, bytes) = example();
    // A length that is longer than it need be: another program may write so, and it is kept.
    let gemm = bytes.windows(4).position(|w| w == b"Gemm").unwrap();
    let mut odd = bytes.to_vec();
    let node = odd[..gemm].iter().rposition(|b| *b == b'x').unwrap() - 4;
    assert_eq!(odd[node], 0x0a, "the tag of the node");
    odd[node + 1] |= 0x80;
    odd.insert(node + 2, 0);
    let graph = odd[..node].iter().rposition(|b| *b == 0x3a).unwrap();
    let length = u16::from(odd[graph + 1] & 0x7f) | u16::from(odd[graph + 2]) << 7;
    odd[graph + 1] = ((length + 1) & 0x7f) as u8 | 0x80;
    odd[graph + 2] = ((length + 1) >> 7) as u8;
    let odd = Bytes::from(odd);
    let mut model = onnx::read(&odd).unwrap();
    assert_eq!(onnx::write(&model), odd);
    // An edit that is taken back: nothing is as it was read, but every part still is.
    let spare = model.graph.add_value("spare");
    let node = model.graph.insert(NewNode::new("Identity", [None::<ValueId>; 0], [spare]), Place::Last);
    model.graph.remove_node(node);
    assert_eq!(onnx::write(&model).len(), odd.len() - 1, "the graph's own fields are written in order");
    assert_eq!(onnx::read(&onnx::write(&model).into()).unwrap(), model);
}

#[test]
fn edits_reach_the_file() {
    let (_, bytes) = example();
    let mut model = onnx::read(&bytes).unwrap();
    let x = model.graph.find("x").unwrap();
    let h = model.graph.find("h").unwrap();
    let (gemm, _) = model.graph.producer(h).unwrap();
    model.graph.set_attribute(gemm, "alpha", 2.0f32);
    assert!(!model.graph.rename(x, "image"), "a subgraph knows it by name");
    assert!(model.graph.rename(h, "hidden"));
    model.opsets[0].1 = 22;
    let again = onnx::read(&onnx::write(&model).into()).unwrap();
    assert_eq!(again, model);
    assert!(again.to_string().contains("hidden = Gemm(x, w, _) { alpha: 2.0, transB: 0 } @\"first layer\""));
    assert!(again.to_string().contains("opset \"\" 22"));
}

/// A file that is all there is.
struct Only(Bytes);

impl onnx::external::Files for Only {
    fn length(&mut self, _: &str) -> Result<u64, loops::Diagnostic> {
        Ok(self.0.len() as u64)
    }

    fn part(&mut self, part: &onnx::external::Part) -> Result<Bytes, loops::Diagnostic> {
        Ok(self.0.slice(part.offset as usize..(part.offset + part.length) as usize))
    }
}

#[test]
fn external_data_are_found_and_loaded() {
    let (_, bytes) = example();
    let mut model = onnx::read(&bytes).unwrap();
    assert_eq!(Vec::from_iter(onnx::external::locations(&model.graph)), ["weights.bin"]);
    let file: Vec<u8> =
        [9.0f32, 1., 2., 3., 4., 5., 6., 7., 8.].iter().flat_map(|x| x.to_le_bytes()).collect();
    let file = Bytes::from(file);
    onnx::external::load(&mut model.graph, &mut Only(file.clone())).unwrap();
    let far = model.graph.find("far").unwrap();
    let tensor = model.graph.value(far).initializer().unwrap();
    assert_eq!(tensor.to_f32s().unwrap(), [1., 2., 3., 4., 5., 6., 7., 8.]);
    assert_eq!(onnx::write(&model), bytes, "the model still refers to the file");

    let mut model = onnx::read(&bytes).unwrap();
    let error = onnx::external::load(&mut model.graph, &mut Only(file.slice(..20))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "error[G0105]: the data of tensor `far` in `weights.bin`: they end beyond its 20 bytes"
    );
    for location in ["/etc/passwd", "../secret", "a/../../b", "C:\\x", ""] {
        assert!(!onnx::external::is_safe(location), "{location}");
    }
    assert!(onnx::external::is_safe("data/weights..bin"));
}

fn message(bytes: &[u8]) -> String {
    onnx::read(&Bytes::copy_from_slice(bytes)).unwrap_err().to_string()
}

#[test]
fn hostile_files_are_refused_with_the_reason() {
    assert_eq!(message(b""), "error[G0101]: not an ONNX model: it has no graph");
    assert_eq!(message(b"PK\x03\x04"), "error[G0101]: not an ONNX model: a field has no number");
    // A graph that claims 2 GiB.
    assert_eq!(
        message(&[0x3a, 0xff, 0xff, 0xff, 0xff, 0x07, 0, 0]),
        "error[G0101]: not an ONNX model: a field claims 2147483647 bytes where 2 are left"
    );
    assert_eq!(message(&[0xff; 20]), "error[G0101]: not an ONNX model: a number is longer than 64 bits");
    assert_eq!(message(&[0x3a]), "error[G0101]: not an ONNX model: the file ends inside a number");
    for (text, expected) in [
        (
            "init w: f32[2] = [1.0, 2.0]",
            "error[G0103]: tensor `w` of type f32[3] needs 12 bytes of data and holds 8",
        ),
        ("init w: f32[2] = [1.0, 2.0]", "error[G0103]: tensor `w` claims the extents [18446744073709551615]"),
    ] {
        let model = parse_model(&format!("model ir 10 graph g {{ {text} }}")).unwrap();
        let mut bytes = onnx::write(&model);
        let dims = bytes.windows(4).position(|w| w == [8, 2, 16, 1]).unwrap();
        if expected.contains("18446744073709551615") {
            bytes.splice(dims + 1..dims + 2, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]);
            for at in [dims - 1, dims - 3 - 4] {
                // The lengths of the tensor and of the graph around it grow by as much.
                if bytes[at] < 0x70 {
                    bytes[at] += 9;
                }
            }
            let found = message(&bytes);
            assert!(found.contains("error[G010"), "{found}");
        } else {
            bytes[dims + 1] = 3;
            assert_eq!(message(&bytes), expected);
        }
    }
    // Graphs inside graphs inside graphs: each level is an attribute of a node.
    let mut graph: Vec<u8> = Vec::new();
    for _ in 0..1000 {
        let wrap = |number: u8, content: &[u8]| {
            let mut out = vec![number << 3 | 2];
            let mut length = content.len();
            while length >= 0x80 {
                out.push(length as u8 | 0x80);
                length >>= 7;
            }
            out.push(length as u8);
            out.extend_from_slice(content);
            out
        };
        graph = wrap(1, &wrap(5, &wrap(6, &graph)));
    }
    let mut file = vec![0x3a, 0x80 | graph.len() as u8, (graph.len() >> 7) as u8];
    if graph.len() >= 1 << 14 {
        file =
            vec![0x3a, 0x80 | graph.len() as u8, 0x80 | (graph.len() >> 7) as u8, (graph.len() >> 14) as u8];
    }
    file.extend(graph);
    assert_eq!(message(&file), "error[G0104]: graphs are nested more than 64 deep");
}

#[test]
fn what_is_defined_twice_is_refused() {
    // The textual form refuses it by itself; so one name is overwritten in the file.
    let model = parse_model(
        "model ir 10 graph g { aaaa = Relu(x) bbbb = Relu(x) init cccc: f32[] = [1.0] init dddd: f32[] = [1.0] }",
    );
    let bytes = onnx::write(&model.unwrap());
    let rename = |from: &[u8], to: &[u8]| {
        let mut bytes = bytes.clone();
        let at = bytes.windows(4).position(|w| w == from).unwrap();
        bytes[at..at + 4].copy_from_slice(to);
        message(&bytes)
    };
    assert!(
        rename(b"bbbb", b"aaaa")
            .ends_with("`aaaa` is defined twice, the second time among the results of nodes")
    );
    assert!(
        rename(b"dddd", b"cccc").ends_with("`cccc` is defined twice, the second time among the initializers")
    );
    assert!(
        rename(b"aaaa", b"cccc")
            .ends_with("`cccc` is defined twice, the second time among the results of nodes")
    );
}

/// A model of two nodes in a row, in which the last or first occurrence of a name in the file is
/// another one.
fn renamed(from: &[u8], to: &[u8], last: bool) -> Model {
    let model = parse_model(
        "model ir 10 opset \"\" 21 graph g { input xxxx: f32[2] init wwww: f32[2] = [1.0, 2.0] aaaa = Add(xxxx, wwww) bbbb = Relu(aaaa) output bbbb: f32[2] }",
    );
    let mut bytes = onnx::write(&model.unwrap());
    let mut found = bytes.windows(4).enumerate().filter(|(_, w)| *w == from).map(|(k, _)| k);
    let at = if last { found.next_back() } else { found.next() }.unwrap();
    bytes[at..at + 4].copy_from_slice(to);
    onnx::read(&bytes.into()).unwrap()
}

#[test]
fn cycles_and_missing_parameters_are_named_and_end_nothing() {
    for (mut model, code, words) in [
        (renamed(b"xxxx", b"bbbb", false), "G0203", "aaaa"),
        (renamed(b"aaaa", b"aaab", true), "G0201", "aaab"),
        (renamed(b"wwww", b"vvvv", true), "G0201", "wwww"),
        (renamed(b"bbbb", b"cccc", true), "G0201", "cccc"),
    ] {
        let found: Vec<String> = graph::validate(&model).iter().map(ToString::to_string).collect();
        assert!(found.iter().any(|d| d.contains(code)), "{code}: {found:?}");
        assert!(found.concat().contains(words), "{words}: {found:?}");
        // Whoever does not ask: an error or a value, in any case an end.
        let _ = graph::infer(&mut model);
        let given = graph::Tensor::from_f32s(vec![2], &[1.0, -1.0]);
        let given = graph::evaluate::Datum::Tensor(std::sync::Arc::new(given));
        let inputs = [(loops::Name::new("xxxx"), given)].into_iter().collect();
        assert!(graph::evaluate::evaluate(&model, inputs).is_err(), "{code} {words}");
        let _ = model.to_string();
        assert!(onnx::read(&onnx::write(&model).into()).is_ok());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    /// Damage of every kind: bytes overwritten, cut out, doubled. What is still read is written and
    /// read back as the same.
    #[test]
    fn damaged_files_never_panic(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..4), 1..12)) {
        let (_, bytes) = example();
        let mut bytes = bytes.to_vec();
        for (at, byte, kind) in edits {
            let at = at.index(bytes.len().max(1)).min(bytes.len());
            if at == bytes.len() {
                break;
            }
            match kind {
                0 => bytes[at] = byte,
                1 => { bytes.insert(at, byte); }
                2 => { bytes.remove(at); }
                _ => bytes.truncate(at.max(1)),
            }
        }
        let bytes = Bytes::from(bytes);
        if let Ok(mut model) = onnx::read(&bytes) {
            prop_assert_eq!(&onnx::write(&model), &bytes);
            let spare = model.graph.add_value("spare");
            let node = model.graph.insert(NewNode::new("Identity", [None::<ValueId>; 0], [spare]), Place::Last);
            model.graph.remove_node(node);
            let again = onnx::read(&onnx::write(&model).into());
            prop_assert!(again.as_ref() == Ok(&model), "{}", model);
            let parsed = parse_model(&model.to_string());
            prop_assert!(parsed.as_ref() == Ok(&model), "{}", model);
        }
    }

    #[test]
    fn noise_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = onnx::read(&bytes.into());
    }
}

#[test]
fn storage_is_shared_with_the_file() {
    let (_, bytes) = example();
    let model = onnx::read(&bytes).unwrap();
    let w = model.graph.value(model.graph.find("w").unwrap()).initializer().unwrap();
    let Storage::Raw(raw) = &w.storage else { panic!("raw data") };
    assert!(bytes.as_ptr_range().contains(&raw.as_ptr()));
}

#[test]
fn large_tensors_are_written_without_a_copy() {
    let (mut model, _) = example();
    let numbers: Vec<f32> = (0..5000).map(|k| k as f32).collect();
    let large = graph::Tensor::from_f32s([5000], &numbers);
    let at = large.bytes().unwrap().as_ptr();
    for k in 0..3 {
        model.graph.add_initializer("large", graph::Tensor { name: None, ..large.clone() });
        let pieces = onnx::write_pieces(&model);
        assert_eq!(pieces.iter().filter(|p| p.as_ptr() == at).count(), k + 1);
        assert_eq!(onnx::read(&pieces.concat().into()).unwrap(), model);
        // What is read is not copied either, changed or not.
        let mut read = onnx::read(&onnx::write(&model).into()).unwrap();
        read.graph.name = "another".into();
        let again = onnx::write_pieces(&read);
        assert!(again.len() > 2 * k + 1);
        assert_eq!(onnx::read(&again.concat().into()).unwrap(), read);
    }
}
