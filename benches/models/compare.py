#!/usr/bin/env python3
"""Whole models with random weights: the generated C against onnxruntime, results and times.

usage: compare.py LOZENGE [--small] [--reps N] [--threads 1,2] [--only NAME,...]

Each model is generated, rewritten by `lozenge optimize`, and run by both on the same random inputs: ours from what is left, onnxruntime from the original, which it
optimises by itself. The largest difference relative to the largest element must be below 1e-4 (sums of single-precision products in another order). Times are the
median of the repetitions after three that do not count, as a ratio to onnxruntime's in the same run. The exit code is 1 if a model fails.
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
# Values of the named extents of inputs.
EXTENTS = {"full": {"batch": 1, "sequence": 128}, "small": {"batch": 2, "sequence": 5}}
# Runs of either before those that count: fresh memory is slow.
WARM = 3
MODELS = ["mlp", "mobilenet", "inception", "resnet50", "gpt", "vit", "bert"]


def session(path, threads):
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def inputs_of(session, extents, seed):
    generator = np.random.default_rng(seed)
    found = {}
    for port in session.get_inputs():
        shape = [extents.get(d, d) for d in port.shape]
        if port.type == "tensor(int64)":
            found[port.name] = generator.integers(0, 4, shape)
        else:
            found[port.name] = generator.uniform(-1, 1, shape).astype(np.float32)
    return found


def ours(lozenge, model, arrays, threads, reps, folder):
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
    return np.load(folder / "out.npy"), float(np.median(json.loads(done.stdout)["seconds"][WARM:])), whole


def theirs(model, arrays, threads, reps):
    run = session(model, threads)
    times = []
    for _ in range(WARM + reps):
        started = time.perf_counter()
        result = run.run(None, arrays)[0]
        times.append(time.perf_counter() - started)
    return result, float(np.median(times[WARM:]))


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("lozenge")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--reps", type=positive, default=3)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--only", default=",".join(MODELS))
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    extents = EXTENTS["small" if arguments.small else "full"]
    failed = False
    print(f"{'model':10} {'threads':>7} {'lozenge':>12} {'onnxruntime':>12} {'ratio':>7} {'difference':>11}")
    for name in arguments.only.split(","):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            model = folder / f"{name}.onnx"
            small = ["--small"] if arguments.small else []
            subprocess.run([arguments.lozenge, "generate", name, *small, "-o", str(model)], check=True, capture_output=True)
            rewritten = folder / f"{name}-rewritten.onnx"
            subprocess.run([arguments.lozenge, "optimize", str(model), "-o", str(rewritten)], check=True, capture_output=True)
            arrays = inputs_of(session(model, 1), extents, arguments.seed)
            for threads in map(int, arguments.threads.split(",")):
                expected, reference = theirs(model, arrays, threads, arguments.reps)
                try:
                    found, seconds, _ = ours(arguments.lozenge, rewritten, arrays, threads, arguments.reps, folder)
                except RuntimeError as error:
                    print(f"{name:10} {threads:7} failed: {str(error).strip()[:400]}")
                    failed = True
                    continue
                if found.shape != expected.shape:
                    print(f"{name:10} {threads:7} failed: shapes {found.shape} and {expected.shape}")
                    failed = True
                    continue
                difference = float(np.max(np.abs(found - expected)) / max(np.max(np.abs(expected)), 1e-30))
                wrong = not difference <= BOUND
                failed |= wrong
                print(
                    f"{name:10} {threads:7} {seconds * 1e3:9.3f} ms {reference * 1e3:9.3f} ms {seconds / reference:7.2f} {difference:11.1e}"
                    + ("  WRONG" if wrong else ""),
                    flush=True,
                )
    sys.exit(1 if failed else 0)


main()
