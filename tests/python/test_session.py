"""Sessions: the interface of onnxruntime, beside onnxruntime and onnx's evaluator."""

from __future__ import annotations

import json
import threading

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import evaluation
import node_suite
import oracle
import tangram as ort

from test_examples import LARGE, SMALL, given

# Cases that are right; a fall means that a session lost what the evaluation can do.
RIGHT = 1800


@pytest.mark.parametrize("sizes", [SMALL, LARGE], ids=["small", "large"])
def test_examples_compute_what_onnxruntime_computes(example, sizes) -> None:
    model = onnx.load(example)
    inputs = oracle.random_inputs(model, {**sizes, "steps": 3}, given=given(model))
    expected = oracle.run_ort(model, inputs)
    tolerances = oracle.TOLERANCES
    if example.stem == "half":
        # Its output has been half precision, which the engines round to at other places.
        tolerances = {np.dtype(np.float32): tolerances[np.dtype(np.float16)]}
    for level in (ort.GraphOptimizationLevel.ORT_ENABLE_ALL, ort.GraphOptimizationLevel.ORT_DISABLE_ALL):
        options = ort.SessionOptions()
        options.graph_optimization_level = level
        session = ort.InferenceSession(str(example), options)
        found = session.run(None, inputs)
        difference = oracle.same(found, expected, tolerances)
        assert difference, difference.why


@pytest.mark.slow
def test_some_node_cases_run_in_sessions() -> None:
    run_in_sessions(5)


@pytest.mark.long
def test_node_cases_run_in_sessions() -> None:
    run_in_sessions(1)


def run_in_sessions(step: int) -> None:
    """Compiles and runs one in `step` of the cases of nodes."""
    results = evaluation.run(engine=evaluation.in_session, part=slice(None, None, step))
    wrong = [result for result in results if result.verdict == "wrong"]
    assert not wrong, evaluation.summary(wrong)
    # Of a part the share differs by some.
    assert sum(result.verdict == "ok" for result in results) >= RIGHT // step - (20 if step > 1 else 0)


def test_a_session_says_of_itself_what_onnxruntime_says(example) -> None:
    ours, theirs = ort.InferenceSession(example), oracle.session(str(example))
    for mine, other in [
        (ours.get_inputs(), theirs.get_inputs()),
        (ours.get_outputs(), theirs.get_outputs()),
    ]:
        assert [node.name for node in mine] == [node.name for node in other]
        assert [node.type for node in mine] == [node.type for node in other]
        assert [len(node.shape) for node in mine] == [len(node.shape) for node in other]
    for mine, other in zip(ours.get_inputs(), theirs.get_inputs(), strict=True):
        assert mine.shape == other.shape
    mine, other = ours.get_modelmeta(), theirs.get_modelmeta()
    for name in ("producer_name", "graph_name", "domain", "description", "custom_metadata_map"):
        assert getattr(mine, name) == getattr(other, name), name
    assert ours.get_providers() == ["CPUExecutionProvider"]
    assert ort.get_available_providers() == ["CPUExecutionProvider"]


def classify(ort, path: str, image: np.ndarray) -> list[tuple[int, float]]:
    """What someone wrote for `import onnxruntime as ort`: the three best classes of a picture."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = ort.InferenceSession(path, sess_options=options, providers=ort.get_available_providers())
    source = session.get_inputs()[0]
    assert source.type == "tensor(float)"
    pixels = image.astype(np.float32).transpose(2, 0, 1)[None] / 255
    pixels = (pixels - 0.5) / 0.25
    (scores,) = session.run([session.get_outputs()[0].name], {source.name: pixels})
    scores = scores.reshape(-1)
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    best = np.argsort(-shares, kind="stable")[:3]
    return [(int(label), float(shares[label])) for label in best]


def test_a_script_that_classifies_runs_with_the_import_renamed(root) -> None:
    image = np.random.default_rng(3).integers(0, 256, (32, 32, 3), dtype=np.uint8)
    path = str(root / "examples/models/cnn.onnx")
    ours, theirs = classify(ort, path, image), classify(onnxruntime, path, image)
    assert [label for label, _ in ours] == [label for label, _ in theirs]
    assert np.allclose([share for _, share in ours], [share for _, share in theirs], atol=1e-4)


def test_the_number_of_threads_changes_no_bit(root) -> None:
    path = str(root / "examples/models/cnn.onnx")
    image = np.random.default_rng(4).normal(size=(2, 3, 96, 96)).astype(np.float32)
    found = []
    for threads in (1, 2, 5, 0):
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        session = ort.InferenceSession(path, options)
        found.append(session.run(None, {"image": image})[0].tobytes())
    assert len(set(found)) == 1


def decoder() -> onnx.ModelProto:
    """One layer of attention over a cache that grows by a token each time."""
    width, words = 8, 11
    random = np.random.default_rng(7)
    weights = {
        "embedding": random.normal(size=(words, width)),
        **{name: random.normal(size=(width, width)) / 3 for name in ("wq", "wk", "wv")},
        "head": random.normal(size=(width, words)),
        "scale": np.array(width**-0.5),
    }
    node = helper.make_node
    nodes = [
        node("Gather", ["embedding", "token"], ["x"]),
        node("MatMul", ["x", "wq"], ["q"]),
        node("MatMul", ["x", "wk"], ["k"]),
        node("MatMul", ["x", "wv"], ["v"]),
        node("Concat", ["past_k", "k"], ["present_k"], axis=1),
        node("Concat", ["past_v", "v"], ["present_v"], axis=1),
        node("Transpose", ["present_k"], ["kt"], perm=[0, 2, 1]),
        node("MatMul", ["q", "kt"], ["raw"]),
        node("Mul", ["raw", "scale"], ["scores"]),
        node("Softmax", ["scores"], ["shares"], axis=-1),
        node("MatMul", ["shares", "present_v"], ["mixed"]),
        node("MatMul", ["mixed", "head"], ["logits"]),
    ]
    info = helper.make_tensor_value_info
    past, now = ["batch", "past", width], ["batch", "total", width]
    graph = helper.make_graph(
        nodes,
        "decoder",
        [
            info("token", TensorProto.INT64, ["batch", "sequence"]),
            info("past_k", TensorProto.FLOAT, past),
            info("past_v", TensorProto.FLOAT, past),
        ],
        [
            info("logits", TensorProto.FLOAT, ["batch", "sequence", words]),
            info("present_k", TensorProto.FLOAT, now),
            info("present_v", TensorProto.FLOAT, now),
        ],
        [onnx.numpy_helper.from_array(a.astype(np.float32), n) for n, a in weights.items()],
    )
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opset, ir_version=8)


def generate(ort, model: bytes, first: int, count: int) -> list[int]:
    """What someone wrote for `import onnxruntime as ort`: the most likely word, again and again."""
    session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
    names = [node.name for node in session.get_outputs()]
    cache = {name: np.zeros((1, 0, 8), np.float32) for name in ("past_k", "past_v")}
    words = [first]
    for _ in range(count):
        feed = {"token": np.array([[words[-1]]], np.int64), **cache}
        out = dict(zip(names, session.run(None, feed)))
        words.append(int(out["logits"][0, -1].argmax()))
        cache = {"past_k": out["present_k"], "past_v": out["present_v"]}
    return words


def test_a_loop_over_tokens_runs_with_the_import_renamed() -> None:
    model = decoder().SerializeToString()
    for first in (0, 4):
        assert generate(ort, model, first, 20) == generate(onnxruntime, model, first, 20)


def test_a_cache_can_stay_in_the_session() -> None:
    session = ort.InferenceSession(decoder().SerializeToString())
    expected = generate(ort, decoder().SerializeToString(), 2, 12)
    binding = session.io_binding()
    words = [2]
    empty = ort.OrtValue.ortvalue_from_numpy(np.zeros((1, 0, 8), np.float32))
    binding.bind_ortvalue_input("past_k", empty)
    binding.bind_ortvalue_input("past_v", empty)
    for name in ("logits", "present_k", "present_v"):
        binding.bind_output(name, "cpu")
    for step in range(12):
        binding.bind_cpu_input("token", np.array([[words[-1]]], np.int64))
        session.run_with_iobinding(binding)
        logits, keys, values = binding.get_outputs()
        assert keys.shape() == [1, step + 1, 8] and keys.data_type() == "tensor(float)"
        words.append(int(logits.numpy()[0, -1].argmax()))
        binding.bind_ortvalue_input("past_k", keys)
        binding.bind_ortvalue_input("past_v", values)
    assert words == expected


def test_many_threads_run_one_session() -> None:
    session = ort.InferenceSession(decoder().SerializeToString())
    inputs = [oracle.random_inputs(decoder(), {"past": n, "sequence": 2}) for n in range(5)]
    expected = [session.run(None, one) for one in inputs]
    wrong: list[object] = []

    def work(start: int) -> None:
        for i in range(40):
            at = (start + i) % len(inputs)
            found = session.run(None, inputs[at])
            if not all(np.array_equal(a, b) for a, b in zip(found, expected[at], strict=True)):
                wrong.append((start, i))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def adder() -> onnx.ModelProto:
    """`z = x + y`, where `y` has a default."""
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "y"], ["z"])],
        "adder",
        [info("x", TensorProto.FLOAT, ["N", 2]), info("y", TensorProto.FLOAT, [2])],
        [info("z", TensorProto.FLOAT, ["N", 2])],
        [onnx.numpy_helper.from_array(np.array([10, 20], np.float32), "y")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_an_input_with_a_default_need_not_be_given() -> None:
    session = ort.InferenceSession(adder())
    assert [node.name for node in session.get_inputs()] == ["x"]
    assert [node.name for node in session.get_overridable_initializers()] == ["y"]
    x = np.ones((3, 2), np.float32)
    assert (session.run(None, {"x": x})[0] == [11, 21]).all()
    assert (session.run(None, {"x": x, "y": np.array([1, 2], np.float32)})[0] == [2, 3]).all()
    assert (session.run(["z"], {"x": [[1, 2]]})[0] == [[11, 22]]).all(), "lists get the right type"


def test_arrays_may_lie_in_any_order_of_bytes_and_elements() -> None:
    x = helper.make_tensor_value_info("x", TensorProto.INT16, [2, 3])
    y = helper.make_tensor_value_info("y", TensorProto.INT16, [2, 3])
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", [x], [y])
    session = ort.InferenceSession(helper.make_model(graph, ir_version=8))
    numbers = np.arange(-3, 3, dtype=np.int16).reshape(2, 3)
    wide = np.repeat(numbers, 2, axis=1)
    for same in (numbers, numbers.astype(">i2"), numbers.T.copy().T, wide[:, ::2]):
        (found,) = session.run(None, {"x": same})
        assert found.dtype == np.int16 and (found == numbers).all()


def test_what_is_wrong_with_inputs_is_said() -> None:
    session = ort.InferenceSession(adder())
    x = np.ones((3, 2), np.float32)
    for outputs, inputs, words in [
        (None, {}, ["no value", "`x`"]),
        (None, {"w": x}, ["no input `w`", "'x'"]),
        (None, {"x": x.astype(np.float64)}, ["`x`", "float32 expected", "float64 given"]),
        (None, {"x": x[0]}, ["`x`", "rank 2 expected", "1 given"]),
        (None, {"x": np.ones((3, 5), np.float32)}, ["`x`", "dimension 1 is 5", "expected 2"]),
        (None, {"x": None}, ["`x`", "array expected"]),
        (["w"], {"x": x}, ["no output", "'w'", "'z'"]),
    ]:
        with pytest.raises(ort.InvalidArgument) as caught:
            session.run(outputs, inputs)
        assert isinstance(caught.value, (ValueError, ort.TangramError))
        assert all(word in str(caught.value) for word in words), str(caught.value)
    with pytest.raises(FileNotFoundError, match=r"nowhere\.onnx"):
        ort.InferenceSession("nowhere.onnx")
    with pytest.raises(ort.ModelError):
        ort.InferenceSession(b"no model")
    with pytest.warns(UserWarning, match="no provider `CUDAExecutionProvider`"):
        ort.InferenceSession(adder(), providers=["CUDAExecutionProvider", "CPUExecutionProvider"])


def test_a_profile_tells_of_each_step(tmp_path) -> None:
    options = ort.SessionOptions()
    options.enable_profiling = True
    options.profile_file_prefix = str(tmp_path / "profile")
    session = ort.InferenceSession(decoder().SerializeToString(), options)
    session.run(None, oracle.random_inputs(decoder(), {"past": 2, "sequence": 1}))
    path = session.end_profiling()
    events = json.loads(open(path).read())
    assert events[0]["name"] == "model_run"
    steps = [event for event in events if event["cat"] == "Node"]
    assert sum(event["dur"] for event in steps) <= events[0]["dur"] * 1.01
    operations = ", ".join(event["args"]["op_name"] for event in steps)
    assert "nn.softmax" in operations or "nn.attention" in operations
    assert all(count.compiled + count.reference > 0 for count in session.coverage().values())


def test_sizes_can_be_fixed_and_the_model_written(tmp_path) -> None:
    options = ort.SessionOptions()
    options.add_free_dimension_override_by_name("N", 3)
    options.add_free_dimension_override_by_name("unknown", 4)
    options.optimized_model_filepath = str(tmp_path / "better.onnx")
    session = ort.InferenceSession(adder(), options)
    assert session.get_inputs()[0].shape == [3, 2]
    with pytest.raises(ort.InvalidArgument, match="dimension 0 is 1, expected 3"):
        session.run(None, {"x": np.ones((1, 2), np.float32)})
    onnx.checker.check_model(tmp_path / "better.onnx")


def test_sequences_text_and_absent_values_cross() -> None:
    cases = {case.name: case for case in node_suite.cases()}
    for name in [
        "test_sequence_insert_at_front",
        "test_string_concat",
        "test_optional_has_element_empty_optional_input",
    ]:
        result = evaluation.in_session(cases[name])
        assert result.verdict == "ok", result


def test_what_is_no_number_is_in_no_range() -> None:
    tensor = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("DynamicQuantizeLinear", ["x"], ["y", "scale", "zero"])],
        "range",
        [tensor("x", TensorProto.FLOAT, ["n"])],
        [
            tensor("y", TensorProto.UINT8, ["n"]),
            tensor("scale", TensorProto.FLOAT, []),
            tensor("zero", TensorProto.UINT8, []),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    for place in range(8):
        x = np.array([1, 2, 3, -4, 5, 6, 7, 8], np.float32)
        x[place] = np.nan
        found = ort.InferenceSession(model).run(None, {"x": x})
        numbers = np.delete(x, place)
        expected = oracle.run_ort(model, {"x": numbers})
        assert found[1:] == expected[1:]
        assert (np.delete(found[0], place) == expected[0]).all()
