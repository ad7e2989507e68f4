"""What is asked of a fit: one frozen value, said in the event as it was used."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from percuss.errors import InputError
from percuss.spelling import did_you_mean

METHODS = ("best", "least-angle", "matching-pursuit", "ordinary")
SEARCHES = ("full", "early")
MOST_DEGREES = 40


@dataclass(frozen=True)
class Settings:
    """How surrogates are fitted and how their errors are found.

    `folds` 0 leaves the nested error out, `bootstrap` 0 the resampled designs, `held_out` 0 the fraction kept back.
    """

    family: str = "chaos"
    degrees: tuple[int, ...] = tuple(range(1, 21))
    qs: tuple[float, ...] = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    method: str = "best"
    search: str = "full"
    folds: int = 5
    held_out: float = 0.0
    bootstrap: int = 100
    seed: int = 0
    max_candidates: int = 100_000
    curves: str | None = None

    @classmethod
    def of(cls, facts: Mapping[str, Any], seed: int) -> Settings:
        """The settings that an event was made with."""
        kept = {key: value for key, value in facts.items() if key not in ("degrees", "q")}
        return cls(**kept, degrees=tuple(facts["degrees"]), qs=tuple(facts["q"]), seed=seed)

    def facts(self) -> dict[str, object]:
        """For the event."""
        return {
            "family": self.family,
            "degrees": list(self.degrees),
            "q": list(self.qs),
            "method": self.method,
            "search": self.search,
            "folds": self.folds,
            "held_out": self.held_out,
            "bootstrap": self.bootstrap,
            "max_candidates": self.max_candidates,
            "curves": self.curves,
        }


def parse_degrees(text: str) -> tuple[int, ...]:
    """Read degrees: one, a range, or a list.

    >>> parse_degrees("3"), parse_degrees("1..4"), parse_degrees("2,5,9")
    ((3,), (1, 2, 3, 4), (2, 5, 9))
    """
    if match := re.fullmatch(r"(\d{1,3})\s*(?:\.\.|-)\s*(\d{1,3})", text.strip()):
        degrees = tuple(range(int(match[1]), int(match[2]) + 1))
    elif re.fullmatch(r"\d{1,3}(\s*,\s*\d{1,3})*", text.strip()):
        degrees = tuple(sorted({int(part) for part in text.split(",")}))
    else:
        raise InputError(f"--degree {text}: must be a degree, a range as 1..20, or a list as 2,3,5")
    if not degrees or degrees[0] < 1 or degrees[-1] > MOST_DEGREES:
        raise InputError(f"--degree {text}: degrees go from 1 to {MOST_DEGREES}")
    return degrees


def parse_qs(text: str) -> tuple[float, ...]:
    """Read q: one, a range in steps of 0.1, or a list.

    >>> parse_qs("0.5..0.8"), parse_qs("1"), parse_qs("0.5,0.75")
    ((0.5, 0.6, 0.7, 0.8), (1.0,), (0.5, 0.75))
    """
    try:
        if ".." in text:
            low, high = (float(part) for part in text.split(".."))
            steps = round((high - low) / 0.1)
            # Tenths as they are written: 0.5 + 2 * 0.1 is not 0.7.
            qs = tuple(round(low + 0.1 * i, 10) for i in range(steps + 1))
            qs = tuple(q for q in qs if q <= high + 1e-9)
        else:
            qs = tuple(sorted({float(part) for part in text.split(",")}))
    except (ValueError, OverflowError):
        raise InputError(f"--q {text}: must be a number, a range as 0.5..1, or a list as 0.5,0.75,1") from None
    if not qs or not all(0.1 <= q <= 1.0 for q in qs):
        raise InputError(f"--q {text}: q goes from 0.1 to 1")
    return qs


def chosen(option: str, text: str, allowed: tuple[str, ...]) -> str:
    """One of the words an option takes."""
    if text not in allowed:
        raise InputError(f"{option} {text}: {did_you_mean(text, allowed)}", hint=f"{option} takes {', '.join(allowed)}")
    return text
