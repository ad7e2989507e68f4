"""Outputs of a study: which quantity of the model, reduced to one number how.

Curves are read as straight lines between their samples, those of interval means (contact forces of scenes) as steps.
`mean` and `rms` are integrals over the axis divided by its span (not averages of samples, which would follow the
sampling); a part `from`..`to` is cut at its exact ends; `at` interpolates. With a `window` the extremes are those of
the mean over a window that moves along the curve.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from percuss.errors import InputError
from percuss.models.model import Model, Quantity
from percuss.settings import KeyPath, Note, Setting, check_table, in_units, table_of
from percuss.spelling import did_you_mean, shown
from percuss.study.curve import Curve
from percuss.study.tables import display_unit, named_tables

if TYPE_CHECKING:
    from numpy.typing import NDArray


REDUCTIONS = ("max", "min", "absmax", "final", "mean", "rms", "at")
# Those that a single value of the curve decides; `rms` weights values by themselves and follows the largest.
EXTREMES = ("max", "min", "absmax")
FOLLOWS_EXTREMES = (*EXTREMES, "rms")


@dataclass(frozen=True)
class Output:
    """One number a study asks of each run, SI inside; `unit` is for display.

    `reduce` is None for a scalar quantity; `at`, `start` and `stop` are places on the curve's axis, `window` is a
    length of it.
    """

    name: str
    quantity: str
    unit: str
    reduce: str | None = None
    at: float | None = None
    start: float | None = None
    stop: float | None = None
    doc: str = ""
    window: float | None = None

    def evaluate(
        self,
        values: Mapping[str, float],
        curves: Mapping[str, NDArray[Any]] | None,
        axis: str | None,
        *,
        means: bool = False,
    ) -> float:
        """Reduce what a run gave to this output's number; `means`: samples of the curve are means of intervals.

        Raises InputError when the run lacks the quantity, its curve does not cover the place asked for, or
        the number is not finite: to a campaign, a failed run.
        """
        if self.reduce is None:
            if self.quantity not in values:
                raise InputError(f"output `{self.name}`: the run gave no `{self.quantity}`")
            number = float(values[self.quantity])
        else:
            if curves is None or self.quantity not in curves or (axis is not None and axis not in curves):
                raise InputError(f"output `{self.name}`: the run gave no curve `{self.quantity}`")
            number = self._reduced(curves[self.quantity], None if axis is None else curves[axis], means)
        if not math.isfinite(number):
            raise InputError(f"output `{self.name}` is not finite: {number}")
        return number

    def _reduced(self, samples: NDArray[Any], axis: NDArray[Any] | None, means: bool) -> float:
        import numpy as np

        y = np.asarray(samples, float)
        x = np.arange(y.size, dtype=float) if axis is None else np.asarray(axis, float)
        if y.size == 0 or x.shape != y.shape:
            raise InputError(f"output `{self.name}`: curve of {y.size} values on an axis of {x.size}")
        curve = Curve(x, y, means)
        if self.reduce == "at":
            assert self.at is not None
            self._covered(self.at, x)
            return float(curve.at(self.at))
        if self.start is not None or self.stop is not None:
            start = float(x[0]) if self.start is None else self.start
            stop = float(x[-1]) if self.stop is None else self.stop
            self._covered(start, x)
            self._covered(stop, x)
            curve = curve.cut(start, stop)
        if self.reduce in EXTREMES:
            values = curve.values if self.window is None else self._moved(curve, self.window)
            return float({"max": values.max, "min": values.min, "absmax": np.abs(values).max}[self.reduce]())
        if self.reduce == "final":
            return float(curve.y[-1])
        return curve.mean() if self.reduce == "mean" else curve.rms()

    def _moved(self, curve: Curve, window: float) -> NDArray[Any]:
        """Means over the window; refused where the curve is too short, or too coarse to tell."""
        import numpy as np

        if window > curve.span * (1 + 1e-9):
            raise InputError(f"output `{self.name}`: a window of {window!r} on a curve of {curve.span!r}")
        widest = float(np.diff(curve.x).max())
        if window < widest * (1 - 1e-9):
            raise InputError(f"output `{self.name}`: a window of {window!r} is shorter than the sampling of {widest!r}")
        return curve.moving_means(min(window, curve.span))

    def _covered(self, place: float, x: NDArray[Any]) -> None:
        if not x[0] <= place <= x[-1]:
            raise InputError(
                f"output `{self.name}` asks for {place!r}: the curve covers {float(x[0])!r} to {float(x[-1])!r}"
            )

    def to_json(self) -> dict[str, object]:
        """Return the output as plain data, keys as in a study file, SI values."""
        data = {
            "name": self.name,
            "quantity": self.quantity,
            "unit": self.unit,
            "reduce": self.reduce,
            "at": self.at,
            "from": self.start,
            "to": self.stop,
            "window": self.window,
            "doc": self.doc,
        }
        return {key: value for key, value in data.items() if value not in (None, "")}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Output:
        """Build an output from what `to_json` gave."""
        places = {"start": data.get("from"), "stop": data.get("to")}
        places |= {key: data.get(key) for key in ("at", "window")}
        return cls(
            data["name"],
            data["quantity"],
            data["unit"],
            data.get("reduce"),
            doc=data.get("doc", ""),
            **places,
        )


# Keys that are places on the axis of the curve, or a length of it.
PLACES = ("at", "from", "to", "window")
OUTPUT = table_of(
    Setting("quantity", "any", doc="quantity of the model; default: the name of the output"),
    Setting("reduce", "any", doc="how a curve becomes a number: " + ", ".join(REDUCTIONS)),
    Setting("at", "number", unit_of="axis", doc='place on the axis of the curve, with reduce = "at"'),
    Setting("from", "number", unit_of="axis", doc="only the part of the curve from here on"),
    Setting("to", "number", unit_of="axis", doc="only the part of the curve up to here"),
    Setting(
        "window",
        "number",
        low=0,
        low_open=True,
        unit_of="axis",
        doc="length of a moving average, with " + ", ".join(EXTREMES),
    ),
    Setting("unit", "any", doc="unit for display; default: that of the model"),
    Setting("doc", "text", "", doc="description in one line"),
)


def scalar_outputs(model: Model) -> dict[str, Output]:
    """Every number the model gives, where a study asks for none by name."""
    return {q.name: Output(q.name, q.name, q.unit, doc=q.doc) for q in model.quantities.values() if not q.curve}


def read_outputs(tables: Mapping[str, Any], model: Model, note: Note) -> dict[str, Output]:
    """Read [outputs.NAME], noting what is wrong."""
    outputs = {}
    for name, table in named_tables(tables, "outputs", note):
        path: KeyPath = ("outputs", name)
        quantity_name = table.get("quantity", name)
        quantity = model.quantities.get(quantity_name) if isinstance(quantity_name, str) else None
        axis = model.quantities[quantity.axis].unit if quantity and quantity.curve and quantity.axis else None
        # What has no axis has no places on it, which is said of each.
        written = {key: value for key, value in table.items() if axis or key not in PLACES}
        places = check_table(in_units(OUTPUT, {"axis": axis or "1"}), written, path, note)
        if quantity is None:
            near = did_you_mean(str(quantity_name), model.quantities)
            blamed = (*path, "quantity") if "quantity" in table else path
            note(blamed, f"model {model.kind} has no quantity {shown(quantity_name)}; {near}")
            continue
        unit = display_unit(table, quantity.unit, path, note) or quantity.unit
        reduce = _reduce(table, quantity, path, note)
        for key in PLACES:
            if key in table and quantity.curve and axis is None:
                note((*path, key), f"`{quantity.name}` is an axis and has no places")
        start, stop = places.get("from"), places.get("to")
        if reduce == "at" and "at" not in table:
            note(path, 'reduce = "at" needs the place: at = ...')
        if reduce != "at" and "at" in table:
            note((*path, "at"), 'goes with reduce = "at"')
        if reduce == "at" and ("from" in table or "to" in table):
            note(path, 'reduce = "at" takes no window from/to')
        if start is not None and stop is not None and not start < stop:
            note((*path, "to"), "must lie beyond from")
        window = places.get("window")
        if window is not None and reduce not in EXTREMES:
            note((*path, "window"), f"goes with reduce = {', '.join(EXTREMES)}")
        outputs[name] = Output(name, quantity.name, unit, reduce, places.get("at"), start, stop, places["doc"], window)
    return outputs


def _reduce(table: Mapping[str, Any], quantity: Quantity, path: KeyPath, note: Note) -> str | None:
    reduce = table.get("reduce")
    if not quantity.curve:
        for key in ("reduce", *PLACES):
            if key in table:
                note((*path, key), f"`{quantity.name}` is one number already")
        return None
    if reduce not in REDUCTIONS:
        complaint = "missing" if reduce is None else f"{shown(reduce)} is not known"
        blamed = path if reduce is None else (*path, "reduce")
        note(blamed, f"reduce: {complaint}: the curve `{quantity.name}` takes one of {', '.join(REDUCTIONS)}")
        return None
    return str(reduce)
