"""Observations, posteriors, predictions and comparisons as the ledger holds them, read back.

`docs/calibration.md` says field by field what they hold. All numbers are in SI.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from percuss.errors import AnswerIsNo, InputError, LedgerError
from percuss.execution.records import load_study_event
from percuss.inference.arrays import Floats
from percuss.ledger.event import Event
from percuss.ledger.ledger import Ledger
from percuss.ledger.projections import State
from percuss.study.study import Study

if TYPE_CHECKING:
    import polars as pl

OBSERVATIONS, POSTERIOR = "observations.imported", "posterior.sampled"
PREDICTION, COMPARISON = "prediction.made", "comparison.made"
# What the table of draws holds beside the parameters.
DRAW_COLUMNS = ("chain", "draw", "log_likelihood", "log_prior")
MADE_BY = {OBSERVATIONS: "observe", POSTERIOR: "calibrate", PREDICTION: "predict", COMPARISON: "compare"}


@dataclass(frozen=True, eq=False)
class Observations:
    """Measured values bound to the outputs of a study: one row a datum."""

    event: Event
    study: Study
    table: pl.DataFrame

    @property
    def twin(self) -> Mapping[str, float] | None:
        """True parameters, where the data are twin data."""
        found: Mapping[str, float] | None = self.event.data.get("twin")
        return found


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
    def body(self) -> Mapping[str, Any]:
        """The body of the event."""
        return self.event.data

    @property
    def converged(self) -> bool:
        """Whether nothing speaks against the draws."""
        return bool(self.body["converged"])

    @cached_property
    def units(self) -> dict[str, str]:
        """The unit each of `names` is shown in."""
        return {item["name"]: item["unit"] for item in self.body["parameters"]}

    @property
    def summary(self) -> Mapping[str, Any] | None:
        """Point estimates and intervals; None where convergence does not allow them."""
        found: Mapping[str, Any] | None = self.body["summary"]
        return found

    def trusted_summary(self) -> Mapping[str, Any]:
        """The summary, or a refusal with its reasons."""
        if self.summary is None:
            raise AnswerIsNo(
                f"posterior {self.event.id}: is not converged ({'; '.join(self.body['reasons'])})",
                hint="percuss calibrate with a larger budget, or with --accept convergence",
            )
        return self.summary

    def point(self, which: str) -> Floats:
        """The `mean`, `median` or `mode` of all of `names`."""
        return np.array([row[which] for row in self.trusted_summary()["rows"]])


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
    def body(self) -> Mapping[str, Any]:
        """The body of the event."""
        return self.event.data


@dataclass(frozen=True, eq=False)
class Comparison:
    """Calibrations held against each other; `posteriors` has a row for each and each of its parameters."""

    event: Event
    posteriors: pl.DataFrame

    @property
    def body(self) -> Mapping[str, Any]:
        """The body of the event."""
        return self.event.data


def load_observations(ledger: Ledger, state: State, event: Event) -> Observations:
    """Read observations back."""
    _check(state, event, OBSERVATIONS)
    return Observations(event, _study(ledger, state, event), ledger.table(event, "observations"))


def load_posterior(ledger: Ledger, state: State, event: Event) -> Posterior:
    """Read a posterior back, converged or not."""
    import polars as pl

    _check(state, event, POSTERIOR)
    names = tuple(event.data["names"])
    table = ledger.table(event, "draws")
    chains = table["chain"].n_unique()
    try:
        columns = table.select(*names, "log_likelihood", "log_prior").to_numpy()
        split = np.ascontiguousarray(columns).reshape(chains, -1, len(names) + 2)
    except (pl.exceptions.PolarsError, ValueError) as fault:
        raise LedgerError(f"posterior {event.id}: cannot be read ({fault})") from fault
    study = _study(ledger, state, event)
    draws, likelihood, prior = split[:, :, :-2], split[:, :, -2], split[:, :, -1]
    told = ledger.table(event, "diagnostics"), ledger.table(event, "data")
    return Posterior(event, study, names, np.ascontiguousarray(draws), likelihood, prior, *told)


def load_prediction(ledger: Ledger, state: State, event: Event) -> Prediction:
    """Read a prediction back."""
    _check(state, event, PREDICTION)
    found = {blob.role: ledger.table(event, blob.role) for blob in event.blobs}
    study = _study(ledger, state, event)
    return Prediction(event, study, found["outputs"], found["data"], found.get("verification"), found.get("curves"))


def load_comparison(ledger: Ledger, state: State, event: Event) -> Comparison:
    """Read a comparison back."""
    _check(state, event, COMPARISON)
    return Comparison(event, ledger.table(event, "posteriors"))


def _check(state: State, event: Event, kind: str) -> None:
    noun, verb = kind.split(".")[0], MADE_BY[kind]
    if event.kind != kind:
        raise InputError(f"event {event.id} is of the kind {event.kind}, not {kind}", hint=f"percuss {verb} makes one")
    if event.id in state.superseded:
        raise InputError(f"{noun} {event.id}: is superseded", hint="percuss show says by what")


def _study(ledger: Ledger, state: State, event: Event) -> Study:
    return load_study_event(ledger, state.events[event.input("study")])
