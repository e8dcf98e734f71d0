"""Runs a command apart: its time, its peak memory, and whether it came to an end."""

from __future__ import annotations

import dataclasses
import pathlib
import resource
import subprocess
import tempfile
import time

POLL_SECONDS = 0.002


@dataclasses.dataclass
class Run:
    """What one process did."""

    ended: str
    seconds: float
    output: str
    peak_bytes: int
    peak_anonymous_bytes: int
    cpu_seconds: float

    @property
    def ok(self) -> bool:
        """Whether the process came to a good end."""
        return self.ended == "ok"


def run(command: list[str], limit: float) -> Run:
    """Runs a command and samples its memory; ends it after `limit` seconds."""
    with tempfile.TemporaryFile("w+") as said:
        started, used = time.perf_counter(), _cpu_of_children()
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, text=True)
        status = pathlib.Path(f"/proc/{process.pid}/status")
        peak = anonymous = 0
        ended = None
        while process.poll() is None:
            sample = _memory(status)
            peak, anonymous = max(peak, sample[0]), max(anonymous, sample[1])
            if time.perf_counter() - started > limit:
                process.kill()
                ended = "timeout"
            try:
                process.wait(POLL_SECONDS)
            except subprocess.TimeoutExpired:
                continue
        seconds, cpu = time.perf_counter() - started, _cpu_of_children() - used
        said.seek(0)
        output = said.read()
    if ended is None:
        code = process.returncode
        ended = "ok" if code == 0 else f"signal {-code}" if code < 0 else f"exit {code}"
    return Run(ended, seconds, output, peak, anonymous, cpu)


def _cpu_of_children() -> float:
    """Seconds of processor time that ended children took, those of the system for them included."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _memory(status: pathlib.Path) -> tuple[int, int]:
    """Reads the peak resident and the present anonymous bytes of a process."""
    values = {"VmHWM:": 0, "RssAnon:": 0}
    try:
        for line in status.read_text().splitlines():
            name, *rest = line.split()
            if name in values:
                values[name] = int(rest[0]) * 1024
    except OSError:
        pass  # It ended between the check and the read.
    return values["VmHWM:"], values["RssAnon:"]
