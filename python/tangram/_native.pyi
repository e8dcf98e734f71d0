"""The native half of Tangram."""

import os

class TangramError(Exception):
    """What Tangram cannot do, and why."""

class ModelError(TangramError):
    """A model that is wrong or cannot be written."""

class RuleError(TangramError):
    """Rules that are wrong."""

class EvaluationError(TangramError):
    """A model that cannot be evaluated."""

Datum = tuple[str, list[int], bytes | list[bytes]] | list["Datum"] | None

class Model:
    """A model in IR."""

    @staticmethod
    def open(path: str | os.PathLike[str]) -> Model: ...
    @staticmethod
    def decode(data: bytes) -> Model: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    def encode(self) -> bytes: ...
    def inputs(self) -> list[str]: ...
    def outputs(self) -> list[str]: ...
    def text(self) -> str: ...
    def svg(self) -> str: ...
    def optimize(
        self,
        rules: list[tuple[str, str]],
        library: bool = True,
        disable: list[str] = ...,
        only: list[str] = ...,
        max_seconds: float | None = None,
        max_rewrites: int | None = None,
        fold_limit: int | None = 1048576,
        strategy: str = "greedy",
    ) -> tuple[Model, str]: ...
    def explain(self, text: str) -> list[tuple[str, list[str], str]]: ...
    def evaluate(self, inputs: list[Datum]) -> list[Datum]: ...

def check_rules(name: str, text: str) -> list[str]:
    """Reads and checks a rule text; raises `RuleError` with all that is wrong."""

def rule_text(json: str) -> str:
    """Checks a rule in its JSON form and writes it as text; raises `RuleError`."""

def parse_rules(name: str, text: str) -> list[tuple[str, str, str]]:
    """Reads rules; returns name, text in canonical form and JSON form of each."""

def verify_rules(name: str, text: str) -> list[tuple[str, bool, bool, str]]:
    """Verifies rules: name, whether it holds, whether it is wrong, and why."""

def operators() -> str:
    """The operations that rules may name, as JSON."""

def version() -> str:
    """Returns the version of the library."""
