"""The rooms a call walks through, as docs/architecture.md lists and counts them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.bench.rooms import listed, walk

PAGE = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text()


@pytest.fixture(scope="module")
def rooms() -> dict[str, list[str]]:
    """Of every call of the page, in the order in which they are entered."""
    return walk()


def test_the_page_lists_the_rooms_that_are_entered(rooms: dict[str, list[str]]) -> None:
    assert listed(rooms) in PAGE


def test_the_page_counts_them(rooms: dict[str, list[str]]) -> None:
    table = re.findall(r"^\| `(\w+)` \|.* (\d+) \|$", PAGE, re.MULTILINE)
    assert {verb: int(number) for verb, number in table if verb in rooms} == {
        verb: len(files) for verb, files in rooms.items()
    }
