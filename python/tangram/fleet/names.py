"""Which models are meant, and the name of each: where its result goes below the folder for results."""

from __future__ import annotations

import collections
import os
import pathlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from tangram import _native

if TYPE_CHECKING:
    from tangram._workload import ModelLike

    Models = str | os.PathLike[str] | Iterable[ModelLike | tuple[str, ModelLike]]


def named(models: Models, out: pathlib.Path | None) -> list[tuple[str, Any]]:
    """Models with their names, each of which is there once.

    Raises `ValueError` for names that are there twice or lead out of the folder, and for results
    that would take the place of models.
    """
    found = list(_folder(models, out) if isinstance(models, (str, os.PathLike)) else _listed(models, out))
    count = collections.Counter(name for name, _ in found)
    if twice := [name for name, times in count.items() if times > 1]:
        raise ValueError(f"several models have the same name: {', '.join(twice[:3])}")
    # The longest first: what is left at the end is short, and no worker waits long for another.
    found.sort(key=lambda one: -size(one[1]))
    for name, model in found:
        path = pathlib.PurePath(name)
        if not path.name or path.is_absolute() or ".." in path.parts:
            raise ValueError(f"`{name}` is no name below the folder for results")
        if out is not None and is_path(model) and (out / name).resolve() == pathlib.Path(model).resolve():
            raise ValueError(f"{model}: the result would take the place of the model; `out` needs another folder")
    return found


def is_path(model: Any) -> bool:
    """Whether a model is given by where it is."""
    return isinstance(model, (str, os.PathLike))


def size(model: Any) -> int:
    """Bytes of a model file; 0 for what is no file, which comes as it is given."""
    try:
        return os.stat(model).st_size if is_path(model) else 0
    except OSError:
        return 0


def _folder(models: str | os.PathLike[str], out: pathlib.Path | None) -> Iterator[tuple[str, Any]]:
    """The models of a folder or a pattern, or one file."""
    if os.path.isfile(models):
        yield pathlib.Path(models).name, models
    else:
        yield from ((name.as_posix(), path) for path, name in _found(models, out))


def _found(
    models: str | os.PathLike[str], out: pathlib.Path | None
) -> list[tuple[pathlib.Path, pathlib.Path]]:
    """Where the models of a folder or a pattern are; what is in `out` is a result and no model."""
    inside = out.resolve() if out is not None else None
    found = _native.fleet_find(models)
    kept = [one for one in found if inside is None or inside not in one[0].resolve().parents]
    if not kept:
        raise ValueError(f"{out}: the results need a folder of their own")
    return kept


def _listed(models: Iterable[Any], out: pathlib.Path | None) -> Iterator[tuple[str, Any]]:
    """Models one by one; files are named from the last folder on that all paths share."""
    given = list(models)
    paths = [os.path.abspath(model) for model in given if is_path(model)]
    folders = [path if os.path.isdir(path) else os.path.dirname(path) for path in paths]
    shared = os.path.commonpath(folders) if folders else ""
    for number, model in enumerate(given):
        if isinstance(model, tuple):
            yield model
        elif not is_path(model):
            yield f"model-{number}.onnx", model
        else:
            path = os.path.abspath(model)
            files = [file for file, _ in _found(path, out)] if os.path.isdir(path) else [path]
            yield from ((pathlib.Path(os.path.relpath(file, shared)).as_posix(), file) for file in files)
