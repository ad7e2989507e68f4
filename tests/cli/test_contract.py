"""The shell's side of the contract: stdout and stderr, exit codes, references, pipes, colours, help, completion."""

from __future__ import annotations

import getpass
import json
import math
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from percuss.cli.app import COMMANDS

ROOT = Path(__file__).parents[2]
PROGRAM = [sys.executable, "-m", "percuss"]


@pytest.fixture
def campaign(percuss, once) -> str:
    """A design of ten points, run: the id of the campaign."""
    once("ten", lambda: percuss("run", percuss("design", "ishigami", "--n", 10).id))
    return json.loads(percuss("show", "@last", "--json").out)["id"]


def test_the_program_is_installed_beside_python() -> None:
    found = shutil.which("percuss", path=str(Path(sys.executable).parent))
    assert found, "pip install puts the program beside the interpreter"
    done = subprocess.run([found, "--version"], capture_output=True, text=True)
    assert done.returncode == 0
    lines = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert set(lines) == {"percuss", "commit", "core", "lock"}
    assert "rustc" in lines["core"]
    assert len(lines["lock"]) == 64


def test_a_chain_of_commands(folder) -> None:
    chain = f"set -o pipefail; P='{sys.executable} -m percuss'; $P design ishigami --n 10 | $P run - | $P export csv -"
    done = subprocess.run(["bash", "-c", chain], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "case,sample,x1,x2,x3,failed,y"
    assert len(lines) == 11
    assert "10 runs done" in done.stderr


def test_ids_alone_on_stdout_and_words_on_stderr(percuss, folder) -> None:
    design = percuss("design", "ishigami", "--n", 10)
    assert design.id
    assert "10 points" in design.err
    simulated = percuss("simulate", "ishigami", "--set", "x1=1", "--set", "x2=2")
    assert simulated.id
    assert "x3: not given, at its prior mean" in simulated.err
    run = percuss("run", design.id)
    assert run.id
    assert percuss("run", design.id).id == run.id
    assert percuss("note", run.id, "words").id
    old = percuss("supersede", simulated.id, "--reason", "wrong")
    assert old.id
    assert percuss("seal").id
    (folder / "observed.csv").write_text("output,value,std\ny,2,1\n")
    (folder / "t.csv").write_text("x1,x2,x3,y\n1,1,1,2\n")
    assert percuss("import", "t.csv", "--study", "ishigami").id


BOUNCING = """
[model]
kind = "benchmark"
function = "impact"
samples = 11
gap = "20 cm"
[parameters.speed]
unit = "m/s"
prior = { kind = "uniform", low = 1, high = 3 }
"""
FALLING = """
[model]
kind = "scene"
duration = "0.1 s"
step = "10 ms"
bodies = [
  { name = "ground", fixed = true, contactors = [{ shape = "half-space", group = "a" }] },
  { name = "ball", mass = 1, position = [0, 0, 2], contactors = [{ shape = "sphere", radius = 1, group = "a" }] },
]
laws = [{ groups = ["a", "a"] }]
"""
SWING = """
[study]
title = "One mass on a spring"
source = "closed form"
[model]
kind = "oscillators"
duration = "1 s"
sampling = "0.1 s"
masses = [{ name = "1", mass = "1 kg", displacement = "1 m" }]
springs = [{ between = ["base", "1"], stiffness = "40 N/m" }]
"""

DRIFTING = (
    SWING
    + """
[parameters]
stiffness_1.prior = { kind = "uniform", low = 30, high = 50 }
[validation]
time = "t"
observed = [{ quantity = "u1", unit = "m", noise_std = "1 cm" }]
"""
)


CALIBRATE = ("--setting", "chains=4", "--evaluations", 300, "--accept-unconverged")


def _documents(percuss, folder, write_fclib) -> dict[str, list[object]]:
    """A call of every command with --json."""
    (folder / "observed.csv").write_text("output,value,std\ny,2,1\n")
    (folder / "t.csv").write_text("x1,x2,x3,y\n1,1,1,2\n")
    (folder / "seen.csv").write_text("output,value\ny,2\n")
    expected = folder / "studies" / "ishigami" / "expected"
    expected.mkdir()
    (expected / "one.toml").write_text(
        '[run]\nset = { x1 = 0, x2 = 0, x3 = 0 }\n[[expect]]\noutput = "y"\nvalue = 0\nabsolute = 1e-12\n'
    )
    for name, text in {"swing": SWING, "drifting": DRIFTING, "falling": FALLING, "bouncing": BOUNCING}.items():
        (folder / "studies" / name).mkdir()
        (folder / "studies" / name / "study.toml").write_text(text)
    path = "".join(f"{0.1 * k},{math.cos(40**0.5 * 0.1 * k)}\n" for k in range(80))
    (folder / "path.csv").write_text(f"t,u1\n{path}")
    fall = percuss("simulate", "falling").id
    bounces = percuss("run", percuss("design", "bouncing", "--n", 24, "--skip", 1, "--curves").id).id
    return {
        "study new": ["mine", "--kind", "scene"],
        "study copy": ["borehole"],
        "study list": [],
        "study show": ["ishigami"],
        "models": ["oscillators"],
        "study check": ["ishigami"],
        "simulate": ["swing"],
        "fclib solve": [write_fclib("block.hdf5")],
        "plot": ["@last:runs", "--curve", "u1", "--to", "swing.svg"],
        "design": ["ishigami", "--n", 24],
        "run": ["@last:design"],
        "audit": [],  # here, where there is little to repeat: what each kind repeats is for the tests of that kind
        "surrogate": ["@last:campaign", "--degree", 2],
        "sensitivity": ["@last:surrogate"],
        "region": [bounces, "--curve", "position"],
        "fragility": [
            bounces,
            "--intensity",
            "speed",
            "--output",
            "rebound_speed",
            "--state",
            "hit=0.8 m/s",
            "--accept",
            "lognormal",
        ],
        "reliability": [ROOT / "studies" / "four-branch", "--limit", "b1", "--method", "form"],
        "observe": ["ishigami", "observed.csv"],
        "calibrate": ["@last:surrogate", "--observations", "@last:observations", *CALIBRATE],
        "predict": ["@last:posterior", "--draws", 20],
        "advise": ["--outer", 100, "--inner", 200, "--accept", "advice"],
        "trust": [
            "@last:surrogate",
            "--observations",
            "@last:observations",
            "--twins",
            20,
            "--quick",
            "--evaluations",
            3000,
            "--accept",
            "convergence",
            "--accept",
            "twins",
        ],
        "compare": [],
        "report": ["@last:indices", "--to", "report.html"],
        "site": ["--to", "site"],
        "filter": ["@last:campaign", "--data", "seen.csv", "--noise", "y=2"],
        "validate": ["drifting", "--data", "path.csv", "--no-traditional", "--settle", "1 s"],
        "import": ["t.csv", "--study", "ishigami"],
        "converge": ["falling", "--levels", 3],
        "check": ["ishigami"],
        "export csv": ["@last:campaign", "--to", "out.csv"],
        "export parquet": ["@last:campaign", "--to", "out.parquet"],
        "export vtk": [fall, "--to", "frames"],
        "export crate": ["@last:indices", "--to", "indices.zip"],
        "import crate": ["indices.zip"],
        "view": [fall, "--to", "fall.html"],
        "log": [],
        "show": ["@last", "--rows", 2],
        "diff": ["@last:design", "@last:design"],
        "restore": ["@last:design", "--to", "restored"],
        "lineage": ["@last:check"],
        "reproduce": ["@last:design"],
        "replay": [],
        "anchor": ["--to", "anchor.json"],
        "note": ["@last", "words"],
        "redact": ["@last:note", "--reason", "asked for"],
        "supersede": ["@last:note", "--reason", "wrong"],
        "prune": ["--older-than", "0s", "--reason", "plan", "--dry-run"],
        "seal": [],
        "adopt": [],
        "ledger copy": ["ledger", "copy"],
        "ledger pull": ["copy"],
        "doctor": [],
        "config show": [],
    }


def test_every_command_gives_json(percuss, folder, write_fclib) -> None:
    calls = _documents(percuss, folder, write_fclib)
    assert {name.split()[0] for name in calls} == set(COMMANDS)
    for name, args in calls.items():
        if name == "compare":
            call = ("calibrate", "@last:surrogate", "--observations", "@last:observations", *CALIBRATE, "--seed")
            args += [percuss(*call, seed).id for seed in (1, 2)]
        if name == "advise":
            call = ("calibrate", "@last:surrogate", "--observations", "@last:observations", *CALIBRATE)
            args.append(percuss(*call, "--evaluations", 4000).id)
        if name == "redact":
            percuss("note", "@last", "-", "--private", stdin="a name")
        if name == "adopt":
            percuss("run", percuss("design", "ishigami", "--n", 4).id, "--shard", "1/1")
        said = percuss(*name.split(), *args, "--json")
        assert said.code == 0, (name, said.err)
        assert said.out.count("\n") == 1, name
        json.loads(said.out)


def test_json_ids_can_be_piped(percuss) -> None:
    design = percuss("design", "ishigami", "--n", 4, "--json").out
    run = percuss("run", "-", "--json", stdin=design)
    assert json.loads(run.out)["design"] == json.loads(design)["id"]
    assert percuss("show", "-", stdin=run.out).code == 0


def test_references(percuss, campaign) -> None:
    ids = [event["id"] for event in json.loads(percuss("log", "--json").out)]
    study, design, runs, closing = ids
    show = lambda reference, **more: json.loads(percuss("show", reference, "--json", **more).out)["id"]  # noqa: E731
    assert show("@last") == closing == campaign
    assert show("@last:design") == design == show("@last:design.created")
    assert show("@last:runs") == runs
    assert show("-", stdin=f"  {study}\n") == study
    assert show(study.upper()) == study
    for id in ids:
        assert show(id[:26]) == id
    (line,) = [line for line in percuss("log").out.splitlines() if "campaign.completed" in line]
    assert show(line.split()[1]) == closing


def test_references_that_do_not_work(percuss, campaign) -> None:
    percuss("show", campaign[:4]).refused(2, campaign[:4], "fits 4 events")
    percuss("show", campaign[:3]).refused(2, "at least four")
    percuss("show", "ffffffff").refused(2, "ffffffff", "there is none")
    percuss("show", "@first").refused(2, "@last")
    percuss("show", "@last:").refused(2, "@last")
    percuss("show", "@last:nonsense").refused(2, "no such kind")
    assert "did you mean `surrogate`?" in percuss("show", "@last:surrogat").refused(2, "no such kind").err
    percuss("show", "@last:check").refused(2, "has none")
    percuss("show", "-", stdin=" \n").refused(2, "stdin", "empty")
    percuss("show", "-", stdin='{"no": "id"}').refused(2, "stdin")
    percuss("show", "-", stdin='{"id": ').refused(2, "stdin")
    percuss("show", "-", stdin="[" * 100_000).refused(2)
    percuss("show", "-", stdin='{"a":' * 100_000).refused(2, "stdin")


@pytest.mark.parametrize(
    ("code", "args"),
    [
        (0, ["log"]),
        (1, ["audit", "--anchor", "0" * 64]),
        (1, ["simulate", "failing", "--set", "x1=3"]),
        (2, ["audit", "--anchor", "0123"]),
        (2, ["audit", "--anchor", "not a hash, though long enough"]),
        (2, ["no-such-command"]),
        (2, ["log", "--no-such-option"]),
        (2, ["log", "--limit", "-1"]),
        (2, ["design"]),
        (2, ["design", "no-such-study"]),
        (2, ["design", "ishigami", "--sampler", "sobel", "--n", "4"]),
        (2, ["design", "ishigami", "--n", "4", "--set", "x1=3"]),
        (2, ["design", "ishigami", "--n", "0"]),
        (2, ["simulate", "ishigami", "--set", "x1"]),
        (2, ["simulate", "ishigami", "--set", "x1=1", "--set", "x1=2"]),
        (2, ["simulate", "ishigami", "--set", "x9=1"]),
        (2, ["simulate", "ishigami", "--set", "x1=nan"]),
        (2, ["simulate", "ishigami", "--set", "x1=3 m"]),
        (2, ["run", "@last", "--shard", "4/3"]),
        (2, ["run", "@last:study"]),
        (2, ["note", "@last", "  "]),
        (2, ["note", "@last", "bytes \udcff that are no text"]),
        (2, ["export", "csv", "@last:study"]),
        (2, ["export", "csv", "@last", "--to", "no-such-folder/x.csv"]),
        (2, ["export", "csv", "@last", "--to", "studies"]),
        (2, ["export", "csv", "@last", "--json"]),
        (2, ["export", "csv", "@last:runs", "--table", "curves"]),
        (2, ["replay", "--to", "studies/ishigami/study.toml"]),
        (2, ["replay", "--to", "studies/ishigami/study.toml/below"]),
        (2, ["import", "no-such.csv", "--study", "ishigami"]),
        (2, ["check", "ishigami"]),
        (2, ["adopt"]),
        (2, ["adopt", "main"]),
        (2, ["adopt", "../../x"]),
        (2, ["seal", "--stream", "../x"]),
        (2, ["log", "--stream", ".."]),
        (2, ["study", "check", "broken"]),
        (4, ["log", "--ledger", "no-such-ledger"]),
        (4, ["audit", "--ledger", "no-such-ledger"]),
        (4, ["adopt", "--from", "no-such-ledger"]),
    ],
)
def test_exit_codes(percuss, make_study, folder, campaign, code, args) -> None:
    make_study("failing", "fail_above = { x1 = 2 }")
    (folder / "studies" / "broken").mkdir()
    (folder / "studies" / "broken" / "study.toml").write_text("[study]\ntittle = 3\n")
    before = percuss("log", "--json").out
    said = percuss(*args)
    assert said.code == code, said.err
    assert "Traceback" not in said.err
    if code:
        assert "fault:" not in said.err
        assert said.err or "BROKEN" in said.out
    if code in (2, 4):
        assert said.out == ""
        assert percuss("log", "--json").out == before


def test_a_fault_of_ours_has_its_own_code(percuss, campaign, monkeypatch) -> None:
    from percuss.ledger.ledger import Ledger

    def broken(*args: object, **more: object) -> None:
        raise ZeroDivisionError("this should not be")

    monkeypatch.setattr(Ledger, "frame", broken)
    said = percuss("log")
    assert said.code == 3
    assert said.err.startswith("fault: ZeroDivisionError: this should not be\nhint: ")


def test_interrupt_of_any_command(percuss, campaign, monkeypatch) -> None:
    from percuss.ledger.ledger import Ledger

    def interrupted(*args: object, **more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "frame", interrupted)
    said = percuss("log")
    assert said.code == 130
    assert "Traceback" not in said.err


@pytest.fixture
def long_log(ledger, folder):
    """More lines than a pipe holds."""
    from percuss.ledger.event import Draft

    ledger.append([Draft("note.added", {"text": "x" * 60}) for _ in range(3000)])
    return ledger


def test_closed_pipe_is_silent(long_log, folder) -> None:
    # The reader goes after the first line, or before it.
    for command, reader in (("log --limit 0", "head -1"), ("log --limit 0 --json", "true"), ("--help", "true")):
        script = f"{' '.join(PROGRAM)} {command} | {reader}; echo ${{PIPESTATUS[0]}} >&2"
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=folder)
        assert done.stderr in ("0\n", "1\n"), (command, reader, done.stderr)


def test_stdout_that_cannot_be_written(percuss, folder, campaign) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    for command in ("log", "--help"):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run([*PROGRAM, command], stdout=full, stderr=subprocess.PIPE, text=True, cwd=folder)
        assert done.returncode == 3
        (line,) = done.stderr.splitlines()
        assert line.startswith("error: stdout: cannot be written (No space left")


def _in_terminal(args: list[str], folder: Path, env: dict[str, str]) -> str:
    """What the program says to a person at a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, *args], stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, env={**os.environ, **env}
    )
    os.close(theirs)
    said = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        said += piece
    os.close(ours)
    process.wait(60)
    return said.decode()


def test_colours_and_bars_at_a_terminal_only(percuss, program, make_study, folder) -> None:
    make_study("slow", 'delay = "1 ms"')
    design = percuss("design", "slow", "--n", 300).id
    term = {"TERM": "xterm-256color", "COLUMNS": "100"}
    assert "\x1b[1;31merror\x1b[0m" in _in_terminal(["show", "ffffffff"], folder, term)
    plain = _in_terminal(["show", "ffffffff"], folder, {**term, "NO_COLOR": "1"})
    assert "\x1b" not in plain
    assert "error: " in plain
    shown = _in_terminal(["run", design], folder, term)
    assert "running" in shown and "300/300" in shown
    piped = program("run", percuss("design", "slow", "--n", 10).id)
    assert re.fullmatch(r"10 runs done, [\d.e+]+ runs/s, [\d.]+ s of work\n", piped.err)
    assert "\x1b" not in percuss("show", "ffffffff").err


def _words(percuss, *args: str) -> list[str]:
    said = percuss(*args, "--help")
    assert said.code == 0
    return said.out.split()


def test_every_command_has_help_with_an_example(percuss) -> None:
    groups = {
        "study": ["new", "copy", "list", "show", "check"],
        "import": ["runs", "crate"],
        "export": ["csv", "parquet", "vtk", "crate"],
        "config": ["show"],
        "fclib": ["solve"],
        "ledger": ["copy", "pull"],
    }
    for name in COMMANDS:
        for inner in groups.get(name, [""]):
            args = [name, inner] if inner else [name]
            words = _words(percuss, *args)
            assert "Example:" in words, args
            assert " ".join(["percuss", *args]) in " ".join(words[words.index("Example:") :]), args
            assert "--json" in words, args
    words = _words(percuss)
    assert set(COMMANDS) <= set(words)
    assert "Example:" in words


def test_help_loads_no_heavy_library() -> None:
    script = (
        "import sys; sys.argv = ['percuss', *sys.argv[1:]]\n"
        "from percuss.cli.app import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'polars', 'numpy', 'scipy', 'rich', 'emcee'} & set(sys.modules)), file=sys.stderr)"
    )
    for args in (["--help"], ["run", "--help"], ["log", "--help"], ["study", "--help"]):
        done = subprocess.run([sys.executable, "-c", script, *args], capture_output=True, text=True)
        assert "Usage:" in done.stdout, done.stderr
        assert done.stderr.strip() == "[]", args


def _complete(folder: Path, words: str) -> list[str]:
    """What bash would be offered."""
    env = {
        **os.environ,
        "_PERCUSS_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
        "_TYPER_COMPLETE_ARGS": words,
    }
    found = shutil.which("percuss", path=str(Path(sys.executable).parent))
    done = subprocess.run([str(found)], capture_output=True, text=True, cwd=folder, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_shell_completion(percuss, make_study, folder) -> None:
    make_study("isotropic")
    design = percuss("design", "ishigami", "--n", 4).id
    assert _complete(folder, "percuss de") == ["design"]
    assert _complete(folder, "percuss design is") == ["ishigami", "isotropic"]
    assert _complete(folder, "percuss design ishi") == ["ishigami"]
    assert design in _complete(folder, f"percuss run {design[:8]}")
    assert "@last" in _complete(folder, "percuss show @")
    assert "--shard" in _complete(folder, "percuss run --sh")
    assert set(_complete(folder, "percuss export ")) == {"csv", "parquet", "vtk", "crate"}


def test_completion_never_complains(folder) -> None:
    """Where there is nothing to complete from, nothing is offered; what does not need it is offered all the same."""
    assert _complete(folder, "percuss show 01") == []
    (folder / "ledger").mkdir()
    (folder / "ledger" / "ledger.toml").write_text("rubbish")
    assert _complete(folder, "percuss show 01") == []
    assert _complete(folder, "percuss design is") == ["ishigami"]
    (folder / "percuss.toml").write_text("rubbish")
    assert _complete(folder, "percuss design is") == []
    assert _complete(folder, "percuss de") == ["design"]


def test_run_waits_for_nobody_at_a_closed_stdin(percuss, program) -> None:
    program("run", "-", stdin="").refused(2, "stdin")


def test_events_say_who_made_them(percuss, program, folder) -> None:
    percuss("design", "ishigami", "--n", 4)
    program("note", "@last", "words")
    shown = json.loads(percuss("show", "@last", "--json").out)
    assert shown["argv"] == ["percuss", "note", "@last", "words"]
    assert (shown["actor"], shown["host"]) == (getpass.getuser(), socket.gethostname())
    program("note", "@last", "words", env={"PERCUSS_IDENTITY": "p7", "PERCUSS_HOST": "m1"})
    named = json.loads(percuss("show", "@last", "--json").out)
    assert (named["actor"], named["host"]) == ("p7", "m1")
    assert shown["software"]["version"] == percuss("--version").out.split()[1]
    # A name of a file may be bytes that are no text.
    assert percuss("design", "ishigami", "--n", "4", "--ledger", os.fsdecode(b"ledger-\xff")).id


def test_terminate_signal_ends_quietly(percuss, make_study, folder, spawn) -> None:
    """In the midst of the runs: what is in the ledger stays there, whole, and the rest is run later."""
    make_study("slow", 'delay = "20 ms"\nbatch = 1')
    (folder / "percuss.toml").write_text("flush_s = 0.05\n")
    design = percuss("design", "slow", "--n", 100).id
    process = spawn("run", design, "--jobs", 1)
    give_up = time.monotonic() + 60
    while '"runs.completed"' not in percuss("log", "--json").out:
        assert time.monotonic() < give_up and process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=20)
    assert process.returncode == -signal.SIGTERM
    assert out == ""
    assert "Traceback" not in err
    again = json.loads(percuss("run", design, "--json").out)
    assert 0 < again["done"] < again["completed"] == 100
    assert percuss("audit").code == 0


def test_an_error_of_the_system_is_not_taken_for_one_of_stdout(percuss, folder, monkeypatch) -> None:
    """A connection that is refused has no file name either."""

    def refuse(*_: object, **__: object) -> None:
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr("percuss.study.load.load_study", refuse)
    said = percuss("design", "ishigami", "--n", 4)
    assert said.code == 3
    assert "ConnectionRefusedError" in said.err
    assert "stdout" not in said.err
