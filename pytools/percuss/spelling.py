"""Words for messages: suggest the name that was meant, show a value without flooding the screen, count things.

Numbers are written as people read them: as many digits as the uncertainty leaves, and no exponent where none is
needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Say what may stand in place of `word`: the nearest known words, or all of them when few.

    >>> did_you_mean("ishigmai", ["borehole", "ishigami"])
    'did you mean `ishigami`?'
    >>> did_you_mean("zzz", ["borehole", "ishigami"])
    'known: borehole, ishigami'
    """
    import difflib

    names = list(known)
    folded = {name.casefold(): name for name in names}
    near = difflib.get_close_matches(word[:100].casefold(), folded, n=2, cutoff=0.6)
    if near:
        return "did you mean " + " or ".join(f"`{folded[name]}`" for name in near) + "?"
    if not names:
        return "none is known here"
    return "known: " + ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")


def shown(value: object) -> str:
    """Spell a value for a message, cut to a length a line can hold.

    >>> shown("cm"), shown("x" * 1000) == "'" + "x" * 56 + "..."
    ("'cm'", True)
    """
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def counted(count: int, one: str, many: str | None = None) -> str:
    """So many of a thing.

    >>> counted(1, "run"), counted(0, "run"), counted(2, "batch", "batches")
    ('1 run', '0 runs', '2 batches')
    """
    return f"{count} {one}" if count == 1 else f"{count} {many or one + 's'}"


# Numbers of this size are written out; smaller and larger ones have an exponent.
SMALLEST, LARGEST = 1e-4, 1e7
# Of a share, no more digits than these are of use.
MOST_PLACES = 4


def number_text(value: float, digits: int = 4) -> str:
    """A number on its own: so many digits that count, all of those before the point.

    >>> number_text(0.123456), number_text(21394.2), number_text(1.5e-7), number_text(12.0), number_text(float("nan"))
    ('0.1235', '21390', '1.5e-07', '12', '')
    """
    if value != value:
        return ""
    if math.isinf(value) or value == 0:
        return f"{value:g}"
    if not SMALLEST <= abs(value) < LARGEST:
        return f"{value:.{digits}g}"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    text = f"{round(value, places):.{max(places, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def with_error(value: float, error: float | None) -> str:
    """A number and its error: two digits of the error, and the number to the same place.

    >>> with_error(0.73921, 0.00131), with_error(-1043.4567, 0.083), with_error(21394.0, 1200.0), with_error(3.2, None)
    ('0.7392 ± 0.0013', '-1043.457 ± 0.083', '21400 ± 1200', '3.2')
    """
    if error is None or not math.isfinite(error) or error <= 0 or not math.isfinite(value):
        return number_text(value)
    places = 1 - math.floor(math.log10(error))
    size = max(abs(value), error)
    if not SMALLEST <= size < LARGEST:
        power = math.floor(math.log10(size))
        inner = with_error(value / 10**power, error / 10**power)
        return f"({inner}) 10^{power}"
    return f"{_fixed(value, places)} ± {_fixed(error, places)}"


def log_text(value: float, error: float | None = None) -> str:
    """A logarithm of a probability: differences count, however large it is, so that digits go by the place.

    >>> log_text(86772.4812), log_text(-3.7283066, 0.0031), log_text(float("nan"))
    ('86772.48', '-3.7283 ± 0.0031', '')
    """
    if error is not None and math.isfinite(error) and error > 0:
        return with_error(value, error)
    return f"{value:.2f}" if math.isfinite(value) else number_text(value)


def span_text(low: float, high: float) -> str:
    """From one number to another: as many digits as tell them apart by two, and both to the same place.

    >>> span_text(10.1482, 10.1531), span_text(0.0, 2.0), span_text(-1.0, 21394.0), span_text(0.52, 0.5773)
    ('10.1482 to 10.1531', '0 to 2', '0 to 21400', '0.5200 to 0.5773')
    """
    width = high - low
    if not math.isfinite(width) or width <= 0:
        return f"{number_text(low)} to {number_text(high)}"
    if not SMALLEST <= max(abs(low), abs(high)) < LARGEST:
        return f"{number_text(low)} to {number_text(high)}"
    places = 2 - math.floor(math.log10(width))
    ends = [_fixed(low, places), _fixed(high, places)]
    while all("." in end and end[-1] in "0." for end in ends):
        ends = [end[:-1] for end in ends]
    return " to ".join(ends)


def with_span(value: float, low: float, high: float) -> str:
    """A number and the interval around it, all to the same place: as many digits as the interval is wide by two.

    >>> with_span(0.76968, 0.76951, 0.76989), with_span(0.2, 0.1, 0.35), with_span(0.5, math.nan, math.nan)
    ('0.7697 (0.7695 to 0.7699)', '0.20 (0.10 to 0.35)', '0.5')
    """
    width = high - low
    if not math.isfinite(width) or width <= 0:
        return number_text(value)
    places = min(max(1 - math.floor(math.log10(width)), 0), MOST_PLACES)
    return f"{_fixed(value, places)} ({_fixed(low, places)} to {_fixed(high, places)})"


def _fixed(value: float, places: int) -> str:
    text = f"{round(value, places):.{max(places, 0)}f}"
    return text.removeprefix("-") if float(text) == 0 else text
