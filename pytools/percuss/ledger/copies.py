"""Copies of a ledger: by digest, resumable, verified, and only ever forward.

A copy has the same identity and the same files. Payloads go first, then sealed segments and commits in the order of the
chain, so that a copy that was cut short is a shorter ledger and not a broken one. Every file is checked before it is
put, and every event must continue the chain. A copy that has events of its own has gone its own way: it is refused, and
nothing is overwritten, ever. What either of the two records as pruned or redacted is not brought back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from percuss.errors import InputError, LedgerError
from percuss.ledger.blobs import LARGE_BYTES, blob_name
from percuss.ledger.canonical import sha256_hex
from percuss.ledger.event import Event
from percuss.ledger.files import check_bytes, parse_parquet
from percuss.ledger.ledger import MAIN
from percuss.ledger.place import COMMIT_NAME, IDENTITY, SEGMENT_NAME, Place, identity_of, is_stream_name
from percuss.ledger.pruned import KIND, tombstones
from percuss.ledger.rows import from_frame
from percuss.ledger.stores import Store
from percuss.ledger.streams import counting

if TYPE_CHECKING:
    import polars as pl

# Payloads are many and small; an object store answers many requests as fast as one.
AT_A_TIME = 16
_BLOB = re.compile(r"blobs/([0-9a-f]{2})/([0-9a-f]{64})\.(?:parquet|bin)")


@dataclass(frozen=True)
class File:
    """A file of a stream: commits first..last."""

    first: int
    last: int
    name: str


@dataclass
class Copied:
    """What a copy amounts to: payloads, files of streams, bytes, new events of each stream, and the head of main."""

    blobs: int = 0
    files: int = 0
    bytes: int = 0
    events: dict[str, int] = field(default_factory=dict)
    head: str | None = None


def copy_ledger(source: Store, target: Store, *, begin: bool) -> Copied:
    """Bring the target up to the source. `begin`: make the target if there is none."""
    place = _agree(source, target, begin)
    # Streams before payloads: what a commit that is listed now refers to is there by then.
    plans = _streams(source)
    theirs = _streams(target)
    for stream, files in plans.items():
        _check_forward(place, stream, source, files, target, theirs.get(stream, []))
    copied = Copied()
    _copy_blobs(source, target, copied, lambda: _pruned(source, plans, target, theirs))
    for stream, files in sorted(plans.items()):
        _copy_stream(place, stream, source, files, target, theirs.get(stream, []), copied)
    if newest := _streams(target).get("main"):
        copied.head = _last(target, newest[-1])[1]
    return copied


def _agree(source: Store, target: Store, begin: bool) -> Place:
    """The identity both have. Writing it twice shows whether the target keeps put-if-absent."""
    identity = source.get(IDENTITY)
    if identity is None:
        raise LedgerError(f"{source.place}: there is no ledger here")
    id, format = identity_of(identity, f"{source.place}/{IDENTITY}")
    if target.get(IDENTITY) is None:
        if not begin:
            raise LedgerError(f"{target.place}: there is no ledger here", hint="percuss ledger copy makes one")
        if any(target.sizes(folder) for folder in ("streams", "sealed", "blobs")):
            raise LedgerError(f"{target.place}: holds files of a ledger, and no {IDENTITY}")
        target.put_if_absent(IDENTITY, identity)
    if target.get(IDENTITY) != identity:
        raise InputError(f"{target.place}: is another ledger than {source.place}; a copy has the same id")
    if target.put_if_absent(IDENTITY, identity):
        raise LedgerError(
            f"{target.place}: lets a name be written twice, so that two writers could overwrite each other",
            hint="use an object store that honours If-None-Match (Amazon S3, MinIO, R2, Ceph and others do)",
        )
    return Place(Path(target.place), id, format)


def _streams(store: Store) -> dict[str, list[File]]:
    """The files of every stream that count, in order, by the rule that readers go by."""
    # Loose commits before segments, so that nothing is missed if somebody seals in between.
    loose = _named(store.sizes("streams"), COMMIT_NAME)
    sealed = _named(store.sizes("sealed"), SEGMENT_NAME)
    streams: dict[str, list[File]] = {}
    for stream in sorted({*loose, *sealed}):
        files = counting(sealed.get(stream, []))
        last = files[-1].last if files else 0
        commits = sorted(loose.get(stream, []), key=lambda file: file.first)
        streams[stream] = [*files, *(file for file in commits if file.first > last)]
        _check_covered(store, streams[stream], [file for file in commits if file.first <= last])
    return streams


def _check_covered(store: Store, files: list[File], covered: list[File]) -> None:
    """Make sure that no segment only claims to hold a commit: by its name it would hide it in the copy too."""
    if covered:
        data = store.get(covered[-1].name)  # gone: who sealed it cleared it away
        if data is not None and _last(store, covered[-1], data)[0] > _last(store, files[-1])[0]:
            raise LedgerError(f"{store.place}/{covered[-1].name}: is hidden by a segment that does not hold it")


def _last(store: Store, file: File, data: bytes | None = None) -> tuple[int, str]:
    """Number and hash of the last event of a file."""
    frame = _frame(store, file, data)
    if not frame.height:
        raise LedgerError(f"{store.place}/{file.name}: does not end with an event")
    return int(frame["seq"][-1]), str(frame["hash"][-1])


def _named(names: Iterable[str], pattern: re.Pattern[str]) -> dict[str, list[File]]:
    by_name: dict[str, list[File]] = {}
    for name in names:
        _, _, rest = name.partition("/")
        stream, _, base = rest.partition("/")
        if (match := pattern.fullmatch(base)) and is_stream_name(stream):
            numbers = [int(number) for number in match.groups()]
            by_name.setdefault(stream, []).append(File(numbers[0], numbers[-1], name))
    return by_name


def _check_forward(
    place: Place, stream: str, source: Store, files: list[File], target: Store, theirs: list[File]
) -> None:
    """Make sure that one of the two is the beginning of the other."""
    if not theirs or not files:
        return
    behind, ahead = (target, theirs), (source, files)
    if theirs[-1].last > files[-1].last:
        behind, ahead = ahead, behind
    seq, hash = _last(behind[0], behind[1][-1])
    if _hash_at(*ahead, seq) != hash:
        raise InputError(
            f"stream {stream}: {source.place} and {target.place} have gone separate ways; nothing was copied",
            hint="runs of both can be had in one ledger by shards: percuss run --shard, then percuss adopt --from",
        )


def _hash_at(store: Store, files: list[File], seq: int) -> str | None:
    import polars as pl

    for file in reversed(files):
        frame = _frame(store, file)
        if frame.height and frame["seq"][0] <= seq:
            hashes = frame.filter(pl.col("seq") == seq)["hash"].to_list()
            return str(hashes[0]) if hashes else None
    return None


def _data(store: Store, file: File) -> bytes:
    data = store.get(file.name)
    if data is None:
        raise LedgerError(f"{store.place}/{file.name}: has gone since it was listed", hint="give the command again")
    if not check_bytes(data):
        raise LedgerError(f"{store.place}/{file.name}: its bytes do not match the digest it carries")
    return data


def _frame(store: Store, file: File, data: bytes | None = None) -> pl.DataFrame:
    frame = parse_parquet(Path(file.name), data or _data(store, file))
    if frame.height <= file.last - file.first:
        raise LedgerError(f"{store.place}/{file.name}: has {frame.height} events, fewer than the commits of its name")
    return frame


def _pruned(source: Store, plans: dict[str, list[File]], target: Store, theirs: dict[str, list[File]]) -> set[str]:
    """Names of the payloads that all events that carry them have a tombstone for, in whichever ledger goes on farther.

    As for readers, only what main records counts; a shard comes first, since main may speak of its events.
    """
    import polars as pl

    events: list[Event] = []
    for stream in sorted({*plans, *theirs}, key=lambda name: (name == MAIN, name)):
        sides = [(source, plans.get(stream, [])), (target, theirs.get(stream, []))]
        store, files = max(sides, key=lambda side: side[1][-1].last if side[1] else 0)
        for file in files:
            frame = _frame(store, file)
            frame = frame if stream == MAIN else frame.filter(pl.col("kind") != KIND)
            events += from_frame(frame)
    graves = tombstones(events)
    if not graves.named:
        return set()
    names = [(blob_name(blob), graves.of(event, blob)) for event in events for blob in event.payloads]
    return {name for name, grave in names if grave} - {name for name, grave in names if not grave}


def _copy_blobs(source: Store, target: Store, copied: Copied, pruned: Callable[[], set[str]]) -> None:
    there = target.sizes("blobs")
    referenced = {
        name: match[2]
        for name, size in sorted(source.sizes("blobs").items())
        if (match := _BLOB.fullmatch(name)) and match[1] == match[2][:2] and there.get(name) != size
    }
    for name in referenced:
        if name in there:
            raise LedgerError(
                f"{target.place}/{name}: has another size than in {source.place}; percuss audit says more"
            )

    for name in pruned() if referenced else ():
        referenced.pop(name, None)

    def copy(name: str) -> int:
        data = source.get(name)
        if data is None or sha256_hex(data) != PurePosixPath(name).stem:
            raise LedgerError(f"{source.place}/{name}: its bytes do not match its name; nothing was copied after it")
        target.put_if_absent(name, data)
        return len(data)

    sizes = source.sizes("blobs")
    large = [name for name in referenced if sizes.get(name, 0) > LARGE_BYTES]  # one at a time, for the memory
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        for size in (*pool.map(copy, referenced.keys() - large), *map(copy, large)):
            copied.blobs += 1
            copied.bytes += size


def _copy_stream(
    place: Place, stream: str, source: Store, files: list[File], target: Store, theirs: list[File], copied: Copied
) -> None:
    known = {file.name for file in theirs}
    have = theirs[-1].last if theirs else 0
    last_seq = _last(target, theirs[-1])[0] if theirs else 0
    prev: str | None = place.genesis(stream)
    before: File | None = None
    for file in files:
        # A segment over commits that are there already is taken too: what was sealed here is sealed there.
        if file.name in known or (file.first == file.last and file.last <= have):
            before, prev = file, None
            continue
        data = _data(source, file)
        if prev is None and before is not None:
            prev = _last(source, before)[1]
        try:
            events = from_frame(_frame(source, file, data))
        except LedgerError as fault:
            raise LedgerError(f"{source.place}/{file.name}: {fault}") from fault
        _check_chain(stream, events, str(prev), f"{source.place}/{file.name}")
        if not target.put_if_absent(file.name, data) and target.get(file.name) != data:
            raise LedgerError(
                f"{target.place}/{file.name}: somebody else wrote there meanwhile; give the command again"
            )
        copied.files += 1
        copied.bytes += len(data)
        new = sum(event.seq > last_seq for event in events)
        if new:
            copied.events[stream] = copied.events.get(stream, 0) + new
        prev = events[-1].hash


def _check_chain(stream: str, events: list[Event], prev: str, where: str) -> None:
    for event in events:
        if event.prev != prev or event.stream != stream or event.computed_hash() != event.hash:
            raise LedgerError(f"{where}: event {event.seq} does not continue the chain; it was not copied")
        prev = event.hash
