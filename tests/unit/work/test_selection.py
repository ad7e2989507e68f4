"""Events by time, actor, file and words."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.conftest import Call

from percuss.errors import InputError
from percuss.ledger.event import Draft, Maker
from percuss.ledger.ledger import Ledger
from percuss.work.selection import Selection, read_time

NOW = datetime(2026, 11, 17, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "time", "end"),
    [
        ("2026-11-17", "2026-11-17T00:00:00", "2026-11-18T00:00:00"),
        ("2026-11-17T16:30", "2026-11-17T16:30:00", "2026-11-17T16:31:00"),
        ("2026-11-17 16:30:05", "2026-11-17T16:30:05", "2026-11-17T16:30:06"),
        ("2026-11-17T16:30:05.25", "2026-11-17T16:30:05.250000", "2026-11-17T16:30:05.250001"),
        ("2026-11-17T16:30+02:00", "2026-11-17T14:30:00", "2026-11-17T14:31:00"),
        ("2 h", "2026-11-17T10:00:00", "2026-11-17T10:00:00"),
        ("90min", "2026-11-17T10:30:00", "2026-11-17T10:30:00"),
    ],
)
def test_times(text: str, time: str, end: str) -> None:
    assert read_time(text, "--since", now=NOW).isoformat() == f"{time}+00:00"
    assert read_time(text, "--until", end=True, now=NOW).isoformat() == f"{end}+00:00"


@pytest.mark.parametrize("text", ["yesterday", "", "2026-13-01", "-1h", "9999999 w", "9999-12-31", "\x1b[2J", "1e9 d"])
def test_no_times(text: str) -> None:
    with pytest.raises(InputError, match="--until"):
        read_time(text, "--until", end=True, now=NOW)


@pytest.fixture
def book(ledger: Ledger, maker: Maker) -> Ledger:
    about = ledger.append(
        [Draft("stream.sealed", {"stream": "s", "first_commit": 1, "last_commit": 1, "events": 1, "head": ""})]
    )[0]
    ledger.append(
        [
            Draft(
                "note.added",
                {"text": "Größe of the GAP (50 %.*)"},
                inputs=[("about", about)],
                blobs=[ledger.put_file("a.csv", b"1")],
            )
        ]
    )
    return ledger


@pytest.mark.parametrize("text", ["größe", "the gap", "(50 %.*)", "PERCUSS TEST"])
def test_words_are_found_as_they_are(book: Ledger, text: str) -> None:
    assert "note.added" in Selection(text=text).of(book.frame())["kind"].to_list()
    assert Selection(text="gap.size").of(book.frame()).is_empty()


def test_files_are_found_by_bytes_and_by_digits(book: Ledger, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"1")
    (tmp_path / "other").write_bytes(b"2")
    digest = book.events()[1].blobs[0].sha256
    for file in (str(tmp_path / "elsewhere"), digest, digest[:8].upper()):
        assert Selection(file=file).of(book.frame())["kind"].to_list() == ["note.added"]
    assert Selection(file=str(tmp_path / "other")).of(book.frame()).is_empty()
    with pytest.raises(InputError, match="--file abc: is neither"):
        Selection(file="abc").of(book.frame())


def test_actors_and_times(percuss: Call, book: Ledger) -> None:
    assert Selection(actor="tester").of(book.frame()).height == 2
    assert Selection(actor="test").of(book.frame()).is_empty()
    assert Selection(since="1 h").of(book.frame()).height == 2
    assert Selection(until="1 h").of(book.frame()).is_empty()
    today = book.frame()["at"][0].strftime("%Y-%m-%d")
    assert Selection(since=today, until=today).of(book.frame()).height == 2
    said = percuss(
        "log", "--since", "1h", "--actor", "tester", "--text", "größe", "--file", book.events()[1].blobs[0].sha256
    )
    assert said.code == 0 and len(said.out.splitlines()) == 2
    percuss("log", "--until", "soon").refused(2, "--until soon", "is no time")
