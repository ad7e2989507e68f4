"""Forms of numbers in a scene: each is a quantity or an expression of inputs."""

from __future__ import annotations

from percuss.settings import Setting

# No lower bound.
ANY = float("-inf")


def vector_setting(name: str, unit: str, doc: str = "", *, required: bool = False) -> Setting:
    """Three numbers of a unit."""
    return numbers_setting(name, unit, doc, required=required, length=3)


def numbers_setting(name: str, unit: str = "1", doc: str = "", *, required: bool = False, length: int = 0) -> Setting:
    """A list of numbers of a unit."""
    return Setting(name, "numbers", unit=unit, required=required, doc=doc, expression=True, length=length)


def rows_setting(name: str, unit: str, doc: str, *, required: bool = True, length: int = 3) -> Setting:
    """A list of lists of numbers of a unit."""
    return Setting(name, "rows", unit=unit, required=required, doc=doc, expression=True, length=length)


def number_setting(
    name: str, unit: str = "1", *, low: float = 0.0, high: float = float("inf"), doc: str = ""
) -> Setting:
    """A number of a unit within bounds."""
    return Setting(name, "number", unit=unit, low=low, high=high, doc=doc, expression=True)
