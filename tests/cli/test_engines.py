"""Where a campaign is run changes nothing of what it gives; whoever is killed costs only what it was running."""

from __future__ import annotations

import json
import os
import random
import signal
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from percuss.ledger.ledger import Ledger

HOST = Path(__file__).parent / "cluster_host.py"
RUNS = 60


def _needs(*names: str) -> None:
    for name in names:
        pytest.importorskip(name, reason=f"{name} is not installed (extra `cluster`)")


class Host:
    """A dask cluster beside the test."""

    def __init__(self, workers: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(HOST), str(workers)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.address = self._line().replace("tcp://", "dask://")

    def _line(self) -> str:
        assert self.process.stdout
        line = self.process.stdout.readline().strip()
        assert line, "the cluster did not start"
        return line

    def kill(self, number: int) -> int:
        assert self.process.stdin
        self.process.stdin.write(f"{number}\n")
        self.process.stdin.flush()
        return int(self._line())

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(30)
        assert self.process.stdout
        self.process.stdout.close()


@pytest.fixture
def host() -> Iterator[Host]:
    _needs("distributed")
    started = Host(2)
    yield started
    started.close()


@pytest.fixture
def design(percuss, make_study):
    """A design in a ledger of some name, with failures."""
    make_study("rehearsal", 'delay = "2 ms"\nbatch = 8\nfail_above = { x1 = 2.5 }')

    def make(ledger: str, points: int = RUNS) -> str:
        return percuss("design", "rehearsal", "--n", points, "--ledger", ledger).id

    return make


def _content(said) -> tuple[str, int]:
    assert said.code == 1, said.err
    assert "runs failed: " in said.err
    data = json.loads(said.out)
    return data["content"], data["failed"]


def test_threads_processes_dask_and_shards_give_the_same_digests(percuss, program, design) -> None:
    _needs("distributed")
    found = {}
    for on in ("threads", "processes", "local-cluster"):
        found[on] = _content(program("run", design(on), "--on", on, "--jobs", 2, "--ledger", on, "--json"))
        assert percuss("audit", "--ledger", on).code == 0
    whole = design("shards")
    for k in range(1, 5):
        assert percuss("run", whole, "--shard", f"{k}/4", "--accept", "runs", "--ledger", "shards").code == 0
    percuss("adopt", "--ledger", "shards")
    found["shards"] = _content(percuss("run", whole, "--ledger", "shards", "--json"))
    assert len(set(found.values())) == 1, found
    assert found["threads"][1] > 0


def _samples(folder: Path) -> list[int]:
    events = Ledger.open(folder / "ledger").events()
    return [sample for event in events if event.kind.startswith("runs.") for sample in event.data["samples"]]


def test_twenty_kills_of_workers_and_two_of_the_launcher(percuss, folder, make_study, host, spawn) -> None:
    make_study("slow", 'delay = "60 ms"\nbatch = 2')
    design = percuss("design", "slow", "--n", 500).id
    rng = random.Random(20)
    kills = 0
    for launch in range(2):
        process = spawn("run", design, "--on", host.address)
        time.sleep(2)
        for _ in range(6):
            host.kill(rng.randrange(100))
            kills += 1
            time.sleep(rng.uniform(0, 0.5))
        before = len(_samples(folder))
        assert before < 500, "the campaign was over before its launcher was killed"
        process.kill()
        assert process.wait() == -signal.SIGKILL, launch
    process = spawn("run", design, "--on", host.address, "--json")
    while kills < 20:
        time.sleep(rng.uniform(0.3, 0.9))
        assert process.poll() is None, "the campaign was over before the last kill"
        host.kill(rng.randrange(100))
        kills += 1
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert json.loads(out)["completed"] == 500
    assert "Traceback" not in err
    samples = _samples(folder)
    assert sorted(samples) == list(range(500))
    audit = percuss("audit", "--rerun", 5)
    assert audit.code == 0, audit.out


@pytest.mark.parametrize(("status", "said"), [("lost", "its result was lost"), ("cancelled", "scheduler at here went")])
def test_a_lost_result_is_not_a_lost_scheduler(folder, status, said) -> None:
    """A worker that is killed with finished results on it: they are run again, and the campaign goes on."""
    from types import SimpleNamespace

    _needs("distributed")
    from percuss.errors import PercussError
    from percuss.execution.batch import Batch, WorkerLost, run_batch
    from percuss.execution.cluster import DaskExecutor
    from percuss.study.load import load_study

    remote = SimpleNamespace(status=status, add_done_callback=lambda settle: settle(remote))
    client = SimpleNamespace(scheduler=SimpleNamespace(address="here"), submit=lambda *given, pure: remote)
    work = Batch(load_study(folder / "studies" / "ishigami"), "base", (), (), (), False)
    fault = DaskExecutor(client).submit(run_batch, work).exception()
    assert isinstance(fault, WorkerLost if status == "lost" else PercussError)
    assert said in str(fault)


def test_a_scheduler_that_goes_away(percuss, folder, make_study, host, spawn) -> None:
    make_study("slow", 'delay = "20 ms"\nbatch = 2')
    design = percuss("design", "slow", "--n", 2000).id
    process = spawn("run", design, "--on", host.address)
    give_up = time.monotonic() + 60
    while not _samples(folder):
        assert time.monotonic() < give_up
        time.sleep(0.2)
    host.process.kill()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "error: the dask scheduler at" in err
    assert "Traceback" not in err
    assert percuss("audit").code == 0


def test_a_worker_with_another_build_is_refused(percuss, folder, design, host, monkeypatch) -> None:
    from dataclasses import replace

    from percuss import maker

    other = replace(maker.software(), core="rustc 1.0; elsewhere; debug; 0")
    monkeypatch.setattr(maker, "software", lambda: other)
    said = percuss("run", design("ledger"), "--on", host.address).refused(2, "worker", "has percuss", "rustc 1.0")
    assert "install the same percuss" in said.err
    assert _samples(folder) == []


def test_a_study_that_is_read_differently_is_refused(percuss, folder) -> None:
    from percuss.errors import InputError
    from percuss.execution.batch import Batch, run_batch
    from percuss.execution.cluster import run_checked
    from percuss.maker import software
    from percuss.study.load import load_study

    study = load_study(folder / "studies" / "ishigami")
    batch = Batch(study, "base", (), (), (), False)
    assert run_checked(run_batch, batch, software(), study.digest).samples == []
    with pytest.raises(InputError, match="reads study ishigami differently"):
        run_checked(run_batch, batch, software(), "0" * 64)


def test_no_scheduler_and_no_such_engine(percuss, design, monkeypatch) -> None:
    _needs("distributed")
    from percuss.execution import cluster

    monkeypatch.setattr(cluster, "PATIENCE_S", 0.5)
    point = design("ledger")
    percuss("run", point, "--on", "dask://127.0.0.1:9").refused(3, "no dask scheduler answers")
    percuss("run", point, "--on", "cloud").refused(2, "--on cloud", "local-cluster")
    percuss("run", point, "--on", "slurm").refused(2, "--profile")
    percuss("run", point, "--profile", "x.toml").refused(2, "goes with --on slurm")


def test_without_dask_the_extra_is_named(percuss, design, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    said = percuss("run", design("ledger"), "--on", "local-cluster").refused(2, "not installed")
    assert "percuss[cluster]" in said.err


def test_a_run_that_kills_its_worker_fails_alone(percuss, folder, make_study, program, monkeypatch) -> None:
    """Processes: every other worker and every other run of the batch goes on."""
    from concurrent.futures import Executor, Future

    from percuss.execution.batch import LOST, WorkerLost

    class Deadly(Executor):
        """Runs batches here, but for those with sample 5, which take their worker along."""

        def submit(self, fn, /, *args, **kwargs):
            future: Future = Future()
            if 5 in args[0].samples:
                future.set_exception(WorkerLost("killed"))
            else:
                future.set_result(fn(*args))
            return future

        def shutdown(self, wait=True, *, cancel_futures=False):
            pass

    from percuss.execution import campaign

    make_study("small", "batch = 4")
    design = percuss("design", "small", "--n", 12).id
    monkeypatch.setattr(campaign, "local_executor", lambda jobs: Deadly())
    said = percuss("run", design, "--json")
    data = json.loads(said.out)
    assert (data["completed"], data["failed"]) == (11, 1)
    assert "6 batches lost their worker" in said.err
    failed = json.loads(percuss("show", "@last:runs.failed", "--json").out)["body"]
    assert failed["reasons"] == {"5": LOST}
    assert sorted(_samples(folder)) == list(range(12))
    assert percuss("audit", "--rerun", 12).code == 0


def test_a_killed_process_costs_its_batch_only() -> None:
    from percuss.execution.batch import WorkerLost
    from percuss.execution.processes import Processes

    with Processes(2) as executor:
        dying = executor.submit(os._exit, 1)
        living = executor.submit(pow, 2, 10)
        assert living.result(60) == 1024
        with pytest.raises(WorkerLost):
            dying.result(60)
        assert [executor.submit(abs, -i).result(60) for i in range(4)] == [0, 1, 2, 3]


PROFILE = """
queue = "short"
walltime = "00:10:00"
cores = 1
memory = "1 GB"
jobs = 2
lifetime = "5 min"
stagger = "30 s"
directives = ["--constraint=any"]
folder = "logs"
"""

QUEUE = {
    "slurm": ("sbatch", "scancel", "Submitted batch job {}", ("#SBATCH -p short", "#SBATCH --constraint=any")),
    "pbs": ("qsub", "qdel", "{}.here", ("#PBS -q short", "#PBS --constraint=any")),
}


@pytest.mark.parametrize("kind", ["slurm", "pbs"])
def test_jobs_of_a_queue(percuss, program, folder, design, kind) -> None:
    """The queue is a stand-in that starts what is submitted; scripts, workers and the way back are real."""
    _needs("distributed", "dask_jobqueue")
    submit, cancel, answer, directives = QUEUE[kind]
    bin = folder / "bin"
    bin.mkdir()
    (bin / submit).write_text(
        textwrap.dedent(f"""\
        #!{sys.executable}
        import pathlib, shutil, subprocess, sys
        script = shutil.copy(sys.argv[-1], pathlib.Path({str(folder)!r}) / "job.sh")
        job = subprocess.Popen(["bash", script], start_new_session=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open({str(folder / "submitted")!r}, "a") as file:
            print(job.pid, file=file)
        print({answer!r}.format(job.pid))
        """)
    )
    (bin / cancel).write_text(
        f"#!{sys.executable}\nimport os, signal, sys\n"
        "for job in sys.argv[1:]:\n"
        "    try: os.killpg(int(job.split('.')[0]), signal.SIGTERM)\n"
        "    except ProcessLookupError: pass\n"
    )
    for path in bin.iterdir():
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    (folder / "profile.toml").write_text(PROFILE)
    env = {"PATH": f"{bin}{os.pathsep}{os.environ['PATH']}"}
    said = program("run", design("ledger"), "--on", kind, "--profile", "profile.toml", "--json", env=env)
    jobs = [int(line) for line in (folder / "submitted").read_text().split()]
    for job in jobs:
        with pytest.raises(ProcessLookupError):
            for _ in range(100):
                os.killpg(job, 0)
                time.sleep(0.1)
    assert len(jobs) == 2
    assert _content(said) == _content(percuss("run", design("threads"), "--ledger", "threads", "--json"))
    script = (folder / "job.sh").read_text()
    for line in (*directives, "--lifetime 300s --lifetime-stagger 30s"):
        assert line in script, script


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cores = 1\nmemory = '1 GB'", "walltime: missing"),
        ("core = 1", ":1: core: unknown key; did you mean `cores`"),
        ("cores = 0", "cores: 0 is outside [1, 100000]"),
        ("jobs = 2\ncores = '4'", "line 2: cores: '4' is not a whole number"),
        ("directives = [1]", "directives: [1] is not a list of texts"),
        ("lifetime = '3 kg'", "lifetime: `3 kg` is in kg"),
        ("cores = ", ":1: is not valid TOML"),
    ],
)
def test_profiles_are_checked(tmp_path, text, words) -> None:
    from percuss.errors import InputError
    from percuss.execution.profile import read_profile

    path = tmp_path / "profile.toml"
    path.write_text(text)
    with pytest.raises(InputError) as fault:
        read_profile(path)
    assert words in str(fault.value)
    with pytest.raises(InputError, match="not readable"):
        read_profile(tmp_path / "none.toml")


def test_progress_tells_rate_failures_and_cost(percuss, make_study, monkeypatch) -> None:
    from percuss.cli import output

    monkeypatch.setattr(output, "LINE_EVERY_S", 0.0)
    make_study("failing", "batch = 8\nfail_above = { x1 = 0 }")
    (Path("percuss.toml")).write_text("flush_s = 0\n")
    said = percuss("run", percuss("design", "failing", "--n", 64).id)
    lines = [line for line in said.err.splitlines() if line.startswith("running: ")]
    assert lines
    assert all(" left" in line and "runs/s" in line and "of work" in line for line in lines)
    assert "rehearsed failure)" in lines[-1]
    assert "64 runs done" in said.err
