"""Substitution rules."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import json
import re
import time
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from gsl import pat
from gsl._build import Builder
from gsl._picture import rule_svg
from gsl._workload import Workload
from gsl.attr import Attr, Given, to_attr
from tangram import _native
from tangram._workload import Workload as Base

if typing.TYPE_CHECKING:
    from tangram._workload import ModelLike

_numbers = itertools.count(1)


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What verification found out: see `Subst.check`."""

    holds: bool
    """Both sides are equal on every instance that was tried."""
    wrong: bool
    """Both sides differ on some instance."""
    text: str
    """The evidence, or the smallest counterexample."""

    def __str__(self) -> str:
        return self.text


class Subst:
    """A substitution rule: where the source matches, the target takes its place.

    Raises `tangram.RuleError` for a rule that is wrong, naming every mistake. Calling it on a
    workload gives the workload after rewriting.
    """

    profile: bool = False
    """Whether each application prints how long it took."""
    _declared: Sequence[Given] = ()
    functions: dict[str, Callable[..., Any]]
    """The functions of Python that the rule calls, by their names in its text."""

    def __init__(
        self,
        src_outs: pat.PatternLike | Sequence[pat.PatternLike],
        tgt_outs: pat.PatternLike | Sequence[pat.PatternLike],
        *,
        name: str | None = None,
        doc: str = "",
        labels: Iterable[str] = (),
        where: Iterable[Attr] = (),
        benefit: int | None = None,
        priority: int = 0,
        may_alias: bool = False,
        exactness: Literal["exact", "reassociates", "range"] | None = None,
        within: float | None = None,
    ) -> None:
        sources, targets = _outputs(src_outs), _outputs(tgt_outs)
        if len(sources) != len(targets):
            raise _native.RuleError(
                f"the source has {len(sources)} outputs, the target {len(targets)}"
            )
        builder = Builder()
        rule: dict[str, Any] = {
            "name": name or f"substitution-{next(_numbers)}",
            "doc": doc,
            "labels": list(labels),
            "benefit": benefit,
            "priority": priority,
            "may_alias": may_alias,
            "exactness": exactness,
            "tolerance": within,
            "sources": [builder.pattern(p) for p in sources],
            "conditions": [builder.expr(to_attr(condition)) for condition in where],
            "targets": [builder.pattern(p) for p in targets],
        }
        builder.declare(self._declared)
        rule |= {
            "patterns": builder.patterns,
            "exprs": builder.exprs,
            "ops": builder.ops,
            "symbols": builder.symbols,
        }
        self._text = _native.rule_text(json.dumps(rule))
        self.functions = dict(builder.functions)

    @classmethod
    def _from_text(cls, text: str) -> Subst:
        subst = cls.__new__(cls)
        subst._text = text
        subst.functions = {}
        return subst

    @property
    def name(self) -> str:
        """The name of the rule."""
        found = re.search(r"^rule (\S+)", self._text, re.MULTILINE)
        return found.group(1) if found else ""

    def __call__(
        self, wl: Base | ModelLike, fold_params: bool = True, new_name: str | None = None
    ) -> Workload:
        """Returns the workload, or a model as one, after rewriting until the rule matches no more.

        `fold_params`: compute what the target makes of parameters alone, at once.
        """
        wl = _workload(wl)
        start = time.perf_counter()
        made = wl.optimize(
            self, library=False, only=[self.name], fold_limit=None if fold_params else 0
        )
        if self.profile:
            print(f"{self.name}: {time.perf_counter() - start:.6f} s")
        name = new_name if new_name is not None else getattr(wl, "name", "")
        return Workload(made._model, made.report, name=name)

    def to_gsl(self) -> str:
        """Returns the rule as text; `gsl.parse` reads it."""
        return self._text

    def check(self, definitions: Iterable[Definition] | Definition = ()) -> Verdict:
        """Verifies the rule by exact evaluation of many small instances.

        `definitions`: what operators of your own compute that the rule names; see `define`.
        """
        if isinstance(definitions, Definition):
            definitions = [definitions]
        text = "\n\n".join([*(one.to_gsl() for one in definitions), self._text])
        ((_, holds, wrong, told),) = _native.verify_rules(self.name, text)
        return Verdict(holds, wrong, told)

    def explain(self, wl: Base | ModelLike, limit: int = 10) -> str:
        """Says why the rule is not applied: its nearest misses and what is refused, one a line."""
        wl = _workload(wl)
        lines = []
        functions = list(self.functions.items())
        for operation, results, reason in wl._model.explain(self._text, functions)[:limit]:
            lines.append(f"{', '.join(results) or '?'} ({operation}): {reason or 'it matches'}")
        return "\n".join(lines) or "nothing in the workload comes near"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Subst) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return f"Subst({self.name})"

    def __str__(self) -> str:
        return self._text

    def _repr_svg_(self) -> str:
        ((_, _, rule),) = _native.parse_rules(self.name, self._text)
        return rule_svg(json.loads(rule))

    def visualize(self, path: str = "rule.svg") -> None:
        """Writes a picture of both sides."""
        _native.write_file(path, self._repr_svg_().encode())


class Definition(Subst):
    """What an operator of your own computes, as operations that are known: see `define`."""

    def __init__(
        self,
        call: pat.Call,
        body: pat.PatternLike,
        attributes: Iterable[Given] = (),
        *,
        name: str | None = None,
    ) -> None:
        """What `call` computes; `attributes` belong to its operator whether or not `body` reads them."""
        self._declared = tuple(attributes)
        super().__init__(call, body, name=name, labels=["definition"])

    def native(self) -> tuple[str, str, bool, str]:
        """What the native half takes where operators are declared."""
        return "", self.name, True, self._text

    def check(self, definitions: Iterable[Definition] | Definition = ()) -> Verdict:
        """Raises `TypeError`: a definition says what is meant, and rules are verified by it."""
        raise TypeError("a definition is what rules are verified by: `rule.check(definitions)`")


def define(operator: str, function: Callable[..., pat.PatternLike], *, name: str | None = None) -> Definition:
    """Defines an operator of your own, `domain.name`, by a function that composes operations.

    Parameters of the function without a default are the operands, those with one the attributes,
    which are that where a node has none. With the definition among the rules, nodes of the operator
    are typed, evaluated and checked, and rules that name it are verified. The nodes stay what they
    are, unless a rule rewrites them.

    >>> import gsl
    >>> from gsl import op
    >>> def scaled_tanh(x, alpha=1.0):
    ...     return op.Tanh(x) * alpha
    >>> definition = gsl.define("acme.ScaledTanh", scaled_tanh)
    """
    operands: list[pat.Pattern] = []
    attributes: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"`*{parameter.name}`: an operator that is defined has operands of its own, by name")
        if parameter.default is parameter.empty:
            operands.append(pat.Wildcard())
        else:
            attributes[parameter.name] = parameter.default
    call = pat.Call(operator, *operands)
    given = {key: Given(call, key, default) for key, default in attributes.items()}
    body = pat.to_pattern(function(*operands, **given))
    words = re.findall(r"[a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", operator).lower())
    return Definition(call, body, given.values(), name=name or "-".join(["define", *words]))


def _workload(model: Base | ModelLike) -> Base:
    """A workload, or a model as one."""
    return model if isinstance(model, Base) else Workload.from_onnx(model)


def _outputs(outputs: pat.PatternLike | Sequence[pat.PatternLike]) -> list[pat.Pattern]:
    """The outputs of a side: a list of them, or one."""
    several = isinstance(outputs, (list, tuple))
    return [pat.to_pattern(output) for output in (outputs if several else [outputs])]
