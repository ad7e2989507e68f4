"""Two tables row by row: nothing that differs is passed over, nothing that is the same is named."""

from __future__ import annotations

import math

import polars as pl
import pytest

from percuss.work.table_rows import compare_tables, in_errors

RUNS = pl.DataFrame(
    {"case": ["a", "a", "b"], "sample": [0, 1, 0], "y": [1.0, math.nan, None], "text": ["p", None, "r"]}
)


def test_a_table_does_not_differ_from_itself_nor_from_its_rows_in_another_order() -> None:
    assert not compare_tables(RUNS, RUNS, 10)
    found = compare_tables(RUNS, RUNS.reverse(), 10)
    assert not found and found.key == ("case", "sample")


def test_values_that_changed_are_named_by_row_and_column() -> None:
    other = RUNS.with_columns(y=pl.Series([1.0, 2.0, 3.0]), text=pl.Series(["p", None, "s"]))
    found = compare_tables(RUNS, other, 10)
    assert [(c.row, c.column, c.b) for c in found.changes] == [
        (("a", 1), "y", 2.0),
        (("b", 0), "y", 3.0),
        (("b", 0), "text", "s"),
    ]
    assert found.changed == {"y": 2, "text": 1} and found.changed_rows == 2
    assert len(compare_tables(RUNS, other, 1).changes) == 1  # shown; the counts stay


def test_rows_and_columns_that_only_one_has() -> None:
    found = compare_tables(RUNS, RUNS.head(2).with_columns(z=0).drop("text"), 10)
    assert found.only_a == [("b", 0)] and not found.only_b
    assert (found.columns_a, found.columns_b) == (("text",), ("z",))


def test_rows_that_nothing_tells_apart_go_by_their_place() -> None:
    twice = pl.DataFrame({"name": ["a", "a"], "y": [1.0, 2.0]})
    found = compare_tables(twice, twice.reverse(), 10)
    assert found.key == ("row",) and found.changed == {"y": 2}
    assert found.largest == {"y": 1.0}


def test_columns_of_another_type_and_lists_are_compared_by_value() -> None:
    lists = pl.DataFrame({"k": [1, 2], "v": [[1.0], [2.0]]})
    assert compare_tables(lists, lists.with_columns(v=pl.Series([[1.0], [2.5]])), 10).changed == {"v": 1}
    assert compare_tables(lists.drop("v").with_columns(y=1), lists.drop("v").with_columns(y=2.0), 10).changed == {
        "y": 2
    }


@pytest.mark.parametrize(
    ("name", "beside", "errors"),
    [
        ("mean", {"mean": 0.0, "mean_error": 3.0, "std": 100.0}, 4 / math.hypot(3, 3)),
        ("value", {"value": 0.0, "std": 2.0}, 4 / math.hypot(2, 2)),
        ("p_value", {"p_value": 0.0, "p_error": 4.0}, 1 / math.sqrt(2)),
        ("value", {"value": 0.0}, None),
        ("value", {"value": 0.0, "std": 0.0}, None),
        ("level", {"level": 0.0, "std": 1.0}, None),
    ],
)
def test_distances_in_errors(name: str, beside: dict, errors: float | None) -> None:
    found = in_errors(name, beside, beside | {name: 4.0})
    assert found == (None if errors is None else pytest.approx(errors))
