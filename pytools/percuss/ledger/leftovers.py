"""Files that nothing refers to: temporary ones of killed writers, payloads without an event, commits sealed since.

A leftover may be deleted only if what it holds is proven to be elsewhere. A name proves nothing: a segment that is
called 1-9999 and holds five commits would make leftovers of all the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from percuss.errors import LedgerError
from percuss.ledger.blobs import blob_path
from percuss.ledger.event import Event
from percuss.ledger.files import LARGEST_COMMIT_BYTES as LARGEST
from percuss.ledger.files import TEMPORARY, check_bytes, exists, files_below, parse_parquet, read_regular
from percuss.ledger.place import COMMIT_NAME, HEX64, IDENTITY, SEGMENT_NAME, Place, is_stream_name
from percuss.ledger.streams import list_stream, read_stream

HIDDEN = "hidden"  # holds events beyond the end of the chain: something makes readers pass over it
FORKED = "forked"  # a commit that its writer, with an old head, was killed before taking back


def check_leftovers(place: Place, chains: Mapping[str, Sequence[str]]) -> Iterator[tuple[Path, str]]:
    """Files of streams and cache that are not read as originals, each with what is to be said of it; empty if nothing.

    `chains` are the hashes of the events of each stream, in order. What is said is HIDDEN, FORKED, or the fault.
    """
    try:
        walked = {path for stream in chains for path in counted_files(place, stream)}
        leftovers = [
            path for top in ("streams", "sealed", "cache") for path, _ in files_below(place.real(place.root / top))
        ]
    except LedgerError as fault:
        yield place.root, str(fault)
        return
    for path in leftovers:
        if path in walked or not (COMMIT_NAME.fullmatch(path.name) or SEGMENT_NAME.fullmatch(path.name)):
            continue
        try:
            data = read_regular(path, LARGEST)
            if not check_bytes(data):
                yield path, f"{path}: its bytes do not match the digest it carries (it can be deleted)"
            elif path.parent.name in chains and path.parent.parent.parent == place.root:
                standing = standing_of(path, data, chains.get(path.parent.name, ()))
                # It may be newer than the chain that was walked, and sealed since.
                yield path, standing and _standing_now(place, path, data)
        except LedgerError as fault:
            # Who packed or sealed may have deleted it since it was listed.
            if exists(path):
                yield path, str(fault)


def _standing_now(place: Place, path: Path, data: bytes) -> str:
    try:
        return standing_of(path, data, read_stream(place, path.parent.name, ["hash"], cached=False)["hash"].to_list())
    except LedgerError:
        return HIDDEN


def hider(place: Place, path: Path) -> str:
    """The segment by whose name a leftover is passed over."""
    number = int(path.stem.split("-")[0])
    segments = list_stream(place, path.parent.name).segments
    return next((str(s.path) for s in segments if s.first <= number <= s.last), "a segment")


def standing_of(path: Path, data: bytes, chain: Sequence[str]) -> str:
    """Whether all rows of a leftover are in the chain: empty if so, else HIDDEN or FORKED."""
    rows = parse_parquet(path, data, ["seq", "hash"]).rows()
    places = [seq if isinstance(seq, int) and seq > 0 else len(chain) + 1 for seq, _ in rows]
    if any(place > len(chain) for place in places):
        return HIDDEN
    return "" if all(chain[p - 1] == hash for p, (_, hash) in zip(places, rows, strict=True)) else FORKED


def counted_files(place: Place, stream: str) -> list[Path]:
    """The files of a stream that readers read."""
    listing = list_stream(place, stream)
    return [*(s.path for s in listing.segments), *map(Path, place.commits(stream, listing.loose))]


def stray_files(place: Place, streams: Mapping[str, Sequence[Event]]) -> list[Path]:
    """Files that nothing refers to, given the events of all streams."""
    known = {place.root / IDENTITY}
    for stream, events in streams.items():
        known.add(place.stream(stream) / ".lock")
        known.update(counted_files(place, stream))
        for blob in (blob for event in events for blob in event.payloads if HEX64.fullmatch(blob.sha256)):
            known.add(blob_path(place, blob))
    cache = place.cache
    return [
        path
        for path, _ in files_below(place.root)
        if path not in known and (not path.is_relative_to(cache) or path.name.startswith(TEMPORARY))
    ]


def is_leftover(place: Place, path: Path, chains: Mapping[str, Sequence[str]]) -> bool:
    """Whether a stray file may be deleted: percuss wrote it, and what it holds is proven to be in a chain.

    The others somebody put there, and may want; or they hold events that are nowhere else.
    """
    match path.relative_to(place.root).parts:
        case ("streams" | "sealed", stream, name) if name.startswith(TEMPORARY) and is_stream_name(stream):
            return not _is_whole(path) or _is_held(path, chains.get(stream, ()))
        case (*_, name) if name.startswith(TEMPORARY):
            return True
        case ("streams" | "sealed" as top, stream, name) if is_stream_name(stream):
            pattern = COMMIT_NAME if top == "streams" else SEGMENT_NAME
            return pattern.fullmatch(name) is not None and _is_held(path, chains.get(stream, ()))
        case ("blobs", _, _):
            return HEX64.fullmatch(path.stem) is not None
    return False


def _is_whole(path: Path) -> bool:
    """Whether a temporary file was written to its end: a commit that somebody may have renamed."""
    try:
        return check_bytes(read_regular(path, LARGEST))
    except LedgerError:
        return False


def _is_held(path: Path, chain: Sequence[str]) -> bool:
    try:
        data = read_regular(path, LARGEST)
        return check_bytes(data) and not standing_of(path, data, chain)
    except LedgerError:
        return False
