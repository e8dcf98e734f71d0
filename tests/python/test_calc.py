"""The calculator: on a terminal it edits, completes and remembers."""

from __future__ import annotations

import os
import pathlib
import select
import subprocess
import sys
import time

import pytest


class Terminal:
    """The calculator on a terminal of its own."""

    def __init__(self, tangram_bin: pathlib.Path, state: pathlib.Path) -> None:
        import fcntl
        import pty
        import termios

        self.master, slave = pty.openpty()
        # Colours of messages are another test's.
        environment = {
            **os.environ,
            "XDG_STATE_HOME": str(state),
            "TERM": "xterm",
            "NO_COLOR": "1",
        }
        self.process = subprocess.Popen(
            [tangram_bin, "calc"],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            start_new_session=True,
            # The terminal of the session, so that Ctrl-C is a signal.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        self.said = ""
        self.prompt()

    def expect(self, text: str, seconds: float = 20) -> str:
        """Reads up to `text`; gives what came before it."""
        end = time.monotonic() + seconds
        while text not in self.said:
            ready, _, _ = select.select([self.master], [], [], end - time.monotonic())
            assert ready, f"no {text!r} in {self.said!r}"
            self.said += os.read(self.master, 4096).decode()
        before, _, self.said = self.said.partition(text)
        return before

    def prompt(self) -> None:
        """Reads up to where the next statement is asked for.

        A `> ` alone may stand in a result, and keys typed then, while the terminal is not the
        editor's, are lost: Ctrl-D among them. The editor asks for marked pastes once it has it.
        """
        self.expect("\x1b[?2004h")
        self.expect("> ")

    def type(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def interrupt(self) -> None:
        """Types Ctrl-C once the terminal makes a signal of it, for what runs by then."""
        import termios

        while not termios.tcgetattr(self.master)[3] & termios.ISIG:
            time.sleep(0.01)
        time.sleep(0.3)
        self.type("\x03")

    def leave(self) -> int:
        self.type("\x04")
        code = self.process.wait(20)
        os.close(self.master)
        return code


@pytest.mark.skipif(sys.platform == "win32", reason="needs pseudo-terminals")
def test_a_conversation_completes_points_at_errors_and_is_remembered(
    tangram_bin, tmp_path
) -> None:
    terminal = Terminal(tangram_bin, tmp_path)
    # A brace that is open goes on in the next line; the tabulator completes.
    terminal.type("triangle := { [i, j] :\r0 <= j <= i < 4 };\r")
    terminal.expect("};")
    terminal.prompt()
    terminal.type("car\t tri\t;\r")
    terminal.expect("> card triangle")
    terminal.expect("$0 := { 10 }")
    terminal.prompt()
    terminal.type("1; 2 + $;\r")
    terminal.expect("\n         ^\r\n<input>:1:8: error: expected a token")
    # Ctrl-C stops what runs, drops what is typed, and the next statement runs.
    terminal.prompt()
    terminal.type("scan { [i, j, k] : 0 <= i, j, k < 1000 };\r")
    terminal.expect("};\x1b[?2004l\r\n")
    terminal.interrupt()
    terminal.expect("<input>:1:1: error: the operation was cancelled")
    terminal.prompt()
    terminal.type("card { [i\x03")
    terminal.prompt()
    terminal.type("20 + 22;\r")
    terminal.expect("\n$1 := 42\r\n")
    terminal.prompt()
    assert terminal.leave() == 0

    lines = (tmp_path / "tangram" / "calc_history").read_text().splitlines()
    assert lines[1:] == [
        r"triangle := { [i, j] :\n0 <= j <= i < 4 };",
        "card triangle;",
        "1; 2 + $;",
        "scan { [i, j, k] : 0 <= i, j, k < 1000 };",
        "20 + 22;",
    ]
    terminal = Terminal(tangram_bin, tmp_path)
    terminal.type("\x1b[A\r")
    terminal.expect("\n$0 := 42\r\n")
    terminal.prompt()
    # A result is used by its name, and completed; code stands alone.
    terminal.type("$0 - $\t;\r")
    terminal.expect("\n$1 := 0\r\n")
    terminal.prompt()
    terminal.type("$0 + 1; print $2;\r")
    terminal.expect("\n$2 := 43\r\n43\r\n")
    terminal.prompt()
    terminal.type("codegen { S[i] -> [i] : 0 <= i < 2 };\r")
    terminal.expect("\nfor (int64_t c0 = 0; c0 <= 1; c0 += 1)\r\n  S(c0);\r\n")
    terminal.prompt()
    terminal.type("schedule { S[i] : 0 <= i < 2 };\r")
    terminal.expect("\n$3 :=\r\ndomain:")
    terminal.prompt()
    assert terminal.leave() == 0


@pytest.mark.parametrize(
    ("program", "code"),
    [("{ [1] };", 0), ("{ [i] : i < n };", 2), ("A + ;", 2), ("assert { [1] } = { [2] };", 2)],
)
def test_a_program_that_cannot_go_on_says_so(
    tangram_bin: pathlib.Path, program: str, code: int
) -> None:
    result = subprocess.run([tangram_bin, "calc"], input=program, capture_output=True, text=True)
    assert result.returncode == code, result.stderr
    assert bool(result.stderr) == bool(code)
