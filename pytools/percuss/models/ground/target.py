"""Spectra that motions are made to match: shapes of codes, or a table.

| shape | source | key |
| --- | --- | --- |
| `eurocode8-1`, `eurocode8-2` | EN 1998-1:2004, 3.2.2.2, eq. 3.2 to 3.5 | `ground` A to E, `peak` (ag) |
| `asce7` | ASCE/SEI 7-16, 11.4.6 | `short` (SDS), `one_second` (SD1), `long_period` (TL) |
| `table` | a CSV file with periods and spectral accelerations | `file` |
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from percuss.errors import InputError
from percuss.models.ground.record import read_record
from percuss.settings import Setting

if TYPE_CHECKING:
    from numpy import ndarray

# Soil factor S and the periods TB, TC, TD in s, by ground type.
EUROCODE8 = {
    "eurocode8-1": {
        "A": (1.0, 0.15, 0.4, 2.0),
        "B": (1.2, 0.15, 0.5, 2.0),
        "C": (1.15, 0.20, 0.6, 2.0),
        "D": (1.35, 0.20, 0.8, 2.0),
        "E": (1.4, 0.15, 0.5, 2.0),
    },
    "eurocode8-2": {
        "A": (1.0, 0.05, 0.25, 1.2),
        "B": (1.35, 0.05, 0.25, 1.2),
        "C": (1.5, 0.10, 0.25, 1.2),
        "D": (1.8, 0.10, 0.30, 1.2),
        "E": (1.6, 0.05, 0.25, 1.2),
    },
}
SHAPES = (*EUROCODE8, "asce7", "table")
_NEEDS = {"asce7": ("short", "one_second"), "table": ("file",)} | dict.fromkeys(EUROCODE8, ("peak",))
_ASCE = "with asce7"
TARGET = (
    Setting("shape", "text", required=True, choices=SHAPES, doc="what the spectrum follows"),
    Setting("ground", "text", "A", choices=tuple("ABCDE"), doc="ground type, with eurocode8"),
    Setting("peak", "number", unit="m/s^2", low=0, low_open=True, doc="design ground acceleration ag, with eurocode8"),
    Setting("short", "number", unit="m/s^2", low=0, low_open=True, doc=f"SDS, {_ASCE}"),
    Setting("one_second", "number", unit="m/s^2", low=0, low_open=True, doc=f"SD1, {_ASCE}"),
    Setting("long_period", "number", 8.0, unit="s", low=0.1, doc=f"TL, {_ASCE}"),
    Setting("file", "file", doc="CSV with period and spectral acceleration, with table"),
    Setting("damping", "number", 0.05, low=0.005, high=0.5, doc="damping ratio of the spectrum"),
)


@dataclass(frozen=True)
class Target:
    """A spectrum as corners: pairs of a law between them, or straight lines in log-log."""

    shape: str
    damping: float
    numbers: tuple[float, ...]
    table: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())

    def sa_m_s2(self, periods_s: ndarray) -> ndarray:
        """Spectral accelerations at these periods."""
        import numpy as np

        t = np.asarray(periods_s, float)
        if self.shape in EUROCODE8:
            return _eurocode8(t, self.damping, *self.numbers)
        if self.shape == "asce7":
            return _asce7(t, *self.numbers)
        known, values = (np.log(np.array(column)) for column in self.table)
        return np.asarray(np.exp(np.interp(np.log(t), known, values)))


def read_target(table: Mapping[str, Any], files: Mapping[str, bytes]) -> Target:
    """Build the spectrum that cleaned settings ask for; raises InputError naming the key that is missing or wrong."""
    shape = table["shape"]
    for key in _NEEDS[shape]:
        if key not in table:
            raise InputError(f"`{key}` is missing: shape = {shape} needs it")
    for other, keys in _NEEDS.items():
        for key in keys:
            if key in table and key not in _NEEDS[shape]:
                raise InputError(f"`{key}` goes with shape = {other}, not with {shape}")
    if shape in EUROCODE8:
        return Target(shape, table["damping"], (table["peak"], *EUROCODE8[shape][table["ground"]]))
    if shape == "asce7":
        if table["damping"] != 0.05:
            raise InputError(f"`damping` = {table['damping']:g}: the spectrum of asce7 is that of 5 % damping")
        return Target(shape, table["damping"], (table["short"], table["one_second"], table["long_period"]))
    name = table["file"]
    try:
        spectrum = read_record(name, files[name], None)
    except InputError as fault:
        raise InputError(f"{name}: {fault}") from None
    if spectrum.times_s[0] <= 0 or min(spectrum.accelerations_m_s2) <= 0:
        raise InputError(f"{name}: periods and spectral accelerations must be above 0")
    return Target(shape, table["damping"], (), (spectrum.times_s, spectrum.accelerations_m_s2))


def _eurocode8(t: ndarray, damping: float, peak: float, soil: float, b: float, c: float, d: float) -> ndarray:
    import numpy as np

    eta = max(math.sqrt(10 / (5 + 100 * damping)), 0.55)
    rising = 1 + t / b * (2.5 * eta - 1)
    falling = 2.5 * eta * np.where(t <= c, 1.0, np.where(t <= d, c / t, c * d / t**2))
    return np.asarray(peak * soil * np.where(t < b, rising, falling))


def _asce7(t: ndarray, short: float, one_second: float, long_period: float) -> ndarray:
    import numpy as np

    corner = one_second / short
    rising = short * (0.4 + 0.6 * t / (0.2 * corner))
    falling = np.where(t <= corner, short, np.where(t <= long_period, one_second / t, one_second * long_period / t**2))
    return np.asarray(np.where(t < 0.2 * corner, rising, falling))
