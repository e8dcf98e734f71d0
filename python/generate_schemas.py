"""Writes the table of ONNX's operator schemas that the export is validated against.

    python python/generate_schemas.py [--check]

Every version of every operator that the installed onnx package knows becomes a line of
`crates/onnx/src/schema/operators.txt`: how many inputs and outputs there are, which element types
they take, and the names and kinds of attributes. `--check` writes nothing and exits with 1 where
the file says something else.
"""

from __future__ import annotations

import argparse
import pathlib
import sys

import onnx
from onnx.defs import OpSchema

TABLE = pathlib.Path(__file__).resolve().parents[1] / "crates/onnx/src/schema/operators.txt"
DOMAINS = ("", "ai.onnx.ml")
OPTION = OpSchema.FormalParameterOption
HEAD = f"""\
# Operator schemas of onnx {onnx.__version__}, written by python/generate_schemas.py.
#
# set NUMBER TYPE...
# op DOMAIN NAME SINCE | LEAST MOST INPUT... | LEAST MOST OUTPUT... | ATTRIBUTE... | VARIABLE=SET...
#
# An input or output is a type variable or a type: `?` after it where it may be left out, `*` where
# any number of one type may follow, `+` where they may be of several. An attribute is NAME:KIND,
# `!` after it where it has to be given. The domain of ONNX itself is `-`; MOST is `-` where there
# is no limit. `gone` stands in place of all that for an operator that is deprecated.
"""


def short(text: str) -> str:
    """Writes `tensor(float)` as `float`, also inside sequences and optionals."""
    return text.replace("tensor(", "(").replace(" ", "") if "sparse" in text else _plain(text)


def _plain(text: str) -> str:
    text = text.replace(" ", "")
    if text.startswith("tensor(") and text.endswith(")"):
        return text[len("tensor(") : -1]
    head, _, rest = text.partition("(")
    return f"{head}({_plain(rest[:-1])})" if head in ("seq", "optional") else text


def parameters(least: int, most: int, formal: list) -> str:
    """Writes the inputs or outputs of a schema."""
    unlimited = most > 1_000_000
    marks = {OPTION.Optional: "?", OPTION.Single: ""}
    words = [str(least), "-" if unlimited else str(most)]
    for one in formal:
        variadic = "*" if one.is_homogeneous else "+"
        words.append(short(one.type_str) + marks.get(one.option, variadic))
    return " ".join(words)


def attributes(schema: OpSchema) -> str:
    """Writes the attributes of a schema, in the order of their names."""
    words = []
    for name in sorted(schema.attributes):
        one = schema.attributes[name]
        kind = onnx.AttributeProto.AttributeType.Value(one.type.name)
        words.append(f"{name}:{kind}{'!' if one.required else ''}")
    return " ".join(words)


def table() -> str:
    """Writes the whole table."""
    sets: dict[tuple[str, ...], int] = {}
    lines = []
    schemas = [s for s in onnx.defs.get_all_schemas_with_history() if s.domain in DOMAINS]
    for schema in sorted(schemas, key=lambda s: (s.domain, s.name, s.since_version)):
        head = f"op {schema.domain or '-'} {schema.name} {schema.since_version} |"
        if schema.deprecated:
            lines.append(f"{head} gone")
            continue
        variables = []
        for one in schema.type_constraints:
            allowed = tuple(sorted(short(name) for name in one.allowed_type_strs))
            number = sets.setdefault(allowed, len(sets))
            variables.append(f"{one.type_param_str}={number}")
        columns = [
            parameters(schema.min_input, schema.max_input, schema.inputs),
            parameters(schema.min_output, schema.max_output, schema.outputs),
            attributes(schema),
            " ".join(variables),
        ]
        lines.append(f"{head} {' | '.join(columns)}".rstrip())
    listed = [f"set {number} {' '.join(types)}" for types, number in sets.items()]
    return "\n".join([HEAD.rstrip(), *listed, *lines]) + "\n"


def main() -> int:
    """Writes or compares the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    found = table()
    if parser.parse_args().check:
        same = TABLE.read_text() == found
        print(f"{TABLE.name}: {'as onnx says' if same else 'differs from what onnx says'}")
        return 0 if same else 1
    TABLE.write_text(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
