"""A stream: a chain of commits, each an immutable file, the older ones perhaps packed into sealed segments."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from percuss.errors import LedgerError
from percuss.kinds.table import KINDS
from percuss.ledger import files
from percuss.ledger.canonical import sha256_hex
from percuss.ledger.event import Draft, EnvironmentRef, Event, Input, Maker, hash_fields
from percuss.ledger.files import (
    FILES_AT_A_TIME,
    blocks_of,
    names_in,
    read_frame,
    read_frames,
    write_linked,
    write_renamed,
)
from percuss.ledger.place import COMMIT_NAME, SEGMENT_NAME, Place, is_stream_name
from percuss.ledger.rows import columns_of, commit_bytes, parquet_schema, to_frame, widened

if TYPE_CHECKING:
    import polars as pl

# With more loose commits than this a reader keeps packed copies in the cache: opening a file costs about a
# millisecond, reading a row about a microsecond.
LOOSE_BEFORE_CACHING = 64
# How many commits a pack of the cache grows to, before another is begun.
PACK_COMMITS = 4096


class Span(Protocol):
    """Something that holds the commits first..last of a stream."""

    @property
    def first(self) -> int: ...
    @property
    def last(self) -> int: ...


AnySpan = TypeVar("AnySpan", bound=Span)


@dataclass(frozen=True)
class Segment:
    """Commits first..last in one file."""

    first: int
    last: int
    path: Path


@dataclass(frozen=True)
class Listing:
    """What a stream consists of: segments in order, then the numbers of the loose commits after them.

    `covered` are loose commits that a segment should hold: leftovers of sealing, not read.
    """

    segments: tuple[Segment, ...]
    loose: tuple[int, ...]
    covered: tuple[int, ...] = ()

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


def counting(spans: Iterable[AnySpan]) -> list[AnySpan]:
    """Of the segments of a stream those that are read, in order: the one rule for readers, copies and the format page.

    Two that were sealed at once overlap, and either may have been continued: from the last one back, those count that
    end before the next begins.
    """
    kept: list[AnySpan] = []
    for span in sorted(spans, key=lambda span: (-span.last, span.first)):
        if span.first <= span.last and (not kept or span.last < kept[-1].first):
            kept.append(span)
    return kept[::-1]


def stream_names(place: Place) -> list[str]:
    """The streams of a ledger, in order of name."""
    names: set[str] = set()
    for folder in (place.root / "streams", place.root / "sealed"):
        names.update(name for name in _names(place, folder) if is_stream_name(name))
    return sorted(names)


def list_stream(place: Place, stream: str) -> Listing:
    """List the files of a stream. A loose commit that a segment covers is a leftover of sealing and not counted."""
    # Segments after loose commits: sealing writes the segment before it deletes, so nothing is missed.
    loose = sorted(int(match[1]) for match in _matches(place, place.stream(stream), COMMIT_NAME))
    segments = list_segments(place, place.sealed(stream))
    last = segments[-1].last if segments else 0
    return Listing(tuple(segments), tuple(n for n in loose if n > last), tuple(n for n in loose if n <= last))


def list_segments(place: Place, folder: Path) -> list[Segment]:
    """Segments in a folder that count, in order."""
    return counting(Segment(int(m[1]), int(m[2]), folder / m[0]) for m in _matches(place, folder, SEGMENT_NAME))


def _matches(place: Place, folder: Path, pattern: re.Pattern[str]) -> list[re.Match[str]]:
    return [match for name in _names(place, folder) if (match := pattern.fullmatch(name))]


def _names(place: Place, folder: Path) -> list[str]:
    return names_in(place.real(folder))


def read_segment(segment: Segment, columns: list[str] | None = None) -> pl.DataFrame:
    """The rows of a segment. A commit has one row at least, so that its name cannot promise more commits than rows."""
    frame = read_frame(segment.path, columns)
    if frame.height < segment.last + 1 - segment.first:
        raise LedgerError(
            f"{segment.path}: has {frame.height} events, fewer than the commits of its name; it is not what it is "
            "called, and hides commits"
        )
    return frame


def check_covered(place: Place, stream: str, listing: Listing, seq: int) -> None:
    """Make sure that the newest leftover of sealing is no commit that a segment only claims to hold.

    One that a writer with an old head was killed before taking back is no part of the chain, and behind its end `seq`.
    """
    if listing.covered:
        path = place.commit(stream, listing.covered[-1])
        last_seq = read_frame(path, ["seq"])["seq"].max()
        if isinstance(last_seq, int) and last_seq > seq:
            for segment in listing.segments:
                if segment.first <= listing.covered[-1] <= segment.last:
                    raise LedgerError(f"{segment.path}: does not hold {path.name}, which its name covers, and hides it")
            raise LedgerError(f"{path}: holds events that the stream lacks, under a number that it does not have")


@dataclass(frozen=True)
class Part:
    """Which rows of a stream to read, so that not all of them are in memory at a time.

    `numbers`: rows with these `seq`; of files that have none of them little is read. `keep`: what to keep of the rows
    of a file.
    """

    numbers: pl.Series | None = None
    keep: Callable[[pl.DataFrame], pl.DataFrame] | None = None

    def read(self, segment: Segment, columns: list[str] | None) -> pl.DataFrame:
        """The rows of a segment; of one that has none of the numbers, only its own."""
        if self.numbers is not None:
            own = read_segment(segment, ["seq"])
            if not own["seq"].is_in(self.numbers.implode()).any():
                return own
        return read_segment(segment, columns)

    def of(self, frame: pl.DataFrame) -> pl.DataFrame:
        """What is kept of the rows of a file."""
        if self.numbers is not None:
            frame = frame.filter(frame["seq"].is_in(self.numbers.implode()))
        return self.keep(frame) if self.keep else frame


WHOLE = Part()


def read_stream(
    place: Place, stream: str, columns: list[str] | None = None, *, cached: bool = True, part: Part = WHOLE
) -> pl.DataFrame:
    """Events of a stream as a frame with the columns of the newest format. `cached=False`: of the originals."""
    for _ in range(6):
        listing = list_stream(place, stream)
        try:
            return widened(
                _read_listing(place, stream, listing, columns_of(place.format, columns), cached, part), columns
            )
        except LedgerError:
            # The cache may be at fault, or somebody may have sealed between the listing and the reading.
            if not cached and list_stream(place, stream) == listing:
                raise
            cached = False
    raise LedgerError(f"{place.stream(stream)}: changes faster than it can be read")


def _read_listing(
    place: Place, stream: str, listing: Listing, columns: list[str] | None, cached: bool, part: Part
) -> pl.DataFrame:
    import polars as pl

    _check_gapless(place, stream, listing)
    columns_read = None if columns is None else list(dict.fromkeys([*columns, "seq"]))
    schema = parquet_schema(place.format)
    expected = schema if columns_read is None else pl.Schema({name: schema[name] for name in columns_read})
    frames = [pl.DataFrame(schema=expected)]
    height = 0
    for frame in _frames(place, stream, listing, columns_read, cached, part):
        if frame["seq"].ne_missing(pl.int_range(height + 1, height + frame.height + 1, eager=True)).any():
            raise LedgerError(
                f"{place.stream(stream)}: the events are not numbered without gaps; percuss audit says where"
            )
        height += frame.height
        if part.numbers is not None and frame.columns == ["seq"]:
            continue
        if dict(frame.schema) != dict(expected):
            raise LedgerError(f"{place.stream(stream)}: a file has other columns than a commit; percuss audit names it")
        frames.append(part.of(frame))
    check_covered(place, stream, listing, height)
    whole = pl.concat(frames)
    return whole if columns is None else whole.select(columns)


def _frames(
    place: Place, stream: str, listing: Listing, columns: list[str] | None, cached: bool, part: Part
) -> Iterator[pl.DataFrame]:
    """The rows of a stream, file by file: segments, packs of the cache, and loose commits, some hundred to a frame."""
    for segment in listing.segments:
        yield part.read(segment, columns)
    loose = list(listing.loose)
    if cached and len(loose) > LOOSE_BEFORE_CACHING:
        for pack, packed in _packs(place, stream, loose, columns, part):
            yield packed
            loose = loose[pack.last + 1 - loose[0] :]
    some = blocks_of(place.commits(stream, loose), FILES_AT_A_TIME)
    yield from read_frames(some, parquet_schema(place.format), columns)


def _check_gapless(place: Place, stream: str, listing: Listing) -> None:
    expected = 1
    for segment in listing.segments:
        if segment.first != expected:
            break
        expected = segment.last + 1
    else:
        # Numbers are in order and none is there twice.
        if listing.last == expected + len(listing.loose) - 1:
            return
        expected = next(n for n, number in enumerate(listing.loose, start=expected) if number != n)
    raise LedgerError(f"{place.commit(stream, expected)}: missing, although later commits are there")


def _packs(
    place: Place, stream: str, loose: list[int], columns: list[str] | None, part: Part
) -> Iterator[tuple[Segment, pl.DataFrame]]:
    """Packs of the cache that hold the first of the loose commits; new ones are made of many that are in none."""
    packs = _good_packs(place, stream, loose)
    rest = loose[packs[-1].last + 1 - loose[0] :] if packs else loose
    # A pack that is not full yet is made again with what has come since.
    old = None
    if packs and len(rest) > LOOSE_BEFORE_CACHING and packs[-1].last + 1 - packs[-1].first < PACK_COMMITS:
        old = packs.pop()
    for pack in packs:
        yield pack, part.read(pack, columns)
    if len(rest) <= LOOSE_BEFORE_CACHING:
        return
    kept = {pack.path.name for pack in packs}
    free = old.first + PACK_COMMITS - rest[0] if old else 0
    groups = [*blocks_of(rest[:free], PACK_COMMITS), *blocks_of(rest[free:], PACK_COMMITS)]
    frames = read_frames([place.commits(stream, some) for some in groups], parquet_schema(place.format))
    for some, packed in zip(groups, frames, strict=True):
        first = some[0]
        if old:
            first, packed, old = old.first, read_segment(old).vstack(packed), None
        new = Segment(first, some[-1], place.cache / "streams" / stream / f"{first:010d}-{some[-1]:010d}.parquet")
        kept.add(new.path.name)
        # A cache that cannot be written (a read-only ledger) is no cache, not an error.
        with contextlib.suppress(OSError):
            place.real(new.path.parent, create=True, lasting=False)
            write_renamed(new.path, commit_bytes(packed, place.format), lasting=False)
        yield new, packed if columns is None else packed.select(columns)
    with contextlib.suppress(OSError):
        for name in _names(place, place.cache / "streams" / stream):
            if name not in kept and SEGMENT_NAME.fullmatch(name):
                files.system.unlink(place.cache / "streams" / stream / name)


def _good_packs(place: Place, stream: str, loose: list[int]) -> list[Segment]:
    """The packs that hold the first of the loose commits, without a gap; one that is not as it should be ends them."""
    good: list[Segment] = []
    expected = loose[0]
    with contextlib.suppress(LedgerError):
        for pack in list_segments(place, place.cache / "streams" / stream):
            if pack.first < loose[0]:
                continue  # sealed since
            if pack.first != expected or pack.last > loose[-1]:
                break
            # Commits may have been put back from elsewhere since: the chain must end as theirs does.
            newest = read_frame(place.commit(stream, pack.last), ["hash"])
            if not read_segment(pack, ["hash"])["hash"].tail(1).equals(newest["hash"].tail(1)):
                break
            good.append(pack)
            expected = pack.last + 1
    return good


def read_commits(place: Place, stream: str, numbers: Sequence[int]) -> pl.DataFrame:
    """The rows of some loose commits."""
    return next(read_frames([place.commits(stream, numbers)], parquet_schema(place.format)))


def make_names_last(place: Place) -> None:
    """Make the names of all commits last, no matter who wrote them: before the ids of those that were read are printed.

    A ledger that can only be read has no names that could be lost.
    """
    for stream in stream_names(place):
        for folder in (place.stream(stream), place.sealed(stream)):
            if files.exists(folder):
                files.make_names_last(folder)


def read_head(place: Place, stream: str) -> Head:
    """The end of a stream's chain."""
    for _ in range(5):
        listing = list_stream(place, stream)
        if not listing.last:
            return Head(0, 0, place.genesis(stream))
        path = place.commit(stream, listing.loose[-1]) if listing.loose else listing.segments[-1].path
        try:
            frame = (
                read_frame(path, ["seq", "hash"])
                if listing.loose
                else read_segment(listing.segments[-1], ["seq", "hash"])
            )
            rows = frame.tail(1).rows()
            if not rows or not isinstance(rows[0][0], int) or not isinstance(rows[0][1], str):
                raise LedgerError(f"{path}: does not end with an event")
            check_covered(place, stream, listing, rows[0][0])
            return Head(listing.last, *rows[0])
        except LedgerError:
            if list_stream(place, stream) == listing:
                raise
    raise LedgerError(f"{place.stream(stream)}: changes faster than it can be read")


def chain(drafts: Sequence[Draft], stream: str, head: Head, maker: Maker, now_us: int) -> list[Event]:
    """Drafts as events that continue a chain."""
    hashes: dict[str, str] = {}
    call, record = None, None
    if maker.call and maker.environment:
        call, data = maker.call.closed(), maker.environment()
        record = EnvironmentRef(sha256_hex(data), len(data))
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
            call=call,
            cause=draft.cause.id if call and draft.cause else None,
            environment=record,
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
    if not drafts:
        raise ValueError("a commit has one event at least")
    if place.format < 2:
        maker = replace(maker, call=None, environment=None)
    folder = place.real(place.stream(stream), create=True)
    give_up = time.monotonic() + patience_s
    with _courtesy_lock(folder):
        while True:
            if head is None:
                head = read_head(place, stream)
                # A killed writer's name may not last yet, and what is built on it must not outlast it.
                files.make_names_last(folder)
            number = head.commit + 1
            events = chain(drafts, stream, head, maker, time.time_ns() // 1000)
            path = place.commit(stream, number)
            if write_linked(path, commit_bytes(to_frame(events), place.format)):
                # A number that was free because its commit has been sealed away since we read the head: not ours.
                if not _is_covered(place, stream, number):
                    return events, Head(number, events[-1].seq, events[-1].hash)
                with contextlib.suppress(OSError):  # a sealer may have cleared it away; nobody reads it if it stays
                    files.system.unlink(path)
            head = None
            if time.monotonic() > give_up:
                raise LedgerError(
                    f"{folder}: other writers were faster for {patience_s:g} s; nothing was appended",
                    hint="give the command again when they are done",
                )


def _is_covered(place: Place, stream: str, number: int) -> bool:
    try:
        return any(segment.last >= number for segment in list_segments(place, place.sealed(stream)))
    except LedgerError as fault:
        raise LedgerError(
            f"{place.commit(stream, number)}: is written, but whether it counts cannot be seen ({fault})",
            hint=files.LOOK,
        ) from fault


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
