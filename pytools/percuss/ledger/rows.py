"""Events as rows of Parquet: the columns of a commit, and events to and from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from percuss.errors import LedgerError
from percuss.ledger.event import Blob, Call, Cost, EnvironmentRef, Event, Input, Software, StudyRef
from percuss.ledger.files import parquet_bytes
from percuss.ledger.place import FORMAT

if TYPE_CHECKING:
    import polars as pl

Part = TypeVar("Part")
ID = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
# What a calendar of four-digit years can show.
ANY_TIME = (datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC))
# Columns that are new in format 2, empty in events of format 1.
SINCE_2 = ("call", "cause", "environment")
MAY_BE_EMPTY = ("study", "seed", *SINCE_2)


@cache
def parquet_schema(format: int = FORMAT) -> pl.Schema:
    """Columns of a commit file of a ledger of this format."""
    import polars as pl

    text, number = pl.String(), pl.Int64()
    columns = pl.Schema(
        {
            "stream": text,
            "seq": number,
            "id": text,
            "kind": text,
            "version": pl.Int32(),
            "at": pl.Datetime("us", "UTC"),
            "argv": pl.List(text),
            "actor": text,
            "host": text,
            "study": pl.Struct({"name": text, "digest": text}),
            "inputs": pl.List(pl.Struct({"role": text, "id": text, "hash": text})),
            "blobs": pl.List(
                pl.Struct({"role": text, "sha256": text, "digest": text, "rows": number, "bytes": number})
            ),
            "software": pl.Struct({"version": text, "commit": text, "core": text, "lock": text}),
            "seed": number,
            "outcome": pl.Struct({"status": text, "reason": text}),
            "cost": pl.Struct({"wall_us": number, "cpu_us": number, "peak_bytes": number}),
            "body": text,
            "prev": text,
            "hash": text,
            "call": pl.Struct({"id": text, "interface": text, "operation": text, "arguments": text}),
            "cause": text,
            "environment": pl.Struct({"sha256": text, "bytes": number}),
        }
    )
    return pl.Schema({name: type for name, type in columns.items() if format > 1 or name not in SINCE_2})


def columns_of(format: int, columns: Sequence[str] | None) -> list[str] | None:
    """Of these columns those that a commit file of this format has."""
    return None if columns is None else [name for name in columns if format > 1 or name not in SINCE_2]


def widened(frame: pl.DataFrame, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Rows of any format with the columns of the newest: what an older one does not have is empty."""
    import polars as pl

    schema = parquet_schema()
    missing = [name for name in columns or SINCE_2 if name in SINCE_2 and name not in frame.columns]
    wide = frame.with_columns(pl.lit(None, schema[name]).alias(name) for name in missing)
    return wide if columns is None else wide.select(columns)


def commit_bytes(frame: pl.DataFrame, format: int) -> bytes:
    """Rows as a self-checking file of a ledger of this format."""
    return parquet_bytes(frame.select(parquet_schema(format).names()))


def to_frame(events: Sequence[Event]) -> pl.DataFrame:
    """Events as the rows of a commit file."""
    import polars as pl

    rows = [
        {
            "stream": event.stream,
            "seq": event.seq,
            "id": event.id,
            "kind": event.kind,
            "version": event.version,
            "at": event.at_us,
            "argv": list(event.argv),
            "actor": event.actor,
            "host": event.host,
            "study": event.study and {"name": event.study.name, "digest": event.study.digest},
            "inputs": [{"role": i.role, "id": i.id, "hash": i.hash} for i in event.inputs],
            "blobs": [
                {"role": b.role, "sha256": b.sha256, "digest": b.digest, "rows": b.rows, "bytes": b.bytes}
                for b in event.blobs
            ],
            "software": {
                "version": event.software.version,
                "commit": event.software.commit,
                "core": event.software.core,
                "lock": event.software.lock,
            },
            "seed": event.seed,
            "outcome": {"status": event.outcome, "reason": event.reason},
            "cost": {
                "wall_us": event.cost.wall_us,
                "cpu_us": event.cost.cpu_us,
                "peak_bytes": event.cost.peak_bytes,
            },
            "body": event.body,
            "prev": event.prev,
            "hash": event.hash,
            "call": event.call and {name: getattr(event.call, name) for name in Call.__slots__},
            "cause": event.cause,
            "environment": event.environment and {"sha256": event.environment.sha256, "bytes": event.environment.bytes},
        }
        for event in events
    ]
    return pl.from_dicts(rows, schema=parquet_schema())


def from_frame(frame: pl.DataFrame) -> list[Event]:
    """The rows of a commit file as events. Wrong columns or empty fields are a LedgerError of the caller's file."""
    import polars as pl

    if dict(frame.schema) == dict(parquet_schema(1)):
        frame = widened(frame)
    if dict(frame.schema) != dict(parquet_schema()):
        raise LedgerError("its columns are not those of a commit")
    if any(frame[name].null_count() for name in frame.columns if name not in MAY_BE_EMPTY):
        raise LedgerError("a row is not an event (a field is empty)")
    if not frame["at"].is_between(*ANY_TIME).all():
        raise LedgerError("a row is not an event (its time is none of a calendar)")
    if not frame["id"].str.contains(ID).all():  # it becomes part of names of files
        raise LedgerError("a row is not an event (its id is no UUID)")
    frame = frame.with_columns(pl.col("at").dt.epoch("us").alias("at"))
    shared: dict[object, Any] = {}
    try:
        return [_event(row, shared) for row in frame.iter_rows(named=True)]
    except (TypeError, KeyError, AttributeError) as fault:
        raise LedgerError(f"a row is not an event ({fault})") from fault


def _event(row: dict[str, Any], shared: dict[object, Any]) -> Event:
    """A row as an event. Parts that many events have in common are kept once, in `shared`."""
    if (row["call"] is None) != (row["environment"] is None) or (row["cause"] is not None and row["call"] is None):
        raise TypeError("a field is empty")
    return Event(
        stream=_once(row["stream"], shared),
        seq=row["seq"],
        id=row["id"],
        kind=_once(row["kind"], shared),
        version=row["version"],
        at_us=row["at"],
        argv=_once(tuple(row["argv"]), shared),
        actor=_once(row["actor"], shared),
        host=_once(row["host"], shared),
        study=_shared(StudyRef, row["study"], shared) if row["study"] else None,
        inputs=tuple(_shared(Input, item, shared) for item in row["inputs"]),
        blobs=tuple(_full(Blob, item) for item in row["blobs"]),
        software=_shared(Software, row["software"], shared),
        seed=row["seed"],
        outcome=_once(row["outcome"]["status"], shared),
        reason=row["outcome"]["reason"],
        cost=_shared(Cost, row["cost"], shared),
        body=row["body"],
        prev=_once(row["prev"], shared),
        hash=_once(row["hash"], shared),
        call=_shared(Call, row["call"], shared) if row["call"] else None,
        cause=row["cause"],
        environment=_shared(EnvironmentRef, row["environment"], shared) if row["environment"] else None,
    )


def _once(value: Part, shared: dict[object, Any]) -> Part:
    """The first value that was equal to this one."""
    once: Part = shared.setdefault(value, value)
    return once


def _shared(make: Callable[..., Part], fields: dict[str, object], shared: dict[object, Any]) -> Part:
    """The same as `_full`, made once for all events that have the same."""
    key = (make, *fields.values())
    if key not in shared:
        shared[key] = _full(make, fields)
    made: Part = shared[key]
    return made


def _full(make: Callable[..., Part], fields: dict[str, object]) -> Part:
    """A part of an event from its struct, of which no field may be empty."""
    if None in fields.values():
        raise TypeError("a field is empty")
    return make(**fields)
