"""Optimizers of ONNX models against each other: time of the whole command, nodes left, and whether the outputs stay.

usage: compare.py LOZENGE MODEL.onnx...

Each optimizer runs in a process of its own, reading and writing included; the time is that process's CPU time (user and system), without the
start of the interpreter and the import of the library for those in Python. What an optimizer leaves is run by onnxruntime, unoptimised, on the
same random inputs as the original, and timed. `basic` is what onnxruntime does with standard operators alone.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

REPETITIONS = 5
LIMIT = 300


def cpu():
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime


def ort_basic(source, target):
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = target
    options.intra_op_num_threads = 1
    options.log_severity_level = 3

    def run():
        ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])

    return run


def slim(source, target):
    import onnxslim

    return lambda: onnxslim.slim(source, target)


def sim(source, target):
    import onnx
    import onnxsim

    def run():
        model, _ = onnxsim.simplify(onnx.load(source), check_n=0)
        onnx.save(model, target)

    return run


def script(source, target):
    import onnx
    from onnxscript import optimizer

    return lambda: onnx.save(optimizer.optimize(onnx.load(source)), target)


PEERS = {"onnxruntime basic": ort_basic, "onnxslim": slim, "onnxsim": sim, "onnxscript": script}


def worker(name, source, target):
    """One run of a peer, in this process. Prints its CPU seconds."""
    run = PEERS[name](source, target)
    began = cpu()
    run()
    print(json.dumps(cpu() - began))


def peer_seconds(name, source, target):
    command = [sys.executable, __file__, "--worker", name, source, target]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return lines[-1][:60] if lines else "failed"
    return json.loads(done.stdout.strip().splitlines()[-1])


def our_seconds(lozenge, source, target):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([lozenge, "optimize", source, "-o", target], capture_output=True, text=True, timeout=LIMIT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        return done.stderr.strip().splitlines()[0][:60]
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def nodes(path):
    import onnx

    return len(onnx.load(path, load_external_data=False).graph.node)


def outputs(path, inputs):
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"]).run(None, inputs)


def milliseconds(path, inputs):
    """Least time of a run by onnxruntime on one thread with its own optimisations off: whether what an optimizer left is faster at all."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    times = []
    for _ in range(7):
        began = time.perf_counter()
        session.run(None, inputs)
        times.append(time.perf_counter() - began)
    return min(times) * 1e3


def random_inputs(path):
    import numpy as np
    import onnxruntime as ort

    dice = np.random.default_rng(1)
    made = {}
    for value in ort.InferenceSession(path, providers=["CPUExecutionProvider"]).get_inputs():
        shape = [d if isinstance(d, int) else 2 for d in value.shape]
        if "int" in value.type:
            made[value.name] = dice.integers(0, 2, shape).astype("int64" if "64" in value.type else "int32")
        else:
            made[value.name] = dice.standard_normal(shape).astype("float32")
    return made


def difference(expected, actual):
    import numpy as np

    worst = 0.0
    for a, b in zip(expected, actual):
        a, b = np.asarray(a, "float64"), np.asarray(b, "float64")
        if a.shape != b.shape:
            return float("inf")
        worst = max(worst, float(np.max(np.abs(a - b), initial=0.0) / max(np.max(np.abs(a), initial=0.0), 1e-30)))
    return worst


def compare(lozenge, model, folder):
    inputs = random_inputs(model)
    expected = outputs(model, inputs)
    print(f"{os.path.basename(model)}: {nodes(model)} nodes, {milliseconds(model, inputs):.2f} ms")
    times = {name: [] for name in ["lozenge", *PEERS]}
    reasons = {}
    # In turn, and the least counts: the first to touch memory that the system has not handed out before pays for the others.
    for _ in range(REPETITIONS):
        for name in [name for name in times if name not in reasons]:
            target = os.path.join(folder, name.replace(" ", "-") + ".onnx")
            try:
                found = our_seconds(lozenge, model, target) if name == "lozenge" else peer_seconds(name, model, target)
            except subprocess.TimeoutExpired:
                found = f"more than {LIMIT} s"
            if isinstance(found, str):
                reasons[name] = found
            else:
                times[name].append(found)
    rows = []
    for name, list_of_times in times.items():
        if name in reasons:
            rows.append((name, None, reasons[name]))
            continue
        target = os.path.join(folder, name.replace(" ", "-") + ".onnx")
        rows.append((name, min(list_of_times), (nodes(target), difference(expected, outputs(target, inputs)), milliseconds(target, inputs))))
    ours = rows[0][1]
    print(f"  {'':18} {'CPU s':>9} {'/ ours':>8} {'nodes':>6} {'run ms':>8}  outputs differ by (relative)")
    for name, seconds, rest in rows:
        if seconds is None:
            print(f"  {name:18} {rest}")
            continue
        ratio = f"{seconds / ours:8.2f}" if ours else ""
        print(f"  {name:18} {seconds:9.3f} {ratio} {rest[0]:6d} {rest[2]:8.2f}  {rest[1]:.1e}")
    sys.stdout.flush()


def main():
    if sys.argv[1] == "--worker":
        worker(*sys.argv[2:5])
        return
    lozenge, *models = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            compare(lozenge, model, folder)


if __name__ == "__main__":
    main()
