"""The event: one row of the ledger. Fields, order and hash are those of `docs/ledger-format.md`.

The call that makes events is open while it lasts: references to events (`@last`, prefixes, `-`) are recorded as the ids
they stood for, which the ledger notes when it looks them up. So nobody has to guess from the words of a call what it
was about.
"""

from __future__ import annotations

import json
import os
import time
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

from percuss.errors import InputError, LedgerError
from percuss.kinds.body import Body
from percuss.kinds.table import body_of, check_body, kind_of, plain, upcast
from percuss.ledger.canonical import Value, canonical_json, encode, sha256_hex

Status = Literal["ok", "failed", "interrupted"]
Kept = TypeVar("Kept")
# Kinds whose bodies list runs.
RUNS = ("runs.completed", "runs.failed")
# Role prefix of payloads that are kept as they came, byte for byte: their two digests are equal.
FILE_ROLE = "file:"
# The role in which the record of its environment is among the payloads of an event.
RECORD = f"{FILE_ROLE}environment"


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


@dataclass(frozen=True, slots=True)
class Call:
    """The call that an event was made by, shared by all its events: `interface` is `command` or `python`.

    `arguments` is a JSON list of [name, value] in the order of the operation's definition, with defaults filled in and
    events by their ids: options of commands by their long names, with dashes, the others without.
    """

    id: str
    interface: str
    operation: str
    arguments: str


@dataclass(frozen=True, slots=True)
class EnvironmentRef:
    """Which record of the ledger says in what environment an event was made: SHA-256 of its bytes, and how many."""

    sha256: str
    bytes: int


@dataclass(frozen=True)
class Event:
    """One immutable entry. `hash` covers every other field, `prev` is the hash of the event before it.

    Events of format 1 have no `call`, `cause` and `environment`. `cause` is the event because of which this one was
    appended, where the call did not ask for it by itself.
    """

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
    call: Call | None = None
    cause: str | None = None
    environment: EnvironmentRef | None = None

    @property
    def data(self) -> dict[str, Any]:
        """The body as plain data, in the newest version of its kind: for showing it. `Body.of` reads it."""
        return self._kept("data", self._read_data)

    def _kept(self, name: str, read: Callable[[], Kept]) -> Kept:
        """What was read, once for all; of runs each time again, since a ledger may have millions of them."""
        if self.kind in RUNS:
            return read()
        known = self.__dict__.setdefault("_read", {})
        if name not in known:
            known[name] = read()
        kept: Kept = known[name]
        return kept

    def _read_data(self) -> dict[str, Any]:
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

    @property
    def content(self) -> Body | None:
        """The body as the type of its kind; None for kinds and versions this percuss does not know.

        A ledger may come from a stranger: what does not fit is a LedgerError.
        """
        return self._kept("content", self._read_content)

    def _read_content(self) -> Body | None:
        try:
            return body_of(self.kind, self.version, self.data)
        except ValueError as fault:
            raise LedgerError(f"event {self.id} ({self.kind}): its body does not fit its kind: {fault}") from None

    def blob(self, role: str) -> Blob | None:
        """The payload in this role, or None."""
        return next((blob for blob in self.blobs if blob.role == role), None)

    @property
    def payloads(self) -> tuple[Blob, ...]:
        """All that is stored of an event outside its row: its payloads, and the record of its environment."""
        record = self.environment
        if record is None:
            return self.blobs
        return *self.blobs, Blob(RECORD, record.sha256, record.sha256, 0, record.bytes)

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


class _Packed:
    """The body of an event, kept packed where it is long: it lists every run, and a ledger may have millions."""

    LONG, NAME = 4096, "_body"

    def __get__(self, event: Event | None, _: type[Event]) -> str:
        if event is None:
            raise AttributeError
        kept = event.__dict__[self.NAME]
        return zlib.decompress(kept).decode(errors="surrogatepass") if isinstance(kept, bytes) else kept

    def __set__(self, event: Event, text: str) -> None:
        event.__dict__[self.NAME] = (
            zlib.compress(text.encode(errors="surrogatepass"), 1) if len(text) > self.LONG else text
        )


Event.body = _Packed()  # type: ignore[assignment]


def hash_fields(event: Event) -> str:
    """SHA-256 over the encoded list of all fields of an event but `hash`, in order.

    The list of an event of format 1 ends with `prev`, so that no event of one format has the hash of one of the other.
    """
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
    if call := event.call:
        record = event.environment
        fields += [
            (call.id, call.interface, call.operation, call.arguments),
            event.cause,
            None if record is None else (record.sha256, record.bytes),
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
    cause: Event | Draft | None = None
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


class Calling(Protocol):
    """A call while it lasts (`percuss.ledger.event`)."""

    def note(self, reference: str, id: str) -> None:
        """Remember what a reference stood for."""

    def closed(self) -> Call:
        """The call as events carry it."""


@dataclass(frozen=True)
class Maker:
    """Who makes events, and with what: part of every event, information only.

    Without a call and an environment (the bytes of its record) the events are of format 1. `private`: who, where and by
    which words is kept apart from the events.
    """

    argv: tuple[str, ...]
    actor: str
    host: str
    software: Software
    call: Calling | None = None
    environment: Callable[[], bytes] | None = None
    private: bool = False


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


Argument = tuple[str, object]
# Arguments by which results are computed again, and which no body has.
REPEATED = ("n", "method", "case")


@dataclass
class OpenCall:
    """A call that makes events. `words` are names of arguments that are free text and never a reference."""

    interface: str
    operation: str
    arguments: Sequence[Argument]
    words: Collection[str] = ()
    id: str = field(default_factory=new_id)
    resolved: dict[str, str] = field(default_factory=dict)

    def note(self, reference: str, id: str) -> None:
        """Remember what a reference stood for: the first time counts, `@last` moves on."""
        self.resolved.setdefault(reference, id)

    def closed(self) -> Call:
        """The call as events carry it."""
        # What stdin gave for `-` may be a prefix itself.
        ids = {reference: self.resolved.get(id, id) for reference, id in self.resolved.items()}
        listed = [(_text(name), _plain(value, {} if name in self.words else ids)) for name, value in self.arguments]
        text = json.dumps(listed, separators=(",", ":"), ensure_ascii=False)
        return Call(self.id, self.interface, self.operation, text)


def arguments_of(call: Call) -> list[Argument]:
    """The arguments of a call that was read; a stranger's may be anything."""
    try:
        listed = json.loads(call.arguments)
        return [(str(name), value) for name, value in listed]
    except (ValueError, TypeError, RecursionError):
        return []


def asked(event: Event, name: str) -> object:
    """The value of one of the arguments `REPEATED` of the call that made an event; None: not known."""
    assert name in REPEATED
    arguments = dict(arguments_of(event.call)) if event.call else {}
    return arguments.get(name, arguments.get(f"--{name.replace('_', '-')}"))


def texts_of(event: Event) -> list[str]:
    """All texts among the arguments of the call that made an event; of format 1 the words after its name."""
    if event.call is None:
        return list(event.argv[1:])
    values = [value for _, value in arguments_of(event.call)]
    return [text for value in values for text in (value if isinstance(value, list) else [value]) if type(text) is str]


def _plain(value: object, resolved: dict[str, str]) -> object:
    """A value as JSON has it. Numbers that JSON does not have are written as text."""
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if value - value == 0 else repr(value)
        case str():
            return resolved.get(value) or _text(value)
        case dict():
            return {_text(str(key)): _plain(item, resolved) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_plain(item, resolved) for item in value]
    return resolved.get(str(value)) or _text(str(value))


def _text(text: str) -> str:
    """A file name may hold bytes that are no text; events are text throughout."""
    return text.encode(errors="surrogateescape").decode(errors="replace")
