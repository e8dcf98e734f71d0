"""The same results on every engine, whoever dies."""

from __future__ import annotations

import concurrent.futures
import json
import os
import signal
import subprocess
import sys

import pytest

import tangram
from fleet_models import folder, names, slow  # noqa: F401: `folder` is a fixture
from tangram.fleet import ProcessExecutor, unit, wire
from tangram.fleet.engine import TRIES, Engine, Task
from tangram.fleet.width import Width

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def test_a_process_that_is_killed_loses_nothing(folder, tmp_path) -> None:
    with ProcessExecutor(2) as executor:
        results = []
        for result in slow(folder, tmp_path / "out", executor=executor):
            results.append(result)
            if len(results) == 2:
                os.kill(executor.pids[0], signal.SIGKILL)
    assert {r.model: r.state for r in results} == dict.fromkeys(names(folder), "done")


def test_work_that_kills_is_given_up_after_three_workers(folder, tmp_path, monkeypatch) -> None:
    tried: list[int] = []

    class Deadly(ProcessExecutor):
        def submit(self, function, data):  # type: ignore[no-untyped-def, override]
            future = super().submit(function, data)
            if wire.unpack(data)[0]["name"] == "heavy.onnx":
                tried.append(1)
                deadly = concurrent.futures.Future()
                deadly.set_exception(concurrent.futures.BrokenExecutor("killed"))
                return deadly
            return future

    with Deadly(2) as executor:
        results = {r.model: r for r in tangram.optimize_many(folder, executor=executor, out=tmp_path / "out")}
    assert len(tried) == 3 and results["heavy.onnx"].state == "failed"
    assert "given up" in results["heavy.onnx"].error
    assert {r.state for name, r in results.items() if name != "heavy.onnx"} == {"done"}


def test_the_pool_of_python_carries_it(folder, tmp_path) -> None:
    with concurrent.futures.ProcessPoolExecutor(2) as executor:
        results = []
        for result in slow(folder, tmp_path / "out", executor=executor):
            results.append(result)
            if len(results) == 1:
                # The pool breaks as a whole; what is left goes on in processes of ours.
                os.kill(next(iter(executor._processes)), signal.SIGKILL)
    assert {r.model: r.state for r in results} == dict.fromkeys(names(folder), "done")


def kill_one_at_work(models, out, executor):  # type: ignore[no-untyped-def]
    """Optimises the models, and kills the worker that gave the first result, by its id."""
    results = []
    for result in slow(models, out, executor=executor):
        results.append(result)
        if len(results) == 1:
            os.kill(int(result.worker.split(":")[1]), signal.SIGKILL)
    assert {r.model: r.state for r in results} == dict.fromkeys(names(models), "done")
    assert len({r.worker for r in results}) > 1
    assert {r.state for r in slow(models, out, executor=executor)} == {"unchanged"}
    compared = list(tangram.compare_many(models, out, jobs=2))
    assert {c.state for c in compared} == {"equal"}, compared


def test_dask_with_three_workers_of_which_one_is_killed(folder, tmp_path) -> None:
    distributed = pytest.importorskip("distributed", reason="needs the package dask[distributed]")
    with distributed.LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            assert len(set(client.run(os.getpid).values())) == 3
            kill_one_at_work(folder, tmp_path / "out", client.get_executor())


@pytest.fixture
def ray():  # type: ignore[no-untyped-def]
    """Ray on this machine with three workers."""
    found = pytest.importorskip("ray", reason="needs the package ray")
    found.init(num_cpus=3, include_dashboard=False, log_to_driver=False)
    yield found
    found.shutdown()


def test_ray_with_three_workers_of_which_one_is_killed(ray, folder, tmp_path) -> None:
    executor = tangram.fleet.RayExecutor()
    assert executor.workers == 3
    kill_one_at_work(folder, tmp_path / "out", executor)
    # The command finds the cluster by its address.
    words = [sys.executable, "-m", "tangram", "opt", str(folder), "-o", str(tmp_path / "command")]
    address = ray.get_runtime_context().gcs_address
    ran = subprocess.run([*words, "--ray", address], capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0 and f"{len(names(folder))} done" in ran.stdout, ran.stdout + ran.stderr


def test_the_command_finds_a_cluster_of_dask(folder, tmp_path) -> None:
    distributed = pytest.importorskip("distributed", reason="needs the package dask[distributed]")
    words = [sys.executable, "-m", "tangram", "opt", str(folder), "-o", str(tmp_path / "out")]
    file = tmp_path / "scheduler.json"
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        file.write_text(json.dumps(cluster.scheduler.identity()))
        for address, state in ((cluster.scheduler_address, "done"), (file, "unchanged")):
            ran = subprocess.run([*words, "--dask", address], capture_output=True, text=True, timeout=300)
            told = ran.stdout + ran.stderr
            assert ran.returncode == 0 and f"{len(names(folder))} {state}" in told, told


def test_loky_carries_it(folder, tmp_path) -> None:
    loky = pytest.importorskip("joblib.externals.loky", reason="needs the package joblib")
    executor = loky.ProcessPoolExecutor(max_workers=2)
    try:
        with pytest.warns(UserWarning, match="going on with"):
            kill_one_at_work(folder, tmp_path / "out", executor)
    finally:
        executor.shutdown(kill_workers=True)


class Plain:
    """An executor that can do two things, as that of a batch system; some of its futures fail."""

    def __init__(self, fails=lambda number: False) -> None:  # type: ignore[no-untyped-def]
        self.pool = concurrent.futures.ThreadPoolExecutor(2)
        self.submitted, self.fails, self.error = 0, fails, OSError("the network is gone")

    def submit(self, function, *args):  # type: ignore[no-untyped-def]
        number, self.submitted = self.submitted, self.submitted + 1
        return self.pool.submit(self.fail) if self.fails(number) else self.pool.submit(function, *args)

    def fail(self) -> bytes:
        raise self.error

    def shutdown(self, wait: bool = True) -> None:
        self.pool.shutdown(wait)


def test_an_executor_that_only_submits(folder, tmp_path) -> None:
    early = Plain(lambda number: number < 4)
    states = {r.model: r.state for r in tangram.optimize_many(folder, out=tmp_path / "a", executor=early)}
    assert states == dict.fromkeys(names(folder), "done")
    always = Plain(lambda number: True)
    failed = list(tangram.optimize_many(folder, out=tmp_path / "b", executor=always))
    assert {r.model: r.state for r in failed} == dict.fromkeys(names(folder), "failed")
    assert always.submitted == TRIES * len(failed) and "the network is gone" in failed[0].error
    closed = Plain()
    closed.shutdown()
    with pytest.raises(RuntimeError, match="shutdown"):
        list(tangram.optimize_many(folder, out=tmp_path / "c", executor=closed))


def test_what_an_engine_has_given_up_is_not_tried_again() -> None:
    deadly = Plain(lambda number: True)
    deadly.error = type("KilledWorker", (Exception,), {})("all those workers died")
    ((_, header, _),) = Engine(deadly, None, None).run([Task("one", lambda: wire.pack({"kind": "verify"}))])
    assert deadly.submitted == 1 and "all those workers died" in header["error"]


def test_workers_may_come_later() -> None:
    class Growing(Plain):
        workers = 0

    growing = Growing()
    width = Width(growing)
    width._PATIENCE = 0.0
    growing.workers = 1
    assert width.now() == 1
    growing.workers = 7
    assert width.now() == 7


class Counting(concurrent.futures.Executor):
    """An executor of four workers that do nothing; knows how many tasks it had at once."""

    workers = 4

    def __init__(self) -> None:
        self.given: list[concurrent.futures.Future[bytes]] = []
        self.most = 0

    def submit(self, function, data):  # type: ignore[no-untyped-def, override]
        self.given.append(concurrent.futures.Future())
        self.most = max(self.most, len(self.given))
        return self.given[-1]

    def finish(self) -> None:
        while self.given:
            self.given.pop().set_result(wire.pack({"seconds": 0.0}))


@pytest.mark.parametrize(("jobs", "memory", "size", "most"), [
    (None, None, 10, 8), (4, None, 10, 8), (3, None, 10, 3), (None, 1000, 10, 4), (None, None, 1 << 27, 5),
])
def test_as_many_again_wait_at_the_workers_and_never_more_than_allowed(jobs, memory, size, most) -> None:
    executor = Counting()
    engine = Engine(executor, jobs, memory)
    data = wire.pack({}, [bytes(size)])
    engine._wait = lambda: executor.finish() or engine._ended.get()  # type: ignore[method-assign]
    done = list(engine.run(Task(str(number), lambda: data) for number in range(20)))
    assert len(done) == 20 and executor.most == most


def test_a_worker_of_another_version_refuses() -> None:
    header, _ = wire.unpack(unit.work(wire.pack({"kind": "verify", "version": "0.0.1"})))
    assert "0.0.1" in header["error"] and tangram.__version__ in header["error"]
