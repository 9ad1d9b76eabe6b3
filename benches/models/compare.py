#!/usr/bin/env python3
"""Whole models with random weights: the generated C against onnxruntime, results and times.

usage: compare.py LOZENGE [--small] [--operators] [--reps N] [--least] [--threads 1,2] [--only NAME,...]

Each model is generated, rewritten by `lozenge optimize`, and run by both on the same random inputs: ours from what is left, onnxruntime from the original, which it
optimises by itself. With --operators the models are single operators. The largest difference relative to the largest element must be below 1e-4 (sums of single-precision products in another order), of results in half precision below 2^-10. Times are the
median of the repetitions after twenty-five that do not count, or with --least the least of them (for machines that do other things beside), with onnxruntime's in the same run.
`theirs/ours` is onnxruntime's time over ours: above 1, ours is faster.
The exit code is 1 if a model fails.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime as ort

BOUND = 1e-4
# A unit of the last place of results in half precision, which are rounded.
HALF_BOUND = 2.0**-10
# Values of the named extents of inputs.
EXTENTS = {"full": {"batch": 1, "sequence": 128}, "small": {"batch": 2, "sequence": 5}}
# Runs of either before those that count: fresh memory is slow.
# A system needs up to 50 ms until it has spread new threads over the processors.
WARM = 25
MODELS = ["mlp", "mobilenet", "inception", "resnet50", "gpt", "vit", "bert"]



def any_bytes(count):
    """So many bytes, as models have them in their textual form."""
    return 'hex"' + bytes(k * 7919 % 251 for k in range(count)).hex() + '"'


# Single operators: inputs and call in the textual form of models, and the type of the result.
OPERATORS = {
    "Softmax": ("input x: f32[1536, 128]", "Softmax(x)", "f32[1536, 128]"),
    "LogSoftmax": ("input x: f32[1536, 128]", "LogSoftmax(x)", "f32[1536, 128]"),
    "LayerNorm": ("input x: f32[512, 768] input s: f32[768] input b: f32[768]", "LayerNormalization(x, s, b)", "f32[512, 768]"),
    "BatchNorm": (
        f"input x: f32[1, 64, 56, 56] input s: f32[64] input b: f32[64] input m: f32[64] init v: f32[64] = [{', '.join(['0.5'] * 64)}]",
        "BatchNormalization(x, s, b, m, v)",
        "f32[1, 64, 56, 56]",
    ),
    "InstanceNorm": ("input x: f32[1, 64, 56, 56] input s: f32[64] input b: f32[64]", "InstanceNormalization(x, s, b)", "f32[1, 64, 56, 56]"),
    "MaxPool14": ("input x: f32[1, 512, 14, 14]", "MaxPool(x) { kernel_shape: [3, 3], strides: [1, 1], pads: [1, 1, 1, 1] }", "f32[1, 512, 14, 14]"),
    "MaxPool20": ("input x: f32[1, 512, 20, 20]", "MaxPool(x) { kernel_shape: [5, 5], strides: [1, 1], pads: [2, 2, 2, 2] }", "f32[1, 512, 20, 20]"),
    "AveragePool": ("input x: f32[1, 64, 112, 112]", "AveragePool(x) { kernel_shape: [3, 3], strides: [2, 2], pads: [1, 1, 1, 1] }", "f32[1, 64, 56, 56]"),
    "MaxPool": ("input x: f32[1, 64, 112, 112]", "MaxPool(x) { kernel_shape: [3, 3], strides: [2, 2], pads: [1, 1, 1, 1] }", "f32[1, 64, 56, 56]"),
    "GlobalAverage": ("input x: f32[8, 64, 56, 56]", "GlobalAveragePool(x)", "f32[8, 64, 1, 1]"),
    "ReduceMean": ("input x: f32[1024, 1024] init axes: i64[1] = [1]", "ReduceMean(x, axes)", "f32[1024, 1]"),
    "ReduceMax": ("input x: f32[2048, 1024] init axes: i64[1] = [0]", "ReduceMax(x, axes)", "f32[1, 1024]"),
    "Resize": (
        "input x: f32[1, 64, 56, 56] init scales: f32[4] = [1.0, 1.0, 2.0, 2.0]",
        'Resize(x, _, scales) { mode: "linear" }',
        "f32[1, 64, 112, 112]",
    ),
    "Transpose": ("input x: f32[1024, 1024]", "Transpose(x) { perm: [1, 0] }", "f32[1024, 1024]"),
    "Depthwise": ("input x: f32[1, 96, 56, 56] input w: f32[96, 1, 3, 3]", "Conv(x, w) { group: 96, pads: [1, 1, 1, 1] }", "f32[1, 96, 56, 56]"),
    "ConvTranspose": ("input x: f32[1, 64, 32, 32] input w: f32[64, 32, 3, 3]", "ConvTranspose(x, w) { strides: [2, 2] }", "f32[1, 32, 65, 65]"),
    "MatMul": ("input x: f32[96, 128, 64] input w: f32[96, 64, 128]", "MatMul(x, w)", "f32[96, 128, 128]"),
    "MatMulHalf": ("input x: f16[256, 512] input w: f16[512, 512]", "MatMul(x, w)", "f16[256, 512]"),
    "MatMulInteger": (
        f"input f: f32[128, 256] init w: i8[256, 512] = {any_bytes(256 * 512)} x, s, z = DynamicQuantizeLinear(f)",
        "MatMulInteger(x, w, z)",
        "i32[128, 512]",
    ),
    "ConvInteger": (
        f"input f: f32[1, 64, 28, 28] init w: i8[64, 64, 3, 3] = {any_bytes(64 * 64 * 9)} x, s, z = DynamicQuantizeLinear(f)",
        "ConvInteger(x, w, z) { pads: [1, 1, 1, 1] }",
        "i32[1, 64, 28, 28]",
    ),
    "Gelu": ("input x: f32[512, 1024]", 'Gelu(x) { approximate: "tanh" }', "f32[512, 1024]"),
    "Sigmoid": ("input x: f32[1024, 512]", "Sigmoid(x)", "f32[1024, 512]"),
    "Exp": ("input x: f32[1024, 512]", "Exp(x)", "f32[1024, 512]"),
    "Log": ("input x: f32[1024, 512] a = Abs(x)", "Log(a)", "f32[1024, 512]"),
    "Add": ("input x: f32[8, 128, 1024] input w: f32[1024]", "Add(x, w)", "f32[8, 128, 1024]"),
    "CumSum": ("input x: f32[2048, 1024] init axis: i64[1] = [0]", "CumSum(x, axis)", "f32[2048, 1024]"),
}


def session(path, threads):
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    # Without this, sums of products of bytes saturate at 16 bits on processors with AVX2 alone.
    options.add_session_config_entry("session.x64quantprecision", "1")
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def inputs_of(session, extents, seed):
    generator = np.random.default_rng(seed)
    found = {}
    for port in session.get_inputs():
        shape = [extents.get(d, d) for d in port.shape]
        if port.type == "tensor(int64)":
            found[port.name] = generator.integers(0, 4, shape)
        else:
            kind = np.float16 if port.type == "tensor(float16)" else np.float32
            found[port.name] = generator.uniform(-1, 1, shape).astype(kind)
    return found


def ours(lozenge, model, arrays, threads, reps, typical, folder):
    command = [lozenge, "--json", "run", str(model), "--threads", str(threads), "--reps", str(WARM + reps)]
    for name, array in arrays.items():
        file = folder / f"{name}.npy"
        np.save(file, array)
        command += ["--arg", f"{name}={file}"]
    command += ["--out", str(folder / "out.npy")]
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    whole = time.perf_counter() - started
    if done.returncode != 0:
        raise RuntimeError(done.stdout + done.stderr)
    return np.load(folder / "out.npy"), float(typical(json.loads(done.stdout)["seconds"][WARM:])), whole


def theirs(model, arrays, threads, reps, typical):
    run = session(model, threads)
    times = []
    for _ in range(WARM + reps):
        started = time.perf_counter()
        result = run.run(None, arrays)[0]
        times.append(time.perf_counter() - started)
    return result, float(typical(times[WARM:]))


def generated(lozenge, name, small, folder):
    """The model of a name, and what `optimize` makes of it."""
    model, rewritten = folder / f"{name}.onnx", folder / f"{name}-rewritten.onnx"
    command([lozenge, "generate", name, *(["--small"] if small else []), "-o", str(model)])
    command([lozenge, "optimize", str(model), "-o", str(rewritten)])
    return model, rewritten


def operator(lozenge, name, folder):
    """The model of one operator, for both."""
    inputs, call, result = OPERATORS[name]
    text, model = folder / f"{name}.graph", folder / f"{name}.onnx"
    text.write_text(f'model ir 9\nopset "" 20\ngraph operator {{\n  {inputs}\n  y = {call}\n  output y: {result}\n}}\n')
    command([lozenge, "optimize", str(text), "--no-fold", "-o", str(model)])
    return model, model


def command(words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("lozenge")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--operators", action="store_true")
    parser.add_argument("--reps", type=positive, default=3)
    parser.add_argument("--least", action="store_true")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--only", )
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    extents = EXTENTS["small" if arguments.small else "full"]
    typical = np.min if arguments.least else np.median
    failed = False
    names = arguments.only.split(",") if arguments.only else OPERATORS if arguments.operators else MODELS
    print(f"{'model':9} {'threads':>8} {'lozenge':>12} {'onnxruntime':>12} {'theirs/ours':>13} {'difference':>11}")
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            if arguments.operators:
                model, rewritten = operator(arguments.lozenge, name, folder)
            else:
                model, rewritten = generated(arguments.lozenge, name, arguments.small, folder)
            arrays = inputs_of(session(model, 1), extents, arguments.seed)
            for threads in map(int, arguments.threads.split(",")):
                expected, reference = theirs(model, arrays, threads, arguments.reps, typical)
                try:
                    found, seconds, _ = ours(arguments.lozenge, rewritten, arrays, threads, arguments.reps, typical, folder)
                except RuntimeError as error:
                    print(f"{name:14} {threads:3} failed: {str(error).strip()[:400]}")
                    failed = True
                    continue
                if found.shape != expected.shape:
                    print(f"{name:14} {threads:3} failed: shapes {found.shape} and {expected.shape}")
                    failed = True
                    continue
                difference = float(np.max(np.abs(found.astype(np.float64) - expected)) / max(np.max(np.abs(expected)), 1e-30))
                wrong = not difference <= (HALF_BOUND if expected.dtype == np.float16 else BOUND)
                failed |= wrong
                print(
                    f"{name:14} {threads:3} {seconds * 1e3:9.3f} ms {reference * 1e3:9.3f} ms {reference / seconds:13.2f} {difference:11.1e}"
                    + ("  WRONG" if wrong else ""),
                    flush=True,
                )
    sys.exit(1 if failed else 0)


main()
