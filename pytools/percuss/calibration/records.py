"""Observations, posteriors, predictions and comparisons as the ledger holds them, read back.

`docs/calibration.md` says field by field what they hold. All numbers are in SI.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from percuss.errors import AnswerIsNo, LedgerError
from percuss.inference.arrays import Floats
from percuss.kinds.comparison_made import ComparisonMade
from percuss.kinds.observations_imported import ObservationsImported
from percuss.kinds.posterior_sampled import PosteriorSampled, Summary
from percuss.kinds.prediction_made import PredictionMade
from percuss.ledger.event import Event
from percuss.session import Session
from percuss.study.study import Study

if TYPE_CHECKING:
    import polars as pl

# What the table of draws holds beside the parameters.
DRAW_COLUMNS = ("chain", "draw", "log_likelihood", "log_prior")
Point = Literal["mean", "median", "mode"]


@dataclass(frozen=True, eq=False)
class Observations:
    """Measured values bound to the outputs of a study: one row a datum."""

    event: Event
    study: Study
    table: pl.DataFrame

    @property
    def body(self) -> ObservationsImported:
        """The body of the event."""
        return ObservationsImported.of(self.event)

    @property
    def twin(self) -> dict[str, float] | None:
        """True parameters, where the data are twin data."""
        return self.body.twin


@dataclass(frozen=True, eq=False)
class Posterior:
    """A calibration: draws (chains, draws, d) of `names`, and all that was found out about them."""

    event: Event
    study: Study
    names: tuple[str, ...]
    draws: Floats
    log_likelihood: Floats
    log_prior: Floats
    diagnostics: pl.DataFrame
    data: pl.DataFrame

    def flat(self) -> Floats:
        """All draws as rows, chain after chain."""
        return self.draws.reshape(-1, len(self.names))

    @property
    def body(self) -> PosteriorSampled:
        """The body of the event."""
        return PosteriorSampled.of(self.event)

    @property
    def converged(self) -> bool:
        """Whether nothing speaks against the draws."""
        return self.body.converged

    @cached_property
    def units(self) -> dict[str, str]:
        """The unit each of `names` is shown in."""
        return {item.name: item.unit for item in self.body.parameters}

    @property
    def summary(self) -> Summary | None:
        """Point estimates and intervals; None where convergence does not allow them."""
        return self.body.summary

    def trusted_summary(self) -> Summary:
        """The summary, or a refusal with its reasons."""
        if self.summary is None:
            raise AnswerIsNo(
                f"posterior {self.event.id}: is not converged ({'; '.join(self.body.reasons)})",
                hint="percuss calibrate with a larger budget, or with --accept convergence",
            )
        return self.summary

    def point(self, which: Point) -> Floats:
        """The `mean`, `median` or `mode` of all of `names`."""
        return np.array([getattr(row, which) for row in self.trusted_summary().rows], float)


@dataclass(frozen=True, eq=False)
class Prediction:
    """Predictions before and after the data. `verification` and `curves` are None where there are none."""

    event: Event
    study: Study
    outputs: pl.DataFrame
    data: pl.DataFrame
    verification: pl.DataFrame | None
    curves: pl.DataFrame | None

    @property
    def body(self) -> PredictionMade:
        """The body of the event."""
        return PredictionMade.of(self.event)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Calibrations held against each other; `posteriors` has a row for each and each of its parameters."""

    event: Event
    posteriors: pl.DataFrame

    @property
    def body(self) -> ComparisonMade:
        """The body of the event."""
        return ComparisonMade.of(self.event)


def load_observations(session: Session, event: Event) -> Observations:
    """Read observations back."""
    session.take(event, "observations.imported")
    return Observations(event, session.study(event), session.table(event, "observations"))


def load_posterior(session: Session, event: Event) -> Posterior:
    """Read a posterior back, converged or not."""
    import polars as pl

    names = PosteriorSampled.of(session.take(event, "posterior.sampled")).names
    table = session.table(event, "draws")
    chains = table["chain"].n_unique()
    try:
        columns = table.select(*names, "log_likelihood", "log_prior").to_numpy()
        split = np.ascontiguousarray(columns).reshape(chains, -1, len(names) + 2)
    except (pl.exceptions.PolarsError, ValueError) as fault:
        raise LedgerError(f"posterior {event.id}: cannot be read ({fault})") from fault
    draws, likelihood, prior = split[:, :, :-2], split[:, :, -2], split[:, :, -1]
    tables = session.table(event, "diagnostics"), session.table(event, "data")
    return Posterior(event, session.study(event), names, np.ascontiguousarray(draws), likelihood, prior, *tables)


def load_prediction(session: Session, event: Event) -> Prediction:
    """Read a prediction back."""
    session.take(event, "prediction.made")
    tables = {blob.role: session.table(event, blob.role) for blob in event.blobs}
    study = session.study(event)
    return Prediction(event, study, tables["outputs"], tables["data"], tables.get("verification"), tables.get("curves"))


def load_comparison(session: Session, event: Event) -> Comparison:
    """Read a comparison back."""
    return Comparison(session.take(event, "comparison.made"), session.table(event, "posteriors"))
