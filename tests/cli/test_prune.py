"""`percuss prune`: what is deleted is recorded, audit holds and says so, and no wrong pruning passes it."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path

import pytest
from tests.conftest import Call

from percuss.kinds.payloads_pruned import PayloadsPruned, Pruned
from percuss.ledger.event import Blob, Draft, Event, OpenCall
from percuss.ledger.ledger import Ledger
from percuss.maker import this_maker

PRUNE = ("prune", "--older-than", "0s", "--reason", "plan 3.2")


def _book(folder: Path) -> Ledger:
    return Ledger.open(folder / "ledger", this_maker([], OpenCall("python", "test", [])))


def _path(folder: Path, blob: Blob) -> Path:
    return folder / "ledger" / "blobs" / blob.sha256[:2] / f"{blob.sha256}.parquet"


@pytest.fixture
def runs(percuss: Call, folder: Path) -> Event:
    """Runs of a design that nothing but their campaign stands on, two hours old on disk."""
    percuss("run", percuss("design", "ishigami", "--n", 4).id)
    _age(folder)
    return _book(folder).event("@last:runs")


def _age(folder: Path) -> None:
    for path in (folder / "ledger" / "blobs").rglob("*.*"):
        os.utime(path, (path.stat().st_mtime - 7200,) * 2)


def _payload_line(percuss: Call) -> str:
    return next(line for line in percuss("audit").out.splitlines() if line.startswith("payloads"))


def test_pruned_payloads_are_gone_known_and_told(percuss: Call, folder: Path, runs: Event) -> None:
    path = _path(folder, runs.blobs[0])
    dry = percuss(*PRUNE, "--dry-run", "--json")
    assert json.loads(dry.out)["payloads"] == 1 and path.exists()
    id = percuss(*PRUNE).id
    assert not path.exists()
    said = percuss("audit")
    assert said.code == 0, said.out
    assert "1 payload was pruned, as recorded" in _payload_line(percuss)
    body = json.loads(percuss("show", id, "--json").out)["body"]
    assert body["payloads"][0]["sha256"] == runs.blobs[0].sha256 and body["reason"] == "plan 3.2"
    percuss("export", "csv", runs.id, "--table", "runs").refused(2, "was pruned", id)
    found = json.loads(percuss("reproduce", runs.id, "--json").out)["events"]
    assert {e["kind"]: e["verdict"] for e in found}["runs.completed"] == "cannot"
    percuss("export", "crate", runs.id, "--to", "crate").refused(2, "was pruned", id)
    percuss("supersede", id, "--reason", "no").refused(2, "cannot be superseded")
    # There is nothing left to prune, and nothing is appended for that.
    assert percuss(*PRUNE).out == ""


def test_what_is_cited_or_cannot_be_computed_again_stays(percuss: Call, folder: Path, runs: Event) -> None:
    percuss("note", runs.id, "used in the paper")
    said = percuss(*PRUNE)
    assert said.out == "" and "kept: 1 event that is cited\n" in said.err
    assert "cannot be computed again" in said.err
    assert percuss(*PRUNE, "--no-keep-cited").id
    (folder / "t.csv").write_text("x1,x2,x3,y\n1,1,1,2\n")
    percuss("import", "t.csv", "--study", "ishigami")
    _age(folder)
    assert percuss(*PRUNE, "--no-keep-cited").out == ""


def test_what_a_result_that_stays_is_made_from_stays(percuss: Call, folder: Path, linear: str) -> None:
    _age(folder)
    assert percuss(*PRUNE, "--kind", "runs").out == ""
    percuss("supersede", linear, "--reason", "wrong degree")
    id = percuss(*PRUNE, "--kind", "runs").id
    assert id and percuss("audit").code == 0
    assert percuss("prune", "--older-than", "2000-01-01", "--reason", "x").out == ""
    percuss("prune", "--older-than", "soon", "--reason", "x").refused(2, "--older-than")
    percuss("prune", "--older-than", "0s").refused(2, "--reason")


def test_bytes_that_another_event_carries_stay(percuss: Call, folder: Path, runs: Event) -> None:
    percuss("run", percuss("design", "ishigami", "--n", 4).id)
    _age(folder)
    other = _book(folder).event("@last:runs")
    assert other.blobs[0].sha256 == runs.blobs[0].sha256
    percuss("note", other.id, "keep")
    said = percuss(*PRUNE)
    assert said.out == "" and "other events carry as well" in said.err
    assert _path(folder, runs.blobs[0]).exists()


def test_files_of_the_last_hour_are_left_to_a_later_prune(percuss: Call, folder: Path, runs: Event) -> None:
    path = _path(folder, runs.blobs[0])
    os.utime(path)  # as a writer does that is about to use it
    said = percuss(*PRUNE)
    assert said.code == 0 and "left to a later prune" in said.err and path.exists()
    assert percuss("audit").code == 0 and "1 more is still there" in _payload_line(percuss)
    # What is still there is still checked.
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert percuss("audit").code == 1
    path.write_bytes(data)
    _age(folder)
    percuss(*PRUNE)
    assert not path.exists() and percuss("audit").code == 0


def _tombstone(book: Ledger, event: Event, blob: Blob, *, about: Event | None = None, stream: str = "main") -> None:
    named = Pruned(
        event=event.id, role=blob.role, sha256=blob.sha256, digest=blob.digest, rows=blob.rows, bytes=blob.bytes
    )
    body = PayloadsPruned(payloads=(named,), reason="", policy={})
    book.append([Draft("payloads.pruned", body, inputs=[("pruned", about or event)])], stream)


@pytest.mark.parametrize(
    "how",
    ["without", "other digest", "other role", "not an input", "of a study", "in a shard", "of one of two", "later"],
)
def test_wrong_pruning_does_not_pass(percuss: Call, folder: Path, runs: Event, how: str) -> None:
    """A payload is deleted, and what is said of it does not cover it."""
    book = _book(folder)
    blob, victim = runs.blobs[0], _path(folder, runs.blobs[0])
    if how == "other digest":
        _tombstone(book, runs, Blob(blob.role, "0" * 64, blob.digest, blob.rows, blob.bytes))
    elif how == "other role":
        _tombstone(book, runs, Blob("curves", blob.sha256, blob.digest, blob.rows, blob.bytes))
    elif how == "not an input":
        _tombstone(book, runs, blob, about=book.event("@last:design"))
    elif how == "of a study":
        study = book.event("@last:study")
        blob = study.blobs[0]
        victim = _path(folder, blob).with_suffix(".bin")
        _tombstone(book, study, blob)
    elif how == "in a shard":
        _tombstone(book, runs, blob, stream="shard")
    elif how == "of one of two":
        percuss("run", percuss("design", "ishigami", "--n", 4).id)
        _tombstone(_book(folder), runs, blob)
    elif how == "later":
        # Pruned, and then carried by an event that came after it.
        _tombstone(book, runs, blob)
        book.append(
            [Draft(runs.kind, runs.data, runs.study, [(i.role, book.event(i.id)) for i in runs.inputs], [blob])]
        )
    victim.unlink()
    said = percuss("audit")
    assert said.code == 1 and "BROKEN" in _payload_line(percuss), said.out


@pytest.mark.parametrize("how", ["of a plain note", "beside private words", "a record", "another of its role"])
def test_under_cover_of_a_tombstone_nothing_else_goes(percuss: Call, folder: Path, runs: Event, how: str) -> None:
    """Notes have no payloads that can go but private words; and a tombstone is of the bytes it names alone."""
    book = _book(folder)
    about = [("about", runs)]
    inputs = [(item.role, book.event(item.id)) for item in runs.inputs]
    kept = book.put_file("kept", b"what must not go")
    if how == "of a plain note":
        words = book.put_file("words", b"said in the open")
        (event,) = book.append([Draft("note.added", {"text": "plain"}, inputs=about, blobs=[words])])
        named, victim = words, words
    elif how == "beside private words":
        words = book.put_file("words", b'{"salt": "", "text": "private"}')
        body = {"text": "", "private": True}
        (event,) = book.append([Draft("note.added", body, inputs=about, blobs=[words, kept])])
        named, victim = kept, kept
    elif how == "a record":
        decoy = book.put_file("environment", b"not the record")
        (event,) = book.append([Draft(runs.kind, runs.data, runs.study, inputs, [*runs.blobs, decoy], runs.seed)])
        named, victim = decoy, event.payloads[-1]
    else:
        twin = book.put_table("runs", book.table(runs, "runs").head(2))
        (event,) = book.append([Draft(runs.kind, runs.data, runs.study, inputs, [*runs.blobs, twin], runs.seed)])
        named, victim = runs.blobs[0], twin
    _tombstone(book, event, named)
    path = _path(folder, victim)
    if not path.exists():
        path = path.with_suffix(".bin")
    path.unlink()
    said = percuss("audit")
    assert said.code == 1 and "BROKEN" in _payload_line(percuss), said.out


def test_imported_runs_never_go(percuss: Call, folder: Path) -> None:
    """They cannot be computed again, whatever a tombstone says."""
    (folder / "t.csv").write_text("x1,x2,x3,y\n0,0,0,0\n0,0,1,0\n")
    assert percuss("import", "t.csv", "--study", "ishigami").id
    runs = _book(folder).event("@last:runs")
    _age(folder)
    assert "cannot be computed again" in percuss(*PRUNE).err
    assert percuss("audit").code == 0
    _tombstone(_book(folder), runs, runs.blobs[0])
    _path(folder, runs.blobs[0]).unlink()
    said = percuss("audit")
    assert said.code == 1 and "BROKEN" in _payload_line(percuss), said.out


def test_a_damaged_ledger_is_not_pruned(percuss: Call, folder: Path, runs: Event) -> None:
    commit = sorted((folder / "ledger" / "streams" / "main").glob("*.parquet"))[0]
    commit.write_bytes(commit.read_bytes()[:-1] + b"\0")
    assert percuss(*PRUNE).code == 4
    assert _path(folder, runs.blobs[0]).exists()


def test_a_reader_written_from_the_format_page_agrees(percuss: Call, folder: Path, runs: Event) -> None:
    place = Path(__file__).parents[1] / "golden" / "ledger" / "plain_reader.py"
    spec = importlib.util.spec_from_file_location("plain_reader", place)
    assert spec and spec.loader
    reader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reader)
    percuss(*PRUNE)
    _, streams = reader.read_ledger(folder / "ledger")
    assert reader.check_payloads(folder / "ledger", streams["main"]) == 1


def test_what_was_pruned_or_redacted_does_not_come_back_from_a_copy(percuss: Call, folder: Path, runs: Event) -> None:
    note = percuss("note", "@last:design", "-", "--private", stdin="Jane Doe").id
    percuss("ledger", "copy", "ledger", "older")
    percuss(*PRUNE, "--kind", "runs")
    percuss("redact", note, "--reason", "asked for")
    gone = [_path(folder, runs.blobs[0]), _path(folder, _book(folder).event(note).blobs[0]).with_suffix(".bin")]
    assert not any(path.exists() for path in gone)
    assert percuss("ledger", "pull", "older").code == 0
    # Nor into a new copy of the copy that has both: the tombstones, then what the older one still has.
    percuss("ledger", "copy", "ledger", "newer")
    assert percuss("ledger", "pull", "older", "newer").code == 0
    for root in ("ledger", "newer"):
        assert not any((folder / root / path.relative_to(folder / "ledger")).exists() for path in gone)
        assert percuss("audit", "--ledger", root).code == 0
    # The older copy learns of it, and keeps what it has until it is pruned itself.
    percuss("ledger", "copy", "ledger", "older")
    said = percuss("audit", "--ledger", "older")
    assert said.code == 0 and "2 more are still there" in said.out


def test_bytes_that_another_event_carries_come_with_a_copy(percuss: Call, folder: Path, runs: Event) -> None:
    percuss("ledger", "copy", "ledger", "older")
    percuss(*PRUNE)
    again = percuss("design", "ishigami", "--n", 4, "--seed", 0).id
    percuss("run", again)
    assert _path(folder, runs.blobs[0]).exists()
    percuss("ledger", "copy", "ledger", "newer")
    assert percuss("audit", "--ledger", "newer").code == 0
