#!/usr/bin/env python3
"""What onnx.shape_inference says of the values of the node tests, with the declared types of results taken away.

usage: infer_types.py CASES OUT

Writes OUT/NAME.onnx (the stripped models) and OUT/types.txt, a line a value: case, value, type in the textual form of graphs.
"""

import pathlib
import sys

import onnx
from onnx import shape_inference

WORDS = dict(
    zip(
        range(1, 27),
        "f32 u8 i8 u16 i16 i32 i64 string bool f16 f64 u32 u64 c64 c128 bf16 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz u4 i4 f4e2m1 f8e8m0 u2 i2".split(),
    )
)


def text(ty):
    """Tensors of known element type only; extents that are not numbers are `?`."""
    if ty.WhichOneof("value") != "tensor_type" or ty.tensor_type.elem_type not in WORDS:
        return None
    tensor = ty.tensor_type
    word = WORDS[tensor.elem_type]
    if not tensor.HasField("shape"):
        return word + "[..]"
    dims = [str(d.dim_value) if d.WhichOneof("value") == "dim_value" else "?" for d in tensor.shape.dim]
    return f"{word}[{', '.join(dims)}]"


def main():
    cases, out = map(pathlib.Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    lines = []
    for path in sorted(cases.glob("*/model.onnx")):
        model = onnx.load(str(path))
        for output in model.graph.output:
            output.ClearField("type")
        del model.graph.value_info[:]
        try:
            inferred = shape_inference.infer_shapes(model, data_prop=True)
        except Exception:
            continue
        name = path.parent.name
        (out / f"{name}.onnx").write_bytes(model.SerializeToString())
        made = {value for node in model.graph.node for value in node.output}
        for value in list(inferred.graph.value_info) + list(inferred.graph.output):
            known = value.HasField("type") and text(value.type)
            if value.name in made and known:
                lines.append(f"{name}\t{value.name}\t{known}\n")
    (out / "types.txt").write_text("".join(lines))


main()
