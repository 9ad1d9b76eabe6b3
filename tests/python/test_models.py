"""Models against onnxruntime."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import lozenge


def peer(model):
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


def info(name, elem, shape):
    return helper.make_tensor_value_info(name, elem, shape)


def made(nodes, inputs, outputs, initializers=()):
    graph = helper.make_graph(nodes, "model", inputs, outputs, list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


@pytest.fixture(scope="module")
def perceptron():
    rng = np.random.default_rng(3)
    weights = [
        onnx.numpy_helper.from_array(rng.standard_normal(shape).astype("f4") / 8, name)
        for name, shape in (("w1", (20, 30)), ("b1", (30,)), ("w2", (30, 5)))
    ]
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["h"]),
        helper.make_node("Relu", ["h"], ["r"]),
        helper.make_node("Identity", ["r"], ["i"]),
        helper.make_node("MatMul", ["i", "w2"], ["z"]),
        helper.make_node("Softmax", ["z"], ["y"]),
    ]
    outputs = [info("y", TensorProto.FLOAT, ["batch", 5]), info("z", TensorProto.FLOAT, ["batch", 5])]
    return made(nodes, [info("x", TensorProto.FLOAT, ["batch", 20])], outputs, weights)


@pytest.mark.parametrize("threads", [None, 1, 2])
def test_a_session_agrees_with_onnxruntime(perceptron, rng, threads):
    ours, theirs = lozenge.Session(perceptron, threads=threads), peer(perceptron)
    named = [(node.name, node.type, node.shape) for node in theirs.get_inputs()]
    assert [tuple(node) for node in ours.get_inputs()] == named
    assert [node.name for node in ours.get_outputs()] == [node.name for node in theirs.get_outputs()]
    for batch in (1, 4, 4):
        x = rng.standard_normal((batch, 20)).astype("f4")
        for mine, other in zip(ours.run(None, {"x": x}), theirs.run(None, {"x": x}), strict=True):
            assert mine.shape == other.shape and mine.dtype == other.dtype
            assert np.allclose(mine, other, rtol=1e-5, atol=1e-6)
    assert np.array_equal(ours.run(["z"], {"x": x})[0], ours.run(None, {"x": x})[1])


@pytest.mark.parametrize(
    ("elem", "dtype"),
    [
        (TensorProto.INT64, "i8"),
        (TensorProto.INT32, "i4"),
        (TensorProto.UINT8, "u1"),
        (TensorProto.INT8, "i1"),
        (TensorProto.DOUBLE, "f8"),
        (TensorProto.FLOAT16, "f2"),
    ],
)
def test_types_are_those_of_the_model(rng, elem, dtype):
    ports = [info(name, elem, ["n", 3]) for name in "abc"]
    op = "Add" if dtype not in ("u1", "i1") else "Max"
    model = made([helper.make_node(op, ["a", "b"], ["c"])], ports[:2], ports[2:])
    a, b = (rng.integers(0, 100, (4, 3)).astype(dtype) for _ in range(2))
    [ours] = lozenge.Session(model).run(None, {"a": a, "b": b})
    [theirs] = peer(model).run(None, {"a": a, "b": b})
    assert ours.dtype == theirs.dtype and np.array_equal(ours, theirs)


def test_no_elements_and_no_dimensions():
    model = made(
        [helper.make_node("ReduceSum", ["x"], ["y"], keepdims=0), helper.make_node("Neg", ["x"], ["z"])],
        [info("x", TensorProto.FLOAT, ["n"])],
        [info("y", TensorProto.FLOAT, []), info("z", TensorProto.FLOAT, ["n"])],
    )
    session = lozenge.Session(model)
    for n in (0, 1, 3):
        y, z = session.run(None, {"x": np.ones(n, dtype="f4")})
        assert y.shape == () and y == n and z.shape == (n,)


def test_truth_values():
    model = made(
        [helper.make_node("Not", ["x"], ["y"])],
        [info("x", TensorProto.BOOL, [3])],
        [info("y", TensorProto.BOOL, [3])],
    )
    session = lozenge.Session(model)
    [y] = session.run(None, {"x": np.array([True, False, True])})
    assert y.dtype == bool and y.tolist() == [False, True, False]
    with pytest.raises(lozenge.Error) as raised:
        session.run(None, {"x": np.array([0, 2, 1], dtype="u1").view(bool)})
    assert raised.value.code == "X0205"


def test_types_that_numpy_lacks():
    import ml_dtypes

    model = made(
        [helper.make_node("Add", ["x", "x"], ["y"])],
        [info("x", TensorProto.BFLOAT16, [2])],
        [info("y", TensorProto.BFLOAT16, [2])],
    )
    [y] = lozenge.Session(model).run(None, {"x": np.array([1.5, -2], dtype=ml_dtypes.bfloat16)})
    assert y.dtype == ml_dtypes.bfloat16 and y.tolist() == [3, -4]


def test_values_of_their_own_can_be_given(rng):
    model = made(
        [helper.make_node("Add", ["x", "k"], ["y"])],
        [info("x", TensorProto.FLOAT, [2]), info("k", TensorProto.FLOAT, [2])],
        [info("y", TensorProto.FLOAT, [2])],
        [onnx.numpy_helper.from_array(np.array([1, 2], dtype="f4"), "k")],
    )
    session = lozenge.Session(model)
    assert [node.name for node in session.get_inputs()] == ["x"]
    assert [node.name for node in session.get_overridable_initializers()] == ["k"]
    x = np.zeros(2, dtype="f4")
    assert np.array_equal(session.run(None, {"x": x})[0], [1, 2])
    assert np.array_equal(session.run(None, {"x": x, "k": x + 9})[0], [9, 9])


def test_what_does_not_fit_is_refused(perceptron):
    session = lozenge.Session(perceptron)
    x = np.zeros((2, 20), dtype="f4")
    for feeds, names, code in (
        ({}, None, "X0204"),
        ({"x": x, "q": x}, None, "X0204"),
        ({"x": x}, ["q"], "X0204"),
        ({"x": x.astype("f8")}, None, "X0202"),
        ({"x": x[0]}, None, "X0203"),
        ({"x": x[:, :-1]}, None, "X0203"),
        ({"x": [1, 2]}, None, "X0207"),
    ):
        with pytest.raises(lozenge.Error) as raised:
            session.run(names, feeds)
        assert raised.value.code == code
    assert session.run(None, {"x": x[:, ::-1]})[0].shape == (2, 5)


def test_indices_outside_are_told():
    model = made(
        [helper.make_node("Gather", ["x", "at"], ["y"])],
        [info("x", TensorProto.FLOAT, [3]), info("at", TensorProto.INT64, [2])],
        [info("y", TensorProto.FLOAT, [2])],
    )
    session = lozenge.Session(model)
    x = np.arange(3, dtype="f4")
    assert np.array_equal(session.run(None, {"x": x, "at": np.array([2, -1])})[0], [2, 2])
    with pytest.raises(lozenge.Error) as raised:
        session.run(None, {"x": x, "at": np.array([0, 3])})
    assert raised.value.code == "G0506"


@pytest.mark.parametrize("wrong", [b"", b"abc", b"\xff" * 1000, "nothing.onnx", 3, None])
def test_what_is_no_model(wrong):
    for call in (lozenge.Session, lozenge.optimize):
        with pytest.raises(lozenge.Error):
            call(wrong)


def test_optimize_gives_back_what_it_was_given(perceptron, rng, tmp_path):
    smaller = lozenge.optimize(perceptron)
    assert isinstance(smaller, onnx.ModelProto)
    assert len(smaller.graph.node) < len(perceptron.graph.node)
    x = rng.standard_normal((3, 20)).astype("f4")
    assert np.allclose(
        peer(smaller).run(None, {"x": x})[0], peer(perceptron).run(None, {"x": x})[0], atol=1e-6
    )
    data = perceptron.SerializeToString()
    optimized = lozenge.optimize(data)
    assert isinstance(optimized, bytes) and onnx.load_from_string(optimized) == smaller
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    assert lozenge.optimize(path) == optimized
    assert lozenge.optimize(path, tmp_path / "out.onnx") == tmp_path / "out.onnx"
    assert (tmp_path / "out.onnx").read_bytes() == optimized


def test_parameters_beside_the_model(perceptron, rng, tmp_path):
    path = tmp_path / "model.onnx"
    # It is changed when it is written so.
    perceptron = onnx.ModelProto.FromString(perceptron.SerializeToString())
    onnx.save(perceptron, path, save_as_external_data=True, size_threshold=0, location="data")
    perceptron = onnx.load(path)
    x = rng.standard_normal((3, 20)).astype("f4")
    expected = peer(perceptron).run(None, {"x": x})[0]
    assert np.allclose(lozenge.Session(path).run(None, {"x": x})[0], expected, atol=1e-6)
    with pytest.raises(lozenge.Error, match="output="):
        lozenge.optimize(path)
    (tmp_path / "other").mkdir()
    lozenge.optimize(path, tmp_path / "other/out.onnx")
    assert np.allclose(
        lozenge.Session(tmp_path / "other/out.onnx").run(None, {"x": x})[0], expected, atol=1e-6
    )


def test_a_model_as_a_function(perceptron, rng, tmp_path):
    path = tmp_path / "model.onnx"
    onnx.save(perceptron, path)
    x = rng.standard_normal((3, 20)).astype("f4")
    for source in (path, str(path), perceptron, perceptron.SerializeToString()):
        module = lozenge.load(source)
        assert list(module) == ["model"]
        y, z = module.model(x)
        assert np.allclose(y, peer(perceptron).run(None, {"x": x})[0], atol=1e-6)
    outs = (np.empty_like(y), np.empty_like(z))
    assert module.model(x=x, out=outs)[1] is outs[1]
    assert np.array_equal(outs[0], y)
    assert "x: tensor(float), shape ['batch', 20]" in module.model.__doc__
    for call in (lambda: module.model(x, x), lambda: module.model(x, x=x), lambda: module.model(x, out=y)):
        with pytest.raises(TypeError):
            call()
