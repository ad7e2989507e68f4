"""The table of methods. A new one is a module with `estimate`, `DEFAULT_N` and `OPTIONS`, and one line here."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol, cast

from percuss.errors import InputError
from percuss.reliability.estimate import Estimate, MediansFailError, Settings
from percuss.reliability.limit import Limit
from percuss.settings import Setting, clean_options
from percuss.spelling import did_you_mean


@dataclass(frozen=True)
class Method:
    """Where it is, what it is in a line, and whether it may be asked about a limit that is random beyond u."""

    module: str
    summary: str
    takes_noise: bool = False


LIMIT_METHODS: dict[str, Method] = {
    "monte-carlo": Method("monte_carlo", "independent draws", takes_noise=True),
    "quasi-monte-carlo": Method("quasi_monte_carlo", "scrambled Sobol points in replicates", takes_noise=True),
    "form": Method("form", "first order at the design point: an approximation"),
    "sorm": Method("sorm", "second order at the design point: an approximation"),
    "importance": Method("importance", "importance sampling about design points"),
    "subset": Method("subset", "subset simulation: rare failures, any number of variables", takes_noise=True),
    "directional": Method("directional", "directional sampling: few variables, many branches"),
    "active": Method("active", "AK-MCS: few runs, a Gaussian process learns the limit surface"),
    "active-subset": Method("active_subset", "AK-SS: few runs, rare failures"),
    "extrapolation": Method("extrapolation", "enhanced Monte Carlo: the tail extrapolated", takes_noise=True),
}


class MethodModule(Protocol):
    """What a module of the table offers."""

    DEFAULT_N: int
    OPTIONS: Mapping[str, Setting]

    def estimate(self, limit: Limit, settings: Settings) -> Estimate: ...


def method_module(name: str) -> MethodModule:
    """The module of a method; raise InputError when there is none."""
    if name not in LIMIT_METHODS:
        raise InputError(f"--method {name}: {did_you_mean(name, LIMIT_METHODS)}")
    return cast(MethodModule, importlib.import_module(f"percuss.reliability.{LIMIT_METHODS[name].module}"))


def estimate_by(name: str, limit: Limit, settings: Settings) -> Estimate:
    """As the method says."""
    return method_module(name).estimate(limit, settings)


def estimate_anyway(name: str, limit: Limit, settings: Settings) -> Estimate:
    """As the method says; by Monte Carlo where the medians fail already and it has nowhere to start from."""
    try:
        return estimate_by(name, limit, settings)
    except MediansFailError:
        plain = method_module("monte-carlo")
        return plain.estimate(limit, replace(settings, n=plain.DEFAULT_N, options={}))


def check_options(name: str, options: Mapping[str, float]) -> None:
    """Refuse what a method does not take."""
    clean_options(f"the method {name}", method_module(name).OPTIONS, options)
