"""Regression studies: what `expected/NAME.toml` of a study asks to be run, and the expected values.

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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from percuss.designs.design import Design
from percuss.designs.registry import make_design
from percuss.errors import InputError
from percuss.execution.points import point_design
from percuss.kinds.check_passed import Compared
from percuss.models.model import Value
from percuss.settings import KeyPath, Note, Noted, Setting, check_table, table_of, wrong_type
from percuss.spelling import did_you_mean
from percuss.study.load import read_inside
from percuss.study.study import Study
from percuss.study.tables import TomlFile
from percuss.units import from_si

if TYPE_CHECKING:
    import polars as pl

LARGEST_BYTES = 1_000_000
FAILED = "failed"
STATISTICS = ("value", "mean", "std", "min", "max", FAILED)
FILE = table_of(
    Setting("run", "table", default={}, doc="what to run"),
    Setting("expect", "list", required=True, doc="[[expect]] lists the expected values"),
)
RUN = table_of(
    Setting("sampler", "text", doc="sampler of a design; without it one point is run"),
    Setting("n", "integer", low=1, doc="points of the design"),
    Setting("seed", "integer", default=0, low=0, doc="seed of the design"),
    Setting("skip", "integer", default=0, low=0, doc="points of the sequence to skip"),
    Setting("option", "table", doc="options of the sampler"),
    Setting("case", "text", doc="case of one point"),
    Setting("cases", "texts", doc="cases of a design; default: all"),
    Setting("set", "table", default={}, doc="values of inputs"),
)


def _expect(unit: str) -> dict[str, Setting]:
    """The keys of an expectation about an output in a unit."""
    return table_of(
        Setting("output", "text", required=True, doc="an output of the study"),
        Setting("statistic", "text", default="value", choices=STATISTICS),
        Setting("case", "text", doc="case; default: the first that is run"),
        Setting("value", "number", required=True, unit=unit, doc="expected value"),
        Setting("absolute", "number", unit=unit, low=0, doc="tolerance in the unit of the output"),
        Setting("relative", "number", low=0, doc="tolerance as a share of the value"),
        Setting("because", "text", default="", doc="reason for the tolerance"),
    )


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
    """What a file asks for: points of cases to be run, and the expected values."""

    name: str
    design: Design
    cases: tuple[str, ...]
    fixed: Mapping[str, Value]
    expected: tuple[Expectation, ...]


def read_check(study: Study, file: Path) -> Check:
    """Read a file of expectations; raises InputError for one that does not fit the study."""
    # Like the study itself: a regular file inside its folder, links followed.
    data = read_inside(file.parent.parent, f"{file.parent.name}/{file.name}", LARGEST_BYTES)
    tables = TomlFile(str(file), data)
    table = tables.check(FILE)
    noted: list[tuple[KeyPath, str]] = []

    def note(key: KeyPath, message: str) -> None:
        noted.append((key, message))

    run = check_table(RUN, table["run"], ("run",), note)
    tables.refuse(noted)
    try:
        cases, design, fixed = _design(study, run)
    except InputError as fault:
        tables.refuse([(("run",), str(fault))], fault.hint)
        raise
    if not table["expect"]:
        note(("expect",), "is empty: a check without [[expect]] checks nothing")
    expected = [_expectation(study, item, cases, ("expect", i), note) for i, item in enumerate(table["expect"])]
    tables.refuse(noted)
    return Check(file.stem, design, tuple(cases), fixed, tuple(item for item in expected if item))


def compare(check: Check, runs: pl.DataFrame) -> list[Row]:
    """What came out beside what was expected; failures that were not expected as well."""
    rows = [Row(item, _of(runs, item)) for item in check.expected]
    return rows + _unexpected_failures(runs, check.cases, check.expected)


def _design(study: Study, run: Mapping[str, Any]) -> tuple[list[str], Design, dict[str, Value]]:
    values = run["set"]
    if "sampler" not in run:
        case = study.case_name(run.get("case"))
        design, _, fixed, _ = point_design(study, case, values)
        return [case], design, fixed
    cases = [study.case_name(name) for name in run.get("cases", study.cases)]
    options = run.get("option")
    design = make_design(study, run["sampler"], run.get("n"), seed=run["seed"], skip=run["skip"], options=options)
    middle = dict(zip(design.names, design.values[0].tolist(), strict=True))
    point = study.point(cases[0], {**middle, **values})
    return cases, design, {key: point[key] for key in values}


def _expectation(study: Study, item: Any, cases: list[str], path: KeyPath, note: Note) -> Expectation | None:
    """One expectation; None if there is a fault in it, which is noted."""
    if not isinstance(item, dict):
        note(path, wrong_type(item, "a table"))
        return None
    noted = Noted(note)
    name = item.get("output")
    output = study.outputs.get(name) if isinstance(name, str) else None
    unit = output.unit if output and item.get("statistic") != "failed" else "1"
    table = check_table(_expect(unit), item, path, noted)
    if isinstance(name, str) and output is None:
        noted((*path, "output"), f"{name!r} is not of the study: {did_you_mean(name, study.outputs)}")
    case = table.get("case", cases[0])
    if case not in cases:
        noted((*path, "case"), f"{case!r} is not run: {did_you_mean(case, cases)}")
    if "absolute" not in item and "relative" not in item:
        noted(path, "needs a tolerance (absolute, relative or both)")
    if noted.faults:
        return None
    value = table["value"]
    tolerance = table.get("absolute", 0.0) + abs(value) * table.get("relative", 0.0)
    return Expectation(table["output"], unit, case, table["statistic"], value, tolerance, table["because"])


def _of(runs: pl.DataFrame, item: Expectation) -> float:
    return statistic_of(runs, item.case, item.output, item.statistic)


def _unexpected_failures(runs: pl.DataFrame, cases: Sequence[str], expected: Sequence[Expectation]) -> list[Row]:
    """Failures in cases of which none is expected: what is left of the runs is not what was asked for."""
    may_fail = {item.case for item in expected if item.statistic == FAILED}
    zero = [
        Expectation(expected[0].output, "1", case, "failed", 0.0, 0.0, "no run may fail unless failures are expected")
        for case in cases
        if case not in may_fail
    ]
    return [row for row in (Row(item, _of(runs, item)) for item in zero) if not row.holds]


def statistic_of(runs: pl.DataFrame, case: str, output: str, statistic: str) -> float:
    """A statistic of an output over the runs of a case, SI; not a number where none completed."""
    import polars as pl

    rows = runs.filter(pl.col("case") == case)
    if statistic == FAILED:
        return float(rows["failed"].is_not_null().sum())
    values = rows[output].drop_nulls().to_numpy()
    if not len(values):
        return math.nan
    match statistic:
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
