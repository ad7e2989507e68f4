"""The ledger needs no percuss to be read: polars alone, DuckDB alone, and a reader written from the format page."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

from percuss.kinds.body import Body


def _reader() -> ModuleType:
    path = Path(__file__).parent / "plain_reader.py"
    spec = importlib.util.spec_from_file_location("plain_reader", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def root(percuss, folder) -> Path:
    """Shards adopted, sealed, with loose commits after it."""
    design = percuss("design", "ishigami", "--n", 100).id
    for part in ("1/2", "2/2"):
        percuss("run", design, "--shard", part)
    percuss("adopt")
    percuss("run", design)
    percuss("note", "@last", "Größe in µm: „x“")
    percuss("seal")
    percuss("simulate", "ishigami", "--set", "x1=1", "--set", "x2=0", "--set", "x3=-1")
    assert percuss("audit").code == 0
    return folder / "ledger"


def test_reader_from_the_page_alone(root, percuss) -> None:
    reader = _reader()
    _, streams = reader.read_ledger(root)
    assert len(streams) == 3
    told = {event["id"]: event["hash"] for event in json.loads(percuss("log", "--limit", 0, "--json").out)}
    assert {row["id"]: row["hash"] for rows in streams.values() for row in rows} == told
    blobs = [blob for rows in streams.values() for row in rows for blob in row["blobs"]]
    assert blobs
    for blob in blobs:
        if blob["role"].startswith("file:"):
            data = (root / "blobs" / blob["sha256"][:2] / f"{blob['sha256']}.bin").read_bytes()
            assert hashlib.sha256(data).hexdigest() == blob["digest"]
            continue
        table = pl.read_parquet(root / "blobs" / blob["sha256"][:2] / f"{blob['sha256']}.parquet")
        assert reader.table_digest(table) == blob["digest"]
        assert table.height == blob["rows"]


def test_reader_from_the_page_sees_a_change(root) -> None:
    reader = _reader()
    path = max(root.glob("streams/main/*.parquet"))
    table = pl.read_parquet(path).with_columns(actor=pl.lit("somebody else"))
    from percuss.ledger.files import parquet_bytes

    path.write_bytes(parquet_bytes(table))
    with pytest.raises(AssertionError):
        reader.read_ledger(root)


def test_digests_of_the_page_for_every_type() -> None:
    from percuss.ledger.blobs import table_digest

    table = pl.DataFrame(
        {
            "f": pl.Series([1.5, None, -0.0], dtype=pl.Float64),
            "g": pl.Series([1.5, None, 2.0], dtype=pl.Float32),
            "i": pl.Series([-1, None, 2**62], dtype=pl.Int64),
            "k": pl.Series([-1, 0, None], dtype=pl.Int32),
            "u": pl.Series([2**64 - 1, 0, None], dtype=pl.UInt64),
            "v": pl.Series([2**32 - 1, 0, None], dtype=pl.UInt32),
            "w": pl.Series([255, 0, None], dtype=pl.UInt8),
            "b": pl.Series([True, None, False]),
            "t": pl.Series(["µ", None, ""]),
            "l": pl.Series([[1.0, None], None, []], dtype=pl.List(pl.Float64)),
            "m": pl.Series([[["a"], []], None, [None]], dtype=pl.List(pl.List(pl.String))),
        }
    )
    assert _reader().table_digest(table) == table_digest(table)
    # Minted once from the description by the plain reader; it may only change together with the format number.
    assert table_digest(table) == "8cac9bcc54701f299a9136f2a5ae9a354dd26a5848c1b36a4886d86f329cc4a4"


@dataclass(frozen=True, kw_only=True)
class Measured(Body):
    """A text and a number, to be hashed."""

    text: str
    n: float


def test_hash_of_the_first_event_of_a_fixed_ledger(monkeypatch) -> None:
    """Pinned: if this moves, old ledgers no longer verify."""
    from percuss.kinds.table import KINDS
    from percuss.ledger.event import Blob, Cost, Draft, Maker, Software, StudyRef
    from percuss.ledger.place import Place
    from percuss.ledger.streams import Head, chain

    monkeypatch.setitem(KINDS, "note.added", replace(KINDS["note.added"], body=Measured, version=1))
    place = Place(Path("ledger"), "01890a5d-ac96-774b-bcce-b302099a8057")
    draft = Draft(
        "note.added",
        {"text": "Größe", "n": 1.5},
        StudyRef("s", "d" * 64),
        blobs=[Blob("runs", "a" * 64, "b" * 64, 3, 99)],
        seed=7,
        reason="why",
        outcome="failed",
        cost=Cost(1, 2, 3),
        id="01890a5d-ac96-774b-bcce-b302099a8058",
    )
    maker = Maker(("percuss", "note"), "me", "here", Software("1", "c", "core", "lock"))
    (event,) = chain([draft], "main", Head(0, 0, place.genesis("main")), maker, 1_700_000_000_000_000)
    assert event.hash == "48bc70341ff8bcc6d8590884740d5b69ce732271c7af5d3b2f3a88b87d452dda"


def test_polars_alone(root) -> None:
    events = pl.concat(
        [
            pl.read_parquet(root / "sealed" / "main" / "*.parquet"),
            pl.read_parquet(root / "streams" / "main" / "*.parquet"),
        ]
    )
    assert events["seq"].to_list() == list(range(1, events.height + 1))
    runs = (
        pl.scan_parquet(root / "streams" / "shard-*" / "*.parquet").filter(pl.col("kind") == "runs.completed").collect()
    )
    samples = [sample for body in runs["body"] for sample in json.loads(body)["samples"]]
    assert sorted(samples) == list(range(100))
    blob = runs["blobs"][0][0]
    table = pl.read_parquet(root / "blobs" / blob["sha256"][:2] / f"{blob['sha256']}.parquet")
    assert table.columns == ["sample", "y"]


def test_duckdb_alone(root) -> None:
    duckdb = pytest.importorskip("duckdb", reason="the extra `test` has DuckDB")
    base = duckdb.connect()

    def ask(question: str) -> list[tuple]:
        return base.execute(question).fetchall()

    main = f"read_parquet(['{root}/sealed/main/*.parquet', '{root}/streams/main/*.parquet'])"
    ((count, top),) = ask(f"select count(*), max(seq) from {main}")
    assert count == top > 5
    shards = f"read_parquet('{root}/streams/shard-*/*.parquet')"
    assert ask(f"select distinct kind from {shards} where study.name = 'ishigami'") == [("runs.completed",)]
    ((sha256, actor, version, argv),) = ask(
        f"select blobs[1].sha256, actor, software.version, argv from {shards} limit 1"
    )
    assert actor
    assert version
    assert argv[:2] == ["percuss", "run"]
    blob = f"'{root}/blobs/{sha256[:2]}/{sha256}.parquet'"
    assert [row[0] for row in ask(f"describe select * from {blob}")] == ["sample", "y"]
    assert ask(f"select json_extract_string(body, '$.text') from {main} where kind = 'note.added'") == [
        ("Größe in µm: „x“",)
    ]
