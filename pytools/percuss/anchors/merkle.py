"""Merkle trees as in RFC 6962, section 2.1: root, inclusion and consistency proofs.

Leaves and nodes are hashed apart, so that a node can never pass for a leaf. Leaves are the raw hashes of events.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def leaf_hash(leaf: bytes) -> bytes:
    """The hash of a leaf."""
    return hashlib.sha256(b"\x00" + leaf).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def root_of(leaves: Sequence[bytes], first: int = 0, last: int | None = None) -> bytes:
    """The root over leaves[first:last]: in one pass, holding one hash for each level."""
    last = len(leaves) if last is None else last
    if first == last:
        return hashlib.sha256(b"").digest()
    complete: list[tuple[int, bytes]] = []  # sizes are falling powers of two
    for number in range(first, last):
        size, digest = 1, leaf_hash(leaves[number])
        while complete and complete[-1][0] == size:
            digest = _node(complete.pop()[1], digest)
            size *= 2
        complete.append((size, digest))
    digest = complete.pop()[1]
    while complete:
        digest = _node(complete.pop()[1], digest)
    return digest


def inclusion_path(leaves: Sequence[bytes], number: int) -> list[bytes]:
    """What a leaf, by its number from 0, needs beside it to give the root: PATH(m, D[n])."""
    path: list[bytes] = []
    first, last = 0, len(leaves)
    while last - first > 1:
        middle = first + _split(last - first)
        if number < middle:
            path.append(root_of(leaves, middle, last))
            last = middle
        else:
            path.append(root_of(leaves, first, middle))
            first = middle
    return path[::-1]


def consistency_path(leaves: Sequence[bytes], before: int) -> list[bytes]:
    """What shows that the tree over the first `before` leaves was only added to: PROOF(m, D[n])."""
    path: list[bytes] = []
    first, last, whole = 0, len(leaves), True
    if not 0 < before < last:
        return path
    while before != last - first:
        middle = _split(last - first)
        if before <= middle:
            path.append(root_of(leaves, first + middle, last))
            last = first + middle
        else:
            path.append(root_of(leaves, first, first + middle))
            first, before, whole = first + middle, before - middle, False
    if not whole:
        path.append(root_of(leaves, first, last))
    return path[::-1]


def _split(count: int) -> int:
    """The largest power of two below a count."""
    return 1 << (count - 1).bit_length() - 1
