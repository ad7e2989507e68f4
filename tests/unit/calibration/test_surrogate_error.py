"""How the error of a surrogate counts: what a block may say, and what older posteriors meant."""

from __future__ import annotations

from typing import Any

import pytest

from percuss.kinds.table import upcast
from percuss.study.calibration import COMMON, PER_DATUM, read_block

KNOWN: dict[str, tuple[str, ...]] = {"outputs": ("y",), "cases": ("base",)}


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({}, COMMON),
        ({"surrogate_error": True}, COMMON),
        ({"surrogate_error": "common"}, COMMON),
        ({"surrogate_error": "per-datum"}, PER_DATUM),
        ({"surrogate_error": False}, None),
    ],
)
def test_a_block_says_how_it_counts(given: dict[str, Any], meant: str | None) -> None:
    notes: list[str] = []
    block = read_block("b", given, KNOWN, lambda path, words: notes.append(words))
    assert block.surrogate_error == meant and not notes


@pytest.mark.parametrize("wrong", ["each", 1, ["common"]])
def test_other_ways_are_refused(wrong: object) -> None:
    notes: list[str] = []
    read_block("b", {"surrogate_error": wrong}, KNOWN, lambda path, words: notes.append(words))
    assert len(notes) == 1 and 'is not true or false or "common" or "per-datum"' in notes[0]


@pytest.mark.parametrize(
    ("version", "then", "now"),
    [
        (2, {}, {"surrogate_error": "per-datum"}),
        (2, {"surrogate_error": True, "by": "case"}, {"surrogate_error": "per-datum", "by": "case"}),
        (2, {"surrogate_error": False}, {"surrogate_error": False}),
        (1, {}, {"surrogate_error": "per-datum"}),
        (3, {}, {}),
    ],
)
def test_older_posteriors_keep_their_meaning(version: int, then: dict[str, Any], now: dict[str, Any]) -> None:
    body = {"calibration": then, "converged": True, "reasons": []}
    assert upcast("posterior.sampled", version, body)["calibration"] == now
