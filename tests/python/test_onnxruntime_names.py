"""Every public name of the package onnxruntime is here, or raises an error that says why.

The names are those of the package that is installed: a newer version with more of them makes this
fail until they are here, or are named with a reason.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import pkgutil
import subprocess
import sys
import types

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

import tangram
import tangram.onnxruntime

MODULES = [
    "",
    "backend",
    "backend.backend",
    "backend.backend_rep",
    "capi",
    "capi._pybind_state",
    "capi.build_and_package_info",
    "capi.onnxruntime_inference_collection",
    "capi.onnxruntime_pybind11_state",
    "capi.onnxruntime_validation",
]
# Those parts of the package that do not run models; each name in them raises an error that says so.
ELSEWHERE = ["datasets", "quantization", "tools", "transformers"]
# What these modules import of other packages, or have for their own use.
FOREIGN = {
    "annotations", "collections", "contextlib", "linecache", "os", "platform", "typing", "warnings",
    "weakref", "np", "npt", "Any", "Callable", "Sequence", "IntEnum", "TYPE_CHECKING", "packaging",
    "version", "check_model", "ModelProto", "helper", "Backend", "BackendRep", "unittest", "C",
    "onnxruntime_validation",
}
# Internal to onnxruntime's package: wrappers of its native classes.
INTERNAL = {
    "make_get_initializer_location_func_wrapper", "GetInitializerLocationFunc",
    "GetInitializerLocationWrapperFunc",
}


def named(module: types.ModuleType) -> list[str]:
    return [
        name
        for name in dir(module)
        if not name.startswith("_")
        and name not in FOREIGN | INTERNAL
        and not isinstance(getattr(module, name), types.ModuleType)
    ]


def twin(name: str) -> tuple[types.ModuleType, types.ModuleType]:
    end = f".{name}" if name else ""
    return (
        importlib.import_module(f"onnxruntime{end}"),
        importlib.import_module(f"tangram.onnxruntime{end}"),
    )


@pytest.mark.parametrize("name", MODULES)
def test_every_name_of_a_module_is_there(name: str) -> None:
    theirs, ours = twin(name)
    missing = [one for one in named(theirs) if not hasattr(ours, one)]
    assert not missing, f"onnxruntime.{name} has {missing}"


def test_the_package_itself_has_the_names_too() -> None:
    """`import tangram as ort`, and `sys.modules["onnxruntime"] = tangram`."""
    missing = [one for one in named(onnxruntime) if not hasattr(tangram, one)]
    # `version` is a function of tangram; the two texts are those of a package.
    assert set(missing) <= {"cuda_version", "import_capi_exception", "package_name"}


def test_every_module_of_the_package_is_known() -> None:
    there = {one.name for one in pkgutil.iter_modules(onnxruntime.__path__)}
    assert there <= {"backend", "capi", *ELSEWHERE}
    inner = {one.name for one in pkgutil.iter_modules(onnxruntime.capi.__path__)}
    inner = {one for one in inner if not one.startswith("lib")}
    known = {name.removeprefix("capi.") for name in MODULES if name.startswith("capi.")}
    scripts = {"_ld_preload", "convert_npz_to_onnx_adapter", "onnxruntime_collect_build_info"}
    assert inner <= known | scripts


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_is_elsewhere_says_where(name: str) -> None:
    with pytest.raises(ImportError, match=f"onnxruntime.{name}.anything is not in tangram: .*onnxruntime"):
        exec(f"from tangram.onnxruntime.{name} import anything")


def classes(module: types.ModuleType) -> list[str]:
    return [one for one in named(module) if inspect.isclass(getattr(module, one))]


def absent(ours: object) -> bool:
    """Whether making one raises an error that says why it is not here."""
    return getattr(ours, "__doc__", "") is not None and str(ours.__doc__).startswith("Not here: ")


@pytest.mark.parametrize("name", ["", "capi.onnxruntime_pybind11_state"])
def test_every_member_of_a_class_is_there(name: str) -> None:
    theirs, ours = twin(name)
    missing = []
    for one in classes(theirs):
        mine = getattr(ours, one)
        if absent(mine):
            with pytest.raises(NotImplementedError, match=f"`{one}` is not in tangram: .{{10}}"):
                mine()
            continue
        members = [m for m in dir(getattr(theirs, one)) if not m.startswith("_")]
        if issubclass(mine, enum.Enum):
            members = [m for m in members if m not in ("name", "value")]
        # Those of a native session and its binding are of the class behind the one that people use.
        if name and one in {"InferenceSession", "SessionIOBinding", "OrtValue"}:
            continue
        missing += [f"{one}.{m}" for m in members if not hasattr(mine, m) and not is_slot(mine, m)]
    assert not missing, missing


def is_slot(of: type, member: str) -> bool:
    """Whether instances have it: what is set when one is made is no attribute of the class."""
    makers = {
        "ModelMetadata": lambda: session().get_modelmeta(),
        "SessionOptions": tangram.SessionOptions,
        "RunOptions": tangram.RunOptions,
    }
    maker = makers.get(of.__name__)
    return maker is not None and hasattr(maker(), member)


def parameters(function: object) -> dict[str, inspect.Parameter] | None:
    try:
        return dict(inspect.signature(function).parameters)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


@pytest.mark.parametrize("one", ["InferenceSession", "IOBinding", "OrtValue", "OrtDevice", ""])
def test_signatures_take_what_onnxruntimes_take(one: str) -> None:
    theirs = getattr(onnxruntime, one) if one else onnxruntime
    ours = getattr(tangram, one) if one else tangram.onnxruntime
    wrong = []
    names = [n for n in dir(theirs) if not n.startswith("_") or n in ("__init__", "__dlpack__")]
    for name in names:
        their, mine = getattr(theirs, name), getattr(ours, name, None)
        if inspect.isclass(their) or not callable(their) or mine is None or absent(mine):
            continue
        expected, found = parameters(their), parameters(mine)
        if expected is None or found is None or any(p.kind is p.VAR_POSITIONAL for p in found.values()):
            continue
        order = [p for p in found if p in expected and p != "kwargs"]
        same_order = order == [p for p in expected if p != "kwargs"]
        required = [
            p for p, one in found.items()
            if one.default is one.empty and p not in expected and one.kind is not one.VAR_KEYWORD
        ]
        optional = all(
            found[p].default is not inspect.Parameter.empty
            for p in order
            if expected[p].default is not inspect.Parameter.empty
        )
        # A native function does not name its parameters.
        native = all(p.startswith("arg") for p in expected if p != "self")
        if required or not optional or not (same_order or native):
            wrong.append((name, list(expected), list(found)))
    assert not wrong, wrong


def test_enumerations_have_the_same_members() -> None:
    for name in classes(onnxruntime):
        theirs = getattr(onnxruntime, name)
        members = getattr(theirs, "__members__", None)
        if members is None:
            continue
        mine = getattr(tangram, name)
        assert issubclass(mine, enum.Enum), name
        for member, value in members.items():
            assert int(getattr(mine, member)) == int(value), f"{name}.{member}"


def test_devices_have_onnxruntimes_numbers() -> None:
    native = onnxruntime.capi.onnxruntime_pybind11_state.OrtDevice
    for name in ("cpu", "cuda", "gpu", "dml", "webgpu", "fpga", "npu", "cann", "default_memory"):
        assert getattr(tangram.OrtDevice, name)() == getattr(native, name)(), name
    made = [engine.OrtDevice.make("cpu", 0) for engine in (onnxruntime, tangram)]
    for name in ("device_id", "device_type", "device_mem_type", "device_vendor_id"):
        assert len({getattr(one, name)() for one in made}) == 1, name


def test_exceptions_are_caught_as_a_program_catches_them(tmp_path) -> None:
    from tangram.onnxruntime.capi import onnxruntime_pybind11_state as state

    theirs = onnxruntime.capi.onnxruntime_pybind11_state
    for name in dir(theirs):
        if inspect.isclass(getattr(theirs, name)) and issubclass(getattr(theirs, name), Exception):
            assert issubclass(getattr(state, name), tangram.TangramError), name
    with pytest.raises(state.NoSuchFile):
        tangram.InferenceSession(str(tmp_path / "nowhere.onnx"))
    with pytest.raises(state.InvalidProtobuf):
        tangram.InferenceSession(b"no model")
    with pytest.raises(state.InvalidArgument):
        session().run(["no"], {"x": np.ones(1, np.float32)})
    options = tangram.RunOptions()
    options.terminate = True
    with pytest.raises(state.Fail, match="terminate"):
        session().run(None, {"x": np.ones(1, np.float32)}, options)
    options.terminate = False
    assert session().run(None, {"x": np.ones(1, np.float32)}, options)[0].tolist() == [1]


def session() -> tangram.InferenceSession:
    tensor = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])],
        "g",
        [tensor("x", TensorProto.FLOAT, ["n"])],
        [tensor("y", TensorProto.FLOAT, ["n"])],
    )
    opset = [helper.make_opsetid("", 18)]
    return tangram.InferenceSession(helper.make_model(graph, opset_imports=opset, ir_version=9))


ALIAS = {
    "as it is": "import sys, tangram; sys.modules['onnxruntime'] = tangram",
    "the stand-in": "import sys, tangram.onnxruntime as t; sys.modules['onnxruntime'] = t",
    "installed": "import tangram.onnxruntime; tangram.onnxruntime.install()",
}


@pytest.mark.parametrize("way", list(ALIAS))
def test_modules_and_classes_are_the_same_under_the_other_name(way: str) -> None:
    program = f"""
{ALIAS[way]}
import onnxruntime as ort
import onnxruntime.capi._pybind_state as C
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidArgument, NoSuchFile
from onnxruntime.capi.onnxruntime_inference_collection import InferenceSession, OrtValue
from onnxruntime.backend import prepare
import onnxruntime.quantization
import tangram
assert ort.InferenceSession is InferenceSession is tangram.InferenceSession
assert C.SessionOptions is ort.SessionOptions and Fail is tangram.Fail
assert ort.get_version_string().split(".")[0] == "1"
ort.disable_telemetry_events(); ort.set_seed(1); ort.preload_dlls(); ort.print_debug_info()
try:
    from onnxruntime.quantization import quantize_dynamic
except ImportError as error:
    assert "not in tangram" in str(error)
print("same")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.endswith("same\n"), done.stderr


def test_install_says_so_where_it_is_too_late() -> None:
    program = "import onnxruntime, tangram.onnxruntime as t; t.install()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "is imported already" in done.stderr


def test_a_backend_prepares_and_runs() -> None:
    from tangram.onnxruntime import backend

    x = np.float32([-1, 2])
    prepared = backend.prepare(session(), "CPU")
    for given in (x, [x], {"x": x}):
        assert prepared.run(given)[0].tolist() == [0, 2]
    assert backend.supports_device("CPU") and not backend.supports_device("CUDA")
    with pytest.raises(NotImplementedError):
        backend.prepare(session(), "CUDA:0")
