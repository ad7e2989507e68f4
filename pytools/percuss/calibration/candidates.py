"""`[candidates.NAME]` of a study: tests that could be made next, among which `percuss advise` chooses.

cases     which cases, `*` for any text; default: all
outputs   which outputs, likewise
repeats   how often each is measured
std       error of measurement, with its unit, or a table by output; default: that of the data
cost      cost of the whole test, in any unit
by        a candidate for each "output", "case" or "measurement"; default: one test of all of them
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from percuss.errors import InputError
from percuss.settings import KeyPath, Note, Setting, check_table, table_of
from percuss.spelling import did_you_mean, shown
from percuss.study.study import Study
from percuss.study.tables import named_tables, read_stds
from percuss.units import parse_quantity, si_quantity

SPLITS = ("output", "case", "measurement")

SCHEMA = table_of(
    Setting("cases", "texts", doc="which cases, `*` for any text; default: all"),
    Setting("outputs", "texts", doc="which outputs, likewise"),
    Setting("repeats", "integer", 1, low=1, high=1_000_000, doc="how often each is measured"),
    Setting("std", "any", doc="error of measurement with its unit, or a table by output; default: that of the data"),
    Setting("cost", "bare", 1.0, low=0, low_open=True, doc="cost of the whole test, in any unit"),
    Setting("by", "text", "", choices=("", *SPLITS), doc=f"a candidate for each {', '.join(SPLITS)}; default: one"),
    Setting("doc", "text", "", doc="description"),
)


@dataclass(frozen=True)
class Measurement:
    """An output of a case, measured so often; `std` in SI, None: that of the data."""

    case: str
    output: str
    repeats: int = 1
    std: float | None = None

    @property
    def name(self) -> str:
        """As verdicts name it."""
        return f"{self.case}/{self.output}"


@dataclass(frozen=True)
class Candidate:
    """A test: what is measured in it, and what it costs."""

    name: str
    measurements: tuple[Measurement, ...]
    cost: float = 1.0


def resolve(study: Study, tables: Mapping[str, Any], note: Note) -> dict[str, Any]:
    """Check every candidate; errors of measurement come back in SI."""
    return {name: _resolved(study, name, table, note) for name, table in named_tables(tables, "candidates", note)}


def check_data(study: Study, note: Note) -> None:
    """Candidates name no files."""


def _resolved(study: Study, name: str, table: Mapping[str, Any], note: Note) -> dict[str, Any]:
    path: KeyPath = ("candidates", name)
    checked = check_table(SCHEMA, table, path, note)
    for key, known in (("cases", study.cases), ("outputs", study.outputs)):
        patterns = checked.get(key)
        if patterns == []:
            note((*path, key), "must be a list of names, with `*` for any text")
        for i, pattern in enumerate(patterns or ()):
            if not any(fnmatchcase(one, pattern) for one in known):
                note((*path, key, i), f"the study has no {key[:-1]} {shown(pattern)}; {did_you_mean(pattern, known)}")
    if not math.isfinite(checked["cost"]):
        note((*path, "cost"), f"{checked['cost']} is not a finite number")
    if "std" in checked:
        checked["std"] = _stds(study, checked["std"], _matching(study.outputs, checked.get("outputs")), path, note)
    return checked


def _stds(study: Study, written: Any, outputs: Sequence[str], path: KeyPath, note: Note) -> dict[str, Any]:
    """Errors of measurement by output, in SI."""
    units = {name: study.outputs[name].unit for name in (study.outputs if isinstance(written, dict) else outputs)}
    stds: dict[str, Any] = {}
    for name, std in read_stds(written, units, "no such output", (*path, "std"), note).items():
        if std == 0:
            at = (*path, "std", name) if isinstance(written, dict) else (*path, "std")
            note(at, "must be above 0: nothing is measured without an error")
        stds[name] = si_quantity(written[name] if isinstance(written, dict) else written, units[name])
    return stds


def _matching(names: Iterable[str], patterns: Sequence[str] | None) -> list[str]:
    return [name for name in names if patterns is None or any(fnmatchcase(name, one) for one in patterns)]


def study_candidates(study: Study) -> list[Candidate]:
    """The candidates that a study names, in its order; none where it has no section."""
    tables: Any = study.sections.get("candidates", {})
    return [one for name, table in tables.items() for one in _split(study, name, table)]


def _split(study: Study, name: str, table: Mapping[str, Any]) -> list[Candidate]:
    stds = table.get("std", {})
    measurements = [
        Measurement(
            case,
            output,
            table.get("repeats", 1),
            parse_quantity(stds[output], study.outputs[output].unit) if output in stds else None,
        )
        for case in _matching(study.cases, table.get("cases"))
        for output in _matching(study.outputs, table.get("outputs"))
    ]
    by, cost = table.get("by", ""), table.get("cost", 1.0)
    if not by:
        return [Candidate(name, tuple(measurements), cost)]
    parts: dict[str, list[Measurement]] = {}
    for one in measurements:
        key = {"output": one.output, "case": one.case, "measurement": one.name}[by]
        parts.setdefault(f"{name}/{key}", []).append(one)
    return [Candidate(part, tuple(own), cost) for part, own in parts.items()]


def asked_candidates(study: Study, measure: Sequence[str], repeats: int) -> list[Candidate]:
    """Candidates by words: `CASE/OUTPUT`, or `OUTPUT` of every case, several with commas for one test."""
    candidates = []
    for text in measure:
        pairs: list[tuple[str, str]] = []
        for word in text.split(","):
            case, _, output = word.strip().rpartition("/")
            cases, outputs = _matching(study.cases, [case or "*"]), _matching(study.outputs, [output])
            if not outputs:
                raise InputError(
                    f"--measure {text}: no output {output!r}: {did_you_mean(output, study.outputs)}",
                    hint="CASE/OUTPUT, or OUTPUT for every case, with `*` for any text",
                )
            if not cases:
                raise InputError(f"--measure {text}: no case {case!r}: {did_you_mean(case, study.cases)}")
            pairs += [(one, other) for one in cases for other in outputs]
        measurements = tuple(Measurement(case, output, repeats) for case, output in dict.fromkeys(pairs))
        candidates.append(Candidate(text, measurements))
    return candidates


def default_candidates(pairs: Iterable[tuple[str, str]], repeats: int) -> list[Candidate]:
    """Each output of each case by itself."""
    return [Candidate(f"{case}/{output}", (Measurement(case, output, repeats),)) for case, output in pairs]
