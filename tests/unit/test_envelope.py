"""Envelope format 2: call, cause and environment of events, and what the hash covers."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from percuss.errors import LedgerError
from percuss.ledger.audit import prove_chain, prove_payloads
from percuss.ledger.event import Call, Draft, Event, OpenCall, arguments_of, texts_of
from percuss.ledger.ledger import Ledger
from percuss.ledger.leftovers import stray_files
from percuss.ledger.place import identity_bytes
from percuss.ledger.rows import SINCE_2, from_frame, parquet_schema, to_frame
from percuss.maker import environment, environment_record, numerics, this_maker


@pytest.fixture
def call() -> OpenCall:
    """A call with one reference and words that look like it."""
    return OpenCall("command", "note", [("event", "@last"), ("text", "@last"), ("--n", 3)], words=("text",))


@pytest.fixture
def book(tmp_path: Path, call: OpenCall) -> Ledger:
    """A ledger with a maker as commands have."""
    return Ledger.open(tmp_path / "ledger", this_maker(["note"], call, "Jane Doe"), create=True)


def _note(book: Ledger, text: str, **more: Any) -> Event:
    return book.append([Draft("note.added", {"text": text}, **more)])[0]


def test_every_event_of_a_call_has_its_id_arguments_and_environment(book: Ledger) -> None:
    first = _note(book, "a")
    second = _note(book, "b", cause=first)
    assert first.call and second.call
    assert first.call.id == second.call.id
    assert (first.actor, first.cause, second.cause) == ("Jane Doe", None, first.id)
    assert book.environment(second) == environment() == json.loads(environment_record())
    assert from_frame(to_frame([first, second])) == [first, second]
    assert Ledger.open(book.place.root).events() == [first, second]


def test_references_are_recorded_as_ids_and_words_as_words(book: Ledger, call: OpenCall) -> None:
    first = _note(book, "a")
    assert book.resolve("@last") == first.id
    second = _note(book, "b")
    book.resolve("@last")  # moves on; what the call was given does not
    third = _note(book, "c")
    for event in (second, third):
        assert event.call
        assert arguments_of(event.call) == [("event", first.id), ("text", "@last"), ("--n", 3)]
    assert texts_of(third) == [first.id, "@last"]


def test_what_stdin_gave_may_be_a_prefix() -> None:
    call = OpenCall("command", "run", [("design", "-"), ("file", Path("a\udcff.csv")), ("x", float("nan"))])
    call.note("-", "0190")
    call.note("0190", "0190-whole")
    assert arguments_of(call.closed()) == [("design", "0190-whole"), ("file", "a\ufffd.csv"), ("x", "nan")]


def test_arguments_of_a_stranger_may_be_anything() -> None:
    for text in ("", "{}", "[1]", "[" * 100_000, '[["a",1,2]]'):
        assert arguments_of(Call("i", "command", "o", text)) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda e: replace(e, call=replace(e.call, arguments="[]")),
        lambda e: replace(e, call=replace(e.call, id="other")),
        lambda e: replace(e, cause="other"),
        lambda e: replace(e, environment=replace(e.environment, bytes=1)),
        lambda e: replace(e, call=None, cause=None, environment=None),
    ],
)
def test_the_hash_covers_what_format_2_adds(book: Ledger, change: Any) -> None:
    event = change(_note(book, "a"))
    assert event.computed_hash() != event.hash


@pytest.mark.parametrize("length", [0, 4000, 5000, 100_000])
def test_a_long_body_is_kept_packed_and_is_the_same_event(book: Ledger, length: int) -> None:
    """Whatever is done with events: compared, copied, changed, sent to another process, hashed, written and read."""
    text = "\u00e4\u4e2d" + "text " * (length // 5)
    event = _note(book, text)
    (read,) = from_frame(book.frame(cached=False))
    assert read == event and json.loads(read.body) == {"text": text}
    assert hash(read) == hash(event) and read.computed_hash() == event.hash
    for other in (pickle.loads(pickle.dumps(read)), copy.deepcopy(read), replace(read)):
        assert other == event and other.body == event.body
    assert replace(read, body=event.body + " ") != event
    assert sum(len(value) for value in vars(read).values() if isinstance(value, str | bytes)) < 6000


@pytest.mark.parametrize("column", ["call", "environment"])
def test_half_an_envelope_is_no_event(book: Ledger, column: str) -> None:
    frame = to_frame([_note(book, "a")])
    half = frame.with_columns(pl.lit(None, parquet_schema()[column]).alias(column))
    with pytest.raises(LedgerError, match="a field is empty"):
        from_frame(half)


def test_the_record_is_stored_once_is_no_stray_and_is_missed(book: Ledger) -> None:
    for text in ("a", "b"):
        _note(book, text)
    (record,) = (book.place.root / "blobs").rglob("*.bin")
    walk = prove_chain(book.place)
    assert prove_payloads(book.place, walk).holds
    assert record not in stray_files(book.place, walk.streams)
    record.write_bytes(record.read_bytes().replace(b"numpy", b"NUMPY"))
    assert not prove_payloads(book.place, walk).holds
    with pytest.raises(LedgerError, match="SHA-256"):
        book.environment(walk.visible[0])
    record.unlink()
    assert "missing" in prove_payloads(book.place, walk).faults[0]


def test_a_ledger_of_format_1_stays_one(tmp_path: Path, call: OpenCall) -> None:
    root = tmp_path / "ledger"
    root.mkdir()
    (root / "ledger.toml").write_bytes(identity_bytes("01890a5d-ac96-774b-bcce-b302099a8057", 1))
    book = Ledger.open(root, this_maker([], call))
    assert book.place.format == 1
    event = _note(book, "a")
    assert (event.call, event.environment) == (None, None)
    assert not (root / "blobs").exists()
    (path,) = (root / "streams" / "main").glob("*.parquet")
    assert not set(SINCE_2) & set(pl.read_parquet_schema(path))
    assert Ledger.open(root).frame(["call", "id"]).rows() == [(None, event.id)]


def test_numerics_of_a_stranger_s_record() -> None:
    assert set(numerics({"packages": 3, "cpu": {"numpy": ["A", 1]}}).values()) == {
        "unknown",
        "unknown unknown unknown",
        "A 1",
    }
    assert numerics(environment())["CPU level of numpy"]
