"""`percuss show`: what an event says, for people; nothing of a stranger reaches the terminal raw."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.conftest import Call

from percuss.cli.nested import nested_lines, value_text

BOUNCING = """
[study]
title = "\\u001b[2J A body that hits a wall"
[model]
kind = "benchmark"
function = "impact"
samples = 11
[parameters.speed]
unit = "m/s"
prior = { kind = "uniform", low = 1, high = 3 }
[parameters.gap]
unit = "mm"
prior = { kind = "uniform", low = 100, high = 500 }
"""


def test_units_stand_with_columns_and_nested_tables_are_tables(percuss: Call, folder: Path) -> None:
    (folder / "studies" / "bouncing").mkdir()
    (folder / "studies" / "bouncing" / "study.toml").write_text(BOUNCING)
    design = percuss("design", "bouncing", "--n", 4).id
    said = percuss("show", design, "--rows", 2)
    assert "speed [m/s]" in said.out and "gap [m]" in said.out
    lines = said.out.splitlines()
    assert lines[0] == f"design.created {design}"
    assert any(line.split() == ["role", "kind", "id"] for line in lines)
    assert any(line.split()[:2] == ["study", "study.registered"] for line in lines)
    assert "  sampler" in said.out and "  names    speed, gap" in said.out
    study = percuss("show", "@last:study").out
    assert "\x1b" not in study and "\\x1b[2J A body" in study
    assert "'" not in study and "{" not in study  # no dictionaries of Python
    assert "      low   0.1" in study


def test_json_is_what_is_stored(percuss: Call) -> None:
    design = percuss("design", "ishigami", "--n", 4).id
    facts = json.loads(percuss("show", design, "--json").out)
    assert facts["id"] == design and facts["body"]["sampler"] == "sobol" and facts["blobs"][0]["role"] == "design"


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        ({"a": 1, "b": None, "c": []}, ["a  1"]),
        ({"a": True, "longer": 2.5}, ["a       yes", "longer  2.5"]),
        ({"m": [[1, 2.5], [3, 4]]}, ["m", "  1  2.5", "  3  4"]),
        ({"r": [{"name": "x", "v": 1.0}, {"name": "y", "v": None}]}, ["r", "  name  v", "  x     1", "  y     -"]),
        ({"r": [{"name": "x", "in": {"v": 1}}]}, ["r", "  x", "    in", "      v  1"]),
        ({"\x1b[2J": "\n\x1b"}, ["\\x1b[2J  \\n\\x1b"]),
        (
            {"r": [{"\x1b": "\x07"}, {"\x1b": {"a": "\x9b"}}]},
            ["r", "  - 1", "    \\x1b  \\x07", "  - 2", "    \\x1b", "      a  \\x9b"],
        ),
    ],
)
def test_nested_data(data: dict, lines: list[str]) -> None:
    assert [line.rstrip() for line in nested_lines(data)] == lines


def test_long_lists_are_cut_and_say_so() -> None:
    assert value_text(list(range(100))).endswith("23, and 76 more")
    assert list(nested_lines({"r": [{"a": i} for i in range(100)]}))[-1].strip() == "and 40 more; --json has all"
