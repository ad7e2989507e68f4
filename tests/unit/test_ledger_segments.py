"""Segments: which of them count, and that their names promise no more than they hold."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import shutil
import time
from itertools import chain
from pathlib import Path

import polars as pl
import pytest
from tests.drafts import study_draft
from tests.machines import Quick

from percuss.errors import LedgerError
from percuss.ledger import files, seal, streams
from percuss.ledger import ledger as ledger_module
from percuss.ledger.audit import prove_chain
from percuss.ledger.canonical import sha256_hex
from percuss.ledger.copies import copy_ledger
from percuss.ledger.event import Draft
from percuss.ledger.files import parquet_bytes
from percuss.ledger.ledger import Ledger
from percuss.ledger.leftovers import is_leftover, stray_files
from percuss.ledger.rows import from_frame
from percuss.ledger.stores import Folder


def _note(book: Ledger, stream: str = "main") -> str:
    return book.append([Draft("note.added", {"text": "x"})], stream)[0].id


def _put(book: Ledger, *spans: tuple[int, int], commits: int) -> list[str]:
    """A ledger of so many commits, some of them in segments; what segments hold is deleted where it lay loose."""
    ids = [_note(book) for _ in range(commits)]
    files = [streams.read_frame(book.place.commit("main", number)) for number in range(1, commits + 1)]
    folder = book.place.real(book.place.sealed("main"), create=True)
    for first, last in spans:
        packed = parquet_bytes(pl.concat(files[first - 1 : last]))
        (folder / f"{first:010d}-{last:010d}.parquet").write_bytes(packed)
    seal.remove_covered(book, "main")
    return ids


def _plain_reader():  # type: ignore[no-untyped-def]
    path = Path(__file__).parents[1] / "golden" / "ledger" / "plain_reader.py"
    spec = importlib.util.spec_from_file_location("plain_reader", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "spans",
    [
        [(1, 4), (1, 9), (5, 12)],
        [(1, 3), (1, 5), (4, 8)],
        [(1, 12), (5, 12)],
        [(1, 4), (5, 12), (1, 12)],
        [(1, 2), (3, 4), (1, 6), (5, 10), (7, 9)],
    ],
)
def test_readers_copies_and_the_page_choose_the_same_segments(ledger, tmp_path, spans) -> None:
    ids = _put(ledger, *spans, commits=13)
    assert [event.id for event in Ledger.open(ledger.place.root).events()] == ids
    assert prove_chain(ledger.place).proof.holds
    _, told = _plain_reader().read_ledger(ledger.place.root)
    assert [row["id"] for row in told["main"]] == ids
    copy_ledger(Folder(ledger.place.root), Folder(tmp_path / "copy"), begin=True)
    assert [event.id for event in Ledger.open(tmp_path / "copy").events()] == ids
    assert prove_chain(Ledger.open(tmp_path / "copy").place).proof.holds


def _misname(book: Ledger, last: int) -> Path:
    (segment,) = book.place.sealed("main").iterdir()
    named = segment.with_name(f"0000000001-{last:010d}.parquet")
    shutil.copy(segment, named)
    return named


@pytest.mark.parametrize("last", [9999, 14, 8])
def test_a_segment_that_is_not_what_it_is_called(ledger, maker, tmp_path, last) -> None:
    """A copy of 1-5 under another name would hide commits: nobody reads past it, and nothing is deleted for it."""
    for _ in range(5):
        ledger.append([Draft("note.added", {"text": "x"}) for _ in range(3)])
    _note(ledger)
    seal.seal_stream(ledger, "main")
    for _ in range(8):
        _note(ledger)
    ids = [event.id for event in Ledger.open(ledger.place.root).events()]
    named = _misname(ledger, last)

    walk = prove_chain(ledger.place)
    assert str(named) in " ".join(walk.proof.faults)
    book = Ledger.open(ledger.place.root, maker)
    with pytest.raises(LedgerError, match=r"hide|gaps|missing"):
        book.events()
    with pytest.raises(LedgerError):
        copy_ledger(Folder(ledger.place.root), Folder(tmp_path / "copy"), begin=True)
    loose = sorted(ledger.place.stream("main").glob("*.parquet"))
    with contextlib.suppress(LedgerError):
        seal.remove_covered(ledger, "main")
    assert sorted(ledger.place.stream("main").glob("*.parquet")) == loose
    for path in stray_files(ledger.place, walk.streams):
        os.utime(path, (1, 1))
        assert not is_leftover(ledger.place, path, walk.chains) or path.parent == ledger.place.sealed("main"), path

    named.unlink()
    assert [event.id for event in Ledger.open(ledger.place.root).events()] == ids
    assert prove_chain(ledger.place).proof.holds


def test_a_segment_under_another_name_hides_nothing_and_is_named_all_the_same(ledger) -> None:
    """Renamed to one commit fewer or more, with nothing left over: what was told of it at sealing says otherwise."""
    for _ in range(4):
        ledger.append([Draft("note.added", {"text": "x"}) for _ in range(3)])
    seal.seal_stream(ledger, "main")
    (segment,) = ledger.place.sealed("main").iterdir()
    segment.rename(segment.with_name("0000000001-0000000004.parquet"))
    faults = " ".join(prove_chain(ledger.place).proof.faults)
    assert "its name is not the one it was given" in faults


def test_doctor_deletes_only_what_is_proven_elsewhere(percuss, folder, ledger) -> None:
    for _ in range(6):
        _note(ledger)
    kept = {path: path.read_bytes() for path in ledger.place.stream("main").glob("*.parquet")}
    seal.seal_stream(ledger, "main")
    for path, data in kept.items():
        path.write_bytes(data)
    # A commit under a number that is sealed, whose writer had an old head and was killed before it took it back.
    book = Ledger.open(ledger.place.root)
    other = streams.chain(
        [Draft("note.added", {"text": ""})], "main", streams.Head(2, 2, book.events()[1].hash), ledger._maker, 1
    )
    forked = ledger.place.commit("main", 3)
    forked.write_bytes(parquet_bytes(streams.to_frame(other)))
    old = time.time() - 7200
    for path in ledger.place.stream("main").glob("*.parquet"):
        os.utime(path, (old, old))
    assert "never part of the chain" in prove_chain(ledger.place).proof.note
    ids = [event.id for event in Ledger.open(ledger.place.root).events()]
    assert len(ids) == 7
    said = percuss("doctor", "--clean")
    assert said.code == 0, said.err
    assert "4 stray files deleted, 1 kept" in said.err
    assert forked.exists()
    assert [event.id for event in Ledger.open(ledger.place.root).events()] == ids


def test_main_is_sealed_by_itself_and_the_event_asked_for_comes_last(ledger, maker, monkeypatch) -> None:
    monkeypatch.setattr(ledger_module, "LOOSE_BEFORE_SEALING", 20)
    monkeypatch.setattr(ledger_module, "LOOK_EVERY", 4)
    ids = []
    for i in range(100):
        book = Ledger.open(ledger.place.root, maker) if i % 7 == 0 else ledger
        ids.append(_note(book))
        assert Ledger.open(ledger.place.root).events()[-1].id == ids[-1]
    found = Ledger.open(ledger.place.root).events()
    assert [event.id for event in found if event.kind == "note.added"] == ids
    assert len(streams.list_stream(ledger.place, "main").loose) < 30
    assert sum(event.kind == "stream.sealed" for event in found) > 2
    assert prove_chain(ledger.place).proof.holds
    # Shards are not: their copies of the ledger must not move on.
    for _ in range(50):
        _note(ledger, "shard")
    assert len(streams.list_stream(ledger.place, "shard").loose) == 50


def test_the_cache_grows_by_what_is_new(ledger, monkeypatch) -> None:
    monkeypatch.setattr(streams, "LOOSE_BEFORE_CACHING", 4)
    monkeypatch.setattr(streams, "PACK_COMMITS", 16)
    ids = []
    for _ in range(60):
        ids.append(_note(ledger))
        assert [event.id for event in Ledger.open(ledger.place.root).events()] == ids
    packs = sorted(path.name for path in ledger.place.cache.rglob("*.parquet"))
    assert len(packs) > 2
    assert packs == [f"{s.first:010d}-{s.last:010d}.parquet" for s in _packs(ledger)]
    read: list[str] = []
    real = streams.read_frames
    monkeypatch.setattr(
        streams, "read_frames", lambda some, *rest: real(read.extend(chain.from_iterable(some)) or some, *rest)
    )
    assert Ledger.open(ledger.place.root).frame(["id"])["id"].to_list() == ids
    assert len(read) <= 4


def test_what_was_appended_is_kept_in_few_pieces(ledger, monkeypatch) -> None:
    """Each piece costs time at every append, and memory: a campaign appends thousands of commits."""
    monkeypatch.setattr(ledger_module, "PIECES", 4)
    assert ledger.frame().height == 0
    ids = []
    for _ in range(20):
        ids.append(_note(ledger))
        assert ledger.frame().n_chunks() <= 4
    assert ledger.frame()["id"].to_list() == ids
    assert ledger.frame().equals(Ledger.open(ledger.place.root).frame())


def test_nobody_waits_for_the_disk_of_the_cache(ledger, monkeypatch) -> None:
    """It is made again, if a power cut leaves less of it than was written."""

    class Watched(Quick):
        def sync(self, handle: int) -> None:
            raise AssertionError("a cache need not last")

    monkeypatch.setattr(streams, "LOOSE_BEFORE_CACHING", 4)
    ids = [_note(ledger) for _ in range(9)]
    for left in (None, 0, 100):
        if left is not None:
            os.truncate(next(ledger.place.cache.rglob("*.parquet")), left)
        monkeypatch.setattr(files, "system", Watched())
        assert streams.read_stream(ledger.place, "main", ["id"])["id"].to_list() == ids
        assert len(_packs(ledger)) == 1


def test_some_events_of_many_files(ledger, monkeypatch) -> None:
    """From segments, packs of the cache and loose commits; of files that have none of them the numbers alone."""
    monkeypatch.setattr(streams, "LOOSE_BEFORE_CACHING", 4)
    monkeypatch.setattr(streams, "PACK_COMMITS", 8)
    for _ in range(6):
        _note(ledger)
    seal.seal_stream(ledger, "main")
    for _ in range(20):
        _note(ledger)
    for _ in range(2):
        _note(ledger, "shard")
    book = Ledger.open(ledger.place.root)
    rows = book.frame(["stream", "seq", "id"])
    assert book.whole(rows) == book.events()
    chosen = rows[[25, 2, 13]]
    read: list[list[str] | None] = []
    real = streams.read_segment
    monkeypatch.setattr(
        streams, "read_segment", lambda segment, columns=None: real(segment, read.append(columns) or columns)
    )
    assert [event.id for event in Ledger.open(ledger.place.root).whole(chosen)] == chosen["id"].to_list()
    assert read.count(["seq"]) == 4 and read.count(None) == 3  # a segment and three packs, one of which has none
    gone = chosen.with_columns(id=chosen["id"].str.replace("^.", "z"))
    with pytest.raises(LedgerError, match="went away"):
        book.whole(gone)


def _packs(book: Ledger) -> list[streams.Segment]:
    return streams.list_segments(book.place, book.place.cache / "streams" / "main")


def test_no_events_are_no_commit(ledger) -> None:
    with pytest.raises(ValueError, match="one event at least"):
        ledger.append([])
    assert not list(ledger.place.root.rglob("*.parquet"))


def test_anchors_are_hashes_of_main(percuss, folder) -> None:
    """After `adopt` the newest visible event is a shard's: kept as an anchor it would let a main pass written anew."""
    from percuss.cli.options import open_ledger

    design = percuss("design", "ishigami", "--n", 8).id
    percuss("run", design, "--shard", "1/2")
    percuss("adopt")
    book = open_ledger(None)
    told = json.loads(percuss("audit", "--rerun", 0, "--json").out)["head"]
    assert told == book.head().hash
    assert percuss("audit", "--rerun", 0, "--anchor", told).code == 0
    shard = book.events()[-1]
    assert shard.stream != "main"
    said = percuss("audit", "--rerun", 0, "--anchor", shard.hash)
    assert said.code == 1
    assert "proves nothing of main" in said.out

    # Main written anew around the same shard.
    path = max(book.place.stream("main").glob("*.parquet"))
    (last,) = from_frame(streams.read_frame(path))
    head = streams.Head(int(path.stem) - 1, last.seq - 1, last.prev)
    path.unlink()
    draft = Draft("stream.adopted", last.data)
    streams.append_commit(book.place, "main", [draft], book._maker, head)
    assert percuss("audit", "--rerun", 0).code == 0
    assert percuss("audit", "--rerun", 0, "--anchor", told).code == 1
    assert percuss("audit", "--rerun", 0, "--anchor", shard.hash).code == 1


def test_side_by_side_keeps_the_order_and_is_never_far_ahead(monkeypatch) -> None:
    """Whatever order threads are done in; a fault is that of its item, and those behind it are not begun."""
    monkeypatch.setattr(files.os, "cpu_count", lambda: 4)
    begun: list[int] = []

    def slow(item: int) -> int:
        begun.append(item)
        time.sleep(0.002 * (item % 3))
        if item == 30:
            raise LedgerError("thirty")
        return item * item

    taken = []
    with pytest.raises(LedgerError, match="thirty"):
        for made in files.side_by_side(slow, range(100)):
            taken.append(made)
            assert len(begun) <= len(taken) + files.MOST_READERS + 1
    assert taken == [item * item for item in range(30)]
    assert len(begun) < 40
    assert list(files.side_by_side(slow, [7])) == [49]


def test_loose_commits_are_parsed_together(ledger, monkeypatch) -> None:
    """Many at once; each by itself only if something is wrong with one."""
    for number in range(5):
        ledger.append([study_draft(notes=str(number))])
    with monkeypatch.context() as patch:
        patch.setattr(files, "parse_parquet", None)
        events = ledger.refresh() or ledger.events()
    path = ledger.place.commit("main", 3)
    path.write_bytes(parquet_bytes(files.read_frame(path).with_columns(more=1)))
    with pytest.raises(LedgerError, match=r"0000000003\.parquet: its columns are not those of a commit"):
        Ledger.open(ledger.place.root).events()
    assert [event.seq for event in events] == [1, 2, 3, 4, 5]


def test_commits_of_two_writers_are_read(ledger) -> None:
    """Other versions of a writer store the same columns in other ways."""
    for number in range(3):
        ledger.append([study_draft(notes=str(number))])
    path = ledger.place.commit("main", 2)
    buffer = io.BytesIO()
    mark = {files.MARK.decode(): files.BLANK.decode()}
    files.read_frame(path).write_parquet(buffer, compression="snappy", statistics=True, metadata=mark)
    blank = buffer.getvalue()
    place = blank.rfind(files.BLANK)
    path.write_bytes(blank[:place] + sha256_hex(blank).encode() + blank[place + 64 :])
    assert [event.seq for event in Ledger.open(ledger.place.root).events()] == [1, 2, 3]
    assert prove_chain(ledger.place).proof.holds


def test_a_commit_with_the_number_zero(ledger) -> None:
    """No stream has one: events in it that the chain lacks are named as hidden, and nothing is cleaned."""
    for _ in range(3):
        _note(ledger)
    ledger.place.commit("main", 3).rename(ledger.place.commit("main", 0))
    with pytest.raises(LedgerError, match=r"0000000000\.parquet: holds events that the stream lacks"):
        Ledger.open(ledger.place.root).events()
    assert not prove_chain(ledger.place).proof.holds


def test_a_whole_commit_under_a_temporary_name_is_kept(ledger) -> None:
    """Somebody may have renamed it; what a killed writer did not finish, or a chain has, may go."""
    for _ in range(3):
        _note(ledger)
    folder = ledger.place.stream("main")
    shutil.copyfile(folder / "0000000002.parquet", folder / ".tmp-held")
    (folder / "0000000003.parquet").rename(folder / ".tmp-hidden")
    (folder / ".tmp-cut").write_bytes((folder / ".tmp-hidden").read_bytes()[:-9])
    walk = prove_chain(ledger.place)
    strays = stray_files(ledger.place, walk.streams)
    assert {path.name for path in strays if is_leftover(ledger.place, path, walk.chains)} == {".tmp-cut", ".tmp-held"}
