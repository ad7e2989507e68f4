"""Races of the ledger, one interleaving at a time: what can come between two lines of a writer, sealer or reader."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import polars as pl
import pytest

from percuss.errors import LedgerError
from percuss.ledger import adopt, place, seal, streams
from percuss.ledger.audit import prove_chain
from percuss.ledger.event import Draft
from percuss.ledger.files import parquet_bytes
from percuss.ledger.ledger import Ledger
from percuss.ledger.leftovers import is_leftover, stray_files


def _note(book: Ledger, stream: str = "main") -> str:
    return book.append([Draft("note.added", {"text": "x"})], stream)[0].id


def _whole(book: Ledger) -> list[str]:
    walk = prove_chain(book.place)
    assert walk.proof.holds, walk.proof.faults
    fresh = Ledger.open(book.place.root)
    assert [event.id for event in fresh.events()] == [event.id for event in walk.visible]
    return [event.id for event in walk.visible]


def _leftovers(book: Ledger) -> list[Path]:
    walk = prove_chain(book.place)
    return [path for path in stray_files(book.place, walk.streams) if is_leftover(book.place, path, walk.chains)]


def test_two_sealers_at_once(ledger, maker, monkeypatch) -> None:
    """Between the listing and the segment of one, another appends and seals more."""
    ids = [_note(ledger) for _ in range(5)]
    other = Ledger.open(ledger.place.root, maker)
    real = seal.write_linked

    def late(path, data, **words):  # type: ignore[no-untyped-def]
        monkeypatch.setattr(seal, "write_linked", real)
        kept = {p: p.read_bytes() for p in ledger.place.stream("main").glob("*.parquet")}
        ids.append(_note(other))
        ids.append(seal.seal_stream(other, "main").event.id)
        for found, whole in kept.items():
            found.write_bytes(whole)  # as if the other had been killed before its deletions
        return real(path, data, **words)

    monkeypatch.setattr(seal, "write_linked", late)
    ids.append(seal.seal_stream(ledger, "main").event.id)
    assert _whole(ledger) == ids
    assert len(list(ledger.place.sealed("main").glob("*.parquet"))) == 2
    # The shorter segment is a leftover, and damage to it shows all the same.
    (left,) = _leftovers(ledger)
    assert left.name == "0000000001-0000000004.parquet"
    left.write_bytes(left.read_bytes()[:-1])
    assert str(left) in prove_chain(ledger.place).proof.faults[0]
    left.unlink()
    ids.append(_note(ledger))
    assert _whole(ledger) == ids


def test_a_third_sealer_continues_the_shorter_of_two_segments(ledger) -> None:
    """It listed between the writing of the first and of the second, who had listed before the first wrote."""
    ids = [_note(ledger) for _ in range(9)]
    files = [streams.read_frame(ledger.place.commit("main", number)) for number in range(1, 10)]
    folder = ledger.place.real(ledger.place.sealed("main"), create=True)
    for first, last in [(1, 3), (1, 5), (4, 8)]:
        packed = parquet_bytes(pl.concat(files[first - 1 : last]))
        (folder / f"{first:010d}-{last:010d}.parquet").write_bytes(packed)
    seal.remove_covered(ledger, "main")
    assert _whole(ledger) == ids
    ids += [_note(ledger) for _ in range(3)]
    ids.append(seal.seal_stream(ledger, "main").event.id)
    assert _whole(ledger) == ids


def test_sealer_killed_before_it_deletes(ledger, monkeypatch) -> None:
    ids = [_note(ledger) for _ in range(4)]
    with monkeypatch.context() as patch:
        patch.setattr(seal, "remove_covered", lambda *args: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            seal.seal_stream(ledger, "main")
    ids = _whole(ledger)
    assert len(ids) == 5
    covered = _leftovers(ledger)
    assert len(covered) == 3
    os.truncate(covered[0], 10)
    assert str(covered[0]) in prove_chain(ledger.place).proof.faults[0]
    assert seal.remove_covered(ledger, "main") == 2
    assert covered[0].exists()  # what it held cannot be proven any more
    covered[0].unlink()
    ids += [_note(ledger), _note(ledger), seal.seal_stream(ledger, "main").event.id]
    assert _whole(ledger) == ids


def test_writer_with_a_head_that_was_sealed_away(ledger, maker, monkeypatch) -> None:
    """Its number is free again. It links, finds the segment, and finds its file gone: another sealer cleared it."""
    first = _note(ledger)
    stale = Ledger.open(ledger.place.root, maker)
    ids = [first, _note(stale)]
    ids += [_note(ledger) for _ in range(4)]
    ids.append(seal.seal_stream(ledger, "main").event.id)
    real = streams.write_linked

    def cleared(path, data):  # type: ignore[no-untyped-def]
        done = real(path, data)
        if path.name == "0000000003.parquet":
            path.unlink()
        return done

    monkeypatch.setattr(streams, "write_linked", cleared)
    ids.append(_note(stale))
    assert _whole(ledger) == ids


def test_a_commit_that_a_listing_missed_does_not_get_into_the_cache(ledger, monkeypatch) -> None:
    """A folder is not listed in one moment: a later commit can be seen, an earlier one not."""
    monkeypatch.setattr(streams, "LOOSE_BEFORE_CACHING", 2)
    ids = [_note(ledger) for _ in range(6)]
    real, missed = streams._names, []

    def once(where, folder):  # type: ignore[no-untyped-def]
        names = real(where, folder)
        if folder.name == "main" and "0000000004.parquet" in names and not missed:
            missed.append(names.remove("0000000004.parquet"))
        return names

    monkeypatch.setattr(streams, "_names", once)
    assert [event.id for event in Ledger.open(ledger.place.root).events()] == ids
    assert missed
    assert [event.id for event in Ledger.open(ledger.place.root).events()] == ids


@pytest.mark.parametrize("rows", [0, 1])
def test_a_cache_that_is_wrong_is_passed_over(ledger, monkeypatch, rows) -> None:
    monkeypatch.setattr(streams, "LOOSE_BEFORE_CACHING", 2)
    ids = [_note(ledger) for _ in range(5)]
    ledger.events()
    (cached,) = ledger.place.cache.rglob("*.parquet")
    cached.write_bytes(parquet_bytes(pl.read_parquet(cached).head(rows)))
    assert [event.id for event in Ledger.open(ledger.place.root).events()] == ids


def test_cache_deleted_while_it_is_read(ledger, monkeypatch) -> None:
    monkeypatch.setattr(streams, "LOOSE_BEFORE_CACHING", 2)
    ids = [_note(ledger) for _ in range(5)]
    ledger.events()
    real = streams.list_segments

    def vanishing(where, folder):  # type: ignore[no-untyped-def]
        found = real(where, folder)
        if "cache" in folder.parts:
            shutil.rmtree(where.cache, ignore_errors=True)
        return found

    monkeypatch.setattr(streams, "list_segments", vanishing)
    assert [event.id for event in Ledger.open(ledger.place.root).events()] == ids


def test_a_killed_reader_leaves_nothing_that_looks_like_damage(ledger, monkeypatch) -> None:
    monkeypatch.setattr(streams, "LOOSE_BEFORE_CACHING", 2)
    ids = [_note(ledger) for _ in range(5)]
    ledger.events()
    (cached,) = ledger.place.cache.rglob("*.parquet")
    half = cached.with_name(".tmp-1-2")
    half.write_bytes(cached.read_bytes()[:100])
    assert _whole(ledger) == ids
    assert stray_files(ledger.place, prove_chain(ledger.place).streams) == [half]


def test_two_may_start_a_ledger_at_once(tmp_path, maker, monkeypatch) -> None:
    """One finds no ledger; the other starts it and writes to it; the first goes on."""
    root = tmp_path / "ledger"
    real = place._start

    def late(where):  # type: ignore[no-untyped-def]
        monkeypatch.setattr(place, "_start", real)
        _note(Ledger.open(root, maker, create=True))
        real(where)

    monkeypatch.setattr(place, "_start", late)
    book = Ledger.open(root, maker, create=True)
    _note(book)
    assert len(_whole(book)) == 2


def test_two_adopt_a_stream_at_once(ledger, maker, monkeypatch) -> None:
    ids = [_note(ledger, "shard") for _ in range(3)]
    other = Ledger.open(ledger.place.root, maker)
    real = adopt._check_inputs

    def late(*args):  # type: ignore[no-untyped-def]
        monkeypatch.setattr(adopt, "_check_inputs", real)
        adopt.adopt_stream(other, "shard")
        real(*args)

    monkeypatch.setattr(adopt, "_check_inputs", late)
    second = adopt.adopt_stream(ledger, "shard").event.id
    found = _whole(ledger)
    assert found[1:4] == ids
    assert found[4:] == [second]
    assert adopt.adopt_stream(ledger, "shard").events == 0


def test_a_stream_that_lost_its_end_is_not_adopted_again(ledger) -> None:
    for _ in range(3):
        _note(ledger, "shard")
    adopt.adopt_stream(ledger, "shard")
    ledger.place.commit("shard", 3).unlink()
    with pytest.raises(LedgerError, match="3 events were adopted and 2 are there"):
        adopt.adopt_stream(Ledger.open(ledger.place.root), "shard")


def test_patience_with_faster_writers_ends(ledger, monkeypatch) -> None:
    _note(ledger)
    monkeypatch.setattr(streams, "write_linked", lambda path, data: False)
    with pytest.raises(LedgerError, match="other writers were faster") as caught:
        streams.append_commit(
            ledger.place, "main", [Draft("note.added", {"text": ""})], ledger._maker, None, patience_s=0.05
        )
    assert caught.value.exit_code == 4


def test_a_ledger_opened_for_reading_is_not_written(ledger) -> None:
    with pytest.raises(LedgerError, match="opened for reading"):
        _note(Ledger.open(ledger.place.root))


def test_audit_while_somebody_seals(ledger, maker, monkeypatch) -> None:
    from percuss.ledger import audit

    ids = [_note(ledger) for _ in range(5)]
    other = Ledger.open(ledger.place.root, maker)
    real = audit._walk_listing

    def late(*args):  # type: ignore[no-untyped-def]
        monkeypatch.setattr(audit, "_walk_listing", real)
        ids.append(seal.seal_stream(other, "main").event.id)
        return real(*args)

    monkeypatch.setattr(audit, "_walk_listing", late)
    walk = prove_chain(ledger.place)
    assert walk.proof.holds, walk.proof.faults
    assert [event.id for event in walk.visible] == ids
    assert walk.proof.checked == 6


def test_a_ledger_that_is_sealed_all_the_time_is_busy_not_broken(ledger, maker, monkeypatch) -> None:
    from percuss.ledger import audit

    other = Ledger.open(ledger.place.root, maker)
    real = audit._walk_listing

    def late(*args):  # type: ignore[no-untyped-def]
        for _ in range(2):
            _note(other)
        seal.seal_stream(other, "main")
        return real(*args)

    for _ in range(3):
        _note(ledger)
    monkeypatch.setattr(audit, "_walk_listing", late)
    with pytest.raises(LedgerError, match="was sealed again during each of 20 walks") as caught:
        prove_chain(ledger.place)
    assert caught.value.exit_code == 4
    monkeypatch.setattr(audit, "_walk_listing", real)
    assert prove_chain(ledger.place).proof.holds
