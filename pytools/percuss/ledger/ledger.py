"""The ledger as commands see it: append drafts, read events, find them by id, store and fetch payloads."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from percuss.errors import InputError, LedgerError, PrunedError
from percuss.kinds.table import all_kinds, is_known
from percuss.ledger import blobs, pruned
from percuss.ledger.event import FILE_ROLE, Blob, Calling, Draft, Event, Maker
from percuss.ledger.files import exists
from percuss.ledger.place import Place, is_stream_name, open_place
from percuss.ledger.private_calls import note_of, private_words, veiled
from percuss.ledger.rows import from_frame, to_frame
from percuss.ledger.seal import seal_stream
from percuss.ledger.streams import (
    Head,
    Part,
    append_commit,
    list_stream,
    make_names_last,
    read_head,
    read_stream,
    stream_names,
)
from percuss.ledger.words import WORDS
from percuss.plugins import loaded
from percuss.spelling import did_you_mean

if TYPE_CHECKING:
    import polars as pl

MAIN = "main"
# A writer that finds more loose commits than this in main packs them first; it looks once in so many commits.
LOOSE_BEFORE_SEALING = 512
LOOK_EVERY = 64
# The rows of so many commits are kept as they were appended: each piece of a frame costs more than the rows in it.
PIECES = 64
# What every record of an environment has, each an object.
ENVIRONMENT = ("python", "packages", "blas", "cpu", "os")
# Ours have a thousand; what a stranger claims to be one may be a file as large as a disk, or full of holes.
LARGEST_RECORD_BYTES = 1024 * 1024


class Ledger:
    """An open ledger. Readers never lock; what was read is remembered, with what this object appends, until `refresh`.

    What is visible is the stream `main` with every adopted stream in the place of its adoption.
    """

    def __init__(self, place: Place, maker: Maker | None = None) -> None:
        self.place = place
        self._maker = maker
        self._heads: dict[str, Head] = {}
        self._frame: pl.DataFrame | None = None
        self._environment_kept = False
        # Of private calls: what is kept apart, and whether the note on it was appended.
        self._private: dict[str, bytes] = {}
        self._told: set[str | None] = set()

    @classmethod
    def open(cls, root: Path | str, maker: Maker | None = None, *, create: bool = False) -> Ledger:
        """Open the ledger in a folder. Without a maker it can only be read."""
        return cls(open_place(Path(root), create=create), maker)

    @property
    def core(self) -> str:
        """The build of the core that makes events here; empty for a ledger that is only read."""
        return self._maker.software.core if self._maker else ""

    def append(self, drafts: Sequence[Draft], stream: str = MAIN) -> list[Event]:
        """Append events in one commit: all of them, or an error and none.

        Of a private call the first commit begins with a note on who that is.
        """
        if self._maker is None:
            raise LedgerError(f"{self.place.root}: was opened for reading")
        if stream == MAIN:
            self._seal_many()
        maker = _with_plugins(self._maker)
        private = maker.call.closed().id if maker.private and maker.call and drafts else None
        if private:
            words = self._private.setdefault(private, private_words(maker))
            maker = veiled(maker, words, drafts)
            if private not in self._told:
                drafts = [Draft("note.added", note_of(maker), blobs=[self.put_file(WORDS, words)]), *drafts]
        self._put_environment(maker)
        events, head = append_commit(self.place, stream, drafts, maker, self._heads.get(stream))
        self._heads[stream] = head
        self._told |= {private}
        # What we appended we know; an adoption puts others' events in between, and is read again.
        plain = stream == MAIN and all(event.kind != "stream.adopted" for event in events)
        self._frame = _longer(self._frame, events) if self._frame is not None and plain else None
        return events

    def begin(self, call: Calling | None) -> Calling | None:
        """What is appended from now on is of this call; the call it was before."""
        if self._maker is None:
            return None
        before, self._maker = self._maker.call, replace(self._maker, call=call)
        return before

    def _put_environment(self, maker: Maker) -> None:
        """Store the record of the environment, once in a process: the events that follow refer to it."""
        if maker.call and maker.environment and self.place.format > 1 and not self._environment_kept:
            blobs.put_file(self.place, "environment", maker.environment())
            self._environment_kept = True

    def environment(self, event: Event) -> dict[str, Any] | None:
        """In what environment an event was made; None for events of format 1."""
        return read_environment(self.place, event)

    def _seal_many(self) -> None:
        """Pack the loose commits of main if they are many: before appending, so that what was asked for comes last.

        Shards are left as they are: they are adopted from copies of the ledger, whose main must not move on.
        """
        head = self._heads.get(MAIN)
        if (head and head.commit % LOOK_EVERY) or len(list_stream(self.place, MAIN).loose) <= LOOSE_BEFORE_SEALING:
            return
        # Somebody else may be at it, or done with it; and what is wrong with the ledger is for the append to tell.
        with contextlib.suppress(LedgerError, InputError):
            seal_stream(self, MAIN)

    def frame(self, columns: list[str] | None = None, *, cached: bool = True) -> pl.DataFrame:
        """The visible events as a frame with the columns of a commit file, in order."""
        if self._frame is not None and cached:
            return self._frame if columns is None else self._frame.select(columns)
        if self._maker is not None:
            make_names_last(self.place)
        frame = visible_frame(self.place, columns, cached=cached)
        if columns is None and cached:
            self._frame = frame
        return frame

    def events(self, *, cached: bool = True) -> list[Event]:
        """The visible events, in order."""
        return from_frame(self.frame(cached=cached))

    def whole(self, rows: pl.DataFrame) -> list[Event]:
        """Some events, of whatever streams, by the columns `stream`, `seq` and `id`; in this order."""
        by_id: dict[str, Event] = {}
        for (stream,), some in rows.group_by("stream"):
            kept = read_stream(self.place, str(stream), part=Part(some["seq"]))
            by_id.update((event.id, event) for event in from_frame(kept))
        ids = rows["id"].to_list()
        if any(id not in by_id for id in ids):
            raise LedgerError(f"{self.place.root}: events went away while they were read; percuss audit says more")
        return [by_id[id] for id in ids]

    def refresh(self) -> None:
        """Forget what was read: others may have appended since."""
        self._frame = None

    def head(self, stream: str = MAIN) -> Head:
        """Where a stream ends now."""
        return read_head(self.place, stream)

    def unknown_kinds(self, events: pl.DataFrame | None = None) -> list[tuple[str, int]]:
        """Kinds and versions, among all events or some, that this percuss cannot read: they are kept and skipped."""
        events = self.frame(["kind", "version"]) if events is None else events.select("kind", "version")
        pairs = events.unique().sort("kind", "version").rows()
        return [(kind, version) for kind, version in pairs if not is_known(kind, version)]

    def event(self, reference: str) -> Event:
        """Find an event by id, unique prefix of an id, `@last` or `@last:KIND`."""
        import polars as pl

        id = self.resolve(reference)
        return from_frame(self.frame().filter(pl.col("id") == id))[0]

    def resolve(self, reference: str) -> str:
        """The full id a reference stands for."""
        id = self._resolve(reference)
        if self._maker and self._maker.call:
            self._maker.call.note(reference, id)
        return id

    def _resolve(self, reference: str) -> str:
        import polars as pl

        if reference.startswith("@"):
            return self._resolve_last(reference)
        text = reference.strip().lower()
        if len(text) < 4:
            raise InputError(f"event {reference!r}: give at least four characters of an id, or @last")
        ids: list[str] = self.frame(["id"]).filter(pl.col("id").str.starts_with(text))["id"].to_list()
        if len(ids) == 1:
            return ids[0]
        if not ids:
            raise InputError(
                f"event {reference!r}: there is none in the ledger {self.place.root}", hint=self._where_else(text)
            )
        raise InputError(f"event {reference!r}: fits {len(ids)} events", hint=f"among them {ids[0]} and {ids[1]}")

    def _where_else(self, text: str) -> str:
        """What to do about an id that is not visible: it may be in a shard that was not adopted yet."""
        import polars as pl

        for stream in stream_names(self.place):
            ids = read_stream(self.place, stream, ["id"])
            if stream != MAIN and ids.filter(pl.col("id").str.starts_with(text)).height:
                return f"it is in the stream {stream}, which percuss adopt {stream} makes part of the ledger"
        return "percuss log lists them"

    def _resolve_last(self, reference: str) -> str:
        import polars as pl

        from percuss.ledger.projections import superseded_ids

        word, _, kind = reference.partition(":")
        if word != "@last" or (reference.endswith(":")):
            raise InputError(f"event {reference!r}: @last and @last:KIND are the only names that start with @")
        frame = self.frame()
        if kind:
            fitting = [name for name in all_kinds() if name == kind or name.split(".")[0] == kind]
            if not fitting:
                words = dict.fromkeys(name.split(".")[0] for name in all_kinds())
                raise InputError(f"event {reference!r}: no such kind", hint=did_you_mean(kind, words))
            frame = frame.filter(pl.col("kind").is_in(fitting))
        gone = superseded_ids(self.frame())
        for id in reversed(frame["id"].to_list()):
            if id not in gone:
                return str(id)
        raise InputError(f"event {reference!r}: the ledger {self.place.root} has none")

    def put_table(self, role: str, frame: pl.DataFrame) -> Blob:
        """Store a table; goes into the `blobs` of a draft."""
        return blobs.put_table(self.place, role, frame)

    def put_file(self, name: str, data: bytes) -> Blob:
        """Store a file as it is; goes into the `blobs` of a draft."""
        return blobs.put_file(self.place, name, data)

    def table(self, event: Event, role: str, columns: list[str] | None = None) -> pl.DataFrame:
        """The table an event carries in this role."""
        return blobs.get_table(self.place, self._present(event, role), columns)

    def rows(self, event: Event, role: str, start: int, count: int) -> pl.DataFrame:
        """Some rows of the table an event carries in this role."""
        return blobs.get_rows(self.place, self._present(event, role), start, count)

    def _present(self, event: Event, role: str) -> Blob:
        blob = event.blob(role)
        if blob is None:
            raise InputError(f"event {event.id} ({event.kind}) carries no table {role!r}")
        self.refuse_pruned(event, blob)
        return blob

    def refuse_pruned(self, event: Event, blob: Blob) -> None:
        """Raise PrunedError for a payload that is not there because it was pruned."""
        import polars as pl

        if exists(blobs.blob_path(self.place, blob)):
            return
        # What was pruned, and the events that say so, in order.
        known = self.frame().filter((pl.col("id") == event.id) | (pl.col("kind") == pruned.KIND))
        if tombstone := pruned.tombstones(from_frame(known)).of(event, blob):
            raise PrunedError(
                f"event {event.id}: its {blob.role} was pruned, as event {tombstone.id} records",
                hint=f"percuss show {tombstone.id} says why",
            )

    def files(self, event: Event | Draft) -> dict[str, bytes]:
        """The files an event carries, or will carry, by name."""
        if isinstance(event, Event):
            for blob in event.blobs:
                self.refuse_pruned(event, blob)
        return {
            blob.role.removeprefix(FILE_ROLE): blobs.get_bytes(self.place, blob)
            for blob in event.blobs
            if blob.role.startswith(FILE_ROLE)
        }


def _longer(frame: pl.DataFrame, events: Sequence[Event]) -> pl.DataFrame:
    """A frame with the rows of some more events, in few pieces."""
    longer = frame.vstack(to_frame(events))
    return longer.rechunk() if longer.n_chunks() > PIECES else longer


def read_environment(place: Place, event: Event) -> dict[str, Any] | None:
    """The record of the environment that an event was made in; None for events of format 1."""
    if event.environment is None:
        return None
    if event.environment.bytes > LARGEST_RECORD_BYTES:
        raise LedgerError(
            f"event {event.id}: the record of its environment has {event.environment.bytes} bytes, and at most "
            f"{LARGEST_RECORD_BYTES} are read"
        )
    try:
        record = json.loads(blobs.get_bytes(place, event.payloads[-1]))
    except (ValueError, RecursionError) as fault:
        raise LedgerError(f"event {event.id}: the record of its environment is not readable JSON") from fault
    if not isinstance(record, dict) or not all(isinstance(record.get(part), dict) for part in ENVIRONMENT):
        raise LedgerError(
            f"event {event.id}: the record of its environment is not a JSON object with {', '.join(ENVIRONMENT)}"
        )
    return record


def _with_plugins(maker: Maker) -> Maker:
    """Who makes events, with the plugins whose code is loaded: their results may depend on it."""
    if not (plugins := loaded()):
        return maker
    named = "".join(f"; {package} {version}" for package, version in sorted(plugins.items()))
    return replace(maker, software=replace(maker.software, version=maker.software.version + named))


def visible_frame(place: Place, columns: list[str] | None = None, *, cached: bool = True) -> pl.DataFrame:
    """Main with each adopted stream put in after the event that adopted it (of a stream, only what is new)."""
    columns_read = None if columns is None else list(dict.fromkeys([*columns, "kind"]))
    main = read_stream(place, MAIN, columns_read, cached=cached)
    adoptions = (main["kind"] == "stream.adopted").arg_true().to_list()
    if adoptions:
        # Read later, the bodies may be of more events than `main` has, never of other ones.
        bodies = (main if columns_read is None else read_stream(place, MAIN, ["body"], cached=cached))["body"]
        main = _with_adopted(place, main, [(row, *adopted(bodies[row])) for row in adoptions], columns_read, cached)
    return main if columns is None else main.select(columns)


def _with_adopted(
    place: Place, main: pl.DataFrame, adoptions: list[tuple[int, str, int]], columns: list[str] | None, cached: bool
) -> pl.DataFrame:
    import polars as pl

    parts: list[pl.DataFrame] = []
    copied = 0
    taken: dict[str, int] = {}
    for row, stream, count in adoptions:
        parts.append(main.slice(copied, row + 1 - copied))
        copied = row + 1
        events = read_stream(place, stream, columns, cached=cached)
        if events.height < count:
            raise LedgerError(f"{place.stream(stream)}: {count} events were adopted and {events.height} are there")
        start = taken.get(stream, 0)
        parts.append(events.slice(start, max(count - start, 0)))
        taken[stream] = max(start, count)
    return pl.concat([*parts, main.slice(copied)])


def adopted(body: str) -> tuple[str, int]:
    """Which stream, and how many of its events, an adoption speaks of."""
    try:
        data = json.loads(body)
        stream, count = data["stream"], data["events"]
        if not isinstance(stream, str) or not is_stream_name(stream) or stream == MAIN:
            raise ValueError(f"stream {str(stream)[:80]!r}")
        if type(count) is not int or count < 1:
            raise ValueError(f"events {str(count)[:80]!r}")
    except (ValueError, KeyError, TypeError, RecursionError) as fault:
        raise LedgerError(f"a stream.adopted event has an unreadable body ({fault})") from fault
    return stream, count
