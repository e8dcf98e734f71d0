"""Writes `gsl/op.py` from the definitions of the operations: `python python/generate_op.py`.

A test compares the file with what this makes.
"""

from __future__ import annotations

import json
import pathlib
import sys
import textwrap
from typing import Any

HEAD = '''"""One constructor for each operation: operands by position, attributes by name.

An attribute that is not given is unconstrained in a source, and absent in a target. Written by
`python/generate_op.py` from the definitions of the operations.
"""

from __future__ import annotations

from gsl.attr import AttrLike
from gsl.pat import Call, PatternLike
'''

ACRONYMS = {
    "relu": "ReLU", "prelu": "PReLU", "elu": "ELU", "selu": "SELU", "celu": "CELU", "gelu": "GELU",
    "lstm": "LSTM", "gru": "GRU", "rnn": "RNN", "lrn": "LRN", "dft": "DFT", "stft": "STFT",
    "nll": "NLL", "l1": "L1", "l2": "L2", "qlinear": "QLinear", "isnan": "IsNaN", "isinf": "IsInf",
    "topk": "TopK", "argmax": "ArgMax", "argmin": "ArgMin", "logical": "Logical", "nd": "ND",
    "cumsum": "CumSum", "cumprod": "CumProd",
}

KINDS = {
    "int": "an integer", "ints": "integers", "ints or str": "integers or a text", "float": "a number", "floats": "numbers",
    "bool": "a truth value", "str": "a text", "strs": "texts", "any": "any value",
}


def class_name(name: str) -> str:
    """The name of the constructor of an operation: `conv2d` has `Conv2D`."""
    def word(part: str) -> str:
        if part in ACRONYMS:
            return ACRONYMS[part]
        if part[-2:-1].isdigit() and part.endswith("d"):
            part = part[:-1] + "D"
        return part[:1].upper() + part[1:]

    return "".join(word(part) for part in name.split("_"))


def constructor(op: dict[str, Any]) -> str:
    """The class of one operation."""
    taken = {attr["name"] for attr in op["attributes"]}
    parameters, passed, doc = ["self"], [], []
    # What stands before an operand that has to be given cannot have a default.
    needed = [i for i, operand in enumerate(op["operands"]) if operand["arity"] == "one"]
    for i, operand in enumerate(op["operands"]):
        name = operand["name"] + ("_value" if operand["name"] in taken else "")
        doc.append(f"`{name}`: {operand['doc']}.")
        if operand["arity"] == "variadic":
            parameters.append(f"*{name}: PatternLike")
            passed.append(f"*_spread({name})")
        else:
            default = " = None" if i > max(needed, default=-1) else ""
            optional = f" | None{default}" if operand["arity"] == "optional" else ""
            parameters.append(f"{name}: PatternLike{optional}")
            passed.append(name)
    variadic = any(parameter.startswith("*") for parameter in parameters)
    if len(parameters) > 1 and not variadic:
        parameters.append("/")
    if op["attributes"] and not variadic:
        parameters.append("*")
    for attr in op["attributes"]:
        need = ", needed in a target" if attr["required"] else ""
        doc.append(f"`{attr['name']}`, {KINDS[attr['kind']]}{need}: {attr['doc']}.")
        parameters.append(f"{attr['name']}: AttrLike = None")
    arguments = ", ".join(passed)
    attrs = "".join(f", {attr['name']}={attr['name']}" for attr in op["attributes"])
    optional = any(operand["arity"] == "optional" for operand in op["operands"])
    given = f"*_present({arguments})" if optional else arguments
    body = f"super().__init__({op['name']!r}, {given}{attrs})" if given else (
        f"super().__init__({op['name']!r}{attrs})"
    )
    summary = op["summary"][0].upper() + op["summary"][1:]
    lines = textwrap.wrap(f"{summary}.", 92)
    text = "\n    ".join(lines)
    if doc:
        entries = "\n\n    ".join(
            "\n    ".join(textwrap.wrap(entry, 92)) for entry in doc
        )
        text += f"\n\n    {entries}\n    "
    signature = ",\n        ".join(parameters)
    quote = 'r"""' if "\\" in text else '"""'
    return (
        f"class {class_name(op['name'])}(Call):\n    {quote}{text}\"\"\"\n\n"
        f"    def __init__(\n        {signature},\n    ) -> None:\n        {body}\n"
    )


TAIL = '''
def _spread(operands: tuple[PatternLike, ...]) -> tuple[PatternLike, ...]:
    """A list as the only operand stands for its members."""
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        return tuple(operands[0])
    return operands


def _present(*operands: PatternLike | None) -> list[PatternLike]:
    """The operands up to the first that is left out."""
    given = [operand for operand in operands if operand is not None]
    if any(operand is None for operand in operands[: len(given)]):
        raise TypeError("an operand is left out before one that is given")
    return given
'''


def generate() -> str:
    """The text of `gsl/op.py`."""
    from tangram import _native

    ops = sorted(json.loads(_native.operators()), key=lambda op: class_name(op["name"]))
    ops = [op for op in ops if op["name"] not in ("constant", "none")]
    return "\n\n".join([HEAD, *(constructor(op) for op in ops), TAIL.lstrip("\n")])


if __name__ == "__main__":
    path = pathlib.Path(__file__).parent / "gsl" / "op.py"
    temporary = path.with_suffix(".py.tmp")
    temporary.write_text(generate())
    temporary.replace(path)
    sys.exit(0)
