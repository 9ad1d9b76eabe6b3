//! `lozenge run MODEL --check=ort`: the results beside those of onnxruntime, which a Python program
//! runs.
//!
//! Not here: how a model is run (`model`).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use graph::Model;
use loops::{Data, Name};
use serde_json::{Value as Json, json};

use super::model::difference;
use crate::failure::Failure;
use crate::files::Scratch;
use crate::{models, npy, npz, process, progress};

/// What Python is asked to do: arrays in the types that the model declares go in, and arrays in the
/// types that programs have come out. Arguments: the model, the folder of the arrays.
const PROGRAM: &str = r#"
import sys
try:
    import numpy, onnxruntime
except ImportError as error:
    print(f"missing: {error}")
    sys.exit(7)
model, folder = sys.argv[1:]
options = onnxruntime.SessionOptions()
options.log_severity_level = 4
options.intra_op_num_threads = 1
try:
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    types = {"float": "float32", "double": "float64"}
    feeds = {}
    for k, port in enumerate(session.get_inputs()):
        kind = port.type[len("tensor("):-1]
        feeds[port.name] = numpy.load(f"{folder}/in{k}.npy").astype(types.get(kind, kind))
    for k, array in enumerate(session.run(None, feeds)):
        wide = {"float16": "float32", "uint32": "int64", "uint64": "int64"}.get(str(array.dtype))
        wide = wide or ("int32" if array.dtype.kind in "iu" and array.dtype.itemsize < 4 else array.dtype)
        numpy.save(f"{folder}/out{k}.npy", array.astype(wide))
except Exception as error:
    print(f"refused: {error}")
    sys.exit(8)
print(f"onnxruntime {onnxruntime.__version__}")
"#;

/// Seconds that it may take.
const LIMIT: u64 = 600;

/// What a comparison found.
pub struct Compared {
    /// Which onnxruntime it was.
    version: String,
    outputs: Vec<Output>,
}

/// The comparison of one output.
struct Output {
    name: Name,
    /// The largest difference relative to the largest element of theirs; infinite where only one is
    /// a number.
    relative: f64,
    /// The largest distance in units of the last place, and the position; none for integers.
    units: Option<(u64, usize)>,
}

impl Compared {
    /// The largest relative difference of an output, with its name.
    pub fn worst(&self) -> Option<(&Name, f64)> {
        let worst = self.outputs.iter().max_by(|a, b| a.relative.total_cmp(&b.relative))?;
        Some((&worst.name, worst.relative))
    }

    /// A line for each output.
    pub fn text(&self) -> String {
        let line = |output: &Output| {
            let units = output.units.map(|(units, at)| {
                let of = if units == 1 { "unit" } else { "units" };
                format!(", at most {units} {of} of the last place (element {at})")
            });
            let units = units.unwrap_or_default();
            format!("  {}: {:.1e} of the largest element{units}", output.name, output.relative)
        };
        let lines: Vec<String> = self.outputs.iter().map(line).collect();
        format!("{}, largest differences:\n{}", self.version, lines.join("\n"))
    }

    /// The same for programs.
    pub fn json(&self) -> Json {
        let outputs = self.outputs.iter().map(|output| {
            json!({
                "name": output.name.as_str(), "relative": output.relative,
                "units": output.units.map(|(units, _)| units), "element": output.units.map(|(_, at)| at),
            })
        });
        json!({ "version": self.version, "outputs": outputs.collect::<Vec<_>>() })
    }
}

/// Compares the outputs of a model with those that onnxruntime computes of the file.
///
/// # Errors
/// `X0307` if Python or onnxruntime is missing, or if onnxruntime refuses the model; `X0401` if an
/// output has another shape.
pub fn compare(
    model: &Model,
    path: &Path,
    inputs: &BTreeMap<Name, loops::Tensor>,
    outputs: &[loops::Tensor],
) -> Result<Compared, Failure> {
    progress::say("comparing with onnxruntime");
    let scratch = Scratch::new()?;
    let folder = scratch.path();
    let io = |e: std::io::Error| Failure::environment("X0004", format!("can't write arrays: {e}"));
    let mut file = PathBuf::from(path);
    if models::is_text(path) {
        file = folder.join("model.onnx");
        fs::write(&file, graph::onnx::write(model)).map_err(io)?;
    }
    let graph = &model.graph;
    let given = graph.inputs().iter().filter(|id| graph.value(**id).initializer().is_none());
    for (k, id) in given.enumerate() {
        if let Some(tensor) = inputs.get(graph.value(*id).name()) {
            fs::write(folder.join(format!("in{k}.npy")), npy::write(tensor)).map_err(io)?;
        }
    }
    let version = python(&file, folder)?;
    let mut compared = Compared { version, outputs: Vec::new() };
    for (k, (ours, id)) in outputs.iter().zip(graph.outputs()).enumerate() {
        let name = graph.value(*id).name().clone();
        let theirs = npz::load(&name, &folder.join(format!("out{k}.npy")))?;
        let Some(relative) = difference(ours, &theirs) else {
            let message =
                format!("`{name}` has the shape {:?}, and onnxruntime's has {:?}", ours.shape, theirs.shape);
            return Err(Failure::check("X0401", message));
        };
        compared.outputs.push(Output { name, relative, units: units(&ours.data, &theirs.data) });
    }
    Ok(compared)
}

/// Lets Python run onnxruntime; which version it was.
fn python(model: &Path, folder: &Path) -> Result<String, Failure> {
    let interpreter = std::env::var_os("LOZENGE_PYTHON").unwrap_or_else(|| "python3".into());
    let mut command = Command::new(&interpreter);
    command.arg("-c").arg(PROGRAM).arg(process::argument(model)).arg(folder);
    let named = interpreter.to_string_lossy().into_owned();
    let missing = |what: String| {
        Failure::environment("X0307", what).help(
            "install it (`pip install onnxruntime numpy`), or name an interpreter that has it: LOZENGE_PYTHON=venv/bin/python",
        )
    };
    let finished = process::run(&mut command, Duration::from_secs(LIMIT))
        .map_err(|_| missing(format!("`{named}` can't be run, and onnxruntime needs it")))?;
    let said = String::from_utf8_lossy(&finished.stdout).trim().to_owned();
    match finished.status.code() {
        Some(0) => Ok(said),
        Some(7) => Err(missing(format!("`{named}` has no onnxruntime")).note(said)),
        _ => Err(Failure::environment("X0307", "onnxruntime does not run the model").note(said)),
    }
}

/// The largest distance of floating-point numbers in units of the last place, and where it is. Two
/// NaN are equal.
fn units(ours: &Data, theirs: &Data) -> Option<(u64, usize)> {
    fn worst<T: Copy>(a: &[T], b: &[T], line: impl Fn(T) -> Option<i64>) -> Option<(u64, usize)> {
        let distance = |(a, b): (&T, &T)| match (line(*a), line(*b)) {
            (Some(a), Some(b)) => a.abs_diff(b),
            (None, None) => 0,
            _ => u64::MAX,
        };
        let all = a.iter().zip(b).map(distance).enumerate();
        all.map(|(at, units)| (units, at)).max_by_key(|(units, at)| (*units, usize::MAX - at))
    }
    match (ours, theirs) {
        (Data::F32(a), Data::F32(b)) => worst(a, b, |x| {
            let bits = i64::from(x.to_bits() as i32);
            (!x.is_nan()).then_some(if bits < 0 { i64::from(i32::MIN) - bits } else { bits })
        }),
        (Data::F64(a), Data::F64(b)) => worst(a, b, |x| {
            let bits = x.to_bits() as i64;
            (!x.is_nan()).then_some(if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits })
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_counted_across_zero() {
        let of = |a: f32, b: f32| units(&Data::F32(vec![0.0, a]), &Data::F32(vec![0.0, b]));
        let next = f32::from_bits(1.0f32.to_bits() + 3);
        assert_eq!(of(1.0, next), Some((3, 1)));
        assert_eq!(of(0.0, -0.0), Some((0, 0)));
        assert_eq!(of(f32::from_bits(1), -f32::from_bits(1)), Some((2, 1)));
        assert_eq!(of(f32::NAN, f32::NAN), Some((0, 0)));
        assert_eq!(of(f32::NAN, 1.0), Some((u64::MAX, 1)));
        let of = |a: f64, b: f64| units(&Data::F64(vec![a]), &Data::F64(vec![b]));
        assert_eq!(of(-1.0, f64::from_bits((-1.0f64).to_bits() + 2)), Some((2, 0)));
        assert_eq!(units(&Data::I64(vec![1]), &Data::I64(vec![2])), None);
    }
}
