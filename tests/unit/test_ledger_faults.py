"""An error of the disk at every single call: what is said is true, nothing is lost, and the next try succeeds."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.drafts import study_draft
from tests.machines import Failing, Quick

from percuss.anchors.anchor import read_anchor
from percuss.errors import InputError, LedgerError
from percuss.ledger import files
from percuss.ledger.adopt import adopt_stream
from percuss.ledger.audit import prove_chain, prove_payloads
from percuss.ledger.blobs import blob_path
from percuss.ledger.copies import copy_ledger
from percuss.ledger.event import Draft
from percuss.ledger.ledger import Ledger
from percuss.ledger.place import open_place
from percuss.ledger.seal import seal_stream
from percuss.ledger.stores import Folder
from percuss.ledger.streams import list_stream
from percuss.session import Session
from percuss.study.load import load_study
from percuss.work.anchor import Request as Anchoring
from percuss.work.anchor import make_anchor
from percuss.work.design import Request, create_design, plan_design
from percuss.work.note import add_note
from percuss.work.prune import Policy, prune
from percuss.work.redact import redact
from percuss.work.run import run_design

# What reads much before it changes anything fails at some of its calls; in `make fuzz` at every one.
STEP, LONGER_STEP = (1, 1) if "PERCUSS_SEEDS" in os.environ else (5, 15)
STUDY = """
[model]
kind = "benchmark"
function = "ishigami"
x2 = 0
x3 = 0
[parameters]
x1.prior = { kind = "uniform", low = -3, high = 3 }
"""


def _ids(root: Path) -> list[str]:
    """Ids of main, on a machine that works; the ledger must be whole."""
    if not (root / "ledger.toml").exists():
        return []
    place = open_place(root)
    walk = prove_chain(place)
    assert walk.proof.holds, walk.proof.faults
    assert prove_payloads(place, walk).holds
    assert [event.id for event in Ledger.open(root).events()] == [event.id for event in walk.visible]
    return [event.id for event in walk.streams.get("main", [])]


def _at_every_call(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    act: Callable[[Path], list[str]],
    prepared: Path | None,
    after: bool,
    step: int = 1,
) -> int:
    """Let an act fail at its first call, its second, and so on, each time in a folder as it was; how many there are."""
    monkeypatch.setattr(files, "system", Quick())
    before = _ids(prepared / "ledger") if prepared else []
    for at in range(1, 10_000, step):
        root = tmp_path / f"at-{at}"
        if prepared:
            shutil.copytree(prepared, root)
        machine = Failing(at, after=after)
        told: list[str] = []
        said = ""
        with monkeypatch.context() as patch:
            patch.setattr(files, "system", machine)
            try:
                told = act(root)
            except LedgerError as fault:
                said = str(fault)
        where = f"call {at}: {machine.failed}; {said}"
        now = _ids(root / "ledger")
        assert now[: len(before)] == before, where
        assert set(told) <= set(now), where
        if "nothing was appended" in said:
            assert now == before, where
        again = act(root)
        assert set(again) <= set(_ids(root / "ledger")), where
        shutil.rmtree(root)
        if not machine.failed:
            assert told, "it failed of itself"
            return at - 1
    raise AssertionError("no end of calls")


def _book(root: Path, maker) -> Ledger:  # type: ignore[no-untyped-def]
    return Ledger.open(root / "ledger", maker, create=True)


def _note(book: Ledger, stream: str = "main") -> str:
    return book.append([Draft("note.added", {"text": "x"}, blobs=[book.put_file("a", b"bytes")])], stream)[0].id


@pytest.mark.parametrize("after", [False, True])
def test_append(tmp_path, maker, monkeypatch, after) -> None:
    """Into a folder where there is no ledger yet, payload and all."""

    def act(root: Path) -> list[str]:
        return [_note(_book(root, maker))]

    assert _at_every_call(monkeypatch, tmp_path, act, None, after) > 40


@pytest.mark.parametrize("after", [False, True])
def test_seal(tmp_path, maker, monkeypatch, after) -> None:
    book = _book(tmp_path / "old", maker)
    for _ in range(4):
        _note(book)

    def act(root: Path) -> list[str]:
        book = _book(root, maker)
        while len(list_stream(book.place, "main").loose) < 4:  # sealed the first time, whatever was said
            _note(book)
        return [seal_stream(book, "main").event.id]

    assert _at_every_call(monkeypatch, tmp_path, act, tmp_path / "old", after) > 60


@pytest.mark.parametrize("after", [False, True])
def test_adopt(tmp_path, maker, monkeypatch, after) -> None:
    _note(_book(tmp_path / "old", maker))
    shutil.copytree(tmp_path / "old", tmp_path / "other")
    there = _book(tmp_path / "other", maker)
    for _ in range(2):
        _note(there, "shard")

    def act(root: Path) -> list[str]:
        return [adopt_stream(_book(root, maker), "shard", open_place(tmp_path / "other" / "ledger")).event.id]

    assert _at_every_call(monkeypatch, tmp_path, act, tmp_path / "old", after) > 60


@pytest.mark.parametrize("after", [False, True])
def test_copy(tmp_path, maker, monkeypatch, after) -> None:
    book = _book(tmp_path / "source", maker)
    for _ in range(4):
        _note(book)
    seal_stream(book, "main")
    ids = [event.id for event in book.events()]

    def act(root: Path) -> list[str]:
        copied = copy_ledger(Folder(tmp_path / "source" / "ledger"), Folder(root / "ledger"), begin=True)
        assert copied.head == book.head().hash
        return ids

    assert _at_every_call(monkeypatch, tmp_path, act, None, after) > 60


@pytest.mark.parametrize("after", [False, True])
def test_redact(tmp_path, maker, monkeypatch, after) -> None:
    """Words are there without a record, or recorded as gone; and gone for good once that was told."""
    book = _book(tmp_path / "old", maker)
    about = book.append([study_draft()])[0]
    note = add_note(Session(book), about, "Jane Doe", private=True)

    def act(root: Path) -> list[str]:
        session = Session(_book(root, maker))
        try:
            record = redact(session, session.event(note.id), "asked for")
        except InputError as fault:  # done the first time, whatever was said
            assert "is redacted already" in str(fault)
            return [note.id]
        assert not blob_path(session.ledger.place, note.blobs[0]).exists()
        return [record.id]

    assert _at_every_call(monkeypatch, tmp_path, act, tmp_path / "old", after, STEP) > 60


@pytest.mark.parametrize("after", [False, True])
def test_prune(tmp_path, maker, monkeypatch, after) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    session = Session(_book(tmp_path / "old", maker))
    design = create_design(session, plan_design(load_study(tmp_path / "study.toml"), Request(n=2)))
    runs = run_design(session, design.stored).event
    payload = blob_path(session.ledger.place, session.event("@last:runs").blobs[0])
    os.utime(payload, (payload.stat().st_mtime - 7200,) * 2)

    def act(root: Path) -> list[str]:
        done = prune(Session(_book(root, maker)), Policy("0s", "runs"), "plan 3.2")
        assert not (root / payload.relative_to(tmp_path / "old")).exists()
        return [done.event.id] if done.event else [runs.id]

    assert _at_every_call(monkeypatch, tmp_path, act, tmp_path / "old", after, LONGER_STEP) > 60


@pytest.mark.parametrize("after", [False, True])
def test_anchor(tmp_path, maker, monkeypatch, after) -> None:
    """An anchor is written whole or not at all, and the ledger is not touched."""
    ids = [_note(_book(tmp_path / "old", maker)) for _ in range(2)]

    def act(root: Path) -> list[str]:
        to = root / "anchor.json"
        if to.exists():
            read_anchor(to)
            to.unlink()
        make_anchor(Session(_book(root, maker)), to, Anchoring())
        assert read_anchor(to).checkpoint.streams[0].size == 2
        return ids

    assert _at_every_call(monkeypatch, tmp_path, act, tmp_path / "old", after, STEP) > 20


@pytest.mark.parametrize("fault", [errno.EIO, errno.ENOSPC])
def test_an_error_after_the_link_is_not_told_as_nothing(ledger, monkeypatch, fault) -> None:
    _note(ledger)
    real = files._sync_folder

    def failing(path: Path) -> None:
        if path == ledger.place.stream("main"):
            raise OSError(fault, "no luck")
        real(path)

    monkeypatch.setattr(files, "_sync_folder", failing)
    with pytest.raises(LedgerError, match="is written, but a power cut") as told:
        _note(ledger)
    assert "nothing was appended" not in str(told.value)
    assert len(Ledger.open(ledger.place.root).events()) == 2


def test_a_reader_that_cannot_list_a_folder_says_so(ledger, tmp_path, monkeypatch) -> None:
    """A listing that fails is no empty folder: a copy of it would be no copy."""
    _note(ledger)

    class Blind(files.System):
        def names(self, folder: Path) -> list[str]:
            if folder.name == "main":
                raise OSError(errno.EIO, "Input/output error")
            return super().names(folder)

    monkeypatch.setattr(files, "system", Blind())
    with pytest.raises(LedgerError, match="cannot be read"):
        copy_ledger(Folder(ledger.place.root), Folder(tmp_path / "copy"), begin=True)
