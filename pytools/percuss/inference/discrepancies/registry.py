"""The table of discrepancies. A new kind is one module and one line here."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, NamedTuple, cast

from percuss.settings import Setting, clean_setting

if TYPE_CHECKING:
    from percuss.inference.discrepancies.discrepancy import Discrepancy


class Kind(NamedTuple):
    """Where a discrepancy lives (loaded on first use) and what it is, in one line."""

    module: str
    name: str
    summary: str


DISCREPANCIES: dict[str, Kind] = {
    "gaussian": Kind("percuss.inference.discrepancies.gaussian", "Gaussian", "independent Gaussian errors"),
    "correlated": Kind(
        "percuss.inference.discrepancies.correlated", "Correlated", "Gaussian errors correlated along an axis"
    ),
    "model-error": Kind(
        "percuss.inference.discrepancies.model_error", "ModelError", "a smooth error of the model that stays"
    ),
    "student-t": Kind("percuss.inference.discrepancies.student_t", "StudentT", "independent errors with heavy tails"),
}


KIND = Setting("kind", "text", choices=tuple(DISCREPANCIES), doc="how data scatter about the model")


def discrepancy_class(kind: object) -> type[Discrepancy]:
    """Load the class of a kind; raise InputError when there is none.

    >>> discrepancy_class("student-t").__name__
    'StudentT'
    """
    entry = DISCREPANCIES[clean_setting(KIND, kind)]
    return cast("type[Discrepancy]", getattr(importlib.import_module(entry.module), entry.name))
