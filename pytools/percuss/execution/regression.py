"""Regression studies: what `expected/NAME.toml` of a study asks to be run, and what must come out.

[run]                       # a design (sampler, n, seed, skip, option) or, without a sampler, one point
sampler = "sobol"
n = 256
cases = ["base"]            # default: all cases; one point: case = "base"
set = { gap = "23 mm" }

[[expect]]
output = "y"                # of the study
statistic = "mean"          # mean, std, min, max, failed; one point: value
value = 3.5                 # number in the output's unit, or text with a unit
absolute = 1e-12            # at least one tolerance, and why it is what it is
relative = 1e-9
because = "closed form; quasi-Monte Carlo error at 256 points"
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from percuss.designs.design import Design
from percuss.designs.registry import make_design
from percuss.errors import InputError
from percuss.execution.points import point_design
from percuss.kinds.check_passed import Compared
from percuss.models.model import Value
from percuss.spelling import did_you_mean
from percuss.study.files import read_inside
from percuss.study.study import Study
from percuss.units import from_si, parse_quantity

if TYPE_CHECKING:
    import polars as pl

LARGEST_BYTES = 1_000_000
STATISTICS = ("value", "mean", "std", "min", "max", "failed")
RUN_KEYS: dict[str, type] = {
    "sampler": str,
    "n": int,
    "seed": int,
    "skip": int,
    "option": dict,
    "case": str,
    "cases": list,
    "set": dict,
}
EXPECT_KEYS = ("output", "statistic", "case", "value", "absolute", "relative", "because")


@dataclass(frozen=True)
class Expectation:
    """One value that must come out, SI."""

    output: str
    unit: str
    case: str
    statistic: str
    value: float
    tolerance: float
    because: str


@dataclass(frozen=True)
class Row:
    """An expectation and what came out."""

    expected: Expectation
    value: float

    @property
    def holds(self) -> bool:
        """Whether it came out within the tolerance."""
        return abs(self.value - self.expected.value) <= self.expected.tolerance

    def cells(self) -> tuple[object, ...]:
        """For the table of what moved: in the output's unit."""
        e = self.expected
        name = e.output if e.statistic == "value" else f"{e.statistic}({e.output})"
        difference = self.value - e.value
        shown = [from_si(x, e.unit) for x in (e.value, self.value, difference, e.tolerance)]
        return (f"{name}, {e.case}", *(f"{x:.10g} {e.unit}".removesuffix(" 1") for x in shown))

    def compared(self) -> Compared:
        """For the event and for JSON: SI."""
        e = self.expected
        return Compared(
            case=e.case,
            output=e.output,
            statistic=e.statistic,
            expected=e.value,
            found=self.value if math.isfinite(self.value) else str(self.value),
            tolerance=e.tolerance,
            holds=self.holds,
            because=e.because,
        )


def find_expected(study: Path) -> list[Path]:
    """The expectation files of a study, in order of name."""
    folder = study if study.is_dir() else study.parent
    return sorted((folder / "expected").glob("*.toml"))


@dataclass(frozen=True, eq=False)
class Check:
    """What a file asks for: points of cases to be run, and what must come out."""

    name: str
    design: Design
    cases: tuple[str, ...]
    fixed: Mapping[str, Value]
    expected: tuple[Expectation, ...]


def read_check(study: Study, file: Path) -> Check:
    """Read a file of expectations; raises InputError for one that does not fit the study."""
    table = _read(file)
    run = _checked(table.get("run", {}), RUN_KEYS, f"{file}: [run]")
    try:
        cases, design, fixed = _design(study, run)
    except InputError as fault:
        raise InputError(f"{file}: [run] {fault}", hint=fault.hint) from None
    items = table.get("expect", [])
    if not isinstance(items, list) or not items:
        raise InputError(f"{file}: has no [[expect]]")
    expected = [_expectation(study, item, cases, file, i) for i, item in enumerate(items, 1)]
    return Check(file.stem, design, tuple(cases), fixed, tuple(expected))


def compare(check: Check, runs: pl.DataFrame) -> list[Row]:
    """What came out beside what was expected; failures that were not expected as well."""
    rows = [Row(item, _statistic(runs, item)) for item in check.expected]
    return rows + _unexpected_failures(runs, check.cases, check.expected)


def _read(file: Path) -> dict[str, Any]:
    # Like the study itself: a regular file inside its folder, links followed.
    data = read_inside(file.parent.parent, f"{file.parent.name}/{file.name}", LARGEST_BYTES)
    try:
        table = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as fault:
        raise InputError(f"{file}: is not readable TOML ({fault})") from fault
    return _checked(table, ("run", "expect"), str(file))


def _checked(table: Any, known: Collection[str], where: str) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise InputError(f"{where}: must be a table")
    for key in table:
        if key not in known:
            raise InputError(f"{where}: unknown key `{key}`: {did_you_mean(key, known)}")
    return table


def _design(study: Study, run: Mapping[str, Any]) -> tuple[list[str], Design, dict[str, Value]]:
    for key, value in run.items():
        kind = RUN_KEYS[key]
        if not isinstance(value, kind) or isinstance(value, bool):
            words = {str: "a text", int: "a whole number", list: "a list of texts", dict: "a table"}[kind]
            raise InputError(f"{key} = {value!r} must be {words}")
    values = run.get("set", {})
    if "sampler" not in run:
        case = study.case_name(run.get("case"))
        design, _, fixed, _ = point_design(study, case, values)
        return [case], design, fixed
    cases = [study.case_name(str(name)) for name in run.get("cases", study.cases)]
    whole = {key: run.get(key, 0) for key in ("seed", "skip")}
    design = make_design(study, run["sampler"], run.get("n"), **whole, options=run.get("option"))
    middle = dict(zip(design.names, design.values[0].tolist(), strict=True))
    point = study.point(cases[0], {**middle, **values})
    return cases, design, {key: point[key] for key in values}


def _expectation(study: Study, item: Any, cases: list[str], file: Path, number: int) -> Expectation:
    where = f"{file}: [[expect]] {number}"
    item = _checked(item, EXPECT_KEYS, where)
    name = item.get("output")
    if name not in study.outputs:
        raise InputError(f"{where}: output {name!r} is not of the study: {did_you_mean(str(name), study.outputs)}")
    unit = study.outputs[name].unit
    case = item.get("case", cases[0])
    if case not in cases:
        raise InputError(f"{where}: case {case!r} is not run: {did_you_mean(str(case), cases)}")
    statistic = item.get("statistic", "value")
    if statistic not in STATISTICS:
        raise InputError(f"{where}: statistic {statistic!r}: {did_you_mean(str(statistic), STATISTICS)}")
    if statistic == "failed":
        unit = "1"
    if "value" not in item or not ("absolute" in item or "relative" in item):
        raise InputError(f"{where}: needs a value and a tolerance (absolute, relative or both)")
    try:
        value = parse_quantity(item["value"], unit)
        absolute, relative = parse_quantity(item.get("absolute", 0), unit), parse_quantity(item.get("relative", 0), "1")
        if absolute < 0 or relative < 0:
            raise InputError("a tolerance must not be negative")
        tolerance = absolute + abs(value) * relative
    except InputError as fault:
        raise InputError(f"{where}: {fault}") from None
    return Expectation(name, unit, case, statistic, value, tolerance, str(item.get("because", "")))


def _unexpected_failures(runs: pl.DataFrame, cases: Sequence[str], expected: Sequence[Expectation]) -> list[Row]:
    """Failures in cases of which none is expected: what is left of the runs is not what was asked for."""
    may_fail = {item.case for item in expected if item.statistic == "failed"}
    zero = [
        Expectation(expected[0].output, "1", case, "failed", 0.0, 0.0, "no run may fail unless failures are expected")
        for case in cases
        if case not in may_fail
    ]
    return [row for row in (Row(item, _statistic(runs, item)) for item in zero) if not row.holds]


def _statistic(runs: pl.DataFrame, item: Expectation) -> float:
    import polars as pl

    rows = runs.filter(pl.col("case") == item.case)
    if item.statistic == "failed":
        return float(rows["failed"].is_not_null().sum())
    values = rows[item.output].drop_nulls().to_numpy()
    if not len(values):
        return math.nan
    match item.statistic:
        case "mean":
            return float(math.fsum(values) / len(values))
        case "std":
            return float(values.std(ddof=1)) if len(values) > 1 else math.nan
        case "min":
            return float(values.min())
        case "max":
            return float(values.max())
        case _:
            return float(values[0])
