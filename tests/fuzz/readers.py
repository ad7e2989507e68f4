"""What is fuzzed: functions of bytes that may refuse them with a PercussError, and do nothing else that is wrong.

Each has a few good inputs to start from. Readers of whole files get the bytes as they are. Behind a Parquet file there
is no use in changing bytes, for nearly all of them are found out by the library: rows and arrays are put together from
the bytes instead, so that what follows the library is reached.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from percuss.errors import PercussError

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "ledger"
SCRATCH = Path(tempfile.gettempdir())


def study(data: bytes) -> None:
    """A study file, resolved to the end and built again from that."""
    from percuss.study.load import load_study
    from percuss.study.study import Study

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "study.toml").write_bytes(data)
        with contextlib.suppress(PercussError):
            loaded = load_study(Path(folder))
            again = Study.from_resolved(json.loads(json.dumps(loaded.resolved())), loaded.files)
            assert again.digest == loaded.digest
            loaded.calls()


def table(data: bytes) -> None:
    """A measured table, by its first byte as CSV or Parquet."""
    from percuss.measured import parse_measured

    with contextlib.suppress(PercussError):
        parse_measured("table.parquet" if data[:1] == b"P" else "table.csv", data)


def event(data: bytes) -> None:
    """An event of a stranger: a kind, a version and a body, the hash of which is right; listed, shown, folded."""
    import polars as pl

    from percuss.kinds.table import KINDS
    from percuss.ledger.event import hash_fields
    from percuss.ledger.projections import fold, state_tables, superseded_ids, superseded_under
    from percuss.ledger.pruned import tombstones
    from percuss.ledger.rows import from_frame, to_frame
    from percuss.ledger.streams import Head, chain
    from percuss.work.log import summary

    if len(data) < 2:
        return
    kinds = sorted(KINDS)
    kind = kinds[data[0] % len(kinds)]
    body = data[2:].decode(errors="replace")
    from dataclasses import replace

    first, second = chain(_drafts(), "main", Head(0, 0, "0"), _maker(), 1)
    other = replace(second, kind=kind, version=data[1] % 4, body=body)
    events = from_frame(to_frame([first, replace(other, hash=hash_fields(other))]))
    for item in events:
        summary(item)
        with contextlib.suppress(PercussError):
            assert item.content is None or item.data
    frame = to_frame(events)
    superseded_ids(frame)
    superseded_under(frame)
    tombstones(events)
    with contextlib.suppress(PercussError):
        for made in state_tables(fold(events)).values():
            assert isinstance(made, pl.DataFrame)


def commit(data: bytes) -> None:
    """The bytes of a commit whose digest was made to fit them again, and the identity of a ledger."""
    from tests.bombs import resealed

    from percuss.ledger.files import parse_parquet
    from percuss.ledger.place import identity_of
    from percuss.ledger.rows import from_frame

    with contextlib.suppress(PercussError):
        identity_of(data, "ledger.toml")
    with contextlib.suppress(PercussError):
        from_frame(parse_parquet(Path("commit.parquet"), resealed(data)))


def anchor(data: bytes) -> None:
    """The file of an anchor."""
    from percuss.anchors.anchor import read_anchor

    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(data)
        file.flush()
        with contextlib.suppress(PercussError):
            read_anchor(Path(file.name)).document()


def contact(data: bytes) -> None:
    """A contact problem in an HDF5 file, whose arrays are put together from the bytes."""
    import h5py
    import numpy as np

    from percuss import fclib

    keys = list(PROBLEM)
    values: dict[str, Any] = dict(PROBLEM)
    for at in range(0, len(data) - 3, 4):
        key, where, number = keys[data[at] % len(keys)], data[at + 1], data[at + 2]
        changed = [*values[key]]
        if where == 255:
            changed = changed[: number % 6]
        elif where == 254:
            changed = changed * (1 + number % 4)
        elif changed:
            changed[where % len(changed)] = ODD[number % len(ODD)] if data[at + 3] % 2 else number - 128
        values[key] = changed
    with tempfile.NamedTemporaryFile(suffix=".hdf5") as file:
        with h5py.File(file.name, "w") as problem:
            for key, value in values.items():
                with contextlib.suppress(OverflowError, TypeError):
                    problem[f"fclib_local/{key}"] = np.array(value)
        with contextlib.suppress(PercussError):
            fclib.compare(fclib.read(Path(file.name)), ["nsgs"], max_iterations=5)


PROBLEM: dict[str, list[float]] = {
    "spacedim": [3], "vectors/q": [-1.0, 3.0, 0.0], "vectors/mu": [0.4], "W/m": [3], "W/n": [3], "W/nz": [3],
    "W/i": [0, 1, 2], "W/p": [0, 1, 2], "W/x": [0.5, 0.5, 0.5],
}  # fmt: skip
ODD = (2**31, -(2**31), 2**62, float("nan"), float("inf"), 1e308, 0.5, 0, -1, -2)


def _maker() -> Any:
    from percuss.ledger.event import Maker, Software

    return Maker(("percuss",), "me", "here", Software("1", "c", "core", "lock"))


def _drafts() -> list[Any]:
    from percuss.ledger.event import Draft

    note = Draft("note.added", {"text": "x"})
    return [note, Draft("note.added", {"text": ""}, None, [("about", note), ("old", note), ("design", note)])]


def _studies() -> Iterable[bytes]:
    return (path.read_bytes() for path in sorted((ROOT / "studies").glob("*/study.toml")))


def _tables() -> Iterable[bytes]:
    yield from (path.read_bytes()[:4000] for path in sorted((ROOT / "studies").glob("*/*/*.csv"))[:8])
    yield b"x1 [mm],name,n\n1.0,a,1\n,b,2\nnan,c,3\n"


def _events() -> Iterable[bytes]:
    """A body of every kind that the golden ledger has."""
    import tarfile

    from percuss.kinds.table import KINDS
    from percuss.ledger.ledger import Ledger

    kinds = sorted(KINDS)
    with tempfile.TemporaryDirectory() as folder, tarfile.open(GOLDEN / "format-2.tar.xz") as archive:
        archive.extractall(folder, filter="data")
        for item in {e.kind: e for e in Ledger.open(Path(folder) / "ledger").events()}.values():
            yield bytes([kinds.index(item.kind), item.version]) + item.body[:2000].encode()


def _commits() -> Iterable[bytes]:
    from percuss.ledger.files import parquet_bytes
    from percuss.ledger.place import identity_bytes
    from percuss.ledger.rows import to_frame
    from percuss.ledger.streams import Head, chain

    yield parquet_bytes(to_frame(chain(_drafts(), "main", Head(0, 0, "0"), _maker(), 1)))
    yield identity_bytes("01890a5d-ac96-774b-bcce-b302099a8057")


def _anchors() -> Iterable[bytes]:
    from percuss.anchors.anchor import Anchor, checkpoint_of, include

    chains = {"main": ["00" * 32, "11" * 32]}
    made = Anchor(checkpoint_of("0" * 36, chains), inclusions=(include(chains, "x", "main", 1),))
    yield json.dumps(made.document()).encode()


READERS: dict[str, tuple[Callable[[bytes], None], Callable[[], Iterable[bytes]]]] = {
    "study": (study, _studies),
    "table": (table, _tables),
    "event": (event, _events),
    "commit": (commit, _commits),
    "anchor": (anchor, _anchors),
    "contact": (contact, lambda: [bytes([1, 0, 3, 1]), bytes([8, 255, 2, 0])]),
}
