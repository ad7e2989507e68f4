"""An anchor: the checkpoint of a ledger as a text to be signed, with testimonies and proofs, in one file.

The text names the ledger and, for each of its streams, how many events it had and the root of the Merkle tree over
their hashes. Anybody who has the text and the ledger can see whether every stream still begins with these very events;
anybody who has two texts and a consistency proof can see that nothing of the older one is missing in the newer,
without any ledger. docs/ledger-format.md is the specification.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from percuss.anchors.merkle import consistency_path, inclusion_path, root_of
from percuss.errors import InputError
from percuss.ledger.files import exists, read_regular, write_renamed
from percuss.ledger.ledger import MAIN
from percuss.ledger.place import check_outside
from percuss.spelling import counted

TITLE = "percuss anchor 1"
LARGEST_BYTES = 64 * 1024 * 1024
_TEXT = re.compile(r"percuss anchor 1\nledger ([0-9a-f-]{36})\nroot ([0-9a-f]{64})\n((?:[^\n]+\n)*)")
_STREAM = re.compile(r"([a-z0-9][a-z0-9._-]{0,99}) ([1-9]\d{0,15}) ([0-9a-f]{64})")


@dataclass(frozen=True)
class StreamRoot:
    """A stream: how many events it has, and the root of the tree over their hashes."""

    name: str
    size: int
    root: str

    @property
    def line(self) -> str:
        """Its line of the text."""
        return f"{self.name} {self.size} {self.root}"


@dataclass(frozen=True)
class Checkpoint:
    """What a ledger consisted of."""

    ledger: str
    streams: tuple[StreamRoot, ...]

    @property
    def root(self) -> str:
        """One hash for all of it: the root of the tree over the lines of the streams."""
        return root_of([stream.line.encode() for stream in self.streams]).hex()

    @property
    def text(self) -> str:
        """What is signed."""
        lines = "".join(f"{stream.line}\n" for stream in self.streams)
        return f"{TITLE}\nledger {self.ledger}\nroot {self.root}\n{lines}"


@dataclass(frozen=True)
class Testimony:
    """What somebody outside says of a text: of which kind (`percuss.anchors.witnesses`), and the words themselves."""

    kind: str
    data: str


@dataclass(frozen=True)
class Inclusion:
    """Where an event is, and what its hash needs beside it to give the root of its stream."""

    event: str
    hash: str
    stream: str
    seq: int
    path: tuple[str, ...]


@dataclass(frozen=True)
class Anchor:
    """A checkpoint, what others say of it, and proofs for readers who have no ledger.

    `since` is the text of an older anchor, and `consistency` has for each of its streams what shows that nothing was
    taken from it.
    """

    checkpoint: Checkpoint
    testimonies: tuple[Testimony, ...] = ()
    since: str | None = None
    consistency: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    inclusions: tuple[Inclusion, ...] = ()

    def document(self) -> dict[str, Any]:
        """As the file has it."""
        return {
            "format": TITLE,
            "text": self.checkpoint.text,
            "testimonies": [vars(item) for item in self.testimonies],
            "since": self.since,
            "consistency": {name: list(path) for name, path in self.consistency.items()},
            "inclusions": [vars(item) | {"path": list(item.path)} for item in self.inclusions],
        }


def leaves_of(hashes: Iterable[str]) -> list[bytes]:
    """The leaves of a stream, from the hashes of its events."""
    return [bytes.fromhex(hash) for hash in hashes]


def checkpoint_of(ledger: str, chains: Mapping[str, Sequence[str]]) -> Checkpoint:
    """The checkpoint of a ledger, given the hashes of the events of each stream in order."""
    streams = [(name, leaves_of(hashes)) for name, hashes in sorted(chains.items()) if hashes]
    return Checkpoint(ledger, tuple(StreamRoot(name, len(leaves), root_of(leaves).hex()) for name, leaves in streams))


def include(chains: Mapping[str, Sequence[str]], event: str, stream: str, seq: int) -> Inclusion:
    """The proof that an event is part of a checkpoint of these chains."""
    hashes = chains[stream]
    path = inclusion_path(leaves_of(hashes), seq - 1)
    return Inclusion(event, hashes[seq - 1], stream, seq, tuple(item.hex() for item in path))


def grown(chains: Mapping[str, Sequence[str]], older: Checkpoint) -> dict[str, tuple[str, ...]]:
    """For each stream of an older checkpoint, of which nothing is missing, what shows that."""
    return {
        stream.name: tuple(item.hex() for item in consistency_path(leaves_of(chains[stream.name]), stream.size))
        for stream in older.streams
    }


def missing_from(chains: Mapping[str, Sequence[str]], older: Checkpoint) -> list[str]:
    """What a ledger lacks of a checkpoint, a sentence for each stream; empty if every stream begins as it did."""
    faults = []
    for stream in older.streams:
        hashes = chains.get(stream.name, ())
        if len(hashes) < stream.size:
            faults.append(f"stream {stream.name}: had {stream.size} events and has {len(hashes)}: cut short")
        elif root_of(leaves_of(hashes[: stream.size])).hex() != stream.root:
            begin = f"its first {counted(stream.size, 'event')}"
            faults.append(f"stream {stream.name}: {begin} are not those of the anchor: rewritten")
    return faults


def parse_text(text: str, where: str) -> Checkpoint:
    """The checkpoint that a text is of; `where` is for messages."""
    match = _TEXT.fullmatch(text)
    streams = [_STREAM.fullmatch(line) for line in match[3].splitlines()] if match else []
    if match is None or None in streams:
        raise InputError(f"{where}: is not the text of an anchor")
    listed = tuple(StreamRoot(item[1], int(item[2]), item[3]) for item in streams if item)
    checkpoint = Checkpoint(match[1], listed)
    names = [stream.name for stream in listed]
    if names != sorted(set(names)) or checkpoint.root != match[2]:
        raise InputError(f"{where}: is damaged: its streams do not give its root")
    if MAIN not in names:  # which every ledger that can be anchored has
        raise InputError(f"{where}: does not speak of main, and proves nothing of it")
    return checkpoint


def read_anchor(path: Path) -> Anchor:
    """Read the file of an anchor; a stranger's may be anything."""
    try:
        data = json.loads(read_regular(path, LARGEST_BYTES))
        if data["format"] != TITLE:
            raise ValueError(f"format {str(data['format'])[:40]!r}")
        return Anchor(
            parse_text(data["text"], str(path)),
            tuple(Testimony(str(item["kind"]), str(item["data"])) for item in data.get("testimonies", ())),
            data.get("since"),
            {str(name): tuple(map(str, hashes)) for name, hashes in data.get("consistency", {}).items()},
            tuple(Inclusion(**item | {"path": tuple(item["path"])}) for item in data.get("inclusions", ())),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as fault:
        if isinstance(fault, InputError):
            raise
        raise InputError(f"{path}: is not the file of an anchor ({fault})") from fault


def check_new(path: Path) -> None:
    """Make sure that an anchor can be written there: outside of the ledger, or it would be rewritten with it; and not
    over another file, which may be the anchor that proves what was there before.
    """
    check_outside(path)
    if exists(path):
        raise InputError(f"{path}: is there already, and an anchor overwrites nothing; give the new one another name")


def write_anchor(anchor: Anchor, path: Path) -> None:
    """Write the file of an anchor."""
    check_new(path)
    write_renamed(path, (json.dumps(anchor.document(), indent=1) + "\n").encode())
