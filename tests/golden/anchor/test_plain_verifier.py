"""Merkle trees and their proofs, held against a verifier that was written from the standard alone."""

from __future__ import annotations

import hashlib

import pytest
from tests.golden.anchor.plain_verifier import consistent, included, tree

from percuss.anchors.merkle import consistency_path, inclusion_path, leaf_hash, root_of

LEAVES = [hashlib.sha256(bytes([number])).digest() for number in range(40)]
# Leaves and roots by which implementations of Certificate Transparency (RFC 6962) are commonly tested.
CT_LEAVES = [
    bytes.fromhex(text)
    for text in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
]
CT_ROOTS = {
    0: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}


@pytest.mark.parametrize("size", CT_ROOTS)
def test_roots_of_the_reference_implementation(size: int) -> None:
    assert root_of(CT_LEAVES[:size]).hex() == CT_ROOTS[size]


def test_every_inclusion_proof_of_every_size_and_no_other() -> None:
    for size in range(1, 41):
        root = root_of(LEAVES[:size])
        assert root == tree([leaf_hash(leaf) for leaf in LEAVES[:size]])
        for number in range(size):
            path = inclusion_path(LEAVES[:size], number)
            assert included(leaf_hash(LEAVES[number]), number, size, path, root)
            other = (number + 1) % 40
            assert not included(leaf_hash(LEAVES[other]), number, size, path, root)
            assert not included(leaf_hash(LEAVES[number]), number, size, [*path, root], root)
            # From the last leaf on every step goes to the left, as from the place before the first.
            assert not included(leaf_hash(LEAVES[number]), -1, size, path, root)
            if path:
                assert not included(leaf_hash(LEAVES[number]), number, size, path[:-1], root)


def test_every_consistency_proof_of_every_pair_and_no_other() -> None:
    changed = [b"x" * 32, *LEAVES[1:]]
    for new in range(1, 41):
        root = root_of(LEAVES[:new])
        for old in range(1, new + 1):
            path = consistency_path(LEAVES[:new], old)
            assert consistent(old, root_of(LEAVES[:old]), new, root, path)
            assert not consistent(old, root_of(changed[:old]), new, root, path)
            assert not consistent(old, root_of(LEAVES[:old]), new, root_of(changed[:new]), path)
