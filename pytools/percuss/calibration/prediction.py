"""Predictions before and after the data (Gupta et al., 2023, Eqs. C.13-C.14), and how they score.

The error is told as in section 4.4.4 there: root mean square over the data of one axis, absolute and in per cent of
the mean size of the observations, of the simulator at the posterior mean; and of the predictive means besides.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from percuss.calibration.problem import Problem
from percuss.calibration.records import Point, Posterior
from percuss.calibration.verification import Verification
from percuss.errors import AnswerIsNo
from percuss.inference.arrays import Floats
from percuss.inference.discrepancies.model_error import ModelError
from percuss.inference.predictive import bands, predict_at, spread_draws
from percuss.kinds.prediction_made import Score
from percuss.kinds.surrogate_fitted import SurrogateFitted
from percuss.surrogates.modes import load_modes
from percuss.surrogates.surrogate import Surrogate
from percuss.trust import Trust, Verdict
from percuss.units import from_si

QUANTILES = {"q025": 0.025, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q975": 0.975}
MASSES = (0.5, 0.95)
# Curves are long: fewer draws of them.
CURVE_DRAWS = 400
# Places this share of the range beyond the data count as inside: rounding.
SLACK = 1e-9
NO_OUTPUTS = {"case": pl.String(), "output": pl.String()}
NAME = pl.concat_str("case", pl.lit("/"), "output")


@dataclass(frozen=True, eq=False)
class Predicted:
    """Tables by role, and draws by when: of data, in the order of the problem's data; of outputs, the same."""

    tables: Mapping[str, pl.DataFrame]
    data: Mapping[str, Floats]
    means: Mapping[str, Floats]
    notes: tuple[str, ...]


def predict(problem: Problem, posterior: Posterior, draws: int, seed: int, curves: Surrogate | None) -> Predicted:
    """Predict at draws of prior and posterior."""
    posterior.trusted_summary()
    generator = np.random.default_rng(seed)
    target = problem.target
    points = {
        "prior": target.transform.values(target.draw_prior(draws, generator)),
        "posterior": spread_draws(posterior.flat(), draws),
    }
    outputs, entries, notes, of_curves = [], [], [], []
    data: dict[str, Floats] = {}
    means: dict[str, Floats] = {}
    for when, theta in points.items():
        likelihood = problem.likelihood if when == "posterior" else problem.before_data
        mean_of = likelihood.means(theta)
        good = np.isfinite(np.concatenate(list(mean_of.values()), axis=1)).all(axis=1)
        if not good.any():
            raise AnswerIsNo(f"the model fails at all {len(good)} draws of the {when}")
        if not good.all():
            notes.append(f"the model fails at {np.count_nonzero(~good)} of {len(good)} draws of the {when}: left out")
        predicted = predict_at(likelihood, theta[good], generator, given_data=when == "posterior")
        for name, values in predicted.every.items():
            if surrogate := problem.curves.get(name):
                of_curves += _read_curves(surrogate, when, values[:CURVE_DRAWS], generator)
                continue
            keys = [{"case": case, "output": output} for case, output in problem.columns[name]]
            outputs.append(_quantile_table(keys, when, values))
        data[when] = np.concatenate([predicted.data[group.name] for group in problem.likelihood.groups], axis=1)
        model_outputs = [predicted.outputs[group.name] for group in problem.likelihood.groups]
        means[when] = np.concatenate(model_outputs, axis=1).mean(axis=0)
        entries.append(_quantile_table(problem.data.to_dicts(), when, data[when], problem.data.schema))
    tables = {"outputs": pl.concat(outputs) if outputs else _quantile_table([], "", np.empty((1, 0)), NO_OUTPUTS)}
    tables["data"] = pl.concat(entries)
    if curves:
        of_curves.append(_curve_table(curves, points, generator))
    if of_curves:
        tables["curves"] = pl.concat(of_curves)
    return Predicted(tables, data, means, tuple(notes))


def _read_curves(surrogate: Surrogate, when: str, scores: Floats, generator: np.random.Generator) -> list[pl.DataFrame]:
    """Curves out of drawn scores, with what their modes leave out."""
    curves = SurrogateFitted.of(surrogate.event).curves
    assert curves is not None
    parts = []
    for case in dict.fromkeys(column.case for column in surrogate.columns):
        modes = load_modes(surrogate.tables, case)
        own = [j for j, column in enumerate(surrogate.columns) if column.case == case]
        values = modes.curves(scores[:, own])
        values = values + np.sqrt(modes.rest) * generator.standard_normal(values.shape)
        keys = [{"case": case, "quantity": curves.quantity, "place": place} for place in modes.axis.tolist()]
        parts.append(_quantile_table(keys, when, values))
    return parts


def learnt(problem: Problem) -> Trust:
    """Whether outputs are predicted where the error of the model was learnt: between the data of the same group."""
    outside: list[str] = []
    ranges: list[str] = []
    count = 0
    for group in problem.likelihood.groups:
        error = group.discrepancy
        if not isinstance(error, ModelError):
            continue
        low, high = float(np.min(error.places)), float(np.max(error.places))
        slack = SLACK * (high - low)
        names = ["/".join(problem.columns[group.forward][column]) for column, _ in group.related]
        places = [place for _, place in group.related]
        far = [name for name, place in zip(names, places, strict=True) if not low - slack <= place <= high + slack]
        count += len(names)
        outside += far
        ranges += [f"{error.over} {low:g} to {high:g}"] if far else []
    if not count:
        return ()
    if not outside:
        return (Verdict("model-error", True, "outputs are predicted where the error of the model was learnt", 0, 0),)
    named = ", ".join(outside[:4]) + (", ..." if len(outside) > 4 else "")
    sentence = (
        f"the error of the model was learnt at {'; '.join(dict.fromkeys(ranges))} (SI), and {named} "
        f"{'lies' if len(outside) == 1 else 'lie'} outside: what it is there is its prior alone"
    )
    return (Verdict("model-error", False, sentence, len(outside), 0, tuple(outside)),)


def without(predicted: Predicted, worthless: Collection[str]) -> Predicted:
    """The prediction without outputs of which the surrogate knows nothing, and without their data: they are named
    instead.
    """
    outputs = predicted.tables["outputs"]
    known = ~_name_in(worthless)
    gone = outputs.filter(~known).select(NAME.alias("name"))["name"].unique(maintain_order=True)
    if not len(gone):
        return predicted
    note = f"nothing is predicted for {', '.join(gone)}: the surrogate knows nothing of it"
    tables = {**predicted.tables, **{role: predicted.tables[role].filter(known) for role in ("outputs", "data")}}
    return replace(predicted, tables=tables, notes=(*predicted.notes, note))


def _name_in(worthless: Collection[str]) -> pl.Expr:
    return NAME.is_in(list(worthless))


def _quantile_table(
    keys: list[dict[str, Any]], when: str, values: Floats, schema: Mapping[str, Any] | None = None
) -> pl.DataFrame:
    quantiles = np.quantile(values, list(QUANTILES.values()), axis=0)
    return pl.DataFrame(keys, schema).with_columns(
        pl.lit(when).alias("when"),
        pl.Series("mean", values.mean(axis=0)),
        *(pl.Series(name, quantiles[i]) for i, name in enumerate(QUANTILES)),
    )


def _curve_table(surrogate: Surrogate, points: Mapping[str, Floats], generator: np.random.Generator) -> pl.DataFrame:
    """Curves with the error of their surrogate: bands hold at each place of the axis."""
    parts = []
    curves = SurrogateFitted.of(surrogate.event).curves
    assert curves is not None
    for case in dict.fromkeys(column.case for column in surrogate.columns):
        for when, theta in points.items():
            axis, mean, variance = surrogate.curves(theta[:CURVE_DRAWS, : len(surrogate.names)], case)
            values = mean + np.sqrt(variance) * generator.standard_normal(mean.shape)
            keys = [{"case": case, "quantity": curves.quantity, "place": place} for place in axis.tolist()]
            parts.append(_quantile_table(keys, when, values))
    return pl.concat(parts)


def scores(
    problem: Problem,
    posterior: Posterior,
    predicted: Predicted,
    verification: Verification | None,
    worthless: Collection[str],
) -> list[Score]:
    """RMSE and coverage for the data of every axis; data of different dimensions do not mix, and those of outputs of
    which the surrogate knows nothing do not count: what it says of them is fitted to them.
    """
    quantities = problem.study.model().quantities
    at = {f"{when} predictive mean": values for when, values in predicted.means.items()}
    points: tuple[Point, ...] = ("mean", "mode")
    at |= {which: _at_point(problem, posterior, which, verification) for which in points}
    observed = problem.data["value"].to_numpy()
    inside = {mass: (low <= observed) & (observed <= high) for mass, (low, high) in _bands(predicted).items()}
    axes = [
        (axis or "all", quantities[problem.study.observable(output).quantity].unit)
        for axis, output in problem.data.select("axis", "output").rows()
    ]
    counts = ~problem.data.select(_name_in(worthless)).to_series().to_numpy()
    score_rows = []
    for axis, si in dict.fromkeys(axes):
        rows = np.array([key == (axis, si) for key in axes]) & counts
        if not rows.any():
            continue
        unit = problem.study.observable(problem.data["output"][int(np.argmax(rows))]).unit
        size = float(np.mean(np.abs(observed[rows])))
        rmse = {name: _rmse(values[rows], observed[rows]) for name, values in at.items()}
        score_rows.append(
            Score(
                axis=axis,
                unit=unit,
                entries=int(np.count_nonzero(rows)),
                rmse=rmse,
                rmse_percent={name: 100 * x / size if x is not None and size > 0 else None for name, x in rmse.items()},
                coverage={str(mass): float(np.mean(held[rows])) for mass, held in inside.items()},
                simulated=verification is not None,
            )
        )
    return score_rows


def _rmse(predicted: Floats, observed: Floats) -> float | None:
    """Root mean square error; None where some prediction is missing, as of a run that failed."""
    error = float(np.sqrt(np.mean((predicted - observed) ** 2)))
    return error if math.isfinite(error) else None


def _bands(predicted: Predicted) -> dict[float, Floats]:
    return bands(predicted.data["posterior"], MASSES)


def _at_point(problem: Problem, posterior: Posterior, which: Point, verification: Verification | None) -> Floats:
    """Outputs at the posterior's mean or mode for every datum: simulated where that was done."""
    by_group = problem.likelihood.predict(posterior.point(which)[None])
    predicted = np.concatenate([by_group[group.name][0] for group in problem.likelihood.groups])
    if verification and (verified := verification.at(which)):
        pairs = problem.data.select("case", "output").rows()
        # Of time histories the surrogate stands: their scores are verified, not their samples.
        values = [
            verified.get(pair, np.nan) if pair[1] in problem.study.outputs else own
            for pair, own in zip(pairs, predicted.tolist(), strict=True)
        ]
        return np.array(values)
    return predicted


def shown_score(score: Score, which: str) -> str:
    """An error for a person: in the unit of the outputs, and in per cent."""
    value, share = score.rmse[which], score.rmse_percent[which]
    if value is None:
        return "nan"
    unit = "" if score.unit == "1" else f" {score.unit}"
    return f"{from_si(value, score.unit):.3g}{unit}" + ("" if share is None else f" ({share:.1f} %)")
