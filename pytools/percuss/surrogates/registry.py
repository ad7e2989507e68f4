"""The table of families. A new family is one module with `fit` and `load` and one line here."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from percuss.plugins import UnknownNameError, extend
from percuss.spelling import did_you_mean, shown
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
BUILT_IN = tuple(FAMILIES)


def all_families() -> Mapping[str, Family]:
    """The table with the families that plugins add."""
    return extend(FAMILIES, "percuss.families", lambda p: Family(p.module, f"of {p.package} {p.version}"))


def family_choices() -> tuple[str, ...]:
    """What can be asked for; `auto` tries the families that come with percuss and takes the least nested error."""
    return (*all_families(), AUTO)


def family_module(name: str) -> FamilyModule:
    """The module of a family; raise UnknownNameError when there is no such family."""
    if name not in FAMILIES and name not in all_families():
        raise UnknownNameError(f"unknown family {shown(name)}: {did_you_mean(name, FAMILIES)}")
    return cast(FamilyModule, importlib.import_module(FAMILIES[name].module))
