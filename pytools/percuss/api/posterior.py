"""A posterior: draws, estimates, and the same for ArviZ."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from percuss.api.results import Result
from percuss.calibration.records import Posterior as Stored
from percuss.calibration.records import load_posterior
from percuss.errors import InputError
from percuss.inference.predictive import spread_draws
from percuss.kinds.posterior_sampled import PosteriorSampled
from percuss.units import from_si

if TYPE_CHECKING:
    import polars as pl

Numbers = NDArray[np.float64]
Groups = dict[str, dict[str, Numbers]]
# Draws of the prior, and of the prior predictive, that are made for ArviZ.
PRIOR_DRAWS = 1000


class Posterior(Result):
    """Draws of the parameters given observations, in the units of the study."""

    @cached_property
    def stored(self) -> Stored:
        """The posterior as percuss works with it, in SI."""
        return load_posterior(self._session, self.event)

    @property
    def body(self) -> PosteriorSampled:
        """The facts about the draws, in SI."""
        return PosteriorSampled.of(self.event)

    @property
    def converged(self) -> bool:
        """Whether the draws have converged."""
        return self.body.converged

    @property
    def names(self) -> tuple[str, ...]:
        """What was inferred: parameters of the model, and of the discrepancy."""
        return self.body.names

    @property
    def units(self) -> dict[str, str]:
        """The unit of each of `names`."""
        return {item.name: item.unit for item in self.body.parameters}

    def draws(self) -> pl.DataFrame:
        """One row per draw: chain, draw, the inferred values, log-likelihood and log prior density (SI)."""
        import polars as pl

        table = self.table("draws")
        return table.with_columns(pl.col(name) * from_si(1.0, self.units[name]) for name in self.names)

    def summary(self) -> pl.DataFrame:
        """Mean, standard deviation, median, mode and interval of each, with their Monte Carlo errors (`_error`).

        Raises AnswerIsNo if the draws have not converged.
        """
        import polars as pl

        summary = self.stored.trusted_summary()
        rows = []
        for row in summary.rows:
            unit = self.units[row.name]
            low_error, high_error = row.interval_error or (None, None)
            numbers = {
                "mean": row.mean,
                "mean_error": row.mean_error,
                "std": row.std,
                "std_error": row.std_error,
                "median": row.median,
                "median_error": row.median_error,
                "mode": row.mode,
                "low": row.interval[0],
                "low_error": low_error,
                "high": row.interval[1],
                "high_error": high_error,
            }
            shown = {key: None if x is None else from_si(x, unit) for key, x in numbers.items()}
            rows.append({"parameter": row.name, "unit": unit, **shown, "contraction": row.contraction})
        return pl.DataFrame(rows)

    def groups(self, draws: int = 1000, seed: int = 0) -> Groups:
        """What ArviZ calls groups, as arrays (chains, draws, ...): prior, posterior, prior and posterior predictive,
        pointwise log-likelihood, observed data and sample statistics.

        About this many `draws` of the posterior, thinned evenly, but of each chain at least as many as there are
        chains. Parameters are in the units of the study, data in those of their outputs.
        """
        from percuss.calibration.problem import load_problem

        stored = self.stored
        problem = load_problem(self._session, self.event)
        chains, length, d = stored.draws.shape
        every = max(1, chains * length // max(draws, chains**2))
        some = stored.draws[:, ::every]
        flat = some.reshape(-1, d)
        rng = np.random.default_rng(seed)
        unit = rng.random((PRIOR_DRAWS, d))
        prior = problem.target.joint.from_unit(unit)
        order = [group.name for group in problem.likelihood.groups]
        scale = np.array([from_si(1.0, self.study.observable(name).unit) for name in problem.data["output"]])

        def predicted(points: Numbers, *, given_data: bool) -> Numbers:
            likelihood = problem.likelihood if given_data else problem.before_data
            drawn = likelihood.draw(points, rng, given_data=given_data)
            return np.asarray(np.concatenate([drawn[name] for name in order], axis=1) * scale)

        shown = np.array([from_si(1.0, self.units[name]) for name in self.names])
        shape = (chains, some.shape[1])
        prior_some = spread_draws(prior, min(PRIOR_DRAWS, 200))
        return {
            "posterior": {n: (some * shown)[:, :, j] for j, n in enumerate(self.names)},
            "prior": {n: (prior * shown)[None, :, j] for j, n in enumerate(self.names)},
            "posterior_predictive": {"data": predicted(flat, given_data=True).reshape(*shape, -1)},
            "prior_predictive": {"data": predicted(prior_some, given_data=False)[None]},
            "log_likelihood": {"data": problem.likelihood.pointwise(flat).reshape(*shape, -1)},
            "observed_data": {"data": problem.data["value"].to_numpy() * scale},
            "sample_stats": {"lp": (stored.log_likelihood + stored.log_prior)[:, ::every]},
        }

    def data(self) -> pl.DataFrame:
        """The data of the calibration: one row per entry of `data` in `groups`, in order (SI)."""
        return self.table("data")

    def to_arviz(self, draws: int = 1000, seed: int = 0) -> Any:
        """The posterior for ArviZ: a DataTree, or InferenceData before ArviZ 1.

        percuss itself does not need ArviZ; install it with `pip install arviz`.
        """
        groups = self.groups(draws, seed)
        labels = [f"{case}/{output}" for case, output in self.data().select("case", "output").rows()]
        described: dict[str, Any] = {
            "coords": {"datum": [f"{i} {label}" for i, label in enumerate(labels)]},
            "dims": {"data": ["datum"]},
        }
        if (base := _module("arviz_base")) is not None:
            with warnings.catch_warnings():
                # Many short chains are what percuss samples: the dimensions are named rightly.
                warnings.filterwarnings("ignore", "Found chain dimension to be longer")
                return base.from_dict(groups, **described)
        if (older := _module("arviz")) is not None:
            return older.from_dict(**groups, **described)
        raise InputError("to_arviz: ArviZ is not installed", hint="pip install arviz")


def _module(name: str) -> Any:
    """A module that may not be installed; None then."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        return None
