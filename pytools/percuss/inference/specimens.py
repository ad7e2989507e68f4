"""Specimens: parameters that all share, that each has for itself, or that come from a population.

A parameter of the population is non-centred. With F the cdf of its prior and Phi that of the standard normal,

    x_s = F^-1(Phi(v + spread z_s)),    v = Phi^-1(F(x)),    z_s ~ N(0, 1)

x is the median of the population, with the prior of the parameter; spread is in standard deviations of that prior. For
a normal prior that is x_s ~ N(x, (spread std)^2), the hierarchical normal model (Gelman et al., 2013, section 5.4);
others stay inside their support. Sampling z instead of x_s avoids the funnel of small spreads (Papaspiliopoulos,
Roberts and Skoeld, 2007), which is what weak data leave. Strong data pin x_s, and then z is tied to middle and spread
along a bent ridge. `Interweaving` moves along that ridge: middle and spread given the x_s, which needs no forward model
(ancillarity-sufficiency interweaving: Yu, Meng, 2011). Both together mix whatever the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from percuss.inference.arrays import Floats
from percuss.inference.discrepancies.discrepancy import Unknown, Unknowns
from percuss.inference.target import Transform
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


# Steps of middle and spread, given the specimens, in one move.
STEPS = 8


@dataclass(frozen=True, eq=False)
class Interweaving:
    """Markov moves on unbounded points (n, d) that leave the posterior as it is: for every population the columns of
    middle, spread and z of the measured specimens, and its priors. `new` are columns of z without data, which are drawn
    from their prior.
    """

    transform: Transform
    populations: tuple[tuple[int, int, tuple[int, ...], Prior, Prior], ...]
    new: tuple[int, ...]

    @classmethod
    def of(cls, names: Sequence[str], transform: Transform, specimens: Iterable[Specimen]) -> Interweaving | None:
        """None where there is no population."""
        measured: dict[str, tuple[Specimen, dict[int, None]]] = {}
        new: dict[int, None] = {}
        for specimen in specimens:
            for parameter in specimen.population:
                columns = measured.setdefault(parameter, (specimen, {}))[1]
                columns = new if specimen.name == NEW else columns
                columns[names.index(f"{parameter}@{specimen.name}")] = None
        populations = tuple(
            (
                names.index(parameter),
                names.index(f"spread_{parameter}"),
                tuple(columns),
                specimen.priors[parameter],
                specimen.population[parameter],
            )
            for parameter, (specimen, columns) in measured.items()
        )
        return cls(transform, populations, tuple(new)) if populations else None

    def __call__(self, z: Floats, generator: np.random.Generator) -> Floats:
        """Move middle and spread of each population, its measured specimens kept where they are."""
        from scipy.special import ndtr, ndtri

        x = self.transform.values(z)
        x[:, list(self.new)] = generator.standard_normal((len(z), len(self.new)))
        for middle, spread, own, prior, prior_of_spread in self.populations:
            columns = list(own)
            at = ndtri(np.clip(prior.cdf(x[:, middle]), EDGE, 1 - EDGE))
            width = x[:, spread]
            held = at[:, None] + width[:, None] * x[:, columns]

            def log_density(at: Floats, width: Floats, held: Floats = held, prior: Prior = prior_of_spread) -> Floats:
                # Of middle and log width: the last term is its Jacobian; the normal behind the middle is standard.
                with np.errstate(all="ignore"):
                    far = np.sum(((held - at[:, None]) / width[:, None]) ** 2, axis=1)
                    log = -0.5 * (at * at + far) - (held.shape[1] - 1) * np.log(width) + prior.logpdf(width)
                return np.where(np.isfinite(log), log, -np.inf)

            here = log_density(at, width)
            count = len(columns)
            for _ in range(STEPS):
                # In turn: each proposal is symmetric given the other of the two.
                tried = width * np.exp(1.7 / np.sqrt(2 * count) * generator.standard_normal(len(z)))
                there = log_density(at, tried)
                take = np.log(generator.random(len(z))) < there - here
                width, here = np.where(take, tried, width), np.where(take, there, here)
                tried = at + 1.7 / np.sqrt(count) * width * generator.standard_normal(len(z))
                there = log_density(tried, width)
                take = np.log(generator.random(len(z))) < there - here
                at, here = np.where(take, tried, at), np.where(take, there, here)
            x[:, middle] = prior.ppf(np.clip(ndtr(at), EDGE, 1 - EDGE))
            x[:, spread] = width
            x[:, columns] = (held - at[:, None]) / width[:, None]
        return self.transform.unbounded(x)


def of_specimen(forward: str, specimen: str) -> str:
    """The name of a forward model at the parameters of a specimen."""
    return f"{forward}@{specimen}"


def without_specimen(name: str) -> str:
    """The forward model that a name of `of_specimen` is of; any other name as it is."""
    return name.partition("@")[0]
