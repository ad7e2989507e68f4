"""Sealing: pack the loose commits of a stream into one file. Rows and hashes stay as they are."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from percuss.errors import InputError, LedgerError
from percuss.ledger.event import Draft, Event, from_frame
from percuss.ledger.files import parquet_bytes, read_frame, write_linked
from percuss.ledger.ledger import Ledger
from percuss.ledger.place import COMMIT_NAME
from percuss.ledger.streams import list_stream


@dataclass(frozen=True)
class Sealing:
    """What was packed."""

    event: Event
    commits: int
    events: int


def seal_stream(ledger: Ledger, stream: str) -> Sealing:
    """Pack every loose commit but the newest.

    The order makes it safe to be killed at any point: first the segment (from then on readers pass over the commits
    it covers), then the event, then the deletions. The newest commit stays, so that a writer that still believes
    in an old head finds the next number taken.
    """
    import polars as pl

    place = ledger.place
    loose = list(list_stream(place, stream).loose[:-1])
    if len(loose) < 2:
        raise InputError(f"stream {stream}: has no two loose commits before its newest, so there is nothing to pack")
    packed = pl.concat([read_frame(place.commit(stream, number)) for number in loose])
    events = from_frame(packed)
    for before, after in pairwise(events):
        if after.prev != before.hash or after.computed_hash() != after.hash:
            raise LedgerError(
                f"stream {stream}: event {after.seq} does not continue the chain; percuss audit says more"
            )
    folder = place.real(place.sealed(stream), create=True)
    segment = folder / f"{loose[0]:010d}-{loose[-1]:010d}.parquet"
    if not write_linked(segment, parquet_bytes(packed)):
        raise LedgerError(f"{segment}: somebody else is sealing this stream")
    body = {
        "stream": stream,
        "first_commit": loose[0],
        "last_commit": loose[-1],
        "events": packed.height,
        "head": events[-1].hash,
    }
    event = ledger.append([Draft("stream.sealed", body)])[0]
    remove_covered(ledger, stream)
    return Sealing(event, len(loose), packed.height)


def remove_covered(ledger: Ledger, stream: str) -> int:
    """Delete loose commits that a segment covers (also those a killed `seal` left behind)."""
    place = ledger.place
    covered = list_stream(place, stream).segments[-1].last
    gone = 0
    for path in sorted(place.stream(stream).iterdir()):
        name = COMMIT_NAME.fullmatch(path.name)
        if name and int(name[1]) <= covered:
            path.unlink(missing_ok=True)
            gone += 1
    return gone
