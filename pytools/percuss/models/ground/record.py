"""Recorded ground motion: acceleration from a PEER AT2 or a CSV file, in the unit that the file or the study says.

A header is obeyed or refused, never passed over: a velocity read as an acceleration, or g as m/s^2, gives numbers that
look like an answer. PEER files have four lines before the values: database, event and station, quantity with unit, and
`NPTS=  4000, DT=  .0050 SEC` or, in older ones, `4000  0.0050  NPTS, DT`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from percuss.errors import InputError
from percuss.models.ground.measures import measures_of
from percuss.spelling import counted, shown
from percuss.text_tables import (
    check_separator,
    check_unit,
    header_unit,
    is_number,
    is_unit,
    number_in,
    other_quantity,
    rows_of,
)
from percuss.units import dimension, from_si, parse_unit, same_dimension

ACCELERATION, TIME = "m/s^2", "s"
# What names of columns may end in, as percuss itself writes them: t_ms, a_m_s2.
_TAILS = {
    TIME: {"s": "s", "sec": "s", "ms": "ms", "msec": "ms", "us": "us", "min": "min"},
    ACCELERATION: {"m_s2": "m/s^2", "cm_s2": "cm/s^2", "mm_s2": "mm/s^2", "g0": "g0", "gal": "Gal"},
}
# Names of a time without a unit, which is then in s: `step` or `t-ms` is none.
_TIME = re.compile(r"t|time", re.IGNORECASE)
# Endings that mean a unit and cannot be read as one: acc_g, acc_ms2, a_m_s.
_UNIT_LIKE = re.compile(r"[_.-](?:m?g|[cm]?m[_/]?s\W?2?)$", re.IGNORECASE)
_WAY = 'say it in the study, as in base_record_unit = "g0" (standard gravity), "m/s^2" or "cm/s^2"'

PEER = (".at2", ".vt2", ".dt2")
_ACCELERATION = re.compile(r"\bACC")
_NO_ACCELERATION = re.compile(r"\b(?:VEL|DISP)|SPECTR|FOURIER")
# With what may follow that makes it another: `G * 980`, `CM / S`.
_UNITS_OF = re.compile(r"\bUNITS?(?:\s+OF\b|\s*[:=])\s*([^\s,;]+(?:\s*[*/]\s*[^\s,;]+)*)")
# Other ways to say a unit, where the word is one: `ACCELERATION (G)`, `ACCELERATION IN CM/SEC/SEC`.
_PERHAPS_UNIT = re.compile(r"(?:\bIN\s+|[(\[]\s*)([^\s,;()\[\]]+)")
_COUNTED = re.compile(r"NPTS\s*=\s*([^\s,]+)[\s,]+DT\s*=\s*([\d.E+-]+)\s*(?:SEC|S\b|,|$)")
_COUNTED_BEFORE = re.compile(r"^\s*(\S+)\s+(\S+)\s+NPTS\s*,?\s*DT\s*[,(]?\s*(?:SEC|S\b|,|$)")


@dataclass(frozen=True)
class GroundRecord:
    """A record: samples in SI at rising instants, with straight lines between them."""

    name: str
    times_s: tuple[float, ...]
    accelerations_m_s2: tuple[float, ...]

    def too_short(self, run_s: float) -> str:
        """Why the record is none for a run of that length; empty where it is long enough.

        It may end a step early, as records of N steps do that begin at 0, but no more than a hundredth of the run.
        """
        end = self.times_s[-1]
        if run_s - end <= _ends_with(end - self.times_s[-2], run_s):
            return ""
        return (
            f"the record {self.name} ends at {end:.6g} s, before the run of {run_s:.6g} s: shorten duration, or say "
            f'base_record_end = "rest" for a base that is at rest for the last {run_s - end:.6g} s'
        )

    def facts(self, scale: float = 1.0, run_s: float = math.inf) -> RecordFacts:
        """What to know of the record, with its acceleration times a factor, in a run of some length."""
        import numpy as np

        times = np.array(self.times_s)
        steps = np.diff(times)
        measures = measures_of(times, scale * np.array(self.accelerations_m_s2))
        return RecordFacts(
            self.name,
            measures.pga_m_s2,
            measures.pgv_m_s,
            float(times[-1] - times[0]),
            measures.significant_duration_s,
            float(steps.min()),
            float(steps.max()),
            len(times),
            float(times[-1]),
            run_s,
        )


@dataclass(frozen=True)
class RecordFacts:
    """Peaks, length and step of a record.

    The velocity is the integral of the acceleration from rest, without correction of the baseline; the significant
    duration is that between 5 and 95 % of the Arias intensity (Trifunac and Brady, 1975).
    """

    name: str
    pga_m_s2: float
    pgv_m_s: float
    duration_s: float
    significant_s: float
    least_step_s: float
    largest_step_s: float
    samples: int
    end_s: float
    run_s: float = math.inf

    HEADS: ClassVar = ("record", "PGA [m/s^2]", "PGV [m/s]", "length [s]", "5 to 95 % [s]", "step [s]", "samples")

    def row(self) -> tuple[str | float | int, ...]:
        """A row under `HEADS`."""
        peaks = (self.pga_m_s2, self.pgv_m_s)
        return (self.name, *peaks, self.duration_s, self.significant_s, self.step, self.samples)

    @property
    def step(self) -> str:
        """The step in s, or from which to which it goes."""
        even = self.largest_step_s - self.least_step_s <= 1e-6 * self.largest_step_s
        return f"{self.largest_step_s:.6g}" if even else f"{self.least_step_s:.6g} to {self.largest_step_s:.6g}"

    def sentence(self) -> str:
        """All of it in one line."""
        return (
            f"{self.name}: PGA {self.pga_m_s2:.4g} m/s^2 ({from_si(self.pga_m_s2, 'g0'):.4g} g0), "
            f"PGV {self.pgv_m_s:.4g} m/s, {self.duration_s:.6g} s long (5 to 95 % of its intensity in "
            f"{self.significant_s:.4g} s), step {self.step} s, {counted(self.samples, 'sample')}"
        )

    def mismatch(self) -> str:
        """One sentence if the record and the run do not end together, within a step; empty if they do."""
        if not math.isfinite(self.run_s) or abs(self.run_s - self.end_s) <= _ends_with(self.largest_step_s, self.run_s):
            return ""
        if self.end_s < self.run_s:
            rest = f"the base is at rest for the last {self.run_s - self.end_s:.6g} s"
            return f"the record {self.name} ends at {self.end_s:.6g} s, before the run of {self.run_s:.6g} s: {rest}"
        return (
            f"{self.name} ends at {self.end_s:.6g} s, after the run of {self.run_s:.6g} s: the rest of it is not used"
        )


def _ends_with(step_s: float, run_s: float) -> float:
    """How far apart a record and a run may end that end together: a step, but not that of a few samples far apart."""
    return min(step_s, 0.01 * run_s) * (1 + 1e-9)


def read_record(name: str, data: bytes, unit: str | None) -> GroundRecord:
    """Read a file by its name's ending; `unit` is what the study says. Raises InputError naming line and way out."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("is not UTF-8 text") from None
    if unit is not None and not same_dimension(unit, ACCELERATION):
        raise InputError(f"base_record_unit = {shown(unit)} ({dimension(unit)}) is no unit of acceleration")
    times, values = _peer(name, text, unit) if name.lower().endswith(PEER) else _csv(data, unit)
    if len(times) < 2:
        raise InputError(f"holds {counted(len(times), 'sample')} where at least 2 are needed")
    for i, (before, after) in enumerate(pairwise(times), start=2):
        if after <= before:
            raise InputError(f"sample {i}: its time {after:g} s does not come after {before:g} s")
    return GroundRecord(name, tuple(times), tuple(values))


def _peer(name: str, text: str, unit: str | None) -> tuple[list[float], list[float]]:
    lines = text.splitlines()
    if len(lines) < 5:
        raise InputError("must have four lines of header and then values, as PEER writes AT2 files")
    third = lines[2].upper()
    if _NO_ACCELERATION.search(third) or not (_ACCELERATION.search(third) or name.lower().endswith(PEER[0])):
        raise InputError(f"line 3 says `{lines[2].strip()[:60]}`, and an acceleration over time is needed")
    own = _one_unit(_peer_unit(lines[2]), unit, f"line 3, `{lines[2].strip()[:60]}`,")
    count, step = _counted(lines[3])
    scale = float(parse_unit(own).scale)
    values = [
        scale * number_in(word, f"line {i}: a value")
        for i, line in enumerate(lines[4:], start=5)
        for word in line.split()
    ]
    if len(values) != count:
        complaint = "cut off" if len(values) < count else "longer than it says"
        raise InputError(f"holds {counted(len(values), 'value')} where NPTS says {count}: it is {complaint}")
    return [i * step for i in range(count)], values


def _peer_unit(line: str) -> str | None:
    """The unit that line 3 states, if any, as PEER files spell it: G is standard gravity, SEC the second."""
    stated = _UNITS_OF.search(line.upper())
    words = [stated[1]] if stated else _PERHAPS_UNIT.findall(line.upper())
    for word in (word.strip(".()[]") for word in words):
        unit = _unit_of(word)
        if unit is None and not stated:
            continue
        if unit is None or not same_dimension(unit, ACCELERATION):
            raise InputError(f"line 3 says `{line.strip()[:60]}`: {word} is not read as a unit of acceleration")
        return unit
    return None


def _unit_of(word: str) -> str | None:
    """A word of capitals as a unit, or None."""
    if word in ("G", "GAL", "GALS"):
        return "g0" if word == "G" else "Gal"
    unit = word.lower().replace("sec", "s")
    return parse_unit(unit).name if is_unit(unit) else None


def _counted(line: str) -> tuple[int, float]:
    """NPTS and DT of line 4, in either form."""
    match = _COUNTED.search(line.upper()) or _COUNTED_BEFORE.search(line.upper())
    if not match:
        raise InputError(f"line 4 must give NPTS and DT, as in `NPTS= 4000, DT= .0050 SEC`, not `{line.strip()[:60]}`")
    step = number_in(match[2], "line 4: DT")
    if not match[1].isdecimal() or int(match[1]) < 2 or step <= 0:
        raise InputError(f"line 4, `{line.strip()[:60]}`: NPTS must be a whole number above 1 and DT above 0")
    return int(match[1]), step


def _csv(data: bytes, unit: str | None) -> tuple[list[float], list[float]]:
    """Two columns, time and acceleration, with or without a header; blank lines are passed over."""
    check_separator(data)
    times: list[float] = []
    values: list[float] = []
    scales: tuple[float, float] | None = None
    for line, row in rows_of(data, comments=True):
        cells = [cell.strip() for cell in row]
        if cells and not cells[-1]:
            cells.pop()  # a comma at the end of the line
        if not any(cells):
            continue
        if len(cells) != 2:
            raise InputError(f"line {line} has {counted(len(cells), 'column')} where time and acceleration are needed")
        if scales is None and not is_number(cells[0]):
            time, own = _head_unit(cells[0], TIME), _head_unit(cells[1], ACCELERATION)
            agreed = _one_unit(own, unit, f"the header `{','.join(cells)[:60]}`")
            scales = float(parse_unit(time or TIME).scale), float(parse_unit(agreed).scale)
            continue
        scales = scales or (1.0, float(parse_unit(_one_unit(None, unit, "a table without a header")).scale))
        times.append(scales[0] * number_in(cells[0], f"line {line}: the time"))
        values.append(scales[1] * number_in(cells[1], f"line {line}: the value"))
    return times, values


def _head_unit(head: str, expected: str) -> str | None:
    """The unit in the name of a column: `acc [g0]`, `acc (m/s2)`, `a_m_s2`; None if there is none."""
    other = other_quantity(head, expected)
    if other:
        needed = "a time" if expected == TIME else "an acceleration"
        raise InputError(f"column `{head[:40]}` names another quantity ({other}): {needed} is needed")
    unit = header_unit(head, any_brackets=True)
    if unit is not None:
        return check_unit(f"`{head[:40]}`", unit, expected)
    if len(head.split()) > 1:
        raise InputError(
            f"column `{head[:40]}`: write its unit in brackets, as in `{head.split()[0][:20]} [{expected}]`"
        )
    tails = (unit for tail, unit in _TAILS[expected].items() if f"_{head.lower()}".endswith(f"_{tail}"))
    tail = next(tails, None)
    if tail is None and (_UNIT_LIKE.search(head) if expected == ACCELERATION else not _TIME.fullmatch(head)):
        raise InputError(f"column `{head[:40]}`: write its unit in brackets, as in `{head[:20]} [{expected}]`")
    return tail


def _one_unit(unit_in_file: str | None, unit: str | None, where: str) -> str:
    """The unit that a file and the study agree on, or that one of them says."""
    if unit_in_file is None and unit is None:
        raise InputError(f"{where} does not say the unit of its acceleration: {_WAY}")
    if unit_in_file is not None and unit is not None and parse_unit(unit_in_file).scale != parse_unit(unit).scale:
        raise InputError(
            f"{where} says {unit_in_file}, and the study base_record_unit = {unit}: leave out what is wrong"
        )
    return str(unit_in_file or unit)
