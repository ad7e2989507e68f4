"""Two tables row by row: rows that only one of them has, and every value that is another one.

Rows belong together by the columns that tell them apart in both tables (`sample`; `chain` and `draw`; `case` and
`output`): the first of the columns that hold no fractions, and as few as it takes. Where none do, by their place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

PLACE = "row"


@dataclass(frozen=True)
class Change:
    """One value that is another one: of which row (its key), in which column; None: not there.

    `in_errors` is their distance over the root of the sum of the squares of their two uncertainties, where the table
    has such.
    """

    row: tuple[Any, ...]
    column: str
    a: Any
    b: Any
    in_errors: float | None = None


@dataclass(frozen=True)
class TableDifference:
    """What differs between two tables. `changes` are the first so many of `changed` values, in the order of the rows.

    `largest`: for each column of numbers that changed, the largest distance.
    """

    key: tuple[str, ...]
    rows: tuple[int, int]
    only_a: list[tuple[Any, ...]]
    only_b: list[tuple[Any, ...]]
    columns_a: tuple[str, ...] = ()
    columns_b: tuple[str, ...] = ()
    changed_rows: int = 0
    changed: Mapping[str, int] = field(default_factory=dict)
    largest: Mapping[str, float] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.only_a or self.only_b or self.columns_a or self.columns_b or self.changed)


def compare_tables(a: pl.DataFrame, b: pl.DataFrame, limit: int) -> TableDifference:
    """What differs; the first `limit` rows that do are given with every value."""
    import polars as pl

    key = _key(a, b)
    if not key:
        a, b = (table.with_row_index(PLACE).with_columns(pl.col(PLACE).cast(pl.Int64)) for table in (a, b))
        key = (PLACE,)
    columns = [name for name in a.columns if name in b.columns and name not in key]
    only_a = a.join(b, on=key, how="anti", nulls_equal=True).select(key).rows()
    only_b = b.join(a, on=key, how="anti", nulls_equal=True).select(key).rows()
    both = a.select(*key, *columns).join(
        b.select(*key, *columns), on=key, how="inner", suffix=" of b", nulls_equal=True, maintain_order="left"
    )
    marks = {name: _differs(both[name], both[f"{name} of b"]) for name in columns}
    changed = {name: int(mark.sum()) for name, mark in marks.items() if mark.any()}
    rows = both.select(_any(marks[name] for name in changed).alias("changed"))["changed"] if changed else None
    return TableDifference(
        key=key,
        rows=(a.height, b.height),
        only_a=only_a,
        only_b=only_b,
        columns_a=tuple(name for name in a.columns if name not in b.columns),
        columns_b=tuple(name for name in b.columns if name not in a.columns),
        changed_rows=int(rows.sum()) if rows is not None else 0,
        changed=changed,
        largest=_largest(both, changed),
        changes=_changes(both.filter(rows).head(limit), key, list(changed)) if rows is not None else (),
    )


def _key(a: pl.DataFrame, b: pl.DataFrame) -> tuple[str, ...]:
    """The fewest of the first columns that tell the rows of both tables apart; none where none do."""
    names: list[str] = []
    for name, type in a.schema.items():
        if type.is_float() or type.is_nested() or b.schema.get(name) != type:
            continue
        names.append(name)
        if not (a.select(names).is_duplicated().any() or b.select(names).is_duplicated().any()):
            return tuple(names)
    return ()


def _differs(a: pl.Series, b: pl.Series) -> pl.Series:
    import polars as pl

    if a.dtype != b.dtype or a.dtype.is_nested():
        return pl.Series([x != y for x, y in zip(a.to_list(), b.to_list(), strict=True)], dtype=pl.Boolean)
    # NaN stands for "does not apply", and equals itself.
    return a.ne_missing(b)


def _any(marks: Any) -> Any:
    import polars as pl

    return pl.any_horizontal(*marks)


def _largest(both: pl.DataFrame, changed: Mapping[str, int]) -> dict[str, float]:
    distances = {}
    for name in changed:
        a, b = both[name], both[f"{name} of b"]
        if a.dtype.is_float() and b.dtype.is_float():
            apart = (a - b).abs().drop_nulls().drop_nans()
            distances[name] = float(apart.max()) if len(apart) else math.nan  # type: ignore[arg-type]
    return distances


def _changes(rows: pl.DataFrame, key: tuple[str, ...], columns: list[str]) -> tuple[Change, ...]:
    changes = []
    for row in rows.iter_rows(named=True):
        a, b = row, {name: row[f"{name} of b"] for name in rows.columns if f"{name} of b" in rows.columns}
        for name in columns:
            x, y = a[name], b[name]
            if x != y and not (x != x and y != y):
                changes.append(Change(tuple(row[k] for k in key), name, x, y, in_errors(name, a, b)))
    return tuple(changes)


def uncertainty(name: str, beside: Mapping[str, Any]) -> float | None:
    """The standard error of a number, among the values that stand beside it: that of its name, or `error` or `std`."""
    own = [f"{name}_error", f"{name}_std", f"{name.removesuffix('_value')}_error"]
    if name in ("value", "mean", "elpd", "log_evidence", "share"):
        own += ["error", "std"]
    for key in own:
        error = beside.get(key)
        if isinstance(error, float | int) and not isinstance(error, bool) and error > 0:
            return float(error)
    return None


def in_errors(name: str, a: Mapping[str, Any], b: Mapping[str, Any]) -> float | None:
    """How far two numbers are apart, in their uncertainty; None where they have none, or are no numbers."""
    x, y = a.get(name), b.get(name)
    errors = [error for error in (uncertainty(name, a), uncertainty(name, b)) if error]
    if not errors or not all(isinstance(item, float | int) for item in (x, y)):
        return None
    apart = abs(float(x) - float(y)) / math.hypot(*errors)  # type: ignore[arg-type]
    return apart if math.isfinite(apart) else None
