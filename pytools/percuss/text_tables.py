"""Tables as text: rows with their lines, headers with the units and quantities they name, cells that are numbers.

What every CSV table that people bring is read by. It needs the standard library alone, as a worker that reads a ground
record does; `percuss.measured` lays large tables out in columns on top of it.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator
from itertools import islice

from percuss.errors import InputError
from percuss.spelling import counted, shown
from percuss.units import parse_unit, same_dimension

COMMENT = "#"
_UNIT = re.compile(r"\s*\[([^\]]*)\]\s*$")
_UNIT_IN_ANY = re.compile(r"\s*[\[(]([^\])]*)[\])]\s*$")
# The last word of a header, where it may be a unit: `roof_mm`, `roof mm`, `roof/mm`.
_LAST_WORD = re.compile(r"[\s_/.,:-]([^\s_.,:]+)\s*$")
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


def rows_of(data: bytes, *, comments: bool) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file, each with the line it begins on; a blank line is a row without cells."""
    reader = csv.reader(io.StringIO(data.decode("utf-8-sig", "replace"), newline=""))
    before = 0
    for cells in reader:
        line, before = before + 1, reader.line_num
        if not (comments and cells and cells[0].startswith(COMMENT)):
            yield line, cells


def check_separator(data: bytes) -> None:
    """Refuse a table as spreadsheets write it where the comma is the decimal sign, or with tabs."""
    lines = [line for _, line in _first_lines(data)]
    for sign, name in ((b";", "`;`"), (b"\t", "tabs")):
        # A title above the table may hold anything.
        if lines and b"," not in lines[0] and sign in lines[0] and 2 * sum(sign in line for line in lines) > len(lines):
            raise InputError(
                f"its columns are separated by {name}, and `,` is needed",
                hint="write it again with `,` between columns and `.` in numbers",
            )


def check_first_line(data: bytes) -> None:
    """Refuse what loggers write above a table: a title, the date, the sensors."""
    lines = _first_lines(data)
    counts = [1 + line.count(b";" if b";" in line else b",") for _, line in lines]
    wider = next((index for index, count in enumerate(counts) if count > counts[0]), None)
    if wider is not None:
        raise InputError(
            f"its first line names {counted(counts[0], 'column')}, and line {lines[wider][0]} has {counts[wider]}",
            hint="the names of the columns must come first: delete what a logger wrote above them",
        )


def _first_lines(data: bytes) -> list[tuple[int, bytes]]:
    """Lines at the beginning that are neither empty nor a comment, with their numbers."""
    lines = enumerate(islice(io.BytesIO(data), 100), start=1)
    return [(number, line) for number, line in lines if line.strip() and not line.startswith(COMMENT.encode())]


def bare_name(column: str) -> str:
    """The name in a header, without its unit."""
    return _UNIT.sub("", column).strip()


def header_unit(column: str, *, any_brackets: bool = False) -> str | None:
    """The unit in a header, `1` for an empty one; None where there is none.

    Round brackets count where they hold a unit, as loggers write it, or whatever they hold if `any_brackets`.

    >>> header_unit("gap [mm]"), header_unit("gap (mm)"), header_unit("share [-]"), header_unit("gap (left)")
    ('mm', 'mm', '1', None)
    """
    bracketed = _UNIT_IN_ANY.search(column)
    if not bracketed:
        return None
    unit = bracketed[1].strip()
    if not (any_brackets or _UNIT.search(column)) and (unit.isdigit() or not is_unit(unit)):
        return None
    return "1" if unit in ("", "-") else unit


def loose_unit(column: str, like: str) -> str | None:
    """A unit for the same quantity as `like`, and not `like` itself, that a header names outside of brackets.

    >>> loose_unit("roof_mm", "m"), loose_unit("acc g", "m/s^2")
    ('mm', 'g')
    >>> loose_unit("roof_m", "m"), loose_unit("roof left", "m")
    (None, None)
    """
    word = _LAST_WORD.search(column)
    if not word:
        return None
    unit = "g0" if word[1].lower() == "g" and same_dimension(like, "g0") else word[1]
    if unit.isdigit() or not is_unit(unit) or not same_dimension(unit, like):
        return None
    return None if parse_unit(unit).scale == parse_unit(like).scale else word[1]


def check_unit(column: str, unit: str, like: str) -> str:
    """The unit that the header of a column says, which must be one of the dimension of `like`."""
    try:
        fits = same_dimension(unit, like)
    except InputError as fault:
        raise InputError(f"column {column}: {fault}") from None
    if not fits:
        way = "; standard gravity is `g0`, and `g` the gram" if unit == "g" else ""
        raise InputError(
            f"column {column}: must be in {like}, or in a unit of the same dimension, and is in {unit}{way}"
        )
    return parse_unit(unit).name


def is_unit(text: str) -> bool:
    """Whether a text is a unit."""
    try:
        parse_unit(text)
    except InputError:
        return False
    return True


def other_quantity(column: str, unit: str) -> str | None:
    """The quantity that a header names where it is not one of this unit; None where it names none, or the right one.

    >>> other_quantity("Relative displacement [m/s2]", "m/s^2"), other_quantity("a1_m_s2", "m/s^2")
    ('displacement', None)
    """
    words = [word.lower() for word in _WORD.findall(_UNIT_IN_ANY.sub("", column))]
    named = {
        quantity: own is not None and same_dimension(own, unit)
        for quantity, (pattern, own) in _NAMED.items()
        if any(map(pattern.fullmatch, words))
    }
    return None if any(named.values()) else next(iter(named), None)


def is_number(text: str) -> bool:
    """Whether a text is a number as tables have it, finite or not."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def number_in(cell: object, where: str) -> float:
    """A finite number from a cell."""
    if isinstance(cell, str) and is_number(cell):
        cell = float(cell)
    elif isinstance(cell, str):
        raise InputError(f"{where} is {shown(cell)}: not a number")
    if isinstance(cell, bool) or not isinstance(cell, int | float) or not math.isfinite(cell):
        raise InputError(f"{where} is {cell}: a finite number is needed")
    return float(cell)
