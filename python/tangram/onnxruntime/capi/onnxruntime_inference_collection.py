"""Sessions and what goes with them, where onnxruntime defines them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tangram._devices import OrtDevice, OrtDeviceVendorId
from tangram._io_binding import IOBinding
from tangram._ort_value import OrtValue, copy_tensors
from tangram._session import InferenceSession
from tangram.onnxruntime._absent import AdapterFormat, ModelCompiler, SparseTensor
from tangram.onnxruntime import _alias

_alias.unify(__name__)

Session = InferenceSession

__all__ = [
    "AdapterFormat",
    "IOBinding",
    "InferenceSession",
    "ModelCompiler",
    "OrtDevice",
    "OrtDeviceVendorId",
    "OrtValue",
    "Session",
    "SparseTensor",
    "check_and_normalize_provider_args",
    "copy_tensors",
    "get_ort_device_type",
    "get_vendor_id_for_device_type",
]


def get_ort_device_type(device_type: str) -> int:
    """Returns the number of a kind of devices."""
    return OrtDevice.make(device_type, 0).device_type()


def get_vendor_id_for_device_type(device_type: str) -> OrtDeviceVendorId | None:
    """Returns who makes devices of a kind, where only one does."""
    makers = {
        "cuda": OrtDeviceVendorId.NVIDIA,
        "dml": OrtDeviceVendorId.MICROSOFT,
        "cann": OrtDeviceVendorId.HUAWEI,
        "webgpu": OrtDeviceVendorId.NONE,
    }
    return makers.get(device_type)


def check_and_normalize_provider_args(
    providers: Sequence[str | tuple[str, dict[Any, Any]]] | None,
    provider_options: Sequence[dict[Any, Any]] | None,
    available_provider_names: Sequence[str],
) -> tuple[list[str], list[dict[str, str]]]:
    """Returns the names of providers, and the options of each; raises `ValueError` for what is neither."""
    options: list[Mapping[Any, Any]] = list(provider_options or [{}] * len(providers or ()))
    if len(options) != len(providers or ()):
        raise ValueError("as many options as providers are needed")
    found: dict[str, dict[str, str]] = {}
    for provider, given in zip(providers or (), options, strict=True):
        name, own = provider if isinstance(provider, tuple) else (provider, given)
        found.setdefault(name, {str(key): str(value) for key, value in own.items()})
    return list(found), list(found.values())
