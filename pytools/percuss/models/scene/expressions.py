"""Numbers of a scene file: quantities, and sums of quantities and inputs such as `"0.4 m + $gap / 2"`.

An input in a sum has the dimension of the sum, so that its unit follows from the place it stands at and nothing
has to be declared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from percuss.errors import InputError
from percuss.units import parse_quantity

_NUMBER = r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?"
_INPUT = re.compile(
    rf"(?P<sign>[+-]?)\s*(?:(?P<factor>{_NUMBER})\s*\*\s*)?\$(?P<name>[A-Za-z]\w*)"
    rf"(?:\s*(?P<operator>[*/])\s*(?P<by>{_NUMBER}))?",
    re.ASCII,
)
_SUM = re.compile(r"\s+([+-])\s+")
_LONGEST = 500


def is_expression(value: object) -> bool:
    """Tell whether a value names an input."""
    return isinstance(value, str) and "$" in value


def inputs_in(text: str) -> list[str]:
    """Names of the inputs in an expression.

    >>> inputs_in("0.4 m + $gap / 2 - $slip")
    ['gap', 'slip']
    """
    return [name for _, name, _ in _terms(text) if name is not None]


def evaluate(text: str, unit: str, value_of: Callable[[str], float]) -> float:
    """The sum, in SI; `value_of` gives the inputs in SI.

    >>> evaluate("0.25 m + 2 * $gap - 50 cm", "m", {"gap": 0.5}.__getitem__)
    0.75
    """
    total = 0.0
    for factor, name, term in _terms(text):
        total += factor * (parse_quantity(term, unit) if name is None else value_of(name))
    return total


def is_plain(text: str) -> bool:
    """Tell whether an expression is an input and nothing else."""
    return re.fullmatch(r"\$[A-Za-z]\w*", text, re.ASCII) is not None


def _terms(text: str) -> Iterator[tuple[float, str | None, str]]:
    """Factor, name of the input or None, and the term's text."""
    if len(text) > _LONGEST:
        raise InputError(f"`{text[:20]}...` is longer than {_LONGEST} characters")
    pieces = ["+", *_SUM.split(text.strip())]
    for sign, term in zip(pieces[::2], pieces[1::2], strict=True):
        outer = -1.0 if sign == "-" else 1.0
        if "$" not in term:
            yield outer, None, term
            continue
        match = _INPUT.fullmatch(term)
        if match is None:
            raise InputError(
                f"`{term}` is no term: write an input as `$name`, `2 * $name` or `$name / 2`, "
                "and sums with spaces around + and -"
            )
        factor = float(match["factor"] or 1.0) * (-1.0 if match["sign"] == "-" else 1.0)
        by = float(match["by"] or 1.0)
        if match["operator"] == "/" and by == 0.0:
            raise InputError(f"`{term}` divides by zero")
        yield outer * (factor / by if match["operator"] == "/" else factor * by), match["name"], term
