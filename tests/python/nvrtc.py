"""Compiles CUDA text with NVRTC, which needs no device and no toolkit."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
from pathlib import Path


@functools.cache
def library() -> ctypes.CDLL | None:
    """The compiler of the package `nvidia-cuda-nvrtc-cu12`; nothing where it is absent."""
    try:
        found = importlib.util.find_spec("nvidia.cuda_nvrtc")
    except ModuleNotFoundError:
        return None
    for folder in found.submodule_search_locations or [] if found else []:
        for path in sorted(Path(folder).glob("lib/libnvrtc.so*")):
            return ctypes.CDLL(str(path))
    return None


def log(text: str, architecture: str = "sm_90") -> str:
    """What the compiler says of a text: nothing where it has neither an error nor a warning."""
    nvrtc = library()
    assert nvrtc
    program = ctypes.c_void_p()
    made = nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernels.cu", 0, None, None)
    assert made == 0, made
    options = [f"--gpu-architecture={architecture}".encode(), b"--std=c++17"]
    words = (ctypes.c_char_p * len(options))(*options)
    code = nvrtc.nvrtcCompileProgram(program, len(options), words)
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, buffer)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    said = buffer.value.decode().strip()
    return said or ("" if code == 0 else f"error {code}")
