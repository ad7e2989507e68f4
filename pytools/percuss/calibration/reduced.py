"""Measured curves, reduced to the outputs of a study as the curves of a run are.

A table with a column of instants (`instant`, or the name of the model's axis, as `t`) and a column for each curve that
was measured, under the name the model has for it. Every output that reduces one of these curves becomes a datum.
`percuss.calibration.channels` takes whole curves instead, sample by sample.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from percuss.errors import InputError
from percuss.measured import Measured
from percuss.spelling import did_you_mean
from percuss.units import parse_unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from percuss.study.output import Output
    from percuss.study.study import Study


class MeasuredFile(Protocol):
    """A file of observations, as far as its curves are concerned (`percuss.calibration.observations.Source`)."""

    @property
    def file(self) -> str: ...
    @property
    def std(self) -> Mapping[str, float]: ...
    @property
    def start(self) -> float: ...


def curve_outputs(study: Study, columns: Mapping[str, str]) -> list[Output]:
    """Outputs that reduce a curve which the table has a column for; none where no column says when."""
    outputs = [output for output in study.outputs.values() if output.reduce and output.quantity in columns]
    timed = "instant" in columns or any(axis in columns for axis in axes(study, {o.quantity for o in outputs}))
    return outputs if timed else []


def axes(study: Study, curves: Collection[str]) -> set[str]:
    """What these curves of the model are over."""
    known = study.model().quantities if curves else {}
    return {known[name].axis or "" for name in curves if name in known} - {""}


def read_curves(
    study: Study, source: MeasuredFile, measured: Measured, columns: Mapping[str, str], case: str
) -> list[dict[str, Any]]:
    """A datum, in SI, for every output that one of the measured curves gives."""
    if "case" in columns:
        raise InputError(
            f"{source.file}: measured curves have no column case: one file per case, in [observations.NAME]"
        )
    quantities = study.model().quantities
    entries = []
    for output in curve_outputs(study, columns):
        axis = quantities[output.quantity].axis or "instant"
        x = _instants(source, measured, columns, axis, quantities[axis].unit if axis in quantities else "1")
        y = _si(measured, columns[output.quantity], quantities[output.quantity].unit)
        known = y == y  # gaps of a curve are passed over
        try:
            value = output.evaluate({}, {output.quantity: y[known], axis: x[known]}, axis)
        except InputError as fault:
            late = not source.start and x.size and x[0] > 0
            clock = "; `start` says when the run begins on the clock of this file, as `1.2 s`" if late else ""
            raise InputError(f"{source.file}: column {columns[output.quantity]}: {fault}{clock}") from None
        fields = {"case": case, "output": output.name, "value": value, "std": source.std.get(output.name)}
        entries.append(fields | {"point": None, "axis": None, "instant": output.at})
    return entries


def _instants(
    source: MeasuredFile, measured: Measured, columns: Mapping[str, str], axis: str, unit: str
) -> NDArray[Any]:
    """Places on the axis of the curves, counted from the start of the run."""
    import numpy as np

    column = columns.get("instant") or columns.get(axis)
    if column is None:
        near = did_you_mean(axis, columns)
        raise InputError(f"{source.file}: has curves and no column `{axis}` or `instant` to say when: {near}")
    if source.start and parse_unit(unit).dims != parse_unit("s").dims:
        raise InputError(f"{source.file}: start is in s, and these curves are over {axis} in {unit}")
    measured.finite(column, "a curve")
    x = _si(measured, column, unit)
    back = np.flatnonzero(np.diff(x) <= 0)
    if back.size:
        raise InputError(f"{measured.place(int(back[0]) + 1)} of column {column}: instants must increase")
    return x - source.start


def _si(measured: Measured, column: str, unit: str) -> NDArray[Any]:
    import numpy as np

    scale = parse_unit(measured.unit(column, unit)).scale / parse_unit(unit).scale
    # By numerator and denominator: 800 ms are 0.8 s, to the last digit.
    return np.asarray(measured.with_gaps(column)) * float(scale.numerator) / float(scale.denominator)
