"""What an optimisation may be asked for: one table for every function and command of the package.

`Workload.optimize`, `optimize` and `optimize_many` take these as keywords, `tangram opt --dask`
as flags. An option that is added here is added to all of them.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
import os
import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypedDict, TypeVar

from tangram._rules import rule_names

if TYPE_CHECKING:
    from tangram._rules import NameLike


P = ParamSpec("P")
R = TypeVar("R")


class Edits(TypedDict, total=False):
    """What is changed about a model; `EDITS` says what they mean."""

    input_shape: Mapping[str, Sequence[int | None]] | None
    dim: Mapping[str, int | str | tuple[int, int]] | None
    inputs: str | Iterable[str]
    outputs: str | Iterable[str]
    inline_functions: bool


class Options(Edits, total=False):
    """The options of an optimisation; `OPTIONS` says what they mean."""

    library: bool
    disable: NameLike | Iterable[NameLike]
    only: NameLike | Iterable[NameLike]
    strategy: Literal["greedy", "walk", "saturate"]
    max_seconds: float | None
    max_rewrites: int | None
    max_nodes: int
    fold_limit: int | None
    opset: int | None
    to: Literal["float16", "bfloat16"] | None
    keep: str | Iterable[str]
    cost: str | os.PathLike[str] | dict[str, Any] | None
    explain: bool
    exact: bool
    steps: int
    target: Literal["onnxruntime", "native"] | None
    objective: Literal["latency", "memory", "size"] | None
    measure: float | bool | None
    measurements: str | os.PathLike[str] | None


@dataclasses.dataclass(frozen=True)
class Option:
    """One option: its value if it is not given, its type, and its flag where it has one."""

    default: Any
    kind: str
    help: str
    flag: Mapping[str, Any] | None = None
    """What `argparse` is told of its flag; none where only Python has it."""
    read: Callable[[Any], Any] = lambda given: given
    """What makes the value that the native half takes."""


def _cost_text(cost: str | os.PathLike[str] | dict[str, Any] | None) -> str | None:
    if cost is None or isinstance(cost, dict):
        return None if cost is None else json.dumps(cost)
    return pathlib.Path(cost).read_text()


MEASURED_SECONDS = 20.0
"""How long rewritings are timed if nothing else is said."""


def _budget(given: float | bool | None) -> float | None:
    if given is None or given is False:
        return None
    return MEASURED_SECONDS if given is True else float(given)


def _limit(text: str) -> int | None:
    return None if text == "none" else int(text)


_NAMES = {"action": "append", "metavar": "NAME|LABEL"}
_STRATEGIES = ("greedy", "walk", "saturate")

OPTIONS: dict[str, Option] = {
    "library": Option(
        True, "bool", "apply the rules that are shipped, too",
        {"name": "--no-library", "action": "store_false", "help": "leave out the rules that are shipped"},
    ),
    "disable": Option(
        (), "NameLike | Iterable[NameLike]", "names and labels of rules that are switched off",
        _NAMES, functools.partial(rule_names, "disable"),
    ),
    "only": Option(
        (), "NameLike | Iterable[NameLike]", "names and labels of the only rules that are applied",
        _NAMES, functools.partial(rule_names, "only"),
    ),
    "strategy": Option(
        "greedy", "Literal['greedy', 'walk', 'saturate']",
        "until no rule fires, each operation once, or all rules at once in an e-graph",
        {"choices": _STRATEGIES},
    ),
    "max_seconds": Option(None, "float | None", "when to stop and keep what is reached", {"type": float}),
    "max_rewrites": Option(None, "int | None", "after how many rewrites to stop", {"type": int}),
    "max_nodes": Option(20_000, "int", "the most e-nodes of a saturation", {"type": int}),
    "fold_limit": Option(
        1 << 20, "int | None", "bytes that a folded constant may add",
        {"type": _limit, "metavar": "BYTES|none"},
    ),
    "opset": Option(None, "int | None", "the version of ONNX's operator set to write", {"type": int}),
    "to": Option(
        None, "Literal['float16', 'bfloat16'] | None",
        "the floats of 16 bits to compute in; inputs and outputs keep their types",
        {"choices": ("float16", "bfloat16")},
    ),
    "keep": Option(
        (), "str | Iterable[str]", "operators, nodes or values that `to` leaves as they are",
        {"action": "append", "metavar": "NAME"}, lambda given: _values(given),
    ),
    "cost": Option(
        None, "str | os.PathLike[str] | dict[str, Any] | None",
        "what operations cost, for saturation: a file, or what stands in it",
        {"metavar": "FILE"}, _cost_text,
    ),
    "explain": Option(False, "bool", "have a saturation prove its result"),
    "exact": Option(
        False, "bool", "apply only rules that change no rounding", {"action": "store_true"}
    ),
    "steps": Option(10_000, "int", "how many steps the report tells of"),
    "target": Option(
        None, "Literal['onnxruntime', 'native'] | None",
        "what is to run the result: of several rewritings the one is taken that is the best for it",
        {"name": "--for", "choices": ("onnxruntime", "native")},
    ),
    "objective": Option(
        None, "Literal['latency', 'memory', 'size'] | None",
        "what the result is to be good at: `latency` if nothing is said",
        {"choices": ("latency", "memory", "size")},
    ),
    "measure": Option(
        None, "float | bool | None",
        "for how many seconds, 20 for `True`, rewritings are timed under the target, to take the fastest",
        {"nargs": "?", "type": float, "const": True, "metavar": "S"}, _budget,
    ),
    "measurements": Option(
        None, "str | os.PathLike[str] | None",
        "where times are kept and looked up, as lines of JSON; in the cache folder if absent",
        {"metavar": "FILE"}, lambda path: None if path is None else os.path.abspath(path),
    ),
}


def _extents(text: str) -> tuple[str, list[int | None]]:
    name, colon, numbers = text.rpartition(":")
    return (name if colon else ""), [None if n.strip() in ("?", "-1") else int(n) for n in numbers.split(",")]


def _size(text: str) -> tuple[str, str]:
    name, _, number = text.partition("=")
    return name, number


def _dims(given: Any) -> list[tuple[str, tuple[int, int]]]:
    """Least and greatest sizes, from numbers, pairs, and texts such as `1..512`."""
    return [(name, _range(size)) for name, size in _pairs(given)]


def _range(size: Any) -> tuple[int, int]:
    if isinstance(size, str):
        least, dots, greatest = size.partition("..")
        size = (int(least), int(greatest) if greatest else _MOST) if dots else int(size)
    if isinstance(size, range):
        size = (size.start, size.stop - 1)
    least, greatest = (size, size) if isinstance(size, int) else size
    if not 0 <= least <= greatest:
        raise ValueError(f"no size is between {least} and {greatest}")
    return least, greatest


_MOST = (1 << 63) - 1


def _pairs(given: Any) -> list[tuple[str, Any]]:
    return list(given.items()) if isinstance(given, Mapping) else list(given or ())


def _shapes(given: Any) -> list[tuple[str, list[int | None]]]:
    free = (None, -1, "?")
    return [(name, [None if n in free else n for n in extents]) for name, extents in _pairs(given)]


def _values(given: Any) -> list[str]:
    one = [given] if isinstance(given, str) else given
    return [name for text in one for name in text.split(",")]


EDITS: dict[str, Option] = {
    "input_shape": Option(
        None, "Mapping[str, Sequence[int | None]] | None",
        "fixes extents of inputs by name, `None` or -1 leaves one open",
        {"action": "append", "type": _extents, "metavar": "[INPUT:]N,N"}, _shapes,
    ),
    "dim": Option(
        None, "Mapping[str, int | str | tuple[int, int]] | None",
        "fixes named dimensions wherever they stand, or says between which sizes they stay: `1..512`",
        {"action": "append", "type": _size, "metavar": "NAME=N|A..B"}, _dims,
    ),
    "inputs": Option(
        (), "str | Iterable[str]", "values that become the inputs: what is before them goes away",
        {"action": "append", "metavar": "VALUE"}, _values,
    ),
    "outputs": Option(
        (), "str | Iterable[str]", "values that become the outputs: what they do not need goes away",
        {"action": "append", "metavar": "VALUE"}, _values,
    ),
    "inline_functions": Option(
        False, "bool", "puts the bodies of the model's own functions in the place of their calls",
        {"action": "store_true"},
    ),
}
"""What is changed about a model before it is optimised."""

ALL = OPTIONS | EDITS


def edits_of(options: Mapping[str, Any]) -> list[Any]:
    """What is changed about a model, as the native half takes it; nothing if all are empty."""
    check_names(options)
    read = [one.read(options.get(name, one.default)) for name, one in EDITS.items()]
    return read if any(read) else []


def edited(model: Any, edits: list[Any]) -> Any:
    """A native model with what `edits_of` gave, which may have travelled as JSON."""
    if not edits:
        return model
    shapes, dims, inputs, outputs, inline = edits
    ranges = [(name, tuple(ends)) for name, ends in dims]
    return model.edit([tuple(pair) for pair in shapes], ranges, inputs, outputs, inline)


def settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """The values of all options of the search, as the native half takes them; `shapes` are those of
    inputs that rewritings are timed on."""
    check_names(options)
    read = {name: one.read(options.get(name, one.default)) for name, one in OPTIONS.items()}
    return read | {"shapes": []}


def check_names(options: Mapping[str, Any]) -> None:
    """Raises `TypeError` for the first option that there is not."""
    if unknown := [name for name in options if name not in ALL]:
        raise TypeError(f"there is no option `{unknown[0]}`; there are {', '.join(ALL)}")


def with_options(**defaults: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Lists the options in a function's signature, in place of its last parameter `**options`.

    Completion and `help` see them so. `defaults`: values if not given, where they are others here.
    """

    def listed(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def called(*args: P.args, **given: P.kwargs) -> R:
            return function(*args, **(defaults | given))  # type: ignore[arg-type]

        signature = inspect.signature(function)
        own = list(signature.parameters.values())[:-1]
        kind = inspect.Parameter.KEYWORD_ONLY
        more = [
            inspect.Parameter(name, kind, default=defaults.get(name, one.default), annotation=one.kind)
            for name, one in ALL.items()
        ]
        called.__signature__ = signature.replace(parameters=own + more)  # type: ignore[attr-defined]
        listing = "\n".join(f"`{name}`: {one.help}." for name, one in ALL.items())
        called.__doc__ = inspect.cleandoc(function.__doc__ or "") + f"\n\nOptions:\n{listing}\n"
        return called

    return listed
