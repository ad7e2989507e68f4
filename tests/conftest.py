"""What tests share: percuss called in this process (fast) or as the installed program (real), studies, ledgers."""

from __future__ import annotations

import contextlib
import fcntl
import io
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import hypothesis
import pytest
from tests.warm import Warm

# As the program itself does, before numpy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Workers of a test run say how wide its terminal is; what a test reads is no terminal.
os.environ.pop("COLUMNS", None)

# In the background of a shell Ctrl-C is ignored, and so it would be by every program that a test interrupts.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says something about the machine, not about percuss. A test run repeats the same examples;
# `make fuzz` looks for new ones.
hypothesis.settings.register_profile("percuss", deadline=None, derandomize=True)
hypothesis.settings.register_profile("fuzz", deadline=None, max_examples=1000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "percuss"))

# Of tests/unit, what takes most of the time: marked slow, and left out by `make quick`.
SLOW = (
    "api/test_api.py",
    "api/test_growths.py",
    "api/test_histories.py",
    "first_passage/test_first_passage.py",
    "fragility/test_compute.py",
    "fragility/test_fits.py",
    "inference/test_compiled.py",
    "inference/test_evidence.py",
    "inference/test_modes.py",
    "inference/test_samplers.py",
    "inference/test_simulation_based_calibration.py",
    "models/test_rockfall_wall.py",
    "reliability/test_methods.py",
    "sensitivity/test_sensitivity.py",
    "study/test_hostile.py",
    "surrogates/test_families.py",
    "test_ledger_faults.py",
    "test_ledger_segments.py",
    "test_plugins.py",
    "test_rooms.py",
    "validation/test_indicators.py",
    "validation/test_twins.py",
    "work/test_inference.py",
    "work/test_reliability.py",
    "work/test_repetition.py",
    "work/test_trust.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow; begin with the longest, so that no core waits for one of them at the end."""
    items.sort(key=lambda item: item.path.name not in ("test_studies.py", "test_documents.py"))
    slow = {Path(__file__).parent / "unit" / name for name in SLOW}
    for item in items:
        if item.path in slow:
            item.add_marker(pytest.mark.slow)


ISHIGAMI = """
[study]
title = "Ishigami function"
source = "Ishigami and Homma, 1990"

[model]
kind = "benchmark"
function = "ishigami"
{settings}

[parameters.x1]
prior = {{ kind = "uniform", low = -3, high = 3 }}
[parameters.x2]
prior = {{ kind = "uniform", low = -3, high = 3 }}
[parameters.x3]
prior = {{ kind = "uniform", low = -3, high = 3 }}
"""


@dataclass(frozen=True)
class Said:
    """What a call came to."""

    code: int
    out: str
    err: str

    @property
    def id(self) -> str:
        """The id on stdout, which must be there alone."""
        assert self.code == 0, self.err
        (line,) = self.out.splitlines()
        assert len(line) == 36, line
        return line

    def refused(self, code: int, *words: str) -> Said:
        """One clear sentence with these words, this exit code, no id, no traceback."""
        assert self.code == code, (self.code, self.out, self.err)
        errors = [line for line in self.err.splitlines() if line.startswith("error: ")]
        assert len(errors) == 1, self.err
        assert "Traceback" not in self.err
        assert "panicked" not in self.err
        for word in words:
            assert word in errors[0], (word, errors[0])
        return self


Call = Callable[..., Said]


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of whoever runs the tests are not those of the tests."""
    for name in list(os.environ):
        if name.startswith("PERCUSS_") or name in ("NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with one study, `studies/ishigami`."""
    monkeypatch.chdir(tmp_path)
    write_study(tmp_path)
    return tmp_path


def write_study(where: Path, name: str = "ishigami", settings: str = "", text: str = ISHIGAMI) -> Path:
    """A study of the benchmark function, with more settings of its model if wanted."""
    path = where / "studies" / name
    path.mkdir(parents=True, exist_ok=True)
    (path / "study.toml").write_text(text.format(settings=settings))
    return path


@pytest.fixture
def make_study(folder: Path) -> Callable[..., Path]:
    """Write another study beside the first."""

    def make(name: str, settings: str = "", text: str = ISHIGAMI) -> Path:
        return write_study(folder, name, settings, text)

    return make


@pytest.fixture
def write_fclib(folder: Path) -> Callable[..., Path]:
    """Write an FCLIB file: a block of 2 kg that falls and slides, one contact, stored as triplets."""
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")

    def write(name: str, dimension: int = 3, mu: float = 0.4) -> Path:
        rows = list(range(dimension))
        with h5py.File(folder / name, "w") as file:
            group = file.create_group("fclib_local_rolling" if dimension == 5 else "fclib_local")
            group["spacedim"], group["vectors/mu"] = [dimension], [mu]
            group["vectors/q"] = [-1.0, 3.0, 0.0, 0.5, 0.0][:dimension]
            if dimension == 5:
                group["vectors/mu_r"] = [0.05]
            group["info/title"] = b"a sliding block"
            group["W/m"], group["W/n"], group["W/nz"] = [dimension], [dimension], [dimension]
            group["W/i"], group["W/p"], group["W/x"] = rows, rows, [0.5] * dimension
        return folder / name

    return write


@pytest.fixture
def percuss(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Call percuss in this process: what it says and its exit code, in a fraction of the time of a new process."""
    # Lines of progress come by the clock: on a busy machine they would stand before what a test looks for.
    monkeypatch.setattr("percuss.cli.output.LINE_EVERY_S", math.inf)

    def call(*args: object, stdin: str = "") -> Said:
        from percuss.cli.app import main

        words = [str(arg) for arg in args]
        out, err, code = io.StringIO(), io.StringIO(), 0
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["percuss", *words])
            patch.setattr(sys, "stdin", io.StringIO(stdin))
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                try:
                    main()
                except SystemExit as way_out:
                    code = way_out.code if isinstance(way_out.code, int) else int(way_out.code is not None)
        return Said(code, out.getvalue(), err.getvalue())

    return call


@pytest.fixture
def program(folder: Path) -> Call:
    """Start the installed program."""

    def call(*args: object, stdin: str = "", env: Mapping[str, str] | None = None, **more: object) -> Said:
        done = subprocess.run(
            [sys.executable, "-m", "percuss", *(str(arg) for arg in args)],
            input=stdin,
            capture_output=True,
            text=True,
            cwd=folder,
            env={**os.environ, **(env or {})},
            timeout=120,
            **more,  # type: ignore[call-overload]
        )
        return Said(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    """Programs that start at once, for scripts whose subject is not how percuss starts."""
    with tempfile.TemporaryDirectory(prefix="percuss-") as folder:
        server = Warm(Path(folder))
        yield server
        server.close()


@pytest.fixture
def spawn(folder: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start the installed program and leave it running; it is ended with the test."""
    started: list[subprocess.Popen[str]] = []

    def call(*args: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "percuss", *(str(arg) for arg in args)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
        )
        started.append(process)
        return process

    yield call
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def once(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[], object]], Path]:
    """Make a ledger by some calls the first time, and give a copy of it to every later test that asks by its name.

    It is made once in a test run: workers beside this one wait for it, and copy it too.
    """
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    def build(name: str, make: Callable[[], object]) -> Path:
        made = shared / f"once-{name}"
        with made.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if made.exists():
                shutil.rmtree(folder / "ledger", ignore_errors=True)
                shutil.copytree(made, folder, dirs_exist_ok=True)
            else:
                make()
                whole = shutil.copytree(folder, made.with_suffix(".part"))
                whole.rename(made)
        return folder / "ledger"

    return build


@pytest.fixture
def maker():  # type: ignore[no-untyped-def]
    """Who makes events in tests of the ledger itself."""
    from percuss.ledger.event import Maker, Software

    return Maker(("percuss", "test"), "tester", "here", Software("0", "c0", "rustc; target; profile; 0", "l0"))


@pytest.fixture
def ledger(tmp_path: Path, maker):  # type: ignore[no-untyped-def]
    """An empty ledger."""
    from percuss.ledger.ledger import Ledger

    return Ledger.open(tmp_path / "ledger", maker, create=True)


@pytest.fixture
def wait_for_work() -> Callable[[int], None]:
    """Wait until a process that was started has computed for longer than it takes to start."""

    def wait(pid: int) -> None:
        give_up = time.monotonic() + 120
        while time.monotonic() < give_up:
            fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            if (int(fields[11]) + int(fields[12])) / 100 > 2.5:
                return
            time.sleep(0.05)
        raise AssertionError("it did not start to compute")

    return wait
