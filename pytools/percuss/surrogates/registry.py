"""The table of families. A new family is one module with `fit` and `load` and one line here."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import cast

from percuss.surrogates.model import FamilyModule

AUTO = "auto"


@dataclass(frozen=True)
class Family:
    """Where a family lives (imported on first use), and what it is."""

    module: str
    summary: str


FAMILIES: dict[str, Family] = {
    "chaos": Family("percuss.surrogates.chaos", "sparse polynomial chaos: smooth responses, indices at no cost"),
    "gp": Family("percuss.surrogates.gaussian_process", "Gaussian process, Matern 5/2: kinked responses"),
    "chaos-plus-gp": Family("percuss.surrogates.chaos_plus_gp", "chaos for a trend, a Gaussian process on the rest"),
}
# What --family takes; auto tries all families and takes, output by output, the one with the least nested error.
CHOICES = (*FAMILIES, AUTO)


def family_module(name: str) -> FamilyModule:
    """The module of a family."""
    return cast(FamilyModule, importlib.import_module(FAMILIES[name].module))
