"""What the header of a column says that it holds."""

from __future__ import annotations

import re

from percuss.units import same_dimension

# Words that name a quantity, and the unit of that; over a period there are only spectra.
_NAMED = {
    "displacement": (re.compile(r"displ.*|disp"), "m"),
    "velocity": (re.compile(r"veloc.*|vel"), "m/s"),
    "acceleration": (re.compile(r"accel.*|acc"), "m/s^2"),
    "force": (re.compile(r"forces?"), "N"),
    "time": (re.compile(r"times?"), "s"),
    "frequency": (re.compile(r"freq.*"), "Hz"),
    "period": (re.compile(r"periods?"), None),
}
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_UNIT = re.compile(r"[\[(][^\])]*[\])]\s*$")


def other_quantity(column: str, unit: str) -> str | None:
    """The quantity that a header names where it is not one of this unit; None where it names none, or the right one.

    >>> other_quantity("Relative displacement [m/s2]", "m/s^2"), other_quantity("a1_m_s2", "m/s^2")
    ('displacement', None)
    """
    words = [word.lower() for word in _WORD.findall(_UNIT.sub("", column))]
    named = {
        quantity: own is not None and same_dimension(own, unit)
        for quantity, (pattern, own) in _NAMED.items()
        if any(map(pattern.fullmatch, words))
    }
    return None if any(named.values()) else next(iter(named), None)
