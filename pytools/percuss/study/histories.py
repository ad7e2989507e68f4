"""`[observations.histories.NAME]` of a study file: channels of a logger, bound to curves of the model.

    [observations.histories.floors]
    file = "observations/floors.csv"
    time = "t"                                  # the clock's column; units in headers, as `t [ms]`
    channels = { u1 = "ch 3", u2 = "ch 4" }     # curve of the model = column
    std = { u1 = "0.2 mm", u2 = "0.2 mm" }      # of each sample
    delay = { prior = { kind = "normal", mean = 0, std = "5 ms" } }

The clock of a logger shows (1 + drift) t + delay at the instant t of the model. A cell without a number is a gap.
`percuss.calibration.channels` reads the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from percuss.settings import KeyPath, Note, Setting, check_table, in_units, table_of, wrong_type
from percuss.spelling import did_you_mean, shown
from percuss.study.priors.inferred import PRIOR, inferred_in_si, read_inferred
from percuss.study.priors.prior import Prior
from percuss.study.tables import named_tables, read_stds
from percuss.units import si_quantity

if TYPE_CHECKING:
    from percuss.models.model import Quantity

# Keep so few samples that no more than a hundredth of what they tell of the curve is lost.
BY_INFORMATION = "information"

# What is less probable than this is held to be excluded.
NEVER = 1e-9

HISTORY = table_of(
    Setting("file", "file", required=True, doc="CSV or Parquet, one row per sample"),
    Setting("case", "text", "", doc="case that was measured"),
    Setting("time", "text", required=True, doc="column of the clock"),
    Setting("channels", "table", required=True, doc='curve of the model = "column of the file"'),
    Setting("flip", "texts", [], doc="curves whose channels have the opposite sign"),
    Setting("std", "any", {}, doc="standard deviation of a sample: one for all curves, or curve = std"),
    Setting(
        "delay",
        "number",
        0.0,
        unit_of="axis",
        of=PRIOR,
        doc="what the clock shows when the model starts, or { prior = ... } to infer it",
    ),
    Setting(
        "drift",
        "number",
        0.0,
        of=PRIOR,
        low=-1.0,
        low_open=True,
        doc="share by which the clock is too fast, or { prior = ... } to infer it",
    ),
    Setting("from", "number", unit_of="axis", doc="first time on the clock to use"),
    Setting("to", "number", unit_of="axis", doc="last time on the clock to use"),
    Setting(
        "thin",
        "integer",
        1,
        low=1,
        choices=(BY_INFORMATION,),
        doc=f'take one sample of so many, or "{BY_INFORMATION}": as few as tell the same',
    ),
    Setting("check", "boolean", True, doc="refuse channels whose magnitude or sign does not match the model's curves"),
    Setting("doc", "text", "", doc="description"),
)


@dataclass(frozen=True)
class History:
    """Channels of one file. `delay` and `drift` are numbers in SI, or priors where they are to be inferred; `thin` is a
    number of samples, None: by information. Places of the clock are in the unit of the curves' axis, SI.
    """

    name: str
    file: str
    case: str | None
    time: str
    channels: Mapping[str, str]
    flip: frozenset[str] = frozenset()
    std: Mapping[str, float] = field(default_factory=dict)
    delay: float | Prior = 0.0
    drift: float | Prior = 0.0
    start: float | None = None
    stop: float | None = None
    thin: int | None = 1
    check: bool = True

    @property
    def place(self) -> KeyPath:
        """Which table of the study says so."""
        return ("observations", "histories", self.name)


def read_histories(
    tables: Mapping[str, Any],
    quantities: Mapping[str, Quantity],
    outputs: Iterable[str],
    cases: Iterable[str],
    note: Note,
) -> tuple[History, ...]:
    """Read every table, noting what is wrong."""
    known = tuple(cases)
    named = named_tables(tables, "observations.histories", lambda path, text: note(("observations", "histories"), text))
    return tuple(
        made for name, table in named if (made := _history(name, table, quantities, set(outputs), known, note))
    )


def histories_in_si(tables: Mapping[str, Any], quantities: Mapping[str, Quantity]) -> dict[str, Any]:
    """Tables without faults, with their quantities in SI."""
    in_si = {}
    for name, table in tables.items():
        curves = {curve: quantities[curve].unit for curve in table["channels"]}
        axis = _axis_unit(quantities, next(iter(curves)))
        copy = dict(table)
        if isinstance(table.get("std"), dict):
            copy["std"] = {curve: si_quantity(value, curves[curve]) for curve, value in table["std"].items()}
        elif "std" in table:
            copy["std"] = {curve: si_quantity(table["std"], unit) for curve, unit in curves.items()}
        for key, unit in (("delay", axis), ("drift", "1"), ("from", axis), ("to", axis)):
            if key in table:
                copy[key] = inferred_in_si(table[key], unit)
        in_si[name] = copy
    return in_si


def _history(
    name: str,
    table: Mapping[str, Any],
    quantities: Mapping[str, Quantity],
    outputs: set[str],
    cases: tuple[str, ...],
    note: Note,
) -> History | None:
    path: KeyPath = ("observations", "histories", name)
    written = table.get("channels")
    channels = _channels(written if isinstance(written, dict) else {}, quantities, outputs, (*path, "channels"), note)
    axis = _axis_unit(quantities, next(iter(channels))) if channels else "s"
    checked = check_table(in_units(HISTORY, {"axis": axis}), table, path, note)
    case = checked["case"] or None
    if case is not None and case not in cases:
        note((*path, "case"), f"no such case; {did_you_mean(case, cases)}")
    if case is None and len(cases) > 1:
        note((*path, "case"), f"missing; which of {', '.join(cases)} was measured")
    if "file" not in checked or "time" not in checked or not channels:
        return None
    for i, curve in enumerate(checked["flip"]):
        if curve not in channels:
            note((*path, "flip", i), f"no channel is bound to {shown(curve)}; {did_you_mean(curve, channels)}")
    start, stop = checked.get("from"), checked.get("to")
    if start is not None and stop is not None and start >= stop:
        note((*path, "from"), f"{start:g} {axis} is not before to, {stop:g} {axis}".replace(" 1,", ","))
    drift = _clock(checked["drift"], "1", (*path, "drift"), note)
    if isinstance(drift, Prior) and float(drift.cdf(-1.0)) > NEVER:
        note((*path, "drift"), "its prior reaches down to -1, where a clock stands still: must lie above -1")
    units = {curve: quantities[curve].unit for curve in channels}
    std = read_stds(checked["std"], units, "no channel is bound to it", (*path, "std"), note)
    return History(
        name,
        checked["file"],
        case,
        checked["time"],
        channels,
        frozenset(checked["flip"]),
        std,
        _clock(checked["delay"], axis, (*path, "delay"), note),
        drift,
        start,
        stop,
        None if checked["thin"] == BY_INFORMATION else checked["thin"],
        checked["check"],
    )


def _channels(
    table: Mapping[str, Any], quantities: Mapping[str, Quantity], outputs: set[str], path: KeyPath, note: Note
) -> dict[str, str]:
    curves = [name for name, quantity in quantities.items() if quantity.curve and quantity.axis]
    channels: dict[str, str] = {}
    for curve, column in table.items():
        if curve not in curves:
            note((*path, curve), f"no such curve of the model; {did_you_mean(curve, curves)}")
        elif curve in outputs:
            note((*path, curve), "an output of the study has the name of this curve: rename the output")
        elif not isinstance(column, str):
            note((*path, curve), wrong_type(column, "the name of a column"))
        else:
            channels[curve] = column
    if len({quantities[curve].axis for curve in channels}) > 1:
        note(path, "curves over different axes: bind them in tables of their own")
    if not table:
        note(path, "binds no column to a curve")
    return channels


def _axis_unit(quantities: Mapping[str, Quantity], curve: str) -> str:
    axis = quantities[curve].axis
    return quantities[axis].unit if axis else "s"


def _clock(value: Any, unit: str, path: KeyPath, note: Note) -> float | Prior:
    """A number of the clock, or its prior."""
    return (read_inferred(value, unit, path, note) or 0.0) if isinstance(value, dict) else float(value)
