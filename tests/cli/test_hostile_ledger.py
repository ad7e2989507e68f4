"""A ledger from a stranger: refused cleanly, and nothing outside its folder is read or written."""

from __future__ import annotations

import io
import json
import os
import shutil
import time
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.drafts import study_draft

from percuss.ledger.event import Blob, Event, Input, hash_fields
from percuss.ledger.files import parquet_bytes
from percuss.ledger.place import Place, open_place
from percuss.ledger.rows import from_frame, to_frame

READING = (
    ["log"],
    ["log", "--json"],
    ["show", "@last"],
    ["lineage", "@last"],
    ["replay"],
    ["audit"],
    ["doctor"],
    ["export", "csv", "@last:campaign"],
    ["run", "@last:design"],
    ["study", "list"],
)
WRITING = (["note", "@last", "x"], ["design", "ishigami", "--n", 8], ["seal"], ["adopt"], ["doctor", "--clean"])


@pytest.fixture
def root(percuss, once) -> Path:
    """A ledger with a campaign and a few notes."""

    def make() -> None:
        percuss("run", percuss("design", "ishigami", "--n", 70).id)
        for word in ("a", "b", "c"):
            percuss("note", "@last:campaign", word)

    return once("campaign with notes", make)


def _told_nothing_else(percuss, commands, watched: Path, codes=(1, 2, 4)) -> None:
    """Each command is refused in one sentence; the folder beside the ledger is not read, written or deleted from."""
    before = _facts(watched)
    for command in commands:
        said = percuss(*command)
        told = said.out + said.err
        assert "Traceback" not in told
        assert "panicked" not in told
        assert "fault:" not in told, (command, told)
        assert "secret" not in told, command
        assert "\x1b" not in told, command
        assert said.code in codes, (command, told)
    assert _facts(watched) == before


def _facts(folder: Path) -> list[tuple]:
    """Names, contents, and when each was last read and changed."""
    found = []
    for path in sorted([folder, *folder.rglob("*")]):
        facts = path.lstat()
        found.append((str(path), facts.st_mtime_ns, facts.st_atime_ns if path.is_file() else 0, facts.st_size))
    return found


@pytest.mark.parametrize(
    "inside",
    [
        "streams",
        "streams/main",
        "blobs",
        "blobs/??",
        "cache",
        "sealed",
        "sealed/main",
        "cache/streams",
        "cache/streams/main",
    ],
)
def test_link_in_place_of_a_folder(root, percuss, folder, inside, monkeypatch) -> None:
    from percuss.ledger import streams

    monkeypatch.setattr(streams, "LOOSE_BEFORE_CACHING", 2)
    percuss("seal")
    for word in ("d", "e", "f"):
        percuss("note", "@last:campaign", word)
    percuss("log")
    (found,) = list(root.glob(inside))[:1]
    outside = folder / "outside"
    shutil.move(found, outside)
    found.symlink_to(outside)
    (outside / "secret.txt").write_text("secret")
    old = time.time() - 10_000
    for path in (outside, *outside.rglob("*")):
        os.utime(path, (old, old))
    needed = not inside.startswith("cache")
    _told_nothing_else(percuss, READING + WRITING, outside, codes=(0, 1, 2, 4))
    if needed:
        said = percuss("audit")
        assert said.code in (1, 4)
        assert str(found.relative_to(folder)) in said.out + said.err
    else:
        # A cache that is a link is no cache: the originals are read.
        assert percuss("log").code == 0


@pytest.mark.parametrize("inside", ["ledger.toml", "streams/main/*.parquet", "blobs/*/*.parquet"])
def test_link_in_place_of_a_file(root, percuss, folder, inside) -> None:
    found = max(root.glob(inside))
    outside = folder / "outside"
    outside.mkdir()
    shutil.move(found, outside / "secret")
    found.symlink_to(outside / "secret")
    os.utime(outside / "secret", (1, 1))
    _told_nothing_else(percuss, READING + WRITING, outside, codes=(0, 1, 2, 4))
    said = percuss("audit")
    assert said.code in (1, 4)
    assert "symbolic link" in said.out + said.err


def test_pipes_and_folders_in_place_of_files(root, percuss, folder) -> None:
    for make in (os.mkfifo, os.mkdir):
        for found in (max(root.glob("streams/main/*.parquet")), next(root.glob("blobs/*/*.parquet"))):
            kept = found.read_bytes()
            found.unlink()
            make(found)
            said = percuss("audit")
            assert said.code == 1
            assert str(found.relative_to(folder)) in said.out
            found.rmdir() if found.is_dir() else found.unlink()
            found.write_bytes(kept)
    assert percuss("audit").code == 0


def _forge(place: Place, stream: str, number: int, events: list[Event], prev: str | None = None) -> None:
    """Write a commit whose chain and digests are right, whatever its events say: a stranger can."""
    hashed = []
    for event in events:
        event = replace(event, prev=prev or event.prev)
        event = replace(event, hash=hash_fields(event))
        prev = event.hash
        hashed.append(event)
    path = place.commit(stream, number)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(parquet_bytes(to_frame(hashed)))


@pytest.fixture
def forge(root):
    """Append a forged event after the real ones."""
    place = open_place(root)
    numbers = sorted(int(p.stem) for p in (root / "streams" / "main").glob("*.parquet"))
    last = from_frame(pl.read_parquet(place.commit("main", numbers[-1])))[-1]

    def append(**fields: object) -> Event:
        event = replace(last, seq=last.seq + 1, id="ffffffff" + last.id[8:], prev=last.hash, **fields)
        _forge(place, "main", numbers[-1] + 1, [event])
        return event

    return append


DEEP = '{"a":' * 100_000 + "1" + "}" * 100_000


@pytest.mark.parametrize(
    "fields",
    [
        {"body": DEEP},
        {"body": "[" * 100_000},
        {"body": "not json"},
        {"body": "[]"},
        {"body": '{"text":"\\u001b]0;owned\\u0007\\u001b[2J"}'},
        {"kind": "stream.adopted", "body": '{"stream":"../../outside","events":1,"head":""}'},
        {"kind": "stream.adopted", "body": '{"stream":"main","events":3,"head":""}'},
        {"kind": "stream.adopted", "body": '{"stream":"nowhere","events":3,"head":""}'},
        {"kind": "stream.adopted", "body": '{"stream":"nowhere","events":0,"head":""}'},
        {"kind": "stream.adopted", "body": '{"stream":"nowhere","events":-1,"head":""}'},
        {"kind": "stream.adopted", "body": '{"stream":"nowhere","events":1e400,"head":""}'},
        {"kind": "stream.adopted", "body": '{"stream":["x"],"events":true}'},
        {"kind": "stream.adopted", "body": DEEP},
        {"kind": "event.superseded", "body": "{}", "inputs": ()},
        {"kind": "event.superseded", "body": DEEP},
        {"kind": "runs.completed", "body": "{}"},
        {"kind": "runs.completed", "body": '{"case":"base","samples":3}'},
        {"kind": "runs.completed", "body": '{"case":["base"],"samples":[[1],null,"x",1e999]}'},
        {"kind": "runs.failed", "body": '{"case":"base","samples":[1],"reasons":[]}'},
        {"kind": "campaign.completed", "body": "{}"},
        {"kind": "design.created", "body": "{}"},
        {"kind": "design.created", "body": '{"sampler":"sobol","n":"many","names":3,"cases":{},"fixed":[],"curves":0}'},
        {"kind": "study.registered", "body": '{"study":{"title":["x"]}}'},
        {"at_us": 2**62},
        {"at_us": -(2**62)},
        {"blobs": (Blob("runs", "../" * 21 + "x", "0" * 64, 1, 1),)},
        {"blobs": (Blob("runs", "/etc/passwd", "0" * 64, 1, 1),)},
        {"blobs": (Blob("file:../../x", "0" * 64, "0" * 64, 1, -1),)},
        {"inputs": (Input("about", "../../../outside", "x"),)},
        {"kind": "\x1b[2J", "version": -5},
    ],
    ids=lambda fields: " ".join(f"{k}={str(v)[:40]}" for k, v in fields.items()),
)
def test_events_that_say_nonsense(root, percuss, folder, forge, fields) -> None:
    event = forge(**fields)
    outside = folder / "outside"
    outside.mkdir()
    commands = (
        *READING,
        ["show", event.id],
        ["log", "--stream", "main"],
        ["run", event.id],
        ["export", "csv", event.id],
        ["report", event.id, "--format", "markdown"],
        ["report", "@last:campaign", "--format", "markdown"],
    )
    _told_nothing_else(percuss, commands, outside, codes=(0, 1, 2, 4))
    if "blobs" in fields or "adopted" in str(fields.get("kind")) or fields.get("inputs"):
        assert percuss("audit").code == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"body": DEEP},
        {"body": '{"text":"</script><script>alert(1)</script>\\u001b[2J"}'},
        {"kind": "runs.completed", "body": '{"case":"base","samples":3}'},
        {"kind": "campaign.completed", "body": "{}"},
        {"kind": "\x1b[2J<b>", "version": -5},
    ],
    ids=("deep", "script", "runs", "campaign", "kind"),
)
def test_a_site_of_nonsense(root, percuss, folder, forge, fields) -> None:
    event = forge(**fields)
    outside = folder / "outside"
    outside.mkdir()
    _told_nothing_else(percuss, [["site", "--to", "site"]], outside, codes=(0, 4))
    for path in (folder / "site").rglob("*.html"):
        text = path.read_text()
        assert "<script>alert" not in text and "\x1b" not in text and "<b>" not in text, path
    if (folder / "site" / "index.html").exists():
        assert (folder / "site" / "events" / f"{event.id}.html").exists() or fields.get("kind", "").startswith("runs")


def _commits(frame: pl.DataFrame) -> dict[str, pl.DataFrame]:
    row = frame.tail(1)
    return {
        "other columns": pl.DataFrame({"seq": [1], "hash": ["x"]}),
        "no rows": frame.clear(),
        "empty fields": row.with_columns(pl.lit(None, pl.String).alias("id")),
        "empty seq": row.with_columns(pl.lit(None, pl.Int64).alias("seq")),
        "empty kind": row.with_columns(pl.lit(None, pl.String).alias("kind")),
        "text for seq": row.with_columns(pl.col("seq").cast(pl.String)),
        "more columns": row.with_columns(more=1),
        "empty body": row.with_columns(pl.lit(None, pl.String).alias("body")),
        "empty struct": row.with_columns(pl.lit(None, frame.schema["software"]).alias("software")),
        "empty in struct": row.with_columns(
            pl.struct(pl.lit(None, pl.String).alias(n) for n in ("version", "commit", "core", "lock")).alias("software")
        ),
    }


@pytest.mark.parametrize("what", list(_commits(to_frame([]))))
def test_parquet_that_is_no_commit(root, percuss, folder, what) -> None:
    paths = sorted((root / "streams" / "main").glob("*.parquet"))
    path = paths[-1].with_name(f"{len(paths) + 1:010d}.parquet")
    path.write_bytes(parquet_bytes(_commits(pl.read_parquet(paths[-1]))[what]))
    outside = folder / "outside"
    outside.mkdir()
    _told_nothing_else(percuss, READING, outside, codes=(0, 1, 2, 4))
    if what != "no rows":
        said = percuss("audit")
        assert said.code == 1, what
        assert path.name in said.out


def test_garbage_whose_digest_is_right(root, percuss, folder) -> None:
    """Bytes that pass as self-checking, and break a Parquet reader at every step."""
    from percuss.ledger.canonical import sha256_hex
    from percuss.ledger.files import BLANK, MARK

    whole = parquet_bytes(to_frame([]))
    mark = MARK + b"\x18\x40" + BLANK
    last = max((root / "streams" / "main").glob("*.parquet"))
    path = last.with_name(f"{int(last.stem) + 1:010d}.parquet")
    for blank in (
        mark,
        b"PAR1" + mark + b"PAR1",
        whole[: len(whole) // 2] + mark,
        b"PAR1" + bytes(200) + mark + b"\xff\xff\xff\x7fPAR1",
    ):
        place = blank.rindex(MARK) + 16
        path.write_bytes(
            blank[:place] + sha256_hex(blank[:place] + BLANK + blank[place + 64 :]).encode() + blank[place + 64 :]
        )
        percuss("log").refused(4, path.name)
        said = percuss("audit")
        assert said.code == 1
        assert path.name in said.out


@pytest.mark.parametrize(
    "inside", ["streams/main/*.parquet", "blobs/*/*.parquet", "ledger.toml", "cache/streams/main/*"]
)
def test_a_gigabyte(root, percuss, folder, inside, monkeypatch) -> None:
    from percuss.ledger import streams

    if "cache" in inside:
        monkeypatch.setattr(streams, "LOOSE_BEFORE_CACHING", 2)
        percuss("log")
    found = max(root.glob(inside))
    if "blobs" in inside:
        sha256 = json.loads(percuss("show", "@last:design", "--json").out)["blobs"][0]["sha256"]
        (found,) = root.glob(f"blobs/*/{sha256}.parquet")
    os.truncate(found, 1 << 30)
    said = percuss("audit")
    assert said.code in (1, 4)
    assert found.name in said.out + said.err
    if "cache" in inside:
        assert percuss("log").code == 0
    elif "blobs" in inside:
        percuss("export", "csv", "@last:design").refused(4, found.name)
    else:
        percuss("log").refused(4, found.name)


def test_names_with_dots_are_no_streams(root, percuss, folder) -> None:
    shutil.copytree(root / "streams" / "main", root / "streams" / "a..b")
    (root / "streams" / "UPPER").mkdir()
    (root / "streams" / "note.txt").write_text("x")
    said = percuss("audit")
    assert "fault:" not in said.err
    assert said.code == 1  # note.txt has the name of a stream and is none
    assert "note.txt" in said.out
    (root / "streams" / "note.txt").unlink()
    assert percuss("audit").code == 0
    assert "a..b" in percuss("doctor").out
    percuss("log", "--stream", "a..b").refused(2, "a..b")


def test_stray_file_of_a_stranger_is_not_deleted(root, percuss) -> None:
    mine = root / "README.txt"
    mine.write_text("what this ledger is for")
    left = root / "blobs" / "ab" / f"{'ab' * 32}.parquet"
    left.parent.mkdir(exist_ok=True)
    left.write_bytes(b"")
    half = root / "streams" / "main" / ".tmp-1-2"
    half.write_bytes(b"")
    for path in (mine, left, half):
        os.utime(path, (1, 1))
    said = percuss("doctor")
    assert all(str(path.name) in said.out for path in (mine, left, half))
    assert percuss("doctor", "--clean").code == 0
    assert mine.exists()
    assert not left.exists()
    assert not half.exists()


def test_nothing_is_cleaned_in_a_damaged_ledger(root, percuss) -> None:
    """What the events of an unreadable commit refer to must not be taken for stray."""
    for path in root.rglob("*"):
        os.utime(path, (1, 1))
    files = sorted(root.rglob("*"))
    first = min((root / "streams" / "main").glob("*.parquet"))
    kept = first.read_bytes()
    first.write_bytes(kept[:-1])
    percuss("doctor", "--clean").refused(4, "damaged")
    first.write_bytes(kept)
    assert sorted(root.rglob("*")) == files
    assert percuss("audit").code == 0


def test_a_payload_that_claims_more_rows_than_it_has(ledger, percuss, folder) -> None:
    blob = ledger.put_table("runs", pl.DataFrame({"sample": [1]}))
    ledger.append([study_draft([replace(blob, rows=2)])])
    assert percuss("audit").code == 1


def test_a_table_in_a_file_of_another_kind(ledger, percuss, folder) -> None:
    buffer = io.BytesIO()
    pl.DataFrame({"when": [1]}).with_columns(pl.col("when").cast(pl.Datetime)).write_parquet(buffer)
    from percuss.ledger.canonical import sha256_hex

    data = buffer.getvalue()
    path = ledger.place.blob(sha256_hex(data), "parquet")
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    ledger.append([study_draft([Blob("runs", sha256_hex(data), "0" * 64, 1, len(data))])])
    said = percuss("audit", "--json")
    assert said.code == 1
    (fault,) = json.loads(said.out)["proofs"][1]["faults"]
    assert path.name in fault
