"""`[limits.NAME]` of a study: when a run counts as a failure.

    quantity    an output, or a formula of outputs and parameters (`percuss.study.formula`)
    threshold   in the unit of the quantity, or with its own
    fails       "above" or "below" the threshold
    series      names of other limits: fails where any of them does
    parallel    names of other limits: fails where all of them do
    aleatory    parameters that vary from event to event: from a posterior the others are known better, these are not

A limit has either a quantity or others under it. The limit function is (threshold - quantity) over the size of the
threshold, or the other way round: zero or below is failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from percuss.errors import InputError
from percuss.settings import KeyPath, Note, Setting, check_table, table_of
from percuss.spelling import did_you_mean
from percuss.study.formula import Formula
from percuss.study.study import Study
from percuss.study.tables import named_tables
from percuss.units import parse_quantity, si_quantity

if TYPE_CHECKING:
    from numpy.typing import NDArray

LIMIT = table_of(
    Setting("quantity", "text", doc="an output, or a formula of outputs and parameters"),
    Setting("threshold", "any", doc="threshold beyond which it fails, with its unit"),
    Setting("fails", "text", "above", choices=("above", "below"), doc="on which side of the threshold it fails"),
    Setting("case", "text", doc="which case; required if there are several"),
    Setting("series", "texts", doc="other limits: fails where any of them does"),
    Setting("parallel", "texts", doc="other limits: fails where all of them do"),
    Setting("aleatory", "texts", doc="parameters that vary from event to event, for estimates from a posterior"),
    Setting("doc", "text", doc="description in one line"),
)
SCHEMA = LIMIT


@dataclass(frozen=True)
class LimitState:
    """A limit: of one quantity in one case, or of `parts`, of which any (`series`) or all must fail."""

    name: str
    quantity: Formula | None = None
    threshold: float = 0.0
    above: bool = True
    case: str = ""
    parts: tuple[LimitState, ...] = ()
    series: bool = True
    aleatory: tuple[str, ...] = ()

    def leaves(self) -> tuple[LimitState, ...]:
        """The limits of single quantities in it, from left to right."""
        return (self,) if self.quantity is not None else tuple(leaf for part in self.parts for leaf in part.leaves())

    @property
    def has_parallel(self) -> bool:
        """Whether some parts must fail together."""
        return bool(self.parts) and (not self.series or any(part.has_parallel for part in self.parts))

    def margin(self, values: NDArray[Any]) -> NDArray[Any]:
        """Limit function of a single quantity at its values in SI."""
        size = abs(self.threshold) or 1.0
        return (self.threshold - values) / size if self.above else (values - self.threshold) / size

    def combine(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Limit function (n,) of the whole from the margins (n, leaves)."""
        import numpy as np

        if self.quantity is not None:
            return columns[:, 0]
        margins, at = [], 0
        for part in self.parts:
            size = len(part.leaves())
            margins.append(part.combine(columns[:, at : at + size]))
            at += size
        return np.asarray(np.minimum.reduce(margins) if self.series else np.maximum.reduce(margins))


def resolve(study: Study, tables: Mapping[str, Any], note: Note) -> dict[str, Any]:
    """Check every limit; thresholds come back in SI."""
    return {name: _resolved(study, tables, name, table, note) for name, table in named_tables(tables, "limits", note)}


def check_data(study: Study, note: Note) -> None:
    """Limits name no files."""


def find_limit(study: Study, name: str | None) -> LimitState:
    """The limit of that name; without one the only one there is that no other has under it."""
    tables: Any = study.sections.get("limits", {})
    if not tables:
        raise InputError(f"study {study.name} has no [limits]", hint="[limits.NAME] names a quantity and a threshold")
    if name is None:
        under = {part for table in tables.values() for part in _parts(table)}
        tops = [key for key in tables if key not in under]
        if len(tops) != 1:
            raise InputError(f"study {study.name} has several limits: --limit one of {', '.join(tables)}")
        name = tops[0]
    if name not in tables:
        raise InputError(f"--limit {name}: study {study.name} has no such limit: {did_you_mean(name, tables)}")
    return _state(study, tables, name)


def quantity_units(study: Study) -> dict[str, str]:
    """Units of all that a formula may name, as the study writes them: outputs, and parameters."""
    units = {parameter.name: parameter.unit for parameter in study.parameters.values()}
    return units | {output.name: output.unit for output in study.outputs.values()}


def _parts(table: Mapping[str, Any]) -> list[str]:
    return [*table.get("series", ()), *table.get("parallel", ())]


def _state(study: Study, tables: Mapping[str, Any], name: str) -> LimitState:
    table = tables[name]
    aleatory = tuple(table.get("aleatory", ()))
    if "quantity" not in table:
        parts = tuple(_state(study, tables, part) for part in _parts(table))
        return LimitState(name, parts=parts, series="series" in table, aleatory=aleatory)
    formula = Formula.read(table["quantity"])
    threshold = parse_quantity(table["threshold"], formula.unit(quantity_units(study)))
    case = study.case_name(table.get("case"))
    return LimitState(name, formula, threshold, table.get("fails", "above") == "above", case, aleatory=aleatory)


def _resolved(study: Study, tables: Mapping[str, Any], name: str, table: dict[str, Any], note: Note) -> dict[str, Any]:
    path: KeyPath = ("limits", name)
    checked = check_table(LIMIT, table, path, note)
    for parameter in checked.get("aleatory", ()):
        if parameter not in study.parameters:
            note((*path, "aleatory"), f"no parameter `{parameter}`; {did_you_mean(parameter, study.parameters)}")
    forms = [key for key in ("quantity", "series", "parallel") if key in table]
    if len(forms) != 1:
        forms_text = "none" if not forms else " and ".join(forms)
        note(path, f"takes one of quantity, series and parallel, not {forms_text}")
        return checked
    if forms == ["quantity"]:
        return checked | _checked_quantity(study, checked, path, note)
    for key in ("threshold", "fails", "case"):
        if key in table:
            note((*path, key), f"goes with quantity, not with {forms[0]}")
    for part in checked.get(forms[0], ()):
        if part not in tables:
            note((*path, forms[0]), f"no limit `{part}`; {did_you_mean(part, tables)}")
        elif _reaches(tables, part, name, set()):
            note((*path, forms[0]), f"`{part}` has this limit under it: a circle")
    if forms[0] in checked and len(checked[forms[0]]) < 2:
        note((*path, forms[0]), "takes two limits or more")
    return {key: value for key, value in checked.items() if key != "fails"}


def _checked_quantity(study: Study, checked: Mapping[str, Any], path: KeyPath, note: Note) -> dict[str, Any]:
    resolved: dict[str, Any] = {}
    if "threshold" not in checked:
        note((*path, "threshold"), "missing; threshold beyond which it fails, with its unit")
    elif "quantity" in checked:
        key = "quantity"
        try:
            formula = Formula.read(checked["quantity"])
            unit = formula.unit(quantity_units(study))
            if not any(name in study.outputs for name in formula.names):
                note((*path, key), f"`{formula.text}` names no output: {', '.join(study.outputs)}")
            key = "threshold"
            resolved["threshold"] = si_quantity(checked["threshold"], unit)
        except InputError as fault:
            note((*path, key), str(fault))
    if "case" in checked and checked["case"] not in study.cases:
        note((*path, "case"), f"no such case; {did_you_mean(checked['case'], study.cases)}")
    elif "case" not in checked and len(study.cases) > 1:
        note((*path, "case"), f"missing: the study has several cases: {', '.join(study.cases)}")
    return resolved


def _reaches(tables: Mapping[str, Any], start: str, sought: str, seen: set[str]) -> bool:
    """Whether a limit is another or has it under it."""
    if start == sought:
        return True
    seen.add(start)
    table = tables.get(start)
    parts = _parts(table) if isinstance(table, dict) else []
    return any(_reaches(tables, part, sought, seen) for part in parts if isinstance(part, str) and part not in seen)
