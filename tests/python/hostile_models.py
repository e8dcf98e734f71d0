"""Models as nobody exports them, built by structure: whatever a message can say, wrong or not.

Each is well formed as protobuf. Types, extents, attributes, names, subgraphs, functions, sequences
and external data are drawn without regard to whether they fit together, with values at the limits
of their types among them.
"""

from __future__ import annotations

import random

import numpy as np
import onnx
from onnx import TensorProto, helper

SIZES = [0, 1, 2, 3, 7, 64, 2**16, 2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, -1, -(2**63)]
SMALL = [0, 1, 2, 3, 4]
TYPES = list(range(0, 27)) + [99, -1]
USUAL = [TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL, TensorProto.INT32, TensorProto.STRING]
NAMES = ["", "a", "x" * 300, "\x1b[2J\x1b]0;t\x07", "\u202egnp.exe", "a\nb", "a\0b", "$(id)", "*/", "</script>", "é"]
OPERATORS = [name for name in sorted({schema.name for schema in onnx.defs.get_all_schemas()})]
LOOPS = ["Loop", "If", "Scan", "SequenceMap"]


class Hostile:
    """Draws models from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0

    def model(self) -> onnx.ModelProto:
        """One model: drawn freely, or a sound one in which some numbers are others."""
        draw = self.random
        if draw.random() < 0.5:
            return self.mutant()
        model = onnx.ModelProto(ir_version=draw.choice([3, 7, 8, 10, 12, 0, 2**40]))
        model.opset_import.append(helper.make_opsetid("", draw.choice([1, 7, 13, 17, 17, 17, 21, 24, 99, -1])))
        if draw.random() < 0.2:
            model.opset_import.append(helper.make_opsetid(draw.choice(["ai.onnx.ml", "own", "com.microsoft"]), 1))
        model.graph.CopyFrom(self.graph(0, []))
        for _ in range(draw.choice([0, 0, 0, 1, 2])):
            model.functions.append(self.function())
        return model

    def mutant(self) -> onnx.ModelProto:
        """A sound model, with up to three numbers replaced."""
        draw, current = self.random, "x"
        nodes, tensors = [], []

        def constant(values: list[int]) -> str:
            tensors.append(helper.make_tensor(f"c{len(tensors)}", TensorProto.INT64, [len(values)], values))
            return tensors[-1].name

        recipes = [
            lambda out: helper.make_node(draw.choice(["Relu", "Neg", "Exp", "Identity", "Softmax"]), [current], [out]),
            lambda out: helper.make_node(draw.choice(["Add", "Mul", "Div", "Pow"]), [current, current], [out]),
            lambda out: helper.make_node("Concat", [current, current], [out], axis=0),
            lambda out: helper.make_node("Reshape", [current, constant([-1, 1])], [out]),
            lambda out: helper.make_node("Expand", [current, constant([2, 1, 1])], [out]),
            lambda out: helper.make_node("Tile", [current, constant([2] * 2)], [out]),
            lambda out: helper.make_node("Slice", [current, constant([0]), constant([1])], [out]),
            lambda out: helper.make_node("Pad", [current, constant([1, 0, 0, 1])], [out]),
            lambda out: helper.make_node("ConstantOfShape", [constant([2, 3])], [out]),
            lambda out: helper.make_node("Gather", [current, constant([0, 0])], [out], axis=0),
            lambda out: helper.make_node("ReduceSum", [current, constant([0])], [out], keepdims=1),
            lambda out: helper.make_node("NonZero", [current], [out]),
            lambda out: helper.make_node("Range", [constant([0])] * 3, [out]),
        ]
        for number in range(draw.choice([1, 2, 3, 5])):
            nodes.append(draw.choice(recipes[:12])(f"n{number}"))
            current = f"n{number}"
        value = helper.make_tensor_value_info
        out = onnx.ValueInfoProto(name=current)
        made = helper.make_graph(nodes, "g", [value("x", TensorProto.FLOAT, [2, 3])], [out], tensors)
        model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        try:
            inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
            out.CopyFrom(inferred.graph.output[0])
        except Exception:
            out.type.tensor_type.elem_type = TensorProto.FLOAT
        if not out.HasField("type"):
            out.type.tensor_type.elem_type = TensorProto.FLOAT
        model.graph.output[0].CopyFrom(out)
        for _ in range(draw.choice([0, 1, 1, 2, 3])):
            self.replace_number(model)
        return model

    def replace_number(self, model: onnx.ModelProto) -> None:
        """Replaces an extent, an element or an attribute by a number at a limit."""
        draw, limit = self.random, self.random.choice(SIZES)
        kind = draw.choice(["extent", "element", "attribute"])
        dims = list(model.graph.input[0].type.tensor_type.shape.dim) + list(model.graph.output[0].type.tensor_type.shape.dim)
        whole = [tensor for tensor in model.graph.initializer if tensor.int64_data]
        ints = [attribute for node in model.graph.node for attribute in node.attribute if attribute.type == 2]
        if kind == "extent" and dims:
            draw.choice(dims).dim_value = limit
        elif kind == "element" and whole:
            tensor = draw.choice(whole)
            tensor.int64_data[draw.randrange(len(tensor.int64_data))] = limit
        elif ints:
            draw.choice(ints).i = limit

    def name(self) -> str:
        """A new name, or one that is odd or taken."""
        self.count += 1
        odd = self.random.random() < 0.05
        return self.random.choice(NAMES) if odd else f"v{self.count}"

    def shape(self) -> list[int | str | None]:
        """Extents: mostly small, at times at a limit, a symbol or nothing."""
        draw = self.random
        few = SMALL if draw.random() < 0.8 else SIZES
        kinds = [lambda: draw.choice(few), lambda: draw.choice(few), lambda: draw.choice(["N", "M", "N+1"]), lambda: None]
        return [draw.choice(kinds)() for _ in range(draw.choice([0, 1, 1, 2, 2, 3, 4, 9]))]

    def element(self) -> int:
        """An element type, mostly a usual one."""
        return self.random.choice(USUAL if self.random.random() < 0.85 else TYPES)

    def type(self, depth: int = 0) -> onnx.TypeProto:
        """A type: a tensor, or a sequence, optional, map or sparse tensor of anything."""
        draw, made = self.random, onnx.TypeProto()
        kind = draw.random() if depth < 5 else 0.0
        if kind < 0.85:
            made.tensor_type.elem_type = self.element()
            if draw.random() < 0.9:
                made.tensor_type.shape.SetInParent()
                for size in self.shape():
                    dim = made.tensor_type.shape.dim.add()
                    if isinstance(size, int):
                        dim.dim_value = size
                    elif size is not None:
                        dim.dim_param = size
        elif kind < 0.91:
            made.sequence_type.elem_type.CopyFrom(self.type(depth + 1))
        elif kind < 0.96:
            made.optional_type.elem_type.CopyFrom(self.type(depth + 1))
        elif kind < 0.98:
            made.map_type.key_type = self.element()
            made.map_type.value_type.CopyFrom(self.type(depth + 1))
        return made

    def value(self, name: str) -> onnx.ValueInfoProto:
        """A declared value."""
        value = onnx.ValueInfoProto(name=name)
        if self.random.random() < 0.95:
            value.type.CopyFrom(self.type())
        return value

    def tensor(self, name: str) -> onnx.TensorProto:
        """A tensor whose data may not be what its type and extents say."""
        draw, made = self.random, TensorProto(name=name, data_type=self.element())
        sizes = SMALL if draw.random() < 0.9 else SIZES
        made.dims.extend(draw.choice(sizes) for _ in range(draw.choice([0, 1, 1, 2, 3])))
        count = int(np.prod([max(0, size) for size in made.dims], dtype=object)) if made.dims else 1
        kind = draw.random()
        if kind < 0.75 and count < 10_000:
            fields = {
                TensorProto.FLOAT: ("float_data", lambda: draw.choice([0.0, 1.0, -1.5, float("nan"), 3e38])),
                TensorProto.INT64: ("int64_data", lambda: draw.choice(SMALL + SIZES[:4] + [-1, 2**62, -(2**63)])),
                TensorProto.STRING: ("string_data", lambda: draw.choice(NAMES).encode()),
            }
            field, draw_one = fields.get(made.data_type, ("int32_data", lambda: draw.choice([0, 1, 2, -1])))
            getattr(made, field).extend(draw_one() for _ in range(count))
        elif kind < 0.9:
            made.raw_data = draw.randbytes(draw.choice([0, 1, 4, 8, 16, 33]))
        else:
            made.data_location = TensorProto.EXTERNAL
            places = ["m.onnx", "../m.onnx", "/etc/passwd", ".", "", "none", "m.onnx\0"]
            entries = {"location": draw.choice(places), "offset": str(draw.choice(SIZES)), "length": str(draw.choice(SIZES))}
            for key, value in entries.items():
                made.external_data.add(key=key, value=value)
        return made

    def attribute(self, name: str, depth: int, known: list[str]) -> onnx.AttributeProto:
        """An attribute of any kind."""
        draw = self.random
        made = onnx.AttributeProto(name=name)
        kind = draw.choice(["i", "i", "ints", "ints", "f", "floats", "s", "strings", "t", "g", "none"])
        if kind == "i":
            made.i, made.type = draw.choice(SMALL + SIZES), onnx.AttributeProto.INT
        elif kind == "ints":
            made.ints.extend(draw.choice(SMALL if draw.random() < 0.7 else SIZES) for _ in range(draw.choice([0, 1, 2, 4])))
            made.type = onnx.AttributeProto.INTS
        elif kind == "f":
            made.f, made.type = draw.choice([0.0, -1.0, float("inf"), float("nan")]), onnx.AttributeProto.FLOAT
        elif kind == "floats":
            made.floats.extend([0.5] * draw.choice([0, 1, 3]))
            made.type = onnx.AttributeProto.FLOATS
        elif kind == "s":
            made.s, made.type = draw.choice(NAMES + ["SAME_UPPER", "constant", "linear"]).encode(), onnx.AttributeProto.STRING
        elif kind == "strings":
            made.strings.extend(draw.choice(NAMES).encode() for _ in range(draw.choice([0, 2])))
            made.type = onnx.AttributeProto.STRINGS
        elif kind == "t":
            made.t.CopyFrom(self.tensor(self.name()))
            made.type = onnx.AttributeProto.TENSOR
        elif kind == "g" and depth < 4:
            made.g.CopyFrom(self.graph(depth + 1, known))
            made.type = onnx.AttributeProto.GRAPH
        return made

    def node(self, depth: int, known: list[str]) -> onnx.NodeProto:
        """A node of any operator, on values that may not be there."""
        draw = self.random
        operator = draw.choice(OPERATORS if draw.random() < 0.85 else LOOPS)
        node = onnx.NodeProto(op_type=operator, name=draw.choice(["", *NAMES]))
        try:
            schema = onnx.defs.get_schema(operator)
            inputs, outputs = len(schema.inputs), max(1, len(schema.outputs))
            names = sorted(schema.attributes)
        except onnx.defs.SchemaError:
            inputs, outputs, names = 2, 1, ["axis"]
        if draw.random() < 0.05:
            node.domain = draw.choice(["own", "com.microsoft", "ai.onnx.ml"])
            node.op_type = draw.choice([operator, "F0", "F1"])
        inputs = max(0, inputs + draw.choice([0, 0, 0, 0, -1, 1]))
        node.input.extend(draw.choice(known) if known and draw.random() < 0.93 else draw.choice(["", "nowhere"]) for _ in range(inputs))
        node.output.extend(self.name() for _ in range(outputs))
        for name in names:
            if name in ("body", "then_branch", "else_branch") and depth < 4:
                node.attribute.append(
                    onnx.AttributeProto(name=name, g=self.graph(depth + 1, known), type=onnx.AttributeProto.GRAPH)
                )
            elif draw.random() < 0.4:
                node.attribute.append(self.attribute(name, depth, known))
        return node

    def graph(self, depth: int, outer: list[str]) -> onnx.GraphProto:
        """A graph that may see the values around it."""
        draw = self.random
        made = onnx.GraphProto(name=draw.choice(["g", *NAMES]))
        own: list[str] = []
        for _ in range(draw.choice([0, 1, 2, 3])):
            made.input.append(self.value(self.name()))
            own.append(made.input[-1].name)
        for _ in range(draw.choice([0, 1, 2, 4])):
            made.initializer.append(self.tensor(self.name()))
            own.append(made.initializer[-1].name)
        for _ in range(draw.choice([1, 2, 3, 6]) if depth == 0 else draw.choice([0, 1, 2])):
            node = self.node(depth, own + outer if draw.random() < 0.9 else [*own, "later"])
            made.node.append(node)
            own.extend(node.output)
        for _ in range(draw.choice([1, 1, 2, 3])):
            made.output.append(self.value(draw.choice(own) if own and draw.random() < 0.95 else "nowhere"))
        for _ in range(draw.choice([0, 0, 1])):
            made.value_info.append(self.value(draw.choice(own) if own else "nowhere"))
        return made

    def function(self) -> onnx.FunctionProto:
        """A function, which may call itself."""
        draw = self.random
        made = onnx.FunctionProto(domain="own", name=draw.choice(["F0", "F1"]), input=["a"], output=["b"])
        made.opset_import.append(helper.make_opsetid("", 17))
        made.opset_import.append(helper.make_opsetid("own", 1))
        call = onnx.NodeProto(op_type=draw.choice(["F0", "F1", "Relu"]), input=["a"], output=["b"])
        call.domain = "own" if call.op_type.startswith("F") else ""
        made.node.append(call)
        return made
