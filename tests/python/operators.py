"""Writes `docs/onnx-operators.md`: what of ONNX rules do not look into, what folding does not compute.

    python tests/python/operators.py

Found by import: every node test of the onnx package, and one made-up node for each operator that
has no test. The reasons are written here, by hand; a test compares the file with what this makes,
and so notices an operator without a reason and a reason without an operator.
"""

from __future__ import annotations

import re
import sys

import onnx
from onnx import TensorProto, helper

import node_suite
import tangram
from conftest import ROOT

PATH = ROOT / "docs" / "onnx-operators.md"
TRAINING = "ai.onnx.preview.training"

# Why an operator, or every operator of a domain, stays as it came.
CARRIED = {
    TRAINING: "steps of training; models that are optimised for inference have none",
    "ai.onnx.preview.FlexAttention": "a preview whose definition still changes",
    "onnx.Dropout": "whose ratio is computed; one with a constant ratio goes, in inference",
    "onnx.Scan": "of operator set 8, which has a batch axis of its own; later ones are `nn.scan`",
}
# Why an operation has no reference evaluation.
CHANCE = "draws random numbers: a folded result would be the same in every run"
UNCOMPUTED = {
    "nn.bernoulli": CHANCE,
    "nn.dropout_training": CHANCE,
    "nn.multinomial": CHANCE,
    "nn.random_normal": CHANCE,
    "nn.random_normal_like": CHANCE,
    "nn.random_uniform": CHANCE,
    "nn.random_uniform_like": CHANCE,
    "nn.image_decoder": "decodes image formats, which is no business of a graph optimiser",
}
# The interpreter runs these itself: they hold regions, or values that are no tensors.
INTERPRETED = {"nn.constant", "nn.none", "nn.if", "nn.loop", "nn.scan", "nn.sequence_map", "nn.yield"}
CONTAINERS = (
    "nn.sequence_", "nn.optional", "nn.split_to_sequence", "nn.concat_from_sequence",
    "nn.ml_cast_map", "nn.ml_dict_vectorizer", "nn.ml_zip_map",
)  # fmt: skip

HEAD = """\
# ONNX operators that stay as they are

Written by `python tests/python/operators.py` from onnx {version}, its {cases} node tests and the
definitions of the nn dialect; a test compares. Of {operators} operators in the domains of onnx,
{known} become operations of the nn dialect, in all forms that operator sets from 7 on give them,
but for those below. Whatever stays comes out as it came in.
"""


def carried() -> set[str]:
    """Finds the operators that the import carries through, as `domain.Operator`."""
    found, tried = set(), set()
    for case in node_suite.cases():
        tried |= {node.op_type for node in case.model.graph.node}
        found |= opaque(case.model)
    for schema in onnx.defs.get_all_schemas():
        if schema.name not in tried and not schema.deprecated:
            found |= opaque(example(schema))
    return found


def opaque(model: onnx.ModelProto) -> set[str]:
    """Lists the operations of an imported model that stand for nodes nobody looks into."""
    try:
        text = str(tangram.Workload.from_onnx(model))
    except tangram.ModelError:
        return set()  # Operator sets before 7 are refused as a whole.
    names = set(re.findall(r'^ *(?:%\S+ = )?"([A-Za-z_][\w.]*)"', text, re.MULTILINE))
    return {name for name in names if name.split(".")[0] not in ("nn", "func", "builtin")}


def example(schema: onnx.defs.OpSchema) -> onnx.ModelProto:
    """Makes a model of one node: what it has to be given, with values that mean little."""
    kinds = onnx.defs.OpSchema.AttrType
    values = {kinds.INT: 1, kinds.INTS: [1, 1], kinds.FLOAT: 1.0, kinds.FLOATS: [1.0]}
    values |= {kinds.STRING: "", kinds.STRINGS: [""]}
    needed = {name: a.type for name, a in schema.attributes.items() if a.required}
    attributes = {name: values[kind] for name, kind in needed.items() if kind in values}
    names = [f"x{i}" for i in range(max(schema.min_input, min(len(schema.inputs), 1)))]
    node = helper.make_node(schema.name, names, ["y"], domain=schema.domain, **attributes)
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, [1, 1, 1, 1])
    index = helper.make_tensor_type_proto(TensorProto.INT64, [])
    inputs = []
    for name, formal in zip(names, schema.inputs, strict=False):
        sequence = all(kind.startswith("seq(") for kind in formal.types)
        integer = formal.types == {"tensor(int32)", "tensor(int64)"}
        kind = helper.make_sequence_type_proto(tensor) if sequence else index if integer else tensor
        if all(kind.startswith("map(") for kind in formal.types):
            kind = helper.make_map_type_proto(TensorProto.INT64, tensor)
        inputs.append(helper.make_value_info(name, kind))
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "example", inputs, [output])
    imports = [helper.make_opsetid("", 20), helper.make_opsetid(schema.domain, schema.since_version)]
    return helper.make_model(graph, opset_imports=imports[int(not schema.domain) :])


def uncomputed() -> set[str]:
    """Lists the operations that their reference does not call evaluated."""
    text = (ROOT / "docs" / "nn-reference.md").read_text()
    sections = re.split(r"^### ", text, flags=re.MULTILINE)[1:]
    names = {s.split("\n")[0] for s in sections if not re.search(r"\*[^*]*\bevaluated\b[^*]*\*", s)}
    return {n for n in names - INTERPRETED if not n.startswith(CONTAINERS)}


def explained(names: set[str], reasons: dict[str, str]) -> list[tuple[str, list[str], str]]:
    """Groups names by what gives their reason: themselves, their domain, or a beginning.

    Raises `KeyError` for a name without a reason and for a reason without a name.
    """
    groups: dict[str, list[str]] = {}
    for name in sorted(names):
        beginnings = (key for key in reasons if key.endswith("*") and name.startswith(key[:-1]))
        keys = [name, name.rpartition(".")[0], *beginnings]
        key = next((key for key in keys if key in reasons), None)
        groups.setdefault(key or f"no reason is given for {name}", []).append(name)
    if odd := sorted(set(reasons) ^ set(groups)):
        raise KeyError(f"reasons and operators do not belong together: {odd}")
    return [(key, found, reasons[key]) for key, found in groups.items()]


def table(title: str, names: set[str], reasons: dict[str, str]) -> str:
    """Shows what has which reason."""
    rows = [f"| {title} | why |", "| --- | --- |"]
    for _, found, why in explained(names, reasons):
        rows.append(f"| {', '.join(f'`{name}`' for name in found)} | {why} |")
    return "\n".join(rows)


def generate() -> str:
    """The text of the file."""
    stays = carried()
    schemas = {(s.domain, s.name) for s in onnx.defs.get_all_schemas() if not s.deprecated}
    # What the default domain has among them stays in one form, and has an operation in the others.
    partly = {name for name in stays if name.startswith("onnx.")}
    head = HEAD.format(
        version=onnx.__version__,
        cases=f"{len(node_suite.cases()):,}",
        operators=len(schemas),
        known=len(schemas) - len(stays - partly),
    )
    return "\n".join([
        head,
        "## Carried through\n",
        table("operator", stays, CARRIED),
        "\n## Known, but not computed\n",
        "Types are inferred and rules match, but a constant operand does not make a constant.\n",
        table("operation", uncomputed(), UNCOMPUTED) + "\n",
    ])  # fmt: skip


if __name__ == "__main__":
    temporary = PATH.with_suffix(".md.tmp")
    temporary.write_text(generate())
    temporary.replace(PATH)
    sys.exit(0)
