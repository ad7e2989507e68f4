"""Private notes: their words can be taken out, that they were is proven, and nothing else can be."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.conftest import Call

from percuss.ledger.event import Draft
from percuss.ledger.ledger import Ledger
from percuss.maker import this_maker

SECRET = "p7 is Jane Doe"


@pytest.fixture
def note(percuss: Call) -> str:
    design = percuss("design", "ishigami", "--n", 4).id
    return percuss("note", design, "-", "--private", stdin=f"{SECRET}\n").id


def _files_with(folder: Path, text: str) -> list[Path]:
    return [path for path in (folder / "ledger").rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def test_words_are_apart_and_are_gone_after(percuss: Call, folder: Path, note: str) -> None:
    assert SECRET in percuss("show", note).out
    (place,) = _files_with(folder, "Jane Doe")
    assert place.suffix == ".bin"
    assert "private" in percuss("log", "--kind", "note").out
    assert "Jane" not in percuss("log", "--kind", "note").out + percuss("log", "--json").out
    id = percuss("redact", note, "--reason", "asked for").id
    assert not _files_with(folder, "Jane Doe")
    said = percuss("audit")
    assert said.code == 0 and "1 of them words that were redacted" in said.out, said.out
    shown = percuss("show", note).out
    assert f"redacted: event {note}" in shown and id in shown
    # What was there is still known by its digest, and who wrote it and when.
    facts = json.loads(percuss("show", note, "--json").out)
    assert facts["blobs"][0]["sha256"] == place.stem and facts["actor"]
    percuss("redact", note, "--reason", "again").refused(2, "is redacted already", id)
    assert percuss("report", "@last:design", "--to", "page.html").code == 0
    assert "Jane" not in (folder / "page.html").read_text()


def test_digests_tell_nothing_of_words_that_could_be_guessed(percuss: Call, note: str) -> None:
    other = percuss("note", "@last:design", "-", "--private", stdin=SECRET).id
    digests = {json.loads(percuss("show", id, "--json").out)["blobs"][0]["sha256"] for id in (note, other)}
    assert len(digests) == 2


def test_words_deleted_without_a_record_are_a_fault(percuss: Call, folder: Path, note: str) -> None:
    (place,) = _files_with(folder, "Jane Doe")
    data = place.read_bytes()
    place.write_bytes(data.replace(b"Jane", b"John"))
    assert percuss("audit").code == 1
    place.unlink()
    assert percuss("audit").code == 1
    place.write_bytes(data)
    assert percuss("audit").code == 0


def test_only_private_notes_are_redacted(percuss: Call, note: str) -> None:
    percuss("redact", "@last:design", "--reason", "x").refused(2, "cannot be taken out")
    open_note = percuss("note", "@last:design", "plain words").id
    percuss("redact", open_note, "--reason", "x").refused(2, "cannot be taken out")
    percuss("redact", note).refused(2, "--reason")
    percuss("note", "@last:design", "in the call", "--private").refused(2, "--private", "stdin")
    percuss("note", "-", "-", "--private", stdin="x").refused(2, "stdin")
    # A policy does not touch words of people.
    assert percuss("prune", "--older-than", "0s", "--reason", "x", "--no-keep-cited", "--kind", "note").out == ""
    assert SECRET in percuss("show", note).out


def test_the_name_of_an_actor_can_go(percuss: Call, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Events carry a pseudonym; who that is stands in a private note, is shown with them, and can be redacted."""
    monkeypatch.setenv("PERCUSS_IDENTITY", "p7")
    monkeypatch.setenv("PERCUSS_HOST", "m1")
    design = percuss("design", "ishigami", "--n", 4).id
    percuss("note", design, "-", "--names", "p7", stdin="Jane Doe").refused(2, "--names", "private")
    percuss("note", design, "-", "--private", "--names", "p8", stdin="Jane Doe").refused(2, "--names p8", "by p7")
    note = percuss("note", design, "-", "--private", "--names", "p7", stdin="Jane Doe").id
    assert "p7 (Jane Doe) on m1" in percuss("show", design).out
    assert len(_files_with(folder, "Jane Doe")) == 1 and "who p7 is, private" in percuss("log").out
    id = percuss("redact", note, "--reason", "asked for by the person named").id
    assert not _files_with(folder, "Jane")
    shown = percuss("show", design).out
    assert "p7 (redacted: " in shown and id in shown
    said = percuss("audit")
    assert said.code == 0 and "1 of them words that were redacted" in said.out


def test_who_made_events_and_by_which_words_can_go(
    percuss: Call, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `private` nothing of a person stands in the chain: neither name nor machine, nor the words of a call."""
    monkeypatch.setenv("PERCUSS_PRIVATE", "true")
    monkeypatch.setenv("PERCUSS_IDENTITY", "Jane Doe")
    monkeypatch.setenv("PERCUSS_HOST", "janes-machine")
    percuss("run", percuss("design", "ishigami", "--n", 4).id)
    shutil.copytree(folder / "studies" / "ishigami", folder / "jane" / "ishigami")
    design = percuss("design", "jane/ishigami", "--n", 2).id
    shown = percuss("show", design).out
    assert "(Jane Doe on janes-machine) on (private)" in shown and "jane/" not in shown
    # One file for each call, though a run appends more than once; the chain has none of it, nor has the cache.
    places = _files_with(folder, "Jane Doe")
    assert len(places) == 3 and {place.suffix for place in places} == {".bin"}
    assert set(_files_with(folder, "jane")) == set(places)
    said = percuss("audit", "--rerun", 9)
    assert said.code == 0 and "0 differ" in said.out, said.out
    assert percuss("report", "@last:campaign", "--to", "page.html").code == 0
    assert "Jane" not in (folder / "page.html").read_text()
    id = percuss("redact", design, "--reason", "asked for").id
    assert len(_files_with(folder, "Jane Doe")) == 3  # the call that redacts is a private one too
    shown = percuss("show", design).out
    assert "(redacted: " in shown and id in shown and "Jane" not in shown
    percuss("redact", design, "--reason", "again").refused(2, "is redacted already", id)
    said = percuss("audit", "--rerun", 9)
    assert said.code == 0 and "1 of them words that were redacted" in said.out, said.out
    monkeypatch.setenv("PERCUSS_PRIVATE", "perhaps")
    percuss("log").refused(2, "private must be true or false")


def test_a_note_about_nothing_is_a_fault(percuss: Call, folder: Path) -> None:
    percuss("design", "ishigami", "--n", 4)
    book = Ledger.open(folder / "ledger", this_maker([]))
    book.append([Draft("note.added", {"text": "x"})])
    said = percuss("audit", "--rerun", 0)
    assert said.code == 1 and "has no about" in said.out
