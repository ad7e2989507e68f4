"""Sealing: pack the loose commits of a stream into one file. Rows and hashes stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from percuss.errors import InputError, LedgerError
from percuss.ledger import files
from percuss.ledger.event import Draft, Event
from percuss.ledger.files import exists, make_last, read_frame, write_linked
from percuss.ledger.place import Place
from percuss.ledger.rows import commit_bytes, from_frame
from percuss.ledger.streams import list_stream, read_commits, read_segment


class Appending(Protocol):
    """What sealing needs of a ledger."""

    @property
    def place(self) -> Place: ...
    def append(self, drafts: Sequence[Draft]) -> list[Event]: ...


@dataclass(frozen=True)
class Sealing:
    """What was packed."""

    event: Event
    commits: int
    events: int


def seal_stream(ledger: Appending, stream: str) -> Sealing:
    """Pack every loose commit but the newest.

    The order makes it safe to be killed at any point: first the segment (from then on readers pass over the commits
    it covers), then the event, then the deletions. The newest commit stays, so that a writer that still believes
    in an old head finds the next number taken.
    """
    place = ledger.place
    loose = list(list_stream(place, stream).loose[:-1])
    if len(loose) < 2:
        raise InputError(f"stream {stream}: has no two loose commits before its newest, so there is nothing to pack")
    packed = read_commits(place, stream, loose)
    prev = None
    for event in from_frame(packed):
        if event.prev != (prev or event.prev) or event.computed_hash() != event.hash or event.stream != stream:
            raise LedgerError(
                f"stream {stream}: event {event.seq} does not continue the chain; percuss audit says more"
            )
        prev = event.hash
    folder = place.real(place.sealed(stream), create=True)
    segment = folder / f"{loose[0]:010d}-{loose[-1]:010d}.parquet"
    if not write_linked(segment, commit_bytes(packed, place.format), undone="nothing was sealed"):
        raise LedgerError(f"{segment}: somebody else is sealing this stream")
    body = {
        "stream": stream,
        "first_commit": loose[0],
        "last_commit": loose[-1],
        "events": packed.height,
        "head": prev,
    }
    event = ledger.append([Draft("stream.sealed", body)])[-1]
    remove_covered(ledger, stream)
    return Sealing(event, len(loose), packed.height)


def remove_covered(ledger: Appending, stream: str) -> int:
    """Delete loose commits that a segment covers (also those a killed `seal` left behind): if it holds their rows.

    A name alone proves nothing. Those that stay hurt nobody; `percuss audit` and `percuss doctor` list them.
    """
    place = ledger.place
    listing = list_stream(place, stream)
    gone = 0
    for segment in listing.segments:
        numbers = [number for number in listing.covered if segment.first <= number <= segment.last]
        if not numbers:
            continue
        make_last(segment.path)  # who linked it may have been killed before it did so
        held = set(read_segment(segment, ["seq", "hash"]).rows())
        for path in (place.commit(stream, number) for number in numbers):
            try:
                if held.issuperset(read_frame(path, ["seq", "hash"]).rows()):
                    files.system.unlink(path)
                    gone += 1
            except FileNotFoundError:  # another sealer was faster
                continue
            except LedgerError:
                if exists(path):  # damaged: kept, and named by the audit
                    continue
            except OSError as fault:
                raise LedgerError(
                    f"{path}: cannot be deleted ({fault.strerror}); the stream is sealed, and what is left does no harm"
                ) from fault
    return gone
