"""The event: one row of the ledger. Fields, order and hash are those of `docs/ledger-format.md`."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from percuss.errors import InputError, LedgerError
from percuss.kinds.body import Body, plain
from percuss.kinds.table import body_of, check_body, kind_of, upcast
from percuss.ledger.canonical import Value, canonical_json, encode, sha256_hex

if TYPE_CHECKING:
    import polars as pl

Status = Literal["ok", "failed", "interrupted"]
Part = TypeVar("Part")
# What a calendar of four-digit years can show.
ANY_TIME = (datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC))


@dataclass(frozen=True, slots=True)
class StudyRef:
    """Which study an event belongs to: its name and the digest of its resolved file."""

    name: str
    digest: str


@dataclass(frozen=True, slots=True)
class Input:
    """One edge of the lineage graph: in which role which event was used, and what its hash was."""

    role: str
    id: str
    hash: str


@dataclass(frozen=True, slots=True)
class Blob:
    """A payload: SHA-256 of the stored bytes (tampering), digest of the logical content (repeatability)."""

    role: str
    sha256: str
    digest: str
    rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Software:
    """With what the event was made: package version, source commit, build of the core, digest of Cargo.lock."""

    version: str
    commit: str
    core: str
    lock: str


@dataclass(frozen=True, slots=True)
class Cost:
    """What the work cost: wall and processor time in microseconds, peak memory in bytes."""

    wall_us: int
    cpu_us: int
    peak_bytes: int


NO_COST = Cost(0, 0, 0)


@dataclass(frozen=True)
class Event:
    """One immutable entry. `hash` covers every field before it, `prev` is the hash of the event before it."""

    stream: str
    seq: int
    id: str
    kind: str
    version: int
    at_us: int
    argv: tuple[str, ...]
    actor: str
    host: str
    study: StudyRef | None
    inputs: tuple[Input, ...]
    blobs: tuple[Blob, ...]
    software: Software
    seed: int | None
    outcome: Status
    reason: str | None
    cost: Cost
    body: str
    prev: str
    hash: str

    @cached_property
    def data(self) -> dict[str, Any]:
        """The body as plain data, in the newest version of its kind: for showing it. `Body.of` reads it."""
        try:
            data = json.loads(self.body)
        except (ValueError, RecursionError) as fault:
            raise LedgerError(f"event {self.id}: its body is not readable JSON ({fault})") from fault
        if not isinstance(data, dict):
            raise LedgerError(f"event {self.id}: its body is not a JSON object")
        try:
            return upcast(self.kind, self.version, data)
        except (KeyError, TypeError, AttributeError, ValueError) as fault:
            raise LedgerError(f"event {self.id} ({self.kind}): its body cannot be read ({fault!r})") from fault

    @cached_property
    def content(self) -> Body | None:
        """The body as the type of its kind; None for kinds and versions this percuss does not know.

        A ledger may come from a stranger: what does not fit is a LedgerError.
        """
        try:
            return body_of(self.kind, self.version, self.data)
        except ValueError as fault:
            raise LedgerError(f"event {self.id} ({self.kind}): its body does not fit its kind: {fault}") from None

    def blob(self, role: str) -> Blob | None:
        """The payload in this role, or None."""
        return next((blob for blob in self.blobs if blob.role == role), None)

    def inputs_as(self, *roles: str) -> list[Input]:
        """The inputs in these roles, in order."""
        return [item for item in self.inputs if item.role in roles]

    def input(self, role: str) -> str:
        """The id of the one input in this role."""
        inputs = self.inputs_as(role)
        if len(inputs) != 1:
            raise LedgerError(f"event {self.id} ({self.kind}) has {len(inputs)} inputs in the role {role}, not one")
        return inputs[0].id

    def computed_hash(self) -> str:
        """The hash these fields ought to have."""
        return hash_fields(self)


def hash_fields(event: Event) -> str:
    """SHA-256 over the encoded list of all fields of an event but `hash`, in order."""
    study = event.study
    fields: list[Value] = [
        event.stream,
        event.seq,
        event.id,
        event.kind,
        event.version,
        event.at_us,
        event.argv,
        event.actor,
        event.host,
        None if study is None else (study.name, study.digest),
        [(item.role, item.id, item.hash) for item in event.inputs],
        [(blob.role, blob.sha256, blob.digest, blob.rows, blob.bytes) for blob in event.blobs],
        (event.software.version, event.software.commit, event.software.core, event.software.lock),
        event.seed,
        event.outcome,
        event.reason,
        (event.cost.wall_us, event.cost.cpu_us, event.cost.peak_bytes),
        event.body,
        event.prev,
    ]
    return sha256_hex(encode(fields))


@dataclass(eq=False)
class Draft:
    """An event about to be appended: what the command knows. Place, time and hash come from the ledger.

    Inputs name events of the ledger or other drafts of the same commit. A body that does not fit its kind is refused.
    """

    kind: str
    body: Body | Mapping[str, object]
    study: StudyRef | None = None
    inputs: Sequence[tuple[str, Event | Draft]] = ()
    blobs: Sequence[Blob] = ()
    seed: int | None = None
    outcome: Status = "ok"
    reason: str | None = None
    cost: Cost = NO_COST
    id: str = field(default_factory=lambda: new_id())
    text: str = field(init=False)

    def __post_init__(self) -> None:
        if kind_of(self.kind) is None:
            raise InputError(f"{self.kind}: is no kind of event")
        self.text = canonical_json(plain(self.body))
        try:
            self.text.encode()
        except UnicodeEncodeError:
            raise InputError(f"{self.kind}: holds text that is not Unicode: {ascii(self.text)[:80]}") from None
        try:
            # What will be read is what is checked.
            check_body(self.kind, json.loads(self.text))
        except ValueError as fault:
            raise InputError(f"{self.kind}: a body that does not fit its kind: {fault}") from None


@dataclass(frozen=True)
class Maker:
    """Who makes events, and with what: part of every event, information only."""

    argv: tuple[str, ...]
    actor: str
    host: str
    software: Software


def new_id() -> str:
    """A UUID of version 7 (RFC 9562): sorts by time, and any unique prefix names it.

    >>> new_id()[14]
    '7'
    """
    stamp = time.time_ns() // 1_000_000
    raw = bytearray(stamp.to_bytes(6, "big") + os.urandom(10))
    raw[6] = 0x70 | raw[6] & 0x0F
    raw[8] = 0x80 | raw[8] & 0x3F
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


@cache
def parquet_schema() -> pl.Schema:
    """Columns of a commit file."""
    import polars as pl

    text, number = pl.String(), pl.Int64()
    return pl.Schema(
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
        }
    )


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
        }
        for event in events
    ]
    return pl.from_dicts(rows, schema=parquet_schema())


def from_frame(frame: pl.DataFrame) -> list[Event]:
    """The rows of a commit file as events. Wrong columns or empty fields are a LedgerError of the caller's file."""
    import polars as pl

    if dict(frame.schema) != dict(parquet_schema()):
        raise LedgerError("its columns are not those of a commit")
    if any(frame[name].null_count() for name in frame.columns if name not in ("study", "seed")):
        raise LedgerError("a row is not an event (a field is empty)")
    if not frame["at"].is_between(*ANY_TIME).all():
        raise LedgerError("a row is not an event (its time is none of a calendar)")
    frame = frame.with_columns(pl.col("at").dt.epoch("us").alias("at"))
    try:
        return [
            Event(
                stream=row["stream"],
                seq=row["seq"],
                id=row["id"],
                kind=row["kind"],
                version=row["version"],
                at_us=row["at"],
                argv=tuple(row["argv"]),
                actor=row["actor"],
                host=row["host"],
                study=_full(StudyRef, row["study"]) if row["study"] else None,
                inputs=tuple(_full(Input, item) for item in row["inputs"]),
                blobs=tuple(_full(Blob, item) for item in row["blobs"]),
                software=_full(Software, row["software"]),
                seed=row["seed"],
                outcome=row["outcome"]["status"],
                reason=row["outcome"]["reason"],
                cost=_full(Cost, row["cost"]),
                body=row["body"],
                prev=row["prev"],
                hash=row["hash"],
            )
            for row in frame.iter_rows(named=True)
        ]
    except (TypeError, KeyError, AttributeError) as fault:
        raise LedgerError(f"a row is not an event ({fault})") from fault


def _full(make: Callable[..., Part], fields: dict[str, object]) -> Part:
    """A part of an event from its struct, of which no field may be empty."""
    if None in fields.values():
        raise TypeError("a field is empty")
    return make(**fields)
