"""`tangram lsp` through a client library: what an editor gets, and how a conversation ends."""

from __future__ import annotations

import asyncio
import json
import pathlib
import random
import subprocess
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient

WAIT = 60
RULES = """use "other.gsl";

/// 𝄞 Two of them: one.
rule relu-twice [simplify] {
  let x = *;
  match relu(relu(x)) as y;
  rewrite relu(x);
}

rule soft {
  let x = *;
  match softmax(x) { axis = 1 } as s;
  rewrite soft_max(x) { axis = s.axis };
}
"""
WRONG = "rule wrong {\n  let x = *;\n  match x - x;\n  rewrite x + x;\n}\n"
PROGRAM = """func.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "nn.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %a : tensor<4xf32>
}
"""


class Editor(LanguageClient):
    """A client that keeps what the server tells of itself."""

    def __init__(self) -> None:
        super().__init__("test", "1")
        self.published: asyncio.Queue[lsp.PublishDiagnosticsParams] = asyncio.Queue()
        self.shown: list[str] = []
        self.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(
            lambda params: self.published.put_nowait(params)
        )
        self.feature(lsp.WINDOW_SHOW_MESSAGE)(lambda params: self.shown.append(params.message))

    def open(self, text: str, uri: str = "file:///tmp/none/a.gsl", language: str = "gsl") -> str:
        """Opens a text."""
        item = lsp.TextDocumentItem(uri, language, 1, text)
        self.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return uri

    async def diagnostics(self, version: int = 1) -> list[lsp.Diagnostic]:
        """The next diagnostics of a version."""
        while True:
            found = await asyncio.wait_for(self.published.get(), WAIT)
            if found.version == version:
                return list(found.diagnostics)

    async def ends(self) -> int:
        """Says goodbye; the exit status of the server."""
        await self.shutdown_async(None)
        self.exit(None)
        assert self._server is not None
        return await asyncio.wait_for(self._server.wait(), WAIT)


@asynccontextmanager
async def editor(command: pathlib.Path) -> AsyncIterator[Editor]:
    """A conversation that has begun, and that ends well."""
    client = Editor()
    await client.start_io(str(command), "lsp", "--stdio")
    await client.initialize_async(lsp.InitializeParams(lsp.ClientCapabilities()))
    client.initialized(lsp.InitializedParams())
    yield client
    assert await client.ends() == 0
    await client.stop()


def talk(command: pathlib.Path, conversation: Callable[[Editor], Coroutine[Any, Any, None]]) -> None:
    """Runs a conversation."""

    async def whole() -> None:
        async with editor(command) as client:
            await conversation(client)

    asyncio.run(whole())


def place(text: str, part: str, behind: int = 0) -> lsp.Position:
    """The position of a part of a text, by Python's own count of UTF-16."""
    at = text.index(part) + behind
    before = text[:at].split("\n")
    return lsp.Position(len(before) - 1, len(before[-1].encode("utf-16-le")) // 2)


def at(uri: str, position: lsp.Position) -> dict[str, Any]:
    """The parameters of a request about a place."""
    return {"text_document": lsp.TextDocumentIdentifier(uri), "position": position}


def value(hover: lsp.Hover | None) -> str:
    """The text of a hover."""
    assert hover is not None and isinstance(hover.contents, lsp.MarkupContent)
    return hover.contents.value


def test_diagnostics_stand_at_their_utf16_columns(tangram_bin: pathlib.Path) -> None:
    """Parser and checker tell the same places, columns in UTF-16 units behind a letter of two."""
    text = (
        'rule a within "𝄞" { let x = *; match relu(x); rewrite x; }\n'
        "rule b { let x = *; where x.shape == \"𝄞é\"; match relu(x); rewrite soft_maxx(x); }\n"
    )

    async def conversation(client: Editor) -> None:
        client.open(text)
        found = await client.diagnostics()
        unknown = next(one for one in found if "soft_maxx" in one.message)
        assert unknown.range.start == place(text, "soft_maxx")
        assert unknown.range.end == place(text, "soft_maxx", len("soft_maxx"))
        assert "softmax" in unknown.message and unknown.source == "tangram"
        odd = next(one for one in found if one.range.start.line == 0)
        assert odd.range.start == place(text, '"𝄞"')
        assert odd.range.end == place(text, '"𝄞"', 3)

    talk(tangram_bin, conversation)


def test_edits_are_followed(tangram_bin: pathlib.Path) -> None:
    """Changes of ranges, several in one message, give the text that the client has."""
    text = "rule a { // 𝄞 é\r\n  let x = *;\n  match relu(relu(x));\n  rewrite rel(x);\n}\n"

    async def conversation(client: Editor) -> None:
        uri = client.open(text)
        assert len(await client.diagnostics()) == 1
        identifier = lsp.VersionedTextDocumentIdentifier(2, uri)
        start, end = place(text, "rel(x);"), place(text, "rel(x);", 3)
        mended = text.replace("rel(x)", "relu(x)")
        comment = place(mended, "𝄞")
        changes = [
            lsp.TextDocumentContentChangePartial(lsp.Range(start, end), "relu"),
            lsp.TextDocumentContentChangePartial(
                lsp.Range(comment, lsp.Position(comment.line, comment.character + 2)), "\n "
            ),
        ]
        client.text_document_did_change(lsp.DidChangeTextDocumentParams(identifier, changes))
        # What stood behind the letter is now on a line of its own, which is no comment.
        found = await client.diagnostics(2)
        assert [one.range.start for one in found][:1] == [lsp.Position(1, 2)]
        whole = [lsp.TextDocumentContentChangeWholeDocument(mended)]
        identifier = lsp.VersionedTextDocumentIdentifier(3, uri)
        client.text_document_did_change(lsp.DidChangeTextDocumentParams(identifier, whole))
        assert await client.diagnostics(3) == []

    talk(tangram_bin, conversation)


def test_hover_says_what_the_reference_says(tangram_bin: pathlib.Path, root: pathlib.Path) -> None:
    """Operations, attributes and names; the text is that of the page."""
    page = (root / "docs" / "nn-reference.md").read_text()

    async def conversation(client: Editor) -> None:
        text = RULES
        uri = client.open(text)

        async def hover(part: str, behind: int = 0) -> str:
            params = lsp.HoverParams(**at(uri, place(text, part, behind)))
            return value(await client.text_document_hover_async(params))

        assert await hover("softmax", 3) in page
        assert await hover("axis = 1") in await hover("s.axis", 2)
        line = (await hover("axis = 1")).split("\n\n")[1]
        assert line.startswith("`{axis?}`") and line in page
        assert "match softmax(x)" in await hover("s.axis")
        assert "Two of them" in await hover("relu-twice", 2)
        nothing = lsp.HoverParams(**at(uri, lsp.Position(1, 0)))
        assert await client.text_document_hover_async(nothing) is None

    talk(tangram_bin, conversation)


def test_completion_offers_what_may_stand_there(tangram_bin: pathlib.Path) -> None:
    """Operations by both names, attributes of the operation around, names of the rule."""

    async def labels(client: Editor, text: str, number: int) -> dict[str, str | None]:
        uri = client.open(text, f"file:///tmp/none/{number}.gsl")
        params = lsp.CompletionParams(**at(uri, place(text + "\0", "\0")))
        found = await client.text_document_completion_async(params)
        assert isinstance(found, list)
        return {item.label: item.insert_text for item in found}

    async def conversation(client: Editor) -> None:
        start = "rule a {\n  let data = *;\n  let c = conv2d(data, const);\n"
        operators = await labels(client, start + "  match ", 1)
        assert operators["Gather"] == "take" and "conv2d" in operators and "data" in operators
        inside = await labels(client, start + "  match max_pool2d(c) { pad", 2)
        assert "padding" in inside and "groups" not in inside and "conv2d" not in inside
        behind = await labels(client, start + "  where c.", 3)
        assert "groups" in behind and "shape" in behind
        assert "element_wise" in await labels(client, start + "  op f = trait ", 4)
        assert "rewrite" in await labels(client, start + "  re", 5)
        assert await labels(client, start + "  // rel", 6) == {}

    talk(tangram_bin, conversation)


def test_names_lead_to_where_they_are_bound(tangram_bin: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Names, files of `use`, and operators that a rule of another file defines."""
    other = tmp_path / "ö ther.gsl"
    other.write_text(
        "rule twice [definition] {\n  let x = *;\n  match acme.Twice(x);\n  rewrite x + x;\n}\n"
    )
    text = (
        'use "ö ther.gsl";\nrule a {\n  let x = *;\n'
        "  match acme.Twice(relu(x)) as y;\n  rewrite relu(x) + relu(x);\n}\n"
    )

    async def conversation(client: Editor) -> None:
        uri = client.open(text, (tmp_path / "main.gsl").as_uri())
        assert await client.diagnostics() == []

        async def goes(part: str, behind: int = 0) -> lsp.Location:
            params = lsp.DefinitionParams(**at(uri, place(text, part, behind)))
            found = await client.text_document_definition_async(params)
            assert isinstance(found, lsp.Location)
            return found

        bound = await goes("relu(x)) as", 5)
        assert (bound.uri, bound.range.start) == (uri, place(text, "x = *"))
        assert (await goes("ö ther", 2)).uri == other.as_uri()
        defined = await goes("acme.Twice", 6)
        assert (defined.uri, defined.range.start) == (other.as_uri(), lsp.Position(0, 5))

    talk(tangram_bin, conversation)


def test_formatting_is_that_of_the_command(tangram_bin: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """The edits give what `tangram rules fmt` writes, and nothing where the text is wrong."""
    text = "// é𝄞\nrule  a{let x=*;match relu( relu(x) );rewrite relu(x);}\n"
    file = tmp_path / "a.gsl"
    file.write_text(text)
    subprocess.run([tangram_bin, "rules", "fmt", file], check=True)

    async def conversation(client: Editor) -> None:
        uri = client.open(text)
        options = lsp.FormattingOptions(2, True)
        params = lsp.DocumentFormattingParams(lsp.TextDocumentIdentifier(uri), options)
        (edit,) = await client.text_document_formatting_async(params) or []
        lines = text.splitlines(keepends=True)

        def offset(position: lsp.Position) -> int:
            line = lines[position.line] if position.line < len(lines) else ""
            start = len("".join(lines[: position.line]))
            units = line.encode("utf-16-le")[: 2 * position.character]
            return start + len(units.decode("utf-16-le"))

        first, last = offset(edit.range.start), offset(edit.range.end)
        assert text[:first] + edit.new_text + text[last:] == file.read_text()
        broken = client.open("rule {", "file:///tmp/none/b.gsl")
        params = lsp.DocumentFormattingParams(lsp.TextDocumentIdentifier(broken), options)
        assert not await client.text_document_formatting_async(params)

    talk(tangram_bin, conversation)


def test_a_verdict_is_given_on_request(tangram_bin: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """The action of a rule verifies it as the command does; a counterexample comes with it."""
    file = tmp_path / "wrong.gsl"
    file.write_text(WRONG)
    printed = subprocess.run(
        [tangram_bin, "rules", "check", "--json", file], capture_output=True, text=True, check=False
    )
    (expected,) = json.loads(printed.stdout)

    async def conversation(client: Editor) -> None:
        uri = client.open(WRONG)
        assert await client.diagnostics() == []
        here = lsp.Range(lsp.Position(2, 4), lsp.Position(2, 4))
        context = lsp.CodeActionContext([])
        params = lsp.CodeActionParams(lsp.TextDocumentIdentifier(uri), here, context)
        (command,) = await client.text_document_code_action_async(params) or []
        assert isinstance(command, lsp.Command)
        execute = lsp.ExecuteCommandParams(command.command, command.arguments)
        answer = await client.workspace_execute_command_async(execute)
        answer = json.loads(json.dumps(answer, default=lambda o: getattr(o, "_asdict", vars)(o)))
        assert answer["wrong"] is True and answer["verdict"] == expected["verdict"]
        (found,) = await client.diagnostics()
        assert found.range.start == place(WRONG, "wrong") and found.message == expected["verdict"]
        assert found.severity == lsp.DiagnosticSeverity.Error
        assert client.shown[0].startswith("wrong: ")
        with pytest.raises(JsonRpcException, match="no rule `none`"):
            await client.workspace_execute_command_async(
                lsp.ExecuteCommandParams(command.command, [uri, "none"])
            )

    talk(tangram_bin, conversation)


def test_a_verdict_blocks_nothing_and_can_be_cancelled(
    tangram_bin: pathlib.Path, root: pathlib.Path
) -> None:
    """While rules are verified, edits and hovers are answered; a cancelled request says so."""
    text = (root / "rules" / "fuse.gsl").read_text()

    async def conversation(client: Editor) -> None:
        uri = client.open(text)
        assert await client.diagnostics() == []
        verdicts = [
            client.protocol.send_request(
                lsp.WORKSPACE_EXECUTE_COMMAND,
                lsp.ExecuteCommandParams("tangram.verdict", [uri, "conv-batch-norm"]),
                msg_id=f"verdict-{i}",
            )
            for i in range(40)
        ]
        hover = lsp.HoverParams(**at(uri, place(text, "batch_norm(c", 3)))
        assert "nn.batch_norm" in value(await client.text_document_hover_async(hover))
        assert not all(one.done() for one in verdicts)
        for i in range(40):
            client.cancel_request(lsp.CancelParams(f"verdict-{i}"))
        for one in verdicts[1:]:
            with pytest.raises(JsonRpcException) as error:
                await asyncio.wait_for(asyncio.wrap_future(one), WAIT)
            assert error.value.code == lsp.LSPErrorCodes.RequestCancelled

    talk(tangram_bin, conversation)


def test_programs_in_mlir(tangram_bin: pathlib.Path) -> None:
    """Values and symbols lead to their definitions, hovers give types, errors their places."""

    async def conversation(client: Editor) -> None:
        uri = client.open(PROGRAM, "file:///tmp/none/a.mlir", "mlir")
        assert await client.diagnostics() == []

        async def goes(part: str, behind: int = 0) -> lsp.Position:
            params = lsp.DefinitionParams(**at(uri, place(PROGRAM, part, behind)))
            found = await client.text_document_definition_async(params)
            assert isinstance(found, lsp.Location)
            return found.range.start

        async def hover(part: str, behind: int = 0) -> str:
            params = lsp.HoverParams(**at(uri, place(PROGRAM, part, behind)))
            return value(await client.text_document_hover_async(params))

        assert await goes("return %0", 8) == place(PROGRAM, "%0 =")
        assert await goes("@g(%x) :", 1) == place(PROGRAM, "@g")
        assert await goes("call @g(%x", 9) == place(PROGRAM, "%x: tensor<4xf32>) -> tensor<4xf32> {\n  %a")
        assert "tensor<4xf32>" in await hover("return %0", 8) and "nn.relu" in await hover("return %0", 8)
        assert "### func.call" in await hover("call @g", 1)
        broken = PROGRAM.replace("return %a", "return %b")
        identifier = lsp.VersionedTextDocumentIdentifier(2, uri)
        whole = [lsp.TextDocumentContentChangeWholeDocument(broken)]
        client.text_document_did_change(lsp.DidChangeTextDocumentParams(identifier, whole))
        (found,) = await client.diagnostics(2)
        assert found.range.start == place(broken, "%b") and "%b" in found.message
        # What is right around the error is still known.
        params = lsp.DefinitionParams(**at(uri, place(broken, "@g(%x) :", 1)))
        where = await client.text_document_definition_async(params)
        assert isinstance(where, lsp.Location) and where.range.start == place(broken, "@g")

    talk(tangram_bin, conversation)


def test_no_text_ends_the_server(tangram_bin: pathlib.Path) -> None:
    """Random damage to both languages, asked about at random places, in one conversation."""
    chance = random.Random(7)

    def damaged(text: str) -> str:
        letters = list(text)
        for _ in range(chance.randrange(1, 12)):
            at = chance.randrange(len(letters) + 1)
            letters[at : at + chance.randrange(3)] = chance.choice(["𝄞", '"', "{", "}", "é", "\r", "@", ""])
        return "".join(letters)

    async def conversation(client: Editor) -> None:
        for i in range(150):
            language = chance.choice(["gsl", "mlir"])
            text = damaged(RULES if language == "gsl" else PROGRAM)
            uri = client.open(text, f"file:///tmp/none/{i}.{language}", language)
            where = lsp.Position(chance.randrange(20), chance.randrange(60))
            await client.text_document_hover_async(lsp.HoverParams(**at(uri, where)))
            await client.text_document_definition_async(lsp.DefinitionParams(**at(uri, where)))
            await client.text_document_completion_async(lsp.CompletionParams(**at(uri, where)))

    talk(tangram_bin, conversation)


def message(content: object) -> bytes:
    """A message as it goes over the wire."""
    body = json.dumps(content).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def raw(command: pathlib.Path, *messages: object) -> tuple[int, list[dict[str, Any]]]:
    """Sends messages and ends the input; the exit status, and the answers."""
    sent = b"".join(message({"jsonrpc": "2.0", **dict(one)}) for one in messages)  # type: ignore[call-overload]
    done = subprocess.run([command, "lsp"], input=sent, capture_output=True, timeout=WAIT, check=False)
    assert b"panicked" not in done.stderr
    bodies = done.stdout.split(b"Content-Length: ")[1:]
    return done.returncode, [json.loads(body.split(b"\r\n\r\n")[1]) for body in bodies]


START = ({"id": 1, "method": "initialize", "params": {"capabilities": {}}}, {"method": "initialized", "params": {}})


def test_how_a_conversation_ends(tangram_bin: pathlib.Path) -> None:
    """Exit codes as the protocol wants them, and answers to what is not understood."""
    shutdown, leave = {"id": 2, "method": "shutdown"}, {"method": "exit"}
    assert raw(tangram_bin, *START, shutdown, leave)[0] == 0
    assert raw(tangram_bin, *START, leave)[0] == 1
    assert raw(tangram_bin, *START)[0] == 1
    assert raw(tangram_bin, leave)[0] == 1
    assert raw(tangram_bin)[0] == 0
    unknown = {"id": 9, "method": "textDocument/nothing", "params": {}}
    odd = {"id": "odd", "method": "textDocument/hover", "params": {"x": 1}}
    ignored = {"method": "textDocument/didOpen", "params": []}
    late = {"id": 10, "method": "textDocument/hover", "params": {}}
    code, answers = raw(tangram_bin, *START, unknown, odd, ignored, shutdown, late, leave)
    errors = {answer["id"]: answer["error"]["code"] for answer in answers if "error" in answer}
    assert (code, errors) == (0, {9: -32601, "odd": -32602, 10: -32600})
    early = {"id": 3, "method": "textDocument/hover", "params": {}}
    _, answers = raw(tangram_bin, early, *START, shutdown, leave)
    assert answers[0]["error"]["code"] == -32002
    for broken in [b"Content-Length: 3\r\n\r\n{,}", b"nonsense\r\n\r\n", b"Content-Length: 9\r\n\r\n{"]:
        done = subprocess.run([tangram_bin, "lsp"], input=broken, capture_output=True, timeout=WAIT, check=False)
        assert done.returncode in (1, 2) and b"panicked" not in done.stderr


def test_the_extension_names_what_is_there(root: pathlib.Path) -> None:
    """Files that the extension for VS Code names exist, and its grammar is that of the folder."""
    folder = root / "editors" / "vscode"
    package = json.loads((folder / "package.json").read_text())
    contributes = package["contributes"]
    named = [package["main"], *(one["path"] for one in contributes["grammars"])]
    named += [one["configuration"] for one in contributes["languages"]]
    assert all((folder / name).is_file() for name in named)
    json.loads((folder / "language-configuration.json").read_text())
    assert '"lsp"' in (folder / "extension.js").read_text()
