"""Texts and models of every language of ours that are deep, long, or have long names.

A `Case` is a file and the commands that read it. Each element of a grammar that may hold another is
nested so often, each list has so many members, each name so many letters as is asked for.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator

import onnx
from onnx import TensorProto, helper


@dataclasses.dataclass
class Case:
    """A file, and what reads it."""

    name: str
    file: str
    content: str | bytes
    commands: list[list[str]]


def nested(before: str, inner: str, after: str, depth: int) -> str:
    """`inner` in `depth` pairs of brackets."""
    return before * depth + inner + after * depth


def sets(depth: int, length: int, letters: int) -> Iterator[tuple[str, str]]:
    """Scripts of the calculator."""
    n = lambda before, inner, after: nested(before, inner, after, depth)  # noqa: E731
    yield "parentheses", "{ [i] : " + n("(", "i > 0", ")") + " };"
    yield "arithmetic", "{ [i] : " + n("(", "i", ")") + " > 0 };"
    yield "not", "{ [i] : " + n("not (", "i > 0", ")") + " };"
    yield "minus", "{ [i] : " + "-" * depth + "i > 0 };"
    yield "exists", "{ [i] : " + n("(exists a : ", "i > 0", ")") + " };"
    yield "floor", "{ [i] : " + n("floor((", "i", ")/2)") + " > 0 };"
    yield "mod", "{ [i] : " + n("(", "i", ") mod 2") + " > 0 };"
    yield "min", "{ [i] : i > " + n("min(1, ", "i", ")") + " };"
    yield "implies", "{ [i] : " + "i > 0 => " * depth + "i > 0 };"
    yield "tuples", "{ " + n("[", "A[i]", " -> B[]]") + " };"
    yield "brackets", n("(", "{ [i] : i > 0 }", ")") + ";"
    yield "calls", n("coalesce(", "{ [i] : i > 0 }", ")") + ";"
    yield "and", "{ [i] : " + " and ".join(["i > 0"] * length) + " };"
    yield "or", "{ [i] : " + " or ".join(["i = 3"] * length) + " };"
    yield "sum", "{ [i] : " + " + ".join(["i"] * length) + " > 0 };"
    yield "dimensions", "{ [" + ", ".join(f"i{k}" for k in range(length)) + "] };"
    yield "parameters", "[" + ", ".join(f"n{k}" for k in range(length)) + "] -> { [i] };"
    yield "disjuncts", "{ " + "; ".join(["[i] : i = 1"] * length) + " };"
    yield "chain", "{ [i] : " + " < ".join(["i"] * length) + " };"
    yield "statements", "{ [i] : i = 1 };\n" * length
    yield "name", "{ " + "A" * letters + "[i] : i > 0 };"
    yield "variable", "a" * letters + " := { [i] : i > 0 };"
    yield "number", "{ [i] : i > " + "9" * letters + " };"
    yield "string", 'print "' + "a" * letters + '";'
    yield "comment", "# " + "a" * letters + "\n{ [i] : i > 0 };"


def rules(depth: int, length: int, letters: int) -> Iterator[tuple[str, str]]:
    """Rules of GSL."""
    n = lambda before, inner, after: nested(before, inner, after, depth)  # noqa: E731
    rule = lambda body: f"rule r {{ let x = *; {body} }}"  # noqa: E731
    yield "calls", rule(f"match {n('relu(', 'x', ')')}; rewrite relu(x);")
    yield "parentheses", rule(f"match relu({n('(', 'x', ')')}); rewrite relu(x);")
    yield "sums", rule("match " + "x + " * depth + "x; rewrite x;")
    yield "minus", rule("match " + "-" * depth + "x; rewrite x;")
    yield "condition", rule(f"match relu(x); where {n('(', '1 == 1', ')')}; rewrite x;")
    yield "not", rule(f"match relu(x); where {n('!', '(1 == 1)', '')}; rewrite x;")
    yield "tuples", rule(f"match relu(x); let t = {n('(', '1', ',)')}; rewrite x;")
    yield "lists", rule(f"match relu(x); let t = {n('[', '1', ']')}; rewrite x;")
    yield "braces", n("rule r { ", "", " }")
    yield "lets", rule("".join(f"let a{k} = *; " for k in range(length)) + "match relu(x); rewrite x;")
    yield "operands", rule("match concat(" + ", ".join(["x"] * length) + "); rewrite x;")
    yield "rules", "rule r { let x = *; match relu(relu(x)); rewrite relu(x); }\n" * length
    yield "name", f"rule {'r' * letters} {{ let x = *; match relu(relu(x)); rewrite relu(x); }}"
    yield "operator", rule(f"match {'f' * letters}(x); rewrite x;")
    yield "number", rule(f"match relu(x); where {'9' * letters} > 1; rewrite x;")
    yield "comment", "// " + "a" * letters


def programs(depth: int, length: int, letters: int) -> Iterator[tuple[str, str]]:
    """Programs in MLIR's text."""
    n = lambda before, inner, after: nested(before, inner, after, depth)  # noqa: E731
    yield "regions", n('"a.b"() ({ ', "", " }) : () -> ()")
    yield "modules", n("module { ", "", " }")
    yield "tuple types", f'%0 = "a.b"() : () -> {n("tuple<", "i32", ">")}'
    yield "function types", f'"a.b"() {{t = {n("(", "i32", ") -> ()")}}} : () -> ()'
    yield "vector types", f'%0 = "a.b"() : () -> {n("vector<2x", "i32", ">")}'
    yield "memref types", f'%0 = "a.b"() : () -> {n("memref<2x", "i32", ">")}'
    yield "opaque types", f'%0 = "a.b"() : () -> {n("!a.b<", "i32", ">")}'
    yield "arrays", f'"a.b"() {{t = {n("[", "1", "]")}}} : () -> ()'
    yield "dictionaries", f'"a.b"() {{t = {n("{a = ", "1", "}")}}} : () -> ()'
    yield "affine maps", f'"a.b"() {{t = affine_map<(d0) -> ({n("(", "d0", ")")})>}} : () -> ()'
    yield "affine sums", f'"a.b"() {{t = affine_map<(d0) -> ({"d0 + " * depth} d0)>}} : () -> ()'
    yield "locations", f'"a.b"() : () -> () loc({n("fused[", "unknown", "]")})'
    yield "call sites", f'"a.b"() : () -> () loc({n("callsite(", "unknown", " at unknown)")})'
    yield "dense", f'"a.b"() {{t = dense<{n("[", "1", "]")}> : tensor<1xi32>}} : () -> ()'
    yield "operations", '"a.b"() : () -> ()\n' * length
    yield "results", f'%0:{length} = "a.b"() : () -> ({", ".join(["i32"] * length)})'
    yield "elements", f'"a.b"() {{t = [{", ".join(["1"] * length)}]}} : () -> ()'
    yield "entries", f'"a.b"() {{{", ".join(f"a{k} = 1" for k in range(length))}}} : () -> ()'
    yield "blocks", '"a.b"() ({' + "".join(f'^b{k}: "a.c"() : () -> ()\n' for k in range(length)) + "}) : () -> ()"
    yield "name", f'"a.{"b" * letters}"() : () -> ()'
    yield "value", f'%{"v" * letters} = "a.b"() : () -> i32'
    yield "string", f'"a.b"() {{t = "{"a" * letters}"}} : () -> ()'
    yield "number", f'"a.b"() {{t = {"9" * letters} : i32}} : () -> ()'


def sources(depth: int, length: int, letters: int) -> Iterator[tuple[str, str]]:
    """Functions in C with a part to look at."""
    n = lambda before, inner, after: nested(before, inner, after, depth)  # noqa: E731
    part = lambda body: f"void f(int n, double a[n]) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"  # noqa: E731
    yield "parentheses", part(f"a[0] = {n('(', 'a[1]', ')')};")
    yield "blocks", part(n("{", "a[0] = 1;", "}"))
    yield "loops", part(n("for (int i = 0; i < n; i++) ", "a[0] = 1;", ""))
    yield "ifs", part(n("if (n > 1) ", "a[0] = 1;", ""))
    yield "else ifs", part("if (n > 1) a[0] = 1;" + " else if (n > 1) a[0] = 1;" * depth)
    yield "minus", part(f"a[0] = {n('- ', 'a[1]', '')};")
    yield "nots", part(f"if ({n('!', 'n', '')}) a[0] = 1;")
    yield "subscripts", part(f"a[0] = {n('a[(int)', '1', ']')};")
    yield "dimensions", part(f"a{n('[0]', '', '')} = 1;")
    yield "calls", part(f"a[0] = {n('g(', '1', ')')};")
    yield "conditionals", part(f"a[0] = {n('n ? 1 : ', '2', '')};")
    yield "casts", part(f"a[0] = {n('(double)', '2', '')};")
    yield "sums", part("a[0] = " + "a[1] + " * depth + "1;")
    loop = "for (int i = 0; i < n; i++) a[i] = 1;\n"
    yield "ands", f"void f(int n, double a[n]) {{\n{loop}int b = {'n && ' * depth}1;\n}}\n"
    yield "ands of elements", f"void f(int n, double a[n]) {{\n{loop}int b = {'a[0] && ' * depth}1;\n}}\n"
    yield "products", part("a[0] = " + "a[1] * (" * depth + "1" + ")" * depth + ";")
    yield "pointers", f"void f(int {'*' * depth}p) {{}}\n"
    yield "declarators", f"int {n('(', 'f', ')')};\n"
    yield "structures", n("struct { ", "int a;", " } b;") + "\n"
    yield "initialisers", f"int a[] = {n('{', '1', '}')};\n"
    yield "labels", "void f(void) { " + "".join(f"l{k}: " for k in range(depth)) + "; }\n"
    yield "statements", part("a[0] = 1;\n" * length)
    yield "arguments", part(f"a[0] = g({', '.join(['1'] * length)});")
    yield "parameters", f"void f({', '.join(f'int n{k}' for k in range(length))}) {{}}\n"
    yield "functions", "".join(f"void f{k}(void) {{}}\n" for k in range(length))
    yield "name", part(f"{'b' * letters}[0] = 1;")
    yield "number", part(f"a[0] = {'9' * letters};")
    yield "string", f'char *s = "{"a" * letters}";\n'
    yield "comment", "/*" + "a" * letters + "*/\nvoid f(void) {}\n"


def schedules(depth: int, length: int, letters: int) -> Iterator[tuple[str, str]]:
    """Constraints and trees as isl writes them."""
    n = lambda before, inner, after: nested(before, inner, after, depth)  # noqa: E731
    yield "flow", n("{ a: ", "1", " }")
    yield "list", n("[", "1", "]")
    yield "block", "".join(" " * min(k, 200) + "a:\n" for k in range(min(depth, 3000)))
    yield "children", 'domain: "{ A[i] }"\n' + n('child: { context: "{ [] }", ', "", " }")
    yield "domain", 'domain: "{ ' + "; ".join(f"A{k}[i]" for k in range(length)) + ' }"\n'
    yield "entries", "".join(f"a{k}: 1\n" for k in range(length))
    yield "name", 'domain: "{ ' + "A" * letters + '[i] }"\n'


def terms(depth: int, length: int, letters: int) -> Iterator[tuple[str, str]]:
    """Terms of e-graphs."""
    yield "term", nested("(f ", "x", ")", depth)
    yield "open", "(" * depth
    yield "children", "(f " + "x " * length + ")"
    yield "name", "(f " + "x" * letters + ")"


def graphs(depth: int, length: int, letters: int) -> Iterator[tuple[str, str]]:
    """E-graphs and other files in JSON."""
    yield "arrays", nested("[", "1", "]", depth)
    yield "objects", nested('{"a": ', "1", "}", depth)
    yield "chain", json.dumps({"nodes": {f"n{k}": {"op": "f", "children": [f"n{k + 1}"] if k + 1 < depth else [], "eclass": f"c{k}", "cost": 1} for k in range(depth)}, "root_eclasses": ["c0"]})
    doubled = {f"n{k}": {"op": "f", "children": [f"n{k + 1}"] * 2, "eclass": f"c{k}"} for k in range(depth)}
    doubled[f"n{depth}"] = {"op": "x", "eclass": f"c{depth}"}
    yield "doubled", json.dumps({"nodes": doubled, "root_eclasses": ["c0"]})
    leaves = {f"n{k}": {"op": "x", "eclass": f"c{k}"} for k in range(length)}
    yield "roots", json.dumps({"nodes": leaves, "root_eclasses": [f"c{k}" for k in range(length)]})
    yield "list", "[" + ", ".join(["1"] * length) + "]"
    yield "name", '{"' + "a" * letters + '": 1}'


def models(depth: int, length: int, letters: int) -> Iterator[tuple[str, bytes]]:
    """Models; what protobuf holds is nested by hand, since its own writer is recursive."""
    value, F = helper.make_tensor_value_info, TensorProto.FLOAT

    def field(number: int, content: bytes) -> bytes:
        size, length_ = len(content), b""
        while size >= 128:
            length_ += bytes([size % 128 + 128])
            size //= 128
        return bytes([number * 8 + 2]) + length_ + bytes([size]) + content

    def deep(path: list[int], inner: bytes, count: int) -> bytes:
        for _ in range(count):
            for number in reversed(path):
                inner = field(number, inner)
        return inner

    def written(graph: bytes) -> bytes:
        head = onnx.ModelProto(ir_version=8, opset_import=[helper.make_opsetid("", 17)])
        return head.SerializeToString() + field(7, graph)

    # Each level holds all below it, so that the size grows with the square beyond some thousands.
    count = min(depth, 20_000)
    # graph.node(1).attribute(5).g(6); graph.input(11).type(2).sequence_type(4).elem_type(1)
    yield "graphs", written(deep([1, 5, 6], b"", count))
    yield "sequences", written(field(11, field(1, b"x") + field(2, deep([4, 1], b"", count))))
    yield "optionals", written(field(11, field(1, b"x") + field(2, deep([9, 1], b"", count))))
    yield "attributes", written(field(1, deep([5, 11], b"", count)))

    def model(nodes, inputs, outputs, **more) -> bytes:
        graph = helper.make_graph(nodes, "g", inputs, outputs, **more)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()

    few = max(2, length // 50)
    node = helper.make_node
    yield "nodes", model([node("Neg", [f"v{k}"], [f"v{k + 1}"]) for k in range(few)], [value("v0", F, [1])], [value(f"v{few}", F, [1])])
    yield "inputs", model([node("Sum", [f"x{k}" for k in range(few)], ["y"])], [value(f"x{k}", F, [1]) for k in range(few)], [value("y", F, [1])])
    yield "outputs", model([node("Split", ["x"], [f"y{k}" for k in range(few)], axis=0)], [value("x", F, [few])], [value(f"y{k}", F, [1]) for k in range(few)])
    yield "rank", model([node("Neg", ["x"], ["y"])], [value("x", F, [1] * few)], [value("y", F, [1] * few)])
    yield "ints", model([node("Transpose", ["x"], ["y"], perm=list(range(length)))], [value("x", F, [1])], [value("y", F, [1])])
    yield "name", model([node("Neg", ["x" * letters], ["y"], name="n" * letters)], [value("x" * letters, F, [1])], [value("y", F, [1])])
    yield "operator", model([node("N" * letters, ["x"], ["y"])], [value("x", F, [1])], [value("y", F, [1])])
    yield "symbol", model([node("Neg", ["x"], ["y"])], [value("x", F, ["N" * letters])], [value("y", F, ["N" * letters])])
    sums = "+".join(["N"] * length)
    yield "dimension", model([node("Neg", ["x"], ["y"])], [value("x", F, [sums])], [value("y", F, [sums])])
    deep_ = nested("(", "N", ")", depth)
    yield "parentheses", model([node("Neg", ["x"], ["y"])], [value("x", F, [deep_])], [value("y", F, [deep_])])


LANGUAGES = {
    "sets": (sets, "f.calc", [["calc", "f.calc"]]),
    "rules": (rules, "f.gsl", [["rules", "fmt", "f.gsl"], ["rules", "check", "f.gsl", "--max-seconds", "2"]]),
    "programs": (programs, "f.mlir", [["rewrite", "f.mlir", "-o", "o.mlir"]]),
    "sources": (sources, "f.c", [["scop", "f.c", "-o", "o.c"]]),
    "schedules": (schedules, "f.yaml", [["schedule", "f.yaml"], ["codegen", "f.yaml"]]),
    "terms": (terms, "f.txt", [["egraph", "simplify", "-"]]),
    "graphs": (graphs, "f.json", [["egraph", "extract", "f.json"], ["egraph", "simplify", "--from", "f.json"], ["run", "none.onnx", "--machine", "f.json"], ["opt", "none.onnx", "-o", "o.onnx", "--cost", "f.json"]]),
    "models": (models, "m.onnx", [["show", "m.onnx"], ["opt", "m.onnx", "-o", "o.onnx", "--max-memory", "700M"], ["show", "m.onnx", "--format", "svg", "--limit", "20"]]),
}


def cases(language: str, depth: int, length: int, letters: int) -> Iterator[Case]:
    """All cases of a language."""
    make, file, commands = LANGUAGES[language]
    for name, content in make(depth, length, letters):
        yield Case(f"{language}: {name}", file, content, commands)
