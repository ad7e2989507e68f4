"""Checks the file of an anchor offline, with the standard library alone: python3 plain_verifier.py FILE [OLDER].

Prints the root, then what its proofs show: hashes of events with their places, and the root that it goes on from, which
must be that of the file OLDER if one is given. Ids of events are no part of what is proved; their hashes are.
Written from docs/ledger-format.md and RFC 9162, sections 2.1.3.2 and 2.1.4.2. It imports nothing of percuss, on
purpose.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path


def verify(document: dict, older_document: dict | None = None) -> str:
    """Check text, inclusion and consistency proofs; the root. AssertionError where something is wrong."""
    if older_document is not None:
        verify(older_document)
        assert document["since"] == older_document["text"], "it goes on from another anchor"
    assert document["format"] == "percuss anchor 1"
    _, root, streams = parse(document["text"])
    for item in document["inclusions"]:
        size, stream_root = streams[item["stream"]]
        leaf = hashlib.sha256(b"\x00" + bytes.fromhex(item["hash"])).digest()
        path = [bytes.fromhex(text) for text in item["path"]]
        assert included(leaf, item["seq"] - 1, size, path, stream_root), item["event"]
    if document["since"] is not None:
        ledger, _, older = parse(document["since"])
        assert ledger == parse(document["text"])[0]
        assert older.keys() <= streams.keys()
        for name, (size, old_root) in older.items():
            path = [bytes.fromhex(text) for text in document["consistency"][name]]
            assert consistent(size, old_root, *streams[name], path), name
    return root.hex()


def parse(text: str) -> tuple[str, bytes, dict[str, tuple[int, bytes]]]:
    """Ledger, root, and size and root of each stream."""
    title, ledger, root, *lines = text.splitlines()
    assert title == "percuss anchor 1"
    assert text.endswith("\n")
    names = [line.split(" ")[0] for line in lines]
    assert names == sorted(set(names)) and "main" in names
    digest = bytes.fromhex(root.removeprefix("root "))
    assert tree([hashlib.sha256(b"\x00" + line.encode()).digest() for line in lines]) == digest
    fields = [line.split(" ") for line in lines]
    return ledger, digest, {name: (int(size), bytes.fromhex(hash)) for name, size, hash in fields}


def tree(hashes: list[bytes]) -> bytes:
    """The root over the hashes of leaves."""
    if len(hashes) < 2:
        return hashes[0] if hashes else hashlib.sha256(b"").digest()
    split = 1
    while split * 2 < len(hashes):
        split *= 2
    return node(tree(hashes[:split]), tree(hashes[split:]))


def node(left: bytes, right: bytes) -> bytes:
    """The hash of a node."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def included(hash: bytes, number: int, size: int, path: list[bytes], root: bytes) -> bool:
    """RFC 9162, 2.1.3.2."""
    if not 0 <= number < size:
        return False
    fn, sn = number, size - 1
    for item in path:
        if sn == 0:
            return False
        if fn % 2 or fn == sn:
            hash = node(item, hash)
            while fn % 2 == 0 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            hash = node(hash, item)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and hash == root


def consistent(first: int, first_root: bytes, second: int, second_root: bytes, path: list[bytes]) -> bool:
    """RFC 9162, 2.1.4.2."""
    if first == second:
        return not path and first_root == second_root
    if not path or not 0 < first < second:
        return False
    if first & (first - 1) == 0:
        path = [first_root, *path]
    fn, sn = first - 1, second - 1
    while fn % 2:
        fn, sn = fn >> 1, sn >> 1
    fr = sr = path[0]
    for item in path[1:]:
        if sn == 0:
            return False
        if fn % 2 or fn == sn:
            fr, sr = node(item, fr), node(item, sr)
            while fn % 2 == 0 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            sr = node(sr, item)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and fr == first_root and sr == second_root


if __name__ == "__main__":
    newest, *kept = (json.loads(Path(name).read_text()) for name in sys.argv[1:3])
    print(verify(newest, *kept))
    for item in newest["inclusions"]:
        print(f"has {item['hash']} as event {item['seq']} of {item['stream']}")
    if newest["since"] is not None:
        print(f"goes on from {parse(newest['since'])[1].hex()}")
