"""Writes the node tests of the `onnx` package as files that `lozenge test-onnx` reads, and asks onnxruntime what it makes of them.

    cases.py write FOLDER       one folder a case: `model.onnx`, and `data.onnx`, a model whose outputs are the inputs of the
                                case and then its expected outputs; `index.txt` lists name, tolerances and the number of inputs
    cases.py peer FOLDER        how many of the cases in that folder onnxruntime passes
"""

import collections
import os
import sys
import warnings

warnings.filterwarnings("ignore")

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Data:
    """A graph that computes constants."""

    def __init__(self):
        self.nodes, self.initializers, self.outputs, self.count = [], [], [], 0

    def fresh(self):
        self.count += 1
        return f"v{self.count}"

    def node(self, op, inputs, **attributes):
        name = self.fresh()
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def value(self, value, declared):
        """The name of a value of a case, whose type the model declares."""
        kind = declared.WhichOneof("value")
        if isinstance(value, onnx.SequenceProto):
            value = numpy_helper.to_list(value)
        if isinstance(value, onnx.OptionalProto):
            value = numpy_helper.to_optional(value)
        if kind == "optional_type":
            inner = declared.optional_type.elem_type
            if value is None or (isinstance(value, list) and value and value[0] is None):
                return self.node("Optional", [], type=inner)
            return self.node("Optional", [self.value(value, inner)])
        if kind == "sequence_type":
            inner = declared.sequence_type.elem_type
            if not value:
                return self.node("SequenceEmpty", [], dtype=inner.tensor_type.elem_type or TensorProto.FLOAT)
            return self.node("SequenceConstruct", [self.value(v, inner) for v in value])
        name = self.fresh()
        if isinstance(value, TensorProto):
            tensor = onnx.TensorProto()
            tensor.CopyFrom(value)
        else:
            array = np.asarray(value)
            tensor = numpy_helper.from_array(array)
        tensor.name = name
        self.initializers.append(tensor)
        return name

    def output(self, value, declared):
        name = self.value(value, declared)
        result = self.node("Identity", [name])
        self.outputs.append(onnx.ValueInfoProto(name=result))

    def model(self):
        graph = helper.make_graph(self.nodes, "data", [], self.outputs, self.initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])


def in_double_precision(transform):
    """NumPy 1 computed Fourier transforms in double precision whatever it was given, and the tolerances of the cases are made for that;
    since NumPy 2, those of single-precision arrays carry rounding of 2e-7 where 0 is expected within 1e-7."""

    def wrapped(a, *arguments, **named):
        a = np.asarray(a)
        return transform(a.astype(np.complex128 if np.iscomplexobj(a) else np.float64), *arguments, **named)

    return wrapped


def collect():
    for name in ["fft", "ifft", "rfft", "irfft"]:
        setattr(np.fft, name, in_double_precision(getattr(np.fft, name)))
    import onnx.backend.test.case.node  # noqa: F401 (importing generates the cases)
    from onnx.backend.test.case.node import collect_testcases

    return sorted(collect_testcases(None), key=lambda case: case.name)


def write(folder):
    os.makedirs(folder, exist_ok=True)
    index = []
    for case in collect():
        inputs, outputs = case.data_sets[0]
        graph = case.model.graph
        place = os.path.join(folder, case.name)
        os.makedirs(place, exist_ok=True)
        onnx.save(case.model, os.path.join(place, "model.onnx"))
        names = [info.name for info in graph.input]
        inputs = list(inputs.values()) if isinstance(inputs, dict) else list(inputs)
        data = Data()
        for value, info in list(zip(inputs, graph.input)) + list(zip(outputs, graph.output)):
            data.output(value, info.type)
        onnx.save(data.model(), os.path.join(place, "data.onnx"))
        given = min(len(inputs), len(names))
        index.append(f"{case.name} {case.rtol} {case.atol} {given}")
    with open(os.path.join(folder, "index.txt"), "w") as file:
        file.write("\n".join(index) + "\n")
    print(f"onnx {onnx.__version__}: {len(index)} cases")


def same(got, want, rtol, atol):
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(same(g, w, rtol, atol) for g, w in zip(got, want))
    if want is None:
        return got is None
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape or got.dtype != want.dtype:
        return False
    if want.dtype.kind in "OSU":
        return bool((got == want).all())
    return np.allclose(got.astype(np.float64), want.astype(np.float64), rtol=rtol, atol=atol, equal_nan=True)


def peer(folder):
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    verdicts, names = collections.Counter(), {}
    for case in collect():
        try:
            session = onnxruntime.InferenceSession(case.model.SerializeToString(), providers=["CPUExecutionProvider"])
        except Exception:
            verdict = "does not load"
        else:
            inputs, outputs = case.data_sets[0]
            inputs = list(inputs.values()) if isinstance(inputs, dict) else list(inputs)
            feed = {}
            for value, info in zip(inputs, case.model.graph.input):
                if isinstance(value, TensorProto):
                    value = numpy_helper.to_array(value)
                elif isinstance(value, onnx.SequenceProto):
                    value = numpy_helper.to_list(value)
                elif isinstance(value, onnx.OptionalProto):
                    value = numpy_helper.to_optional(value)
                feed[info.name] = value
            try:
                got = session.run(None, feed)
            except Exception:
                verdict = "fails in running"
            else:
                want = []
                for value in outputs:
                    if isinstance(value, TensorProto):
                        value = numpy_helper.to_array(value)
                    elif isinstance(value, onnx.SequenceProto):
                        value = numpy_helper.to_list(value)
                    elif isinstance(value, onnx.OptionalProto):
                        value = numpy_helper.to_optional(value)
                    want.append(value)
                verdict = "passes" if all(same(g, w, case.rtol, case.atol) for g, w in zip(got, want)) else "differs"
        verdicts[verdict] += 1
        names[case.name] = verdict
    with open(os.path.join(folder, "peer.txt"), "w") as file:
        file.writelines(f"{name}: {verdict}\n" for name, verdict in sorted(names.items()))
    print(f"onnxruntime {onnxruntime.__version__}: " + ", ".join(f"{n} {verdict}" for verdict, n in verdicts.most_common()))


if __name__ == "__main__":
    {"write": write, "peer": peer}[sys.argv[1]](sys.argv[2])
