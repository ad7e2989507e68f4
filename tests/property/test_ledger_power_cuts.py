"""Writers, sealers and adopters that race, are killed, and whose power is cut: as a seed says, to be repeated.

What was told to somebody is there afterwards, with its payload; and the ledger is whole, whatever else is lost.
PERCUSS_SEEDS takes a range of others (`make fuzz` thousands), PERCUSS_SEED one alone.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.drafts import study_draft
from tests.machines import Machine, running

from percuss.errors import InputError, LedgerError
from percuss.ledger import ledger as ledger_module
from percuss.ledger.adopt import adopt_stream
from percuss.ledger.audit import prove_chain, prove_payloads
from percuss.ledger.event import Draft
from percuss.ledger.ledger import Ledger
from percuss.ledger.place import has_ledger, open_place
from percuss.ledger.seal import seal_stream
from percuss.session import Session
from percuss.work.note import add_note
from percuss.work.redact import redact

SEEDS = [int(seed) for seed in os.environ.get("PERCUSS_SEED", "").split()] or range(
    int(os.environ.get("PERCUSS_SEEDS", "40"))
)


class Told(list[str]):
    """The ids that were told, by whom and in which order does not matter."""


def _writer(root: Path, maker, told: Told, payloads: list[bytes], stream: str = "main") -> Callable[[], None]:  # type: ignore[no-untyped-def]
    def work() -> None:
        book = Ledger.open(root, maker, create=True)
        for data in payloads:
            draft = Draft("note.added", {"text": "x"}, blobs=[book.put_file("a", data)])
            told.extend(event.id for event in book.append([draft], stream))

    return work


def _sealer(root: Path, maker, told: Told, times: int) -> Callable[[], None]:  # type: ignore[no-untyped-def]
    def work() -> None:
        for _ in range(times):
            try:
                told.append(seal_stream(Ledger.open(root, maker, create=True), "main").event.id)
            except (InputError, LedgerError) as fault:
                if not any(word in str(fault) for word in ("nothing to pack", "somebody else is sealing")):
                    raise

    return work


def _adopter(root: Path, maker, told: Told) -> Callable[[], None]:  # type: ignore[no-untyped-def]
    def work() -> None:
        try:
            book = Ledger.open(root, maker, create=True)
            told.append(adopt_stream(book, "shard").event.id)
        except InputError as fault:
            if "there is none with events" not in str(fault):
                raise

    return work


def _redactor(root: Path, maker, told: Told, gone: set[str]) -> Callable[[], None]:  # type: ignore[no-untyped-def]
    """Somebody says a name in private, and takes it back; what was told to be gone stays gone."""

    def work() -> None:
        session = Session(Ledger.open(root, maker, create=True))
        about = session.append([study_draft()])[0]
        note = add_note(session, about, "Jane Doe", private=True)
        told.append(note.id)
        told.append(redact(session, note, "asked for").id)
        gone.add(note.blobs[0].sha256)

    return work


def _reader(root: Path, maker, told: Told) -> Callable[[], None]:  # type: ignore[no-untyped-def]
    """Whoever lists events tells their ids too."""

    def work() -> None:
        if has_ledger(root):
            told.extend(event.id for event in Ledger.open(root, maker).events())

    return work


def _check(root: Path, told: Told, where: str) -> list[str]:
    if not has_ledger(root):
        assert not told, where
        return []
    place = open_place(root)
    walk = prove_chain(place)
    assert walk.proof.holds, (where, walk.proof.faults)
    payloads = prove_payloads(place, walk)
    assert payloads.holds, (where, payloads.faults)
    ids = [event.id for events in walk.streams.values() for event in events]
    assert set(told) <= set(ids), (where, set(told) - set(ids))
    assert len(set(ids)) == len(ids), where
    assert [e.id for e in Ledger.open(root).events()] == [e.id for e in walk.visible], where
    return [event.id for event in walk.streams.get("main", [])]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_told_is_there(seed, tmp_path, maker, monkeypatch) -> None:
    chance = random.Random(f"plan {seed}")
    machine = Machine(tmp_path / "disk", seed)
    root = machine.root / "project" / "ledger"
    monkeypatch.setattr(ledger_module, "LOOSE_BEFORE_SEALING", chance.choice([3, 6, 1000]))
    monkeypatch.setattr(ledger_module, "LOOK_EVERY", 2)
    told, gone = Told(), set[str]()
    main: list[str] = []
    for part in range(chance.choice([1, 2, 3])):
        pool = [b"shared", b"other", chance.randbytes(8)]
        writers = [
            _writer(root, maker, told, [chance.choice(pool) for _ in range(chance.randrange(1, 5))])
            for _ in range(chance.randrange(1, 4))
        ]
        writers += [_sealer(root, maker, told, 2) for _ in range(chance.randrange(3))]
        if chance.random() < 0.4:
            writers += [_writer(root, maker, told, [b"shared"] * 2, "shard"), _adopter(root, maker, told)]
        if chance.random() < 0.5:
            writers.append(_reader(root, maker, told))
        if chance.random() < 0.3:
            writers.append(_redactor(root, maker, told, gone))
        kills = {i: chance.randrange(1, 25) for i in range(len(writers)) if chance.random() < 0.4}
        cut_at = chance.randrange(20, 800) if chance.random() < 0.5 else None
        where = f"PERCUSS_SEED={seed}, part {part}: {len(writers)} writers, kills {kills}, cut at {cut_at}"
        with running(machine, monkeypatch):
            wrong = machine.run(*writers, cut_at=cut_at, kills=kills)
        assert not wrong, (where, wrong)
        cut = machine.dead or chance.random() < 0.5
        if cut:
            machine.cut()
        now = _check(root, told, where)
        assert not gone & {path.stem for path in root.rglob("*.bin")}, where
        if not cut:
            assert now[: len(main)] == main, where
        main = now
    shutil.rmtree(tmp_path / "disk")


@pytest.mark.parametrize("killed_after", range(1, 28))
def test_what_a_killed_writer_left_lasts_once_another_builds_on_it(killed_after, tmp_path, maker, monkeypatch) -> None:
    """Folders, `ledger.toml`, payloads and commits that are there may not have been synced by whoever made them."""
    machine = Machine(tmp_path / "disk", 1)
    root = machine.root / "project" / "ledger"
    told = Told()
    with running(machine, monkeypatch):
        assert not machine.run(_writer(root, maker, Told(), [b"shared"] * 2), kills={0: killed_after})
        assert not machine.run(_reader(root, maker, told) if killed_after % 2 else _sealer(root, maker, told, 1))
        assert not machine.run(_writer(root, maker, told, [b"shared"]))
    machine.cut(lose_all=True)
    assert told
    _check(root, told, f"killed after {killed_after} changes")


def test_no_commit_outlasts_the_one_it_was_built_on(tmp_path, maker, monkeypatch) -> None:
    """A writer is killed before its commit's name is synced, another builds on it, and the power is cut there."""
    first, second = "0000000001.parquet", "0000000002.parquet"
    built_on = 0
    for cut_at in range(20, 70):
        machine = Machine(tmp_path / f"disk-{cut_at}", 1)
        root = machine.root / "project" / "ledger"
        commits = root / "streams" / "main"
        with running(machine, monkeypatch):
            for killed_after in range(1, 28):  # until a name is there that was not synced
                machine.run(_writer(root, maker, Told(), [b"shared"]), kills={0: killed_after})
                if (commits / first).exists():
                    break
            assert any(name == first for _, name, _, _ in machine.pending)
            assert not machine.run(_writer(root, maker, Told(), [b"shared"]), cut_at=cut_at)
        built_on += (commits / second).exists()
        # The disk had time for every name but the first.
        machine.pending = [item for item in machine.pending if item[1] != first]
        for folder in {item[0] for item in machine.pending}:
            machine.sync_folder(folder)
        machine.cut(lose_all=True)
        _check(root, Told(), f"cut at {cut_at}")
        if not machine.dead:
            break
    assert built_on
