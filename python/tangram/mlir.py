"""Programs in MLIR's text, and pipelines of passes on them, also of one's own.

A pass is a function of an operation, which it runs on, and a rewriter:

>>> from tangram import mlir
>>> @mlir.passes("drop-nops")
... def drop_nops(root, rewriter):
...     for op in root.walk():
...         if op.name == "toy.nop":
...             rewriter.erase(op)
>>> source = '"toy.nop"() : () -> ()'
>>> print(mlir.rewrite(source, "builtin.module(drop-nops,cse)", [drop_nops]), end="")
module {
}

Operations have `name`, `parent`, `operands`, `results`, `attributes` (pairs of name and text),
`walk()` and `alive`; values have `type`, `definition` and `users`. The rewriter has `create`,
`replace`, `erase`, `replace_uses`, `set_attribute` and `move_before`. A pass changes what its
operation holds only, and what it is given is good until it returns. The program is verified after
each pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tangram._native import MlirError, Operation, OperationRewriter, OperationValue, rewrite_program

__all__ = [
    "MlirError",
    "Operation",
    "OperationRewriter",
    "OperationValue",
    "Pass",
    "passes",
    "rewrite",
]

Function = Callable[[Operation, OperationRewriter], object]


@dataclass(frozen=True)
class Pass:
    """A pass that a pipeline can name."""

    name: str
    function: Function
    summary: str = ""

    def __call__(self, root: Operation, rewriter: OperationRewriter) -> object:
        return self.function(root, rewriter)


def passes(name: str, summary: str = "") -> Callable[[Function], Pass]:
    """Makes a pass called `name` of the function below."""
    return lambda function: Pass(name, function, summary)


def rewrite(
    source: str,
    pipeline: str,
    own: Iterable[Pass] = (),
    *,
    generic: bool = False,
    file: str = "<program>",
) -> str:
    """Runs a pipeline on a program, and returns its text.

    `pipeline`: MLIR's syntax, such as ``builtin.module(func.func(canonicalize,cse))``. `own`: the
    passes that it names beside those of the project. `file`: where errors say that they are. What
    a pass raises is raised; all else that is wrong is an `MlirError`.
    """
    functions = [(one.name, one.summary, one.function) for one in own]
    return rewrite_program(source, pipeline, functions, generic, file)
