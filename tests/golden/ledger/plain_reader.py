"""A reader of ledgers written from docs/ledger-format.md alone: polars for Parquet, hashlib and struct for the rest.

It imports nothing of percuss, on purpose: it shows that the page says enough.
"""

from __future__ import annotations

import hashlib
import json
import struct
import tomllib
from pathlib import Path

import polars as pl

# fmt: off
HASHED = [
    "stream", "seq", "id", "kind", "version", "at", "argv", "actor", "host", "study", "inputs", "blobs", "software",
    "seed", "status", "reason", "cost", "body", "prev",
]
SINCE_2 = ["call", "cause", "environment"]
TYPES = {
    pl.Float64: ("f64", "d"), pl.Float32: ("f32", "f"), pl.Int64: ("i64", "q"), pl.Int32: ("i32", "i"),
    pl.UInt64: ("u64", "Q"), pl.UInt32: ("u32", "I"), pl.UInt8: ("u8", "B"), pl.Boolean: ("bool", "?"),
}
# fmt: on


def read_ledger(root: Path) -> tuple[str, dict[str, list[dict]]]:
    """The id of a ledger and the events of its streams, after checking files, numbers and chains."""
    text = (root / "ledger.toml").read_bytes()
    table = tomllib.loads(text.decode())
    assert table["format"] in (1, 2)
    assert hashlib.sha256(text[: text.rindex(b"sha256 =")]).hexdigest() == table["sha256"]
    names = {p.name for folder in ("streams", "sealed") for p in root.glob(f"{folder}/*")}
    return table["id"], {name: read_stream(root, table["id"], name) for name in sorted(names)}


def read_stream(root: Path, ledger: str, stream: str) -> list[dict]:
    """The events of one stream."""
    loose = sorted(root.glob(f"streams/{stream}/*.parquet"))
    sealed = segments(root / "sealed" / stream)
    last = int(sealed[-1].stem.split("-")[1]) if sealed else 0
    rows: list[dict] = []
    prev = hashlib.sha256(encode(["percuss ledger", ledger, stream])).hexdigest()
    for path in [*sealed, *(p for p in loose if int(p.stem) > last)]:
        check_file(path)
        first, _, end = path.stem.partition("-")
        assert pl.read_parquet(path).height >= int(end or first) + 1 - int(first)
        for row in pl.read_parquet(path).with_columns(pl.col("at").dt.epoch("us")).to_dicts():
            rows.append(row)
            assert (row["stream"], row["seq"], row["prev"]) == (stream, len(rows), prev)
            fields = {**row, **row["outcome"]}
            names = HASHED + SINCE_2 if row.get("call") else HASHED
            assert hashlib.sha256(encode([as_list(fields[name]) for name in names])).hexdigest() == row["hash"]
            if row.get("call"):
                record = (
                    root / "blobs" / row["environment"]["sha256"][:2] / f"{row['environment']['sha256']}.bin"
                ).read_bytes()
                assert hashlib.sha256(record).hexdigest() == row["environment"]["sha256"]
                assert len(record) == row["environment"]["bytes"]
                assert {"python", "packages", "blas", "cpu", "os"} <= json.loads(record).keys()
            prev = row["hash"]
    for path in (p for p in loose if int(p.stem) <= last):
        assert pl.read_parquet(path)["seq"].max() <= len(rows)
    return rows


def check_payloads(root: Path, main: list[dict]) -> int:
    """Every payload of the events of main is there, or an event after it says that it was pruned; how many were."""
    graves = set()
    for row in main:
        if row["kind"] == "payloads.pruned":
            named = {item["id"] for item in row["inputs"] if item["role"] == "pruned"}
            payloads = json.loads(row["body"])["payloads"]
            graves |= {(p["event"], p["role"], p["sha256"]) for p in payloads if p["event"] in named}
    pruned = 0
    for row in main:
        for blob in row["blobs"]:
            suffix = "bin" if blob["role"].startswith("file:") else "parquet"
            path = root / "blobs" / blob["sha256"][:2] / f"{blob['sha256']}.{suffix}"
            if not path.exists():
                assert (row["id"], blob["role"], blob["sha256"]) in graves, path
                pruned += 1
            else:
                assert hashlib.sha256(path.read_bytes()).hexdigest() == blob["sha256"]
    return pruned


def segments(folder: Path) -> list[Path]:
    """Of the segments of a stream those that count: from the last one back, each ends before the next begins."""
    kept: list[Path] = []
    begin = None
    spans = [(*map(int, path.stem.split("-")), path) for path in folder.glob("*.parquet")]
    for first, last, path in sorted(spans, key=lambda span: (-span[1], span[0])):
        if begin is None or last < begin:
            kept.insert(0, path)
            begin = first
    return kept


def check_file(path: Path) -> None:
    """The digest a Parquet file carries of itself."""
    data = path.read_bytes()
    mark = data.rindex(b"percuss.sha256") + 14
    assert data[mark : mark + 2] == b"\x18\x40"
    digits = data[mark + 2 : mark + 66]
    blank = data[: mark + 2] + b"0" * 64 + data[mark + 66 :]
    assert hashlib.sha256(blank).hexdigest().encode() == digits


def as_list(value: object) -> object:
    """Structs as lists of their fields, in order."""
    if isinstance(value, dict):
        return [as_list(item) for item in value.values()]
    if isinstance(value, list):
        return [as_list(item) for item in value]
    return value


def encode(value: object) -> bytes:
    """`E` of the page."""
    if value is None:
        return b"n"
    if isinstance(value, list):
        return b"l" + struct.pack("<Q", len(value)) + b"".join(encode(item) for item in value)
    tag, data = (b"i", str(value).encode()) if isinstance(value, int) else (b"s", str(value).encode())
    return tag + struct.pack("<Q", len(data)) + data


def table_digest(table: pl.DataFrame) -> str:
    """The digest of the logical content of a payload."""
    data = struct.pack("<Q", table.width)
    for column in table.get_columns():
        name = column.name.encode()
        data += struct.pack("<Q", len(name)) + name + column_bytes(column.dtype, column.to_list())
    return hashlib.sha256(data).hexdigest()


def column_bytes(dtype: pl.DataType, values: list) -> bytes:
    """`S` of the page."""
    size = struct.pack("<Q", len(values)) + bytes(value is None for value in values)
    if isinstance(dtype, pl.List):
        lists = [value or [] for value in values]
        lengths = b"".join(struct.pack("<Q", len(value)) for value in lists)
        inner = column_bytes(dtype.inner, [item for value in lists for item in value])
        return struct.pack("<Q", 4) + b"list" + size + lengths + inner
    if dtype == pl.String:
        texts = [(value or "").encode() for value in values]
        lengths = b"".join(struct.pack("<Q", len(text)) for text in texts)
        return struct.pack("<Q", 4) + b"text" + size + lengths + b"".join(texts)
    name, code = TYPES[dtype.base_type()]
    packed = struct.pack(f"<{len(values)}{code}", *(0 if value is None else value for value in values))
    return struct.pack("<Q", len(name)) + name.encode() + size + packed
