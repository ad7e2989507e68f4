"""What strangers can put before percuss: texts that steer a terminal, odd names, closed streams, tables that panic."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from percuss.cli.options import open_ledger
from percuss.errors import InputError
from percuss.ledger.event import Draft
from percuss.site.lineage import Box, draw

NASTY = "a\x1b]0;owned\x07\x9b2J\u202eb"


def _is_safe(text: str) -> bool:
    return all(line.isprintable() for line in text.split("\n"))


def test_a_title_cannot_steer_the_terminal(percuss, folder, make_study) -> None:
    path = make_study("other") / "study.toml"
    text = json.dumps(NASTY)
    path.write_text(
        path.read_text()
        .replace('title = "Ishigami function"', f"title = {text}\nnotes = {text}")
        .replace('source = "Ishigami and Homma, 1990"', f"source = {text}")
    )
    for words in (("study", "show", "other"), ("study", "list"), ("study", "show", "other", "--json")):
        said = percuss(*words)
        assert said.code == 0, said.err
        assert "owned" in said.out
        assert _is_safe(said.out + said.err), words
    found = json.loads(percuss("study", "show", "other", "--json").out)
    assert found["study"]["title"] == NASTY
    event = percuss("design", "other", "--n", 2).id
    percuss("note", event, "\x9b2J")
    for words in (("log",), ("log", "--json"), ("show", "@last"), ("show", "@last", "--json"), ("lineage", event)):
        said = percuss(*words)
        assert said.code == 0, said.err
        assert _is_safe(said.out + said.err), words
    assert json.loads(percuss("show", "@last", "--json").out)["body"]["text"] == "\x9b2J"


@pytest.mark.parametrize("name", ["ledger.toml", "blobs/x.csv", "streams/main/0000000001.parquet", "x.csv"])
def test_nothing_is_exported_into_a_ledger(percuss, folder, name) -> None:
    design = percuss("design", "ishigami", "--n", 2).id
    before = {path: path.read_bytes() for path in (folder / "ledger").rglob("*") if path.is_file()}
    for words in (("export", "csv"), ("export", "parquet")):
        percuss(*words, design, "--to", f"ledger/{name}").refused(2, "is inside the ledger")
    (folder / "link").symlink_to(folder / "ledger")
    percuss("export", "csv", design, "--to", "link/x.csv").refused(2, "is inside the ledger")
    percuss("replay", "--to", "ledger/tables").refused(2, "is inside the ledger")
    (folder / "link").unlink()
    assert before.items() <= {p: p.read_bytes() for p in (folder / "ledger").rglob("*") if p.is_file()}.items()


def _shell(folder, words: str) -> subprocess.CompletedProcess[bytes]:  # type: ignore[no-untyped-def]
    call = f'"{sys.executable}" -m percuss {words}'
    return subprocess.run(["bash", "-c", call], cwd=folder, capture_output=True, check=False, timeout=120)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("log >&-", 0),
        ("log --json >&-", 0),
        ("log <&-", 0),
        ("log 2>&-", 0),
        ("log <&- >&- 2>&-", 0),
        ("run - <&-", 2),
        ("note @last words >&- 2>&-", 0),
        ("log --ledger $'no\\xff'", 4),
        ("export csv @last --to $'out\\xff.csv'", 0),
        ("export csv @last --to $'out\\xff.csv' --json", 0),
        ("study show $'no\\xff'", 2),
        ("design ishigami --n 2 --ledger $'new\\xff'", 0),
    ],
)
def test_closed_streams_and_names_that_are_no_unicode(percuss, folder, words, code) -> None:
    percuss("design", "ishigami", "--n", 2)
    done = _shell(folder, words)
    assert done.returncode == code, done.stderr
    assert b"fault" not in done.stderr
    assert b"Traceback" not in done.stderr
    assert percuss("audit", "--rerun", 0).code == 0


def test_a_closed_stdout_is_never_a_file_of_the_ledger(percuss, folder) -> None:
    """The first file that is opened gets the number of a stream that is closed."""
    percuss("design", "ishigami", "--n", 2)
    for words in ("note @last one <&- >&- 2>&-", "design ishigami --n 4 >&- 2>&-", "log --json >&-"):
        assert _shell(folder, words).returncode == 0
    assert percuss("audit", "--rerun", 0).code == 0


def test_a_queue_without_its_program(percuss, folder, monkeypatch) -> None:
    pytest.importorskip("dask_jobqueue", reason="dask-jobqueue is not installed")
    design = percuss("design", "ishigami", "--n", 2).id
    (folder / "profile.toml").write_text('cores = 1\nmemory = "1 GB"\nwalltime = "00:10:00"\n')
    monkeypatch.setenv("PATH", str(folder))
    for on, program in (("slurm", "sbatch"), ("pbs", "qsub")):
        percuss("run", design, "--on", on, "--profile", "profile.toml").refused(2, f"no program {program} here")


def test_a_worker_lost_while_the_cluster_starts(percuss, folder, monkeypatch) -> None:
    distributed = pytest.importorskip("distributed", reason="dask is not installed")
    design = percuss("design", "ishigami", "--n", 2).id

    def lost(**settings: object) -> None:
        raise RuntimeError("Nanny failed to start.\nmore of it")

    monkeypatch.setattr(distributed, "LocalCluster", lost)
    percuss("run", design, "--on", "local-cluster").refused(2, "a worker was lost on the way (Nanny failed to start.)")


def test_runs_of_a_case_that_the_study_does_not_have(percuss, folder) -> None:
    design = percuss("design", "ishigami", "--n", 4).id
    percuss("run", design)
    book = open_ledger(None)
    runs = next(event for event in book.events() if event.kind == "runs.completed")
    by_id = {event.id: event for event in book.events()}
    inputs = [(item.role, by_id[item.id]) for item in runs.inputs]
    book.append([Draft(runs.kind, {**runs.data, "case": "nowhere"}, runs.study, inputs, runs.blobs)])
    said = percuss("audit", "--rerun", 20)
    assert said.code == 1, said.err
    assert "nowhere" in said.out
    assert "Traceback" not in said.err


def test_panics_of_rust_are_not_shown(capfd) -> None:
    from percuss.ledger.files import quiet_panics

    with quiet_panics(), quiet_panics():
        os.write(2, b"thread panicked")
    os.write(2, b"heard again")
    assert capfd.readouterr().err == "heard again"
    with pytest.raises(InputError), quiet_panics():
        raise InputError("x")
    os.write(2, b"and again")
    assert capfd.readouterr().err == "and again"


def test_names_in_a_drawing_of_lineage() -> None:
    drawn = draw(["a", "b"], {"b": ["a"]}, lambda id: Box(NASTY, NASTY, "a.html"), f"Lineage of {NASTY}")
    assert "Lineage of" in drawn and _is_safe(drawn)


def test_a_hard_link_to_a_file_of_a_ledger_is_not_overwritten(percuss, folder) -> None:
    """An archive that a stranger packed may unpack to such a link."""
    design = percuss("design", "ishigami", "--n", 2).id
    identity = (folder / "ledger" / "ledger.toml").read_bytes()
    for name, words in (("x.csv", ("export", "csv")), ("x.html", ("report",)), ("x.svg", ("plot",))):
        os.link(folder / "ledger" / "ledger.toml", folder / name)
        percuss(*words, design, "--to", name).refused(2, f"{name}: has another name too (a hard link)")
    assert (folder / "ledger" / "ledger.toml").read_bytes() == identity


@pytest.mark.parametrize("listed", ["../victim", "{folder}/victim", "linked", "up/victim", "data/../../victim"])
def test_a_site_that_lists_files_of_others(percuss, folder, listed) -> None:
    """A site is written again over one that came with a ledger: its list may name what is not of it."""
    percuss("design", "ishigami", "--n", 2)
    assert percuss("site", "--to", "site").code == 0
    (folder / "victim").write_text("mine")
    (folder / "site" / "linked").symlink_to(folder / "victim")
    (folder / "site" / "up").symlink_to(folder)
    manifest = folder / "site" / "data" / "manifest.json"
    data = json.loads(manifest.read_text())
    data["files"][listed.format(folder=folder)] = "x"
    manifest.write_text(json.dumps(data))
    percuss("site", "--to", "site").refused(2, "leads out of the folder of the site")
    assert (folder / "victim").read_text() == "mine"


def test_a_site_with_links_in_it(percuss, folder) -> None:
    percuss("design", "ishigami", "--n", 2)
    assert percuss("site", "--to", "site").code == 0
    (folder / "victim").write_text("mine")
    (folder / "site" / "site.css").unlink()
    (folder / "site" / "site.css").symlink_to(folder / "victim")
    manifest = folder / "site" / "data" / "manifest.json"
    for files in ({}, {"site.css": "x"}, {"a": 1}, [], None):
        manifest.write_text(json.dumps({"files": files}))
        percuss("site", "--to", "site").refused(2, "site")
        assert (folder / "victim").read_text() == "mine"
