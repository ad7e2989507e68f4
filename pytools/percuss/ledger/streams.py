"""A stream: a chain of commits, each an immutable file, the older ones perhaps packed into sealed segments."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from percuss.errors import LedgerError
from percuss.kinds.table import KINDS
from percuss.ledger.event import Draft, Event, Input, Maker, hash_fields, to_frame
from percuss.ledger.files import parquet_bytes, read_frame, write_linked, write_renamed
from percuss.ledger.place import COMMIT_NAME, SEGMENT_NAME, Place, is_stream_name

if TYPE_CHECKING:
    import polars as pl

# With more loose commits than this a reader keeps a packed copy in the cache: opening a file costs about a
# millisecond, reading a row about a microsecond.
LOOSE_BEFORE_CACHING = 64


@dataclass(frozen=True)
class Segment:
    """Commits first..last in one file."""

    first: int
    last: int
    path: Path


@dataclass(frozen=True)
class Listing:
    """What a stream consists of: segments in order, then the numbers of the loose commits after them."""

    segments: tuple[Segment, ...]
    loose: tuple[int, ...]

    @property
    def last(self) -> int:
        """Number of the newest commit; 0 for a stream without any."""
        if self.loose:
            return self.loose[-1]
        return self.segments[-1].last if self.segments else 0


@dataclass(frozen=True)
class Head:
    """The end of a chain: number of the newest commit, place and hash of the newest event."""

    commit: int
    seq: int
    hash: str


def stream_names(place: Place) -> list[str]:
    """The streams of a ledger, in order of name."""
    found: set[str] = set()
    for folder in (place.root / "streams", place.root / "sealed"):
        found.update(name for name in _names(place, folder) if is_stream_name(name))
    return sorted(found)


def list_stream(place: Place, stream: str) -> Listing:
    """List the files of a stream. A loose commit that a segment covers is a leftover of sealing and not counted."""
    # Segments after loose commits: sealing writes the segment before it deletes, so nothing is missed.
    loose = sorted(int(match[1]) for match in _matches(place, place.stream(stream), COMMIT_NAME))
    segments = list_segments(place, place.sealed(stream))
    covered = segments[-1].last if segments else 0
    return Listing(tuple(segments), tuple(number for number in loose if number > covered))


def list_segments(place: Place, folder: Path) -> list[Segment]:
    """Segments in a folder, in order, each continuing the one before.

    Two that were sealed at once overlap, and either may have been continued: from the last one back, those count that
    end before the next begins.
    """
    found = [Segment(int(m[1]), int(m[2]), folder / m[0]) for m in _matches(place, folder, SEGMENT_NAME)]
    kept: list[Segment] = []
    for segment in sorted(found, key=lambda segment: (-segment.last, segment.first)):
        if not kept or segment.last < kept[-1].first:
            kept.append(segment)
    return kept[::-1]


def _matches(place: Place, folder: Path, pattern: re.Pattern[str]) -> list[re.Match[str]]:
    return [match for name in _names(place, folder) if (match := pattern.fullmatch(name))]


def _names(place: Place, folder: Path) -> list[str]:
    place.real(folder)
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries]
    except FileNotFoundError:
        return []
    except OSError as fault:
        raise LedgerError(f"{folder}: cannot be read ({fault.strerror})") from fault


def read_stream(place: Place, stream: str, columns: list[str] | None = None, *, cached: bool = True) -> pl.DataFrame:
    """All events of a stream as a frame. `cached=False` reads nothing but the originals."""
    for _ in range(6):
        listing = list_stream(place, stream)
        try:
            return _read_listing(place, stream, listing, columns, cached)
        except LedgerError:
            # The cache may be at fault, or somebody may have sealed between the listing and the reading.
            if not cached and list_stream(place, stream) == listing:
                raise
            cached = False
    raise LedgerError(f"{place.stream(stream)}: changes faster than it can be read")


def _read_listing(place: Place, stream: str, listing: Listing, columns: list[str] | None, cached: bool) -> pl.DataFrame:
    import polars as pl

    from percuss.ledger.event import parquet_schema

    _check_gapless(place, stream, listing)
    wanted = None if columns is None else list(dict.fromkeys([*columns, "seq"]))
    frames = [read_frame(segment.path, wanted) for segment in listing.segments]
    loose = list(listing.loose)
    if cached and len(loose) > LOOSE_BEFORE_CACHING:
        packed, loose = _packed_loose(place, stream, loose, wanted)
        frames.append(packed)
    frames += [read_frame(place.commit(stream, number), wanted) for number in loose]
    schema = parquet_schema()
    expected = schema if wanted is None else pl.Schema({name: schema[name] for name in wanted})
    for frame in frames:
        if dict(frame.schema) != dict(expected):
            raise LedgerError(f"{place.stream(stream)}: a file has other columns than a commit; percuss audit names it")
    whole = pl.concat(frames) if frames else pl.DataFrame(schema=expected)
    if whole["seq"].ne_missing(pl.int_range(1, whole.height + 1, eager=True)).any():
        raise LedgerError(f"{place.stream(stream)}: the events are not numbered without gaps; percuss audit says where")
    return whole if columns is None else whole.select(columns)


def _check_gapless(place: Place, stream: str, listing: Listing) -> None:
    expected = 1
    for first, last in [*((s.first, s.last) for s in listing.segments), *((n, n) for n in listing.loose)]:
        if first != expected:
            raise LedgerError(f"{place.commit(stream, expected)}: missing, although later commits are there")
        expected = last + 1


def _packed_loose(
    place: Place, stream: str, loose: list[int], columns: list[str] | None
) -> tuple[pl.DataFrame, list[int]]:
    import polars as pl

    folder = place.cache / "streams" / stream
    usable = [s for s in list_segments(place, folder) if s.first == loose[0] and s.last <= loose[-1]]
    if usable:
        with contextlib.suppress(LedgerError):
            rest = [number for number in loose if number > usable[-1].last]
            if len(rest) <= LOOSE_BEFORE_CACHING:
                packed = read_frame(usable[-1].path, columns and [*columns, *({"hash"} - set(columns))])
                # Commits may have been put back from elsewhere since: the chain must end as theirs does.
                newest = read_frame(place.commit(stream, usable[-1].last), ["hash"])
                if packed["hash"].tail(1).equals(newest["hash"].tail(1)):
                    return (packed if columns is None else packed.select(columns)), rest
    packed = pl.concat([read_frame(place.commit(stream, number)) for number in loose])
    # A cache that cannot be written (a read-only ledger) is no cache, not an error.
    with contextlib.suppress(OSError):
        for old in list_segments(place, place.real(folder, create=True)):
            old.path.unlink(missing_ok=True)
        write_renamed(folder / f"{loose[0]:010d}-{loose[-1]:010d}.parquet", parquet_bytes(packed))
    return (packed if columns is None else packed.select(columns)), []


def read_head(place: Place, stream: str) -> Head:
    """The end of a stream's chain."""
    for _ in range(5):
        listing = list_stream(place, stream)
        if not listing.last:
            return Head(0, 0, place.genesis(stream))
        path = place.commit(stream, listing.loose[-1]) if listing.loose else listing.segments[-1].path
        try:
            rows = read_frame(path, ["seq", "hash"]).tail(1).rows()
            if not rows or not isinstance(rows[0][0], int) or not isinstance(rows[0][1], str):
                raise LedgerError(f"{path}: does not end with an event")
            return Head(listing.last, *rows[0])
        except LedgerError:
            if list_stream(place, stream) == listing:
                raise
    raise LedgerError(f"{place.stream(stream)}: changes faster than it can be read")


def chain(drafts: Sequence[Draft], stream: str, head: Head, maker: Maker, now_us: int) -> list[Event]:
    """Drafts as events that continue a chain."""
    hashes: dict[str, str] = {}
    events: list[Event] = []
    prev = head.hash
    for offset, draft in enumerate(drafts, start=1):
        inputs = tuple(
            Input(role, source.id, source.hash if isinstance(source, Event) else hashes[source.id])
            for role, source in draft.inputs
        )
        unhashed = Event(
            stream=stream,
            seq=head.seq + offset,
            id=draft.id,
            kind=draft.kind,
            version=KINDS[draft.kind].version,
            at_us=now_us,
            argv=maker.argv,
            actor=maker.actor,
            host=maker.host,
            study=draft.study,
            inputs=inputs,
            blobs=tuple(draft.blobs),
            software=maker.software,
            seed=draft.seed,
            outcome=draft.outcome,
            reason=draft.reason,
            cost=draft.cost,
            body=draft.text,
            prev=prev,
            hash="",
        )
        prev = hash_fields(unhashed)
        hashes[draft.id] = prev
        events.append(replace(unhashed, hash=prev))
    return events


def append_commit(
    place: Place, stream: str, drafts: Sequence[Draft], maker: Maker, head: Head | None, patience_s: float = 30.0
) -> tuple[list[Event], Head]:
    """Append drafts as one commit; returns the events and the new head.

    `head` is where the caller believes the chain ends: if it is behind, the link fails, the true head is read and
    the commit built again.
    """
    folder = place.real(place.stream(stream), create=True)
    give_up = time.monotonic() + patience_s
    with _courtesy_lock(folder):
        while True:
            head = head or read_head(place, stream)
            number = head.commit + 1
            events = chain(drafts, stream, head, maker, time.time_ns() // 1000)
            path = place.commit(stream, number)
            if write_linked(path, parquet_bytes(to_frame(events))):
                # A number that was free because its commit has been sealed away since we read the head: not ours.
                if all(segment.last < number for segment in list_segments(place, place.sealed(stream))):
                    return events, Head(number, events[-1].seq, events[-1].hash)
                path.unlink(missing_ok=True)  # whoever sealed may have cleared it away already
            head = None
            if time.monotonic() > give_up:
                raise LedgerError(
                    f"{folder}: other writers were faster for {patience_s:g} s; nothing was appended",
                    hint="give the command again when they are done",
                )


@contextlib.contextmanager
def _courtesy_lock(folder: Path) -> Iterator[None]:
    """Queue politely behind other writers, for a while: it saves retries, the link keeps the chain right."""
    try:
        handle = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    except OSError:
        yield
        return
    try:
        for _ in range(500):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                time.sleep(0.002)
        yield
    finally:
        os.close(handle)
