"""Programs as models: bad ones fail with a clear reason and the campaign goes on; none runs without consent."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from percuss.errors import InputError
from percuss.models.command.command import Command
from percuss.models.command.confine import interface
from percuss.models.command.held import held

PROGRAM = """\
import json, os, pathlib, signal, subprocess, sys, time
x, mode = float(sys.argv[1]), sys.argv[2]
pathlib.Path(os.environ["MARK"]).open("a").write("ran\\n") if "MARK" in os.environ else None
given = json.load(open("given.json"))
assert given["x_mm"] == x, (given, x)
print("mode", mode)
def write(text):
    pathlib.Path("out.csv").write_text(text)
match mode:
    case "hang":
        # Of itself it knows a number that nobody else does, so that a name is needed: so many seconds.
        seconds = f"1000.{int.from_bytes(os.urandom(6), 'big')}"
        child = subprocess.Popen(["sleep", seconds])
        print("child", seconds, flush=True)
        time.sleep(1000)
    case "crash":
        raise SystemExit(f"something broke at {x}")
    case "signal":
        os.kill(os.getpid(), signal.SIGSEGV)
    case "garbage":
        write("\\x00\\xff{]not a table\\n")
    case "words":
        write("y\\nnan-ish\\n")
    case "half":
        write("y\\n1.2")
    case "flood":
        while True:
            print("x" * 1000)
    case "silent":
        pass
    case "rows":
        write("y\\n1\\n2\\n")
    case "large":
        pathlib.Path("out.csv").write_bytes(bytes(10_000_000))
    case "link":
        os.symlink("/etc/hostname", "out.csv")
    case "infinite":
        write("y\\ninf\\n")
    case _:
        write(f"y\\n{2 * x}\\n")
"""

STUDY = """
[model]
kind = "command"
command = ["{python}", "program.py", "{{{{x}}}}", "{{{{mode}}}}"]
files = ["program.py"]
templates = ["given.json"]
version = ["{python}", "--version"]
timeout = "5 s"
largest_print = 100000
largest_file = 1000000
{settings}
[model.inputs.x]
unit = "mm"
low = 0
[model.inputs.mode]
choices = [
  "good", "hang", "crash", "signal", "garbage", "words", "half", "flood", "silent", "rows", "large", "link", "infinite"
]
[model.quantities.y]
file = "out.csv"
column = "y"
unit = "mm"
[parameters.x]
unit = "mm"
prior = {{ kind = "uniform", low = 1, high = 2 }}
{cases}
"""


@pytest.fixture
def program(folder: Path):
    """Write a study with a program that can go wrong in many ways."""

    def write(*modes: str, settings: str = "", name: str = "other") -> Path:
        path = folder / "studies" / name
        path.mkdir(parents=True, exist_ok=True)
        (path / "program.py").write_text(PROGRAM)
        (path / "given.json").write_text('{"x_mm": {{x}}, "seed": {{seed}}}')
        cases = "\n".join(f'[cases.{mode}]\nmode = "{mode}"' for mode in modes)
        (path / "study.toml").write_text(STUDY.format(python=sys.executable, settings=settings, cases=cases))
        return path

    return write


REASONS = {
    "hang": "timed out: 1.5 s were not enough",
    "crash": "exit code 1",
    "signal": "killed by SIGSEGV",
    "garbage": "no such result: out.csv, y: `y` is not there",
    "words": "no number: out.csv, y: row 1 is 'nan-ish'",
    "half": "unreadable result: out.csv: its last line has no end, as if it was written in part",
    "flood": "printed too much: more than 100000 bytes on stdout",
    "silent": "no result file: out.csv",
    "rows": "wrong number of rows: out.csv, y: 2, and `y` is one number",
    "large": "exit code 1",  # Python is told of the limit; other programs are killed by SIGXFSZ
    "link": "unreadable result: out.csv is a link out of the scratch folder",
    "infinite": "output `y` is not finite: inf",
}


def test_programs_that_go_wrong_are_failed_runs_with_a_reason(percuss, program) -> None:
    program("good", *REASONS, settings="")
    path = Path("studies/other/study.toml")
    path.write_text(path.read_text().replace('timeout = "5 s"', 'timeout = "1.5 s"'))
    design = percuss("design", "other", "--n", 1).id
    said = percuss("run", design, "--allow-command", "--json")
    assert said.code == 1, said.err
    assert said.err.count("NOT TRUSTED: 12 of 13 runs failed") == 1
    data = json.loads(said.out)
    assert (data["completed"], data["failed"]) == (1, len(REASONS))
    found = {}
    printed = {}
    for event in json.loads(percuss("log", "--kind", "runs.failed", "--limit", 0, "--json").out):
        body = json.loads(percuss("show", event["id"], "--json").out)["body"]
        found[body["case"]] = body["reasons"]["0"]
        assert body["program"]["sha256"]
        printed[body["case"]] = percuss("export", "csv", event["id"], "--table", "printed").out
    assert found == REASONS
    assert "something broke" in printed["crash"]
    assert "File too large" in printed["large"]
    assert "bytes left out" in printed["flood"]
    assert len(printed["flood"]) < 100_000
    # The whole family was ended, not the program alone.
    seconds = printed["hang"].split("child ")[1].split()[0]
    for _ in range(100):
        if not any(_command(path.name)[1:2] == [seconds] for path in Path("/proc").glob("[0-9]*")):
            break
        time.sleep(0.05)
    else:
        raise AssertionError("a child of the program outlived it")
    assert percuss("audit", "--rerun", 3, "--allow-command").code == 0


def test_nothing_runs_without_consent(percuss, program, folder, monkeypatch) -> None:
    """Run, simulate, check and audit; the mark is left by the program itself."""
    mark = folder / "mark"
    monkeypatch.setenv("MARK", str(mark))
    study = program("good", settings=f'pass_environment = ["MARK"]\nwritable = ["{folder}"]')
    (study / "expected").mkdir()
    (study / "expected" / "one.toml").write_text('[run]\n[[expect]]\noutput = "y"\nvalue = "3 mm"\nabsolute = 0.001\n')
    design = percuss("design", "other", "--n", 2).id
    assert percuss("study", "check", study).code == 0
    assert percuss("study", "show", study).code == 0
    for call in (("run", design), ("run", design, "--on", "processes"), ("simulate", "other"), ("check", "other")):
        said = percuss(*call)
        assert said.code == 2, call
        for words in ("program.py '{{x}}'", sys.executable, "given.json (", "MARK as it is here", "--allow-command"):
            assert words in said.err, (call, words, said.err)
    assert not mark.exists()
    assert percuss("run", design, "--allow-command").id
    assert percuss("simulate", "other", "--allow-command").id
    assert percuss("check", "other", "--allow-command").code == 0
    ran = mark.read_text().count("ran")
    assert ran == 4
    audit = percuss("audit", "--rerun", 10)
    assert audit.code == 0
    assert "only with --allow-command" in audit.out
    assert mark.read_text().count("ran") == ran
    audit = percuss("audit", "--rerun", 10, "--allow-command")
    assert audit.code == 0
    assert "program.py '{{x}}'" in audit.err
    assert mark.read_text().count("ran") == ran + 4


def test_calibration_on_the_program_itself_needs_consent_too(percuss, program, folder, monkeypatch) -> None:
    mark = folder / "mark"
    monkeypatch.setenv("MARK", str(mark))
    study = program("good", settings=f'pass_environment = ["MARK"]\nwritable = ["{folder}"]')
    (study / "data.csv").write_text("case,output,value [mm]\ngood,y,3\n")
    with (study / "study.toml").open("a") as file:
        file.write('\n[observations]\nfile = "data.csv"\nstd = "0.1 mm"\n[calibration.all]\n')
    said = percuss("calibrate", "--direct", "other", "--evaluations", 10).refused(2, "runs a program")
    assert "--allow-command" in said.err
    assert not mark.exists()

    def ran(*args: object) -> None:
        raise InputError("the program is started")

    monkeypatch.setattr(Command, "_one", ran)
    percuss("calibrate", "--direct", "other", "--allow-command").refused(2, "the program is started")


def test_the_model_itself_refuses(program) -> None:
    """Whoever forgets to ask the user is refused too."""
    from percuss.study.load import load_study

    study = load_study(program("good"))
    point = study.point("good", {"x": 0.001})
    with pytest.raises(InputError, match="which was not allowed"):
        study.model().run([point], [0])
    with pytest.raises(InputError, match="which was not allowed"):
        study.model().program()  # type: ignore[attr-defined]
    (done,) = study.allow_commands().model().run([point], [0])
    assert done.values == {"y": 0.002}
    assert study.allow_commands().digest == study.digest


def test_events_say_what_ran(percuss, program) -> None:
    import hashlib
    import platform

    program("good")
    assert percuss("simulate", "other", "--set", "x=1.5 mm", "--allow-command").id
    event = json.loads(percuss("show", "@last:runs", "--json").out)
    facts = event["body"]["program"]
    assert facts["version"] == f"Python {platform.python_version()}"
    assert facts["sha256"] == hashlib.sha256(Path(facts["path"]).read_bytes()).hexdigest()
    assert (
        percuss("export", "csv", "@last:runs", "--table", "printed").out
        == 'sample,stream,text\n0,stdout,"mode good\n"\n'
    )


def test_a_program_on_processes_gives_what_it_gives_on_threads(percuss, program) -> None:
    program("good", "crash")
    found = set()
    for on in ("threads", "processes"):
        design = percuss("design", "other", "--n", 3, "--ledger", on).id
        said = percuss("run", design, "--on", on, "--allow-command", "--json", "--ledger", on)
        found.add(json.loads(said.out)["content"])
    assert len(found) == 1


@pytest.mark.skipif(not interface(), reason="this kernel has no Landlock")
def test_nothing_is_written_outside_of_the_scratch_folder(percuss, program, folder, monkeypatch) -> None:
    """Neither a new file nor a change to one that is there, by the program or by its children."""
    victim = folder / "victim"
    victim.write_text("whole")
    study = program("good")
    (study / "program.py").write_text(
        "import os, pathlib, subprocess\n"
        f"victim = pathlib.Path({str(victim)!r})\n"
        "tries = [lambda: victim.write_text('x'), lambda: os.truncate(victim, 0), victim.unlink,\n"
        "         lambda: victim.rename('here'), lambda: (victim.parent / 'new').mkdir(),\n"
        "         lambda: os.symlink('a', victim.parent / 'link'),\n"
        "         lambda: subprocess.run(['rm', victim], check=True, stderr=subprocess.DEVNULL)]\n"
        "kept = 0\n"
        "for attempt in tries:\n"
        "    try: attempt()\n"
        "    except (OSError, subprocess.CalledProcessError): kept += 1\n"
        "assert victim.read_text() == 'whole'\n"
        "os.makedirs('a/b'); pathlib.Path('a/b/c').write_text('x'); os.rename('a/b/c', 'd')\n"
        "pathlib.Path('/dev/null').write_text('x')\n"
        "pathlib.Path(os.environ['HOME'], 'x').write_text('x')\n"
        "pathlib.Path('out.csv').write_text(f'y\\n{kept}\\n')\n"
    )
    said = percuss("simulate", "other", "--allow-command", "--json")
    assert "contents, truncation" in said.err
    assert json.loads(said.out)["outputs"] == {"y": 0.007}
    assert victim.read_text() == "whole"
    assert sorted(path.name for path in folder.iterdir()) == ["ledger", "studies", "victim"]
    (folder / "after").write_text("this process itself is not confined")


@pytest.mark.skipif(not held().namespaces, reason="this machine gives users no namespaces")
def test_nothing_outside_is_changed_in_any_way_and_nobody_is_seen(percuss, program, folder, monkeypatch) -> None:
    """Mode, times and attributes of other files, the environment of percuss, other processes, the network."""
    import socket

    monkeypatch.setenv("SECRET_OF_THE_USER", "told to nobody")
    victim = folder / "victim"
    victim.write_text("whole")
    victim.chmod(0o644)
    before = victim.stat()
    study = program("good")
    with socket.create_server(("127.0.0.1", 0)) as server:
        (study / "program.py").write_text(
            "import os, pathlib, socket\n"
            f"victim, port = {str(victim)!r}, {server.getsockname()[1]}\n"
            "def udp():\n"
            "    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s: s.connect(('192.0.2.1', 9))\n"
            "tries = [lambda: os.chmod(victim, 0o777), lambda: os.utime(victim, (1, 1)),\n"
            "         lambda: os.setxattr(victim, 'user.x', b'1'),\n"
            "         lambda: os.chown(victim, os.getuid(), os.getgid()),\n"
            f"         lambda: open('/proc/{os.getpid()}/environ').read(), lambda: os.kill({os.getpid()}, 0),\n"
            "         lambda: socket.create_connection(('127.0.0.1', port), 5), udp]\n"
            "kept = 0\n"
            "for attempt in tries:\n"
            "    try: attempt()\n"
            "    except OSError: kept += 1\n"
            "for path in pathlib.Path('/proc').glob('[0-9]*/environ'):\n"
            "    try: assert b'SECRET_OF_THE_USER' not in path.read_bytes(), path\n"
            "    except OSError: pass\n"
            "assert 'SECRET_OF_THE_USER' not in os.environ\n"
            "with socket.create_server(('127.0.0.1', 0)) as own:\n"
            "    socket.create_connection(own.getsockname(), 5).close()\n"
            "pathlib.Path('own').write_text('x'); os.chmod('own', 0o600); os.utime('own', (1, 1))\n"
            "pathlib.Path('out.csv').write_text(f'y\\n{kept}\\n')\n"
        )
        said = percuss("simulate", "other", "--allow-command", "--json")
        assert json.loads(said.out)["outputs"] == {"y": 0.008}, said.err
    after = victim.stat()
    assert (after.st_mode, after.st_mtime_ns) == (before.st_mode, before.st_mtime_ns)
    services = "services with a socket in a folder (containers, D-Bus, agents); "
    not_held = f"{'' if held().tries['services'] else services}"
    not_held += "reading files" if held().tries["multiply"] else "processes without end; reading files"
    assert f"not held     {not_held}" in said.err
    facts = json.loads(percuss("doctor", "--json").out)
    assert facts["programs.not_held"] == not_held
    assert "namespaces" in facts["programs.by"]


@pytest.mark.skipif(not held().tries.get("multiply"), reason="this machine cannot count the processes of a program")
def test_a_program_that_forks_without_end_is_stopped_and_many_in_turn_are_not(percuss, program) -> None:
    study = program("good", settings="most_processes = 20")
    (study / "program.py").write_text(
        "import os, pathlib, time\n"
        "for _ in range(400):\n"  # numbers are used again from here on
        "    if not (pid := os.fork()): os._exit(0)\n"
        "    os.waitpid(pid, 0)\n"
        "started = 0\n"
        "try:\n"
        "    while started < 400:\n"
        "        if not os.fork(): time.sleep(60)\n"
        "        started += 1\n"
        "except BlockingIOError: pass\n"
        "try: pathlib.Path('/proc/sys/kernel/pid_max').write_text('9999'); started = 9999\n"
        "except OSError: pass\n"
        "pathlib.Path('out.csv').write_text(f'y\\n{started}\\n')\n"
    )
    said = percuss("simulate", "other", "--allow-command", "--json")
    assert 0.018 <= json.loads(said.out)["outputs"]["y"] <= 0.020, said.err


def test_the_network_is_there_if_it_is_asked_for(percuss, program, folder) -> None:
    import socket

    study = program("good", settings="network = true")
    with socket.create_server(("127.0.0.1", 0)) as server:
        (study / "program.py").write_text(
            "import pathlib, socket\n"
            f"socket.create_connection(('127.0.0.1', {server.getsockname()[1]}), 5).close()\n"
            "pathlib.Path('out.csv').write_text('y\\n1\\n')\n"
        )
        said = percuss("simulate", "other", "--allow-command", "--json")
    assert json.loads(said.out)["outputs"] == {"y": 0.001}, said.err
    assert "network      as it is here" in said.err


def test_without_namespaces_what_is_not_held_is_said() -> None:
    from percuss.models.command.held import Held

    old = Held(False, 2, {"write": True, "truncate": False, "tcp": True}).words()
    assert old["by"] == "Landlock 2"
    assert old["held"] == "contents of files outside of the scratch folder"
    for word in ("truncation, mode, times and attributes", "the network", "the environment of percuss", "reading"):
        assert word in old["not held"]
    assert Held(False, 0, {}).words()["by"] == "nothing"


def test_retries(percuss, program) -> None:
    program("crash", settings="retries = 2")
    said = percuss("simulate", "other", "--allow-command")
    assert said.code == 1
    assert "exit code 1 (3 tries)" in said.err
    assert percuss("audit", "--allow-command").code == 0


def test_a_program_that_is_not_there_stops_the_campaign(percuss, program, folder) -> None:
    path = program("good") / "study.toml"
    path.write_text(path.read_text().replace(f'command = ["{sys.executable}"', 'command = ["no-such-program"'))
    refusal = (2, "no-such-program", "neither a file of the study nor")
    percuss("simulate", "other", "--allow-command").refused(*refusal)
    assert not (folder / "ledger").exists()
    design = percuss("design", "other", "--n", 2).id
    percuss("run", design, "--allow-command").refused(*refusal)
    assert json.loads(percuss("log", "--kind", "runs", "--json").out) == []


def test_interrupt_ends_the_programs(percuss, program, spawn) -> None:
    program("hang")
    path = Path("studies/other/study.toml")
    path.write_text(path.read_text().replace('timeout = "5 s"', 'timeout = "1000 s"'))
    design = percuss("design", "other", "--n", 1).id
    process = spawn("run", design, "--allow-command")

    def running() -> list[str]:
        return [
            path.name
            for path in Path("/proc").glob("[0-9]*")
            if _command(path.name)[1:2] == ["program.py"] and process.pid in _ancestors(path.name)
        ]

    give_up = time.monotonic() + 30
    while not running():
        assert time.monotonic() < give_up
        time.sleep(0.05)
    (pid,) = running()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    for _ in range(100):
        if not Path(f"/proc/{pid}").exists():
            return
        time.sleep(0.05)
    raise AssertionError("the program outlived percuss")


def _command(pid: str) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except OSError:
        return []


def _ancestors(pid: str) -> list[int]:
    found: list[int] = []
    while (parent := _parent(str(found[-1]) if found else pid)) > 1:
        found.append(parent)
    return found


def _parent(pid: str) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0
