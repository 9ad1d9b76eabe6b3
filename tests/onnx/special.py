"""Writes the operators' results on NaN, infinities, zeros of both signs, the largest and the smallest numbers, as onnxruntime gives them.

    special.py > special.txt

A line is a call: the operator with its attributes, its inputs, `=>`, and the results that Lozenge is held to. Where onnxruntime and the
reference evaluator of the `onnx` package differ, a comment above says which of the two is followed, and why.
"""

import sys
import warnings

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

warnings.filterwarnings("ignore")
onnxruntime.set_default_logger_severity(4)
OPSET = 21
NAN, INF = float("nan"), float("inf")
BIG, TINY = 3.4028235e38, 1e-45
LINE = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 7.0, -100.0, 100.0, BIG, -BIG, TINY, -TINY]
PAIRS = [NAN, INF, -INF, 0.0, -0.0, 1.5, -1.5, BIG, TINY]
ROWS = [
    [1.0, 2.0, 3.0, -1.0], [NAN, 2.0, 3.0, 4.0], [1.0, NAN, 3.0, 4.0], [4.0, 1.0, 2.0, NAN], [NAN, NAN, NAN, NAN], [INF, 1.0, 2.0, 3.0],
    [-INF, 1.0, 2.0, 3.0], [INF, -INF, 0.0, 1.0], [-INF, -INF, -INF, -INF], [INF, INF, 1.0, 2.0], [0.0, 0.0, 0.0, 0.0],
    [-0.0, -0.0, -0.0, -0.0], [BIG, BIG, 1.0, 2.0], [-BIG, -BIG, -1.0, -2.0], [NAN, INF, -INF, 0.0], [-1.0, -0.0, -2.0, -INF],
]

# Where the two differ, onnxruntime is followed, but for these operators.
BY_PLACE = "what onnxruntime gives for NaN depends on where in a vector it stands"
REFERENCE = {
    "ReduceMax": BY_PLACE,
    "ReduceMin": BY_PLACE,
    "ArgMax": BY_PLACE,
    "ArgMin": BY_PLACE,
    "Hardmax": BY_PLACE,
    "TopK": BY_PLACE + "; NaN is larger than every number",
    "ReduceSum": "sums begin with 0",
    "ReduceMean": "sums begin with 0",
    "Celu": "the sign of zero is kept",
    "Where": "a choice keeps the bits",
}
# Neither of the two is consistent here: NaN is kept.
KEPT = {"MaxPool", "GlobalMaxPool", "ScatterElements"}


def floats(values):
    return np.array(values, dtype=np.float32)


def calls():
    line, rows = floats(LINE), floats(ROWS)
    for name in (
        "Relu Sigmoid Tanh Softplus Softsign HardSwish Elu Selu Celu LeakyRelu ThresholdedRelu HardSigmoid Mish Gelu Shrink Sign Abs Neg "
        "Sqrt Exp Log Reciprocal Floor Ceil Round Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh Erf IsNaN IsInf Identity"
    ).split():
        yield name, {}, [line]
    yield "Gelu", {"approximate": "tanh"}, [line]
    yield "LeakyRelu", {"alpha": -0.5}, [line]
    yield "PRelu", {}, [line, floats([0.25])]
    yield "Clip", {}, [line, floats(-1.0), floats(2.0)]
    yield "Clip", {}, [line, floats(0.0), floats(6.0)]
    yield "Clip", {}, [line, floats(-0.0), floats(INF)]
    yield "Clip", {}, [line, floats(-INF), floats(0.0)]
    yield "Clip", {}, [line, floats(3.0), floats(2.0)]
    one = floats(PAIRS)
    x, y = (np.ascontiguousarray(a.ravel()) for a in np.meshgrid(one, one, indexing="ij"))
    for name in "Add Sub Mul Div Max Min Pow Equal Less Greater LessOrEqual GreaterOrEqual PRelu Sum Mean".split():
        yield name, {}, [x, y]
    yield "Mod", {"fmod": 1}, [x, y]
    yield "Max", {}, [line, line[::-1].copy(), floats([0.0])]
    yield "Where", {}, [np.array([True, False] * 8), line, line[::-1].copy()]
    for name in "ReduceMax ReduceMin ReduceSum ReduceMean ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare".split():
        yield name, {"keepdims": 0}, [rows, np.array([1])]
    for name in "Softmax LogSoftmax Hardmax".split():
        yield name, {"axis": 1}, [rows]
    for name in "ArgMax ArgMin".split():
        for last in (0, 1):
            yield name, {"axis": 1, "keepdims": 0, "select_last_index": last}, [rows]
    for largest in (0, 1):
        yield "TopK", {"axis": 1, "largest": largest}, [rows, np.array([3])]
    image = floats(ROWS).reshape(1, 1, 8, 8)
    yield "MaxPool", {"kernel_shape": [1, 4], "strides": [1, 4]}, [image]
    yield "MaxPool", {"kernel_shape": [2, 2], "strides": [2, 2]}, [image]
    yield "MaxPool", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}, [image]
    yield "AveragePool", {"kernel_shape": [1, 4], "strides": [1, 4]}, [image]
    yield "GlobalMaxPool", {}, [rows.reshape(1, 16, 4, 1)]
    yield "GlobalAveragePool", {}, [rows.reshape(1, 16, 4, 1)]
    yield "CumSum", {}, [rows + floats(0.0), np.array(1)]  # sums begin with 0, so none is -0
    yield "QuantizeLinear", {}, [line, floats(0.5), np.array(10, dtype=np.uint8)]
    yield "QuantizeLinear", {}, [line, floats(0.5), np.array(-10, dtype=np.int8)]
    yield "DynamicQuantizeLinear", {}, [floats([-1.0, 0.0, -0.0, 3.0])]
    yield "DynamicQuantizeLinear", {}, [floats([0.0, -0.0])]
    yield from memories()
    yield "NonZero", {}, [line]
    yield "ScatterElements", {"axis": 0, "reduction": "max"}, [line, np.arange(16), line[::-1].copy()]
    yield "ScatterElements", {"axis": 0, "reduction": "min"}, [line, np.arange(16), line[::-1].copy()]


def memories():
    """LSTMs whose weights are bytes. These are small, so that no sum of two products exceeds 16 bits, where onnxruntime may be wrong."""
    generator = np.random.default_rng(1)
    for steps, batch, width, hidden, directions, each, rest in ((3, 1, 5, 4, 1, False, False), (2, 1, 3, 17, 2, True, True), (1, 1, 1, 1, 1, False, True)):
        lines = 4 * hidden
        x = generator.uniform(-1, 1, (steps, batch, width)).astype(np.float32)
        weights = [generator.integers(-60, 61, (directions, n, lines)).astype(np.int8) for n in (width, hidden)]
        scales = [generator.uniform(0.005, 0.02, (directions, lines) if each else (directions,)).astype(np.float32) for _ in weights]
        zeros = [np.zeros(scale.shape, np.int8) for scale in scales]
        if not each:
            weights = [(w.astype(np.int16) + 60).astype(np.uint8) for w in weights]
            zeros = [np.full(scale.shape, 60, np.uint8) for scale in scales]
        state = (directions, batch, hidden)
        given = [generator.uniform(-1, 1, shape).astype(np.float32) for shape in ((directions, 2 * lines), state, state, (directions, 3 * hidden))]
        bias, h, c, peep = given if rest else [None] * 4
        attributes = {"hidden_size": hidden, "direction": "bidirectional" if directions == 2 else "forward"}
        yield "com.microsoft.DynamicQuantizeLSTM", attributes, [x, *weights, bias, None, h, c, peep, scales[0], zeros[0], scales[1], zeros[1]]


RESULTS = {"TopK": 2, "DynamicQuantizeLinear": 3, "com.microsoft.DynamicQuantizeLSTM": 3}


def model(name, attributes, inputs):
    names = ["" if x is None else f"x{k}" for k, x in enumerate(inputs)]
    outputs = ["y", "z", "u"][: RESULTS.get(name, 1)]
    domain, _, operator = name.rpartition(".")
    node = helper.make_node(operator, names, outputs, domain=domain, **attributes)
    values = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in zip(names, inputs) if n]
    # the results' types are left to inference
    results = [onnx.ValueInfoProto(name=n) for n in outputs]
    graph = helper.make_graph([node], "g", values, results)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)], ir_version=10)
    return onnx.shape_inference.infer_shapes(made)


def kept(name, attributes, inputs):
    """The largest of each window, the larger or smaller of two; NaN where one of them is."""
    x = inputs[0]
    if name == "ScatterElements":
        pick = np.maximum if attributes["reduction"] == "max" else np.minimum
        return [pick(x, inputs[2])]
    if name == "GlobalMaxPool":
        return [x.max(axis=(2, 3), keepdims=True)]
    rows, columns = attributes["kernel_shape"]
    down, across = attributes.get("strides", [1, 1])
    top, left, bottom, right = attributes.get("pads", [0, 0, 0, 0])
    padded = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=-INF)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (rows, columns), axis=(2, 3))
    return [windows[:, :, ::down, ::across].max(axis=(4, 5))]


def text(array):
    if array is None:
        return "-"
    array = np.asarray(array)
    kind = {"float32": "f32", "int64": "i64", "int32": "i32", "bool": "bool", "uint8": "u8", "int8": "i8"}[str(array.dtype)]
    if kind == "f32":
        words = [format(float(v), ".9g") for v in array.ravel()]
    else:
        words = [str(int(v)) for v in array.ravel()]
    return f"{kind}[{','.join(str(d) for d in array.shape)}] {' '.join(words)}"


def close(a, b):
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind != "f":
        return a.shape == b.shape and bool((a == b).all())
    signs = np.isnan(a) | (a != 0) | (np.signbit(a) == np.signbit(b))
    return a.shape == b.shape and bool(signs.all()) and np.allclose(a, b, rtol=1e-4, atol=1e-6, equal_nan=True)


def main():
    print(f"# Made by special.py with onnxruntime {onnxruntime.__version__} and onnx {onnx.__version__}.")
    for name, attributes, inputs in calls():
        made = model(name, attributes, inputs)
        feed = {f"x{k}": x for k, x in enumerate(inputs) if x is not None}
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        try:
            ort = onnxruntime.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, feed)
        except Exception as error:
            print(name, attributes, error, file=sys.stderr)
            continue
        try:
            reference = ReferenceEvaluator(made).run(None, feed)
        except Exception as error:
            print(name, attributes, "reference:", error, file=sys.stderr)
            reference = ort
        results = ort
        if name in KEPT:
            results = kept(name, attributes, inputs)
            print("# NaN is kept; onnxruntime and the reference lose it in some places")
        elif not all(close(a, b) for a, b in zip(ort, reference)):
            results = reference if name in REFERENCE else ort
            why = f"the reference: {REFERENCE[name]}" if name in REFERENCE else "onnxruntime"
            print(f"# the two differ; followed is {why}")
        call = " ".join([name] + [f"{k}={','.join(map(str, v)) if isinstance(v, list) else v}" for k, v in attributes.items()])
        print(f"{call} | {' | '.join(text(x) for x in inputs)} => {' | '.join(text(y) for y in results)}")


main()
