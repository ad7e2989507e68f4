"""Specimens: parameters that all share, that each has for itself, or that come from a population.

A parameter of the population is non-centred. With F the cdf of its prior and Phi that of the standard normal,

    x_s = F^-1(Phi(v + spread z_s)),    v = Phi^-1(F(x)),    z_s ~ N(0, 1)

x is the median of the population, with the prior of the parameter; spread is in standard deviations of that prior. For
a normal prior that is x_s ~ N(x, (spread std)^2), the hierarchical normal model (Gelman et al., 2013, section 5.4);
others stay inside their support. Sampling z instead of x_s avoids the funnel of small spreads (Papaspiliopoulos,
Roberts and Skoeld, 2007).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from percuss.inference.arrays import Floats
from percuss.inference.discrepancies.discrepancy import Unknown, Unknowns
from percuss.study.priors.normal import Normal
from percuss.study.priors.prior import Prior

# A specimen that was not measured.
NEW = "new"
# Quantiles this near to 0 or 1 are cut: the normal behind them would be infinite.
EDGE = 1e-15


@dataclass(frozen=True)
class Specimen:
    """What a specimen has of its own: the columns `free` and `population` of the parameters, by name."""

    name: str
    priors: Mapping[str, Prior]
    free: tuple[str, ...]
    population: Mapping[str, Prior]

    def unknowns(self) -> list[Unknown]:
        """List what is inferred: of free parameters themselves, of others the spread, which all share, and z."""
        own = [Unknown(f"{parameter}@{self.name}", self.priors[parameter]) for parameter in self.free]
        for parameter, spread in self.population.items():
            own.append(Unknown(f"spread_{parameter}", spread))
            own.append(Unknown(f"{parameter}@{self.name}", Normal({"mean": 0.0, "std": 1.0})))
        return own

    def inputs(self, parameters: Floats, unknowns: Unknowns) -> Floats:
        """Its parameters (n, d) out of those that all share."""
        from scipy.special import ndtr, ndtri

        own = parameters.copy()
        for j, (name, prior) in enumerate(self.priors.items()):
            if name in self.free:
                own[:, j] = unknowns[f"{name}@{self.name}"]
            elif name in self.population:
                behind = ndtri(np.clip(prior.cdf(parameters[:, j]), EDGE, 1 - EDGE))
                moved = behind + unknowns[f"spread_{name}"] * unknowns[f"{name}@{self.name}"]
                own[:, j] = prior.ppf(np.clip(ndtr(moved), EDGE, 1 - EDGE))
        return own


def of_specimen(forward: str, specimen: str) -> str:
    """The name of a forward model at the parameters of a specimen."""
    return f"{forward}@{specimen}"


def without_specimen(name: str) -> str:
    """The forward model that a name of `of_specimen` is of; any other name as it is."""
    return name.partition("@")[0]
