"""Outputs of a study: which quantity of the model, reduced to one number how.

Curves are read as straight lines between their samples. `mean` and `rms` are integrals over the axis
divided by its span (not averages of samples, which would follow the sampling); a window `from`..`to` is cut
at its exact ends; `at` interpolates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from percuss.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

REDUCTIONS = ("max", "min", "absmax", "final", "mean", "rms", "at")


@dataclass(frozen=True)
class Output:
    """One number a study asks of each run, SI inside; `unit` is for display.

    `reduce` is None for a scalar quantity; `at`, `start` and `stop` are places on the curve's axis.
    """

    name: str
    quantity: str
    unit: str
    reduce: str | None = None
    at: float | None = None
    start: float | None = None
    stop: float | None = None
    doc: str = ""

    def evaluate(
        self, values: Mapping[str, float], curves: Mapping[str, NDArray[Any]] | None, axis: str | None
    ) -> float:
        """Reduce what a run gave to this output's number.

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
            number = self._reduced(curves[self.quantity], None if axis is None else curves[axis])
        if not math.isfinite(number):
            raise InputError(f"output `{self.name}` is not finite: {number}")
        return number

    def _reduced(self, curve: NDArray[Any], axis: NDArray[Any] | None) -> float:
        import numpy as np

        y = np.asarray(curve, float)
        x = np.arange(y.size, dtype=float) if axis is None else np.asarray(axis, float)
        if y.size == 0 or x.shape != y.shape:
            raise InputError(f"output `{self.name}`: curve of {y.size} values on an axis of {x.size}")
        if self.reduce == "at":
            assert self.at is not None
            self._covered(self.at, x)
            return float(np.interp(self.at, x, y))
        if self.start is not None or self.stop is not None:
            x, y = self._window(x, y)
        match self.reduce:
            case "max":
                return float(y.max())
            case "min":
                return float(y.min())
            case "absmax":
                return float(np.abs(y).max())
            case "final":
                return float(y[-1])
        span = float(x[-1] - x[0])
        if span == 0:
            return float(y[-1] if self.reduce == "mean" else abs(y[-1]))
        a, b, step = y[:-1], y[1:], np.diff(x)
        if self.reduce == "mean":
            return float(np.sum(step * (a + b)) / (2 * span))
        return math.sqrt(float(np.sum(step * (a * a + a * b + b * b))) / (3 * span))

    def _window(self, x: NDArray[Any], y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        import numpy as np

        start = float(x[0]) if self.start is None else self.start
        stop = float(x[-1]) if self.stop is None else self.stop
        self._covered(start, x)
        self._covered(stop, x)
        inside = (x > start) & (x < stop)
        ends = np.interp([start, stop], x, y)
        return np.concatenate([[start], x[inside], [stop]]), np.concatenate([ends[:1], y[inside], ends[1:]])

    def _covered(self, place: float, x: NDArray[Any]) -> None:
        if not x[0] <= place <= x[-1]:
            raise InputError(
                f"output `{self.name}` asks for {place!r}: the run covers {float(x[0])!r} to {float(x[-1])!r}"
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
            "doc": self.doc,
        }
        return {key: value for key, value in data.items() if value not in (None, "")}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Output:
        """Build an output from what `to_json` gave."""
        window = {"start": data.get("from"), "stop": data.get("to"), "at": data.get("at")}
        return cls(
            data["name"],
            data["quantity"],
            data["unit"],
            data.get("reduce"),
            doc=data.get("doc", ""),
            **window,
        )
