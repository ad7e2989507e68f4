"""Whole curves through a few numbers: principal components, a surrogate for each score.

    y(t; x) = m(t) + sum_k s_k(x) f_k(t) + rest,    integral of f_k f_l dt = 1 or 0

The modes f_k are the leading ones of the covariance of the training curves, weighted by the trapezoidal rule so that
they do not follow the sampling. There are as many as it takes for what they leave out, of runs that did not take part
in finding them, to be below TRUNCATION of the variance.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from percuss.errors import InputError, LedgerError
from percuss.execution.results import Campaign, CaseRuns
from percuss.kinds.surrogate_fitted import Curves
from percuss.ledger.projections import batch_of
from percuss.session import Session
from percuss.spelling import did_you_mean
from percuss.surrogates.modes import Modes, load_modes, modes_table

Array = NDArray[Any]

TRUNCATION = 1e-3
MOST_MODES = 30
FOLDS = 5


def reduce_curves(
    session: Session, campaign: Campaign, quantity: str
) -> tuple[Campaign, dict[str, pl.DataFrame], Curves]:
    """The training data with scores of the modes in place of outputs; the table of modes; facts for the event."""
    along = axis_name(campaign, quantity)
    curves = [case_curves(session, campaign, runs, quantity, along) for runs in campaign.cases]
    modes_needed = [_needed(values, _weights(axis)) for axis, values in curves]
    count = max(needed for needed, _ in modes_needed)
    cases, tables, errors = [], [], {}
    for runs, (axis, values) in zip(campaign.cases, curves, strict=True):
        modes, scores = decompose(axis, values, count)
        cases.append(CaseRuns(runs.case, runs.rows, scores, runs.failures))
        tables.append(modes_table(runs.case, modes))
        errors[runs.case] = float(modes_needed[len(cases) - 1][1][count - 1])
    outputs = tuple(f"{quantity}#{k + 1}" for k in range(count))
    facts = Curves(quantity=quantity, axis=along or "", modes=count, reconstruction_error=errors)
    return replace(campaign, outputs=outputs, cases=tuple(cases)), {"modes": pl.concat(tables)}, facts


def project_curves(
    session: Session, held_out: Campaign, quantity: str, table: pl.DataFrame
) -> tuple[Campaign, dict[str, float]]:
    """Other runs of the study with scores on modes they had no part in; for each case what these leave out of them."""
    along = axis_name(held_out, quantity)
    known = set(table["case"])
    cases, errors = [], {}
    for runs in held_out.cases:
        if runs.case not in known or not len(runs.rows):
            continue
        modes = load_modes({"modes": table}, runs.case)
        axis, values = case_curves(session, held_out, runs, quantity, along)
        if axis[0] > modes.axis[0] or axis[-1] < modes.axis[-1]:
            raise InputError(
                f"--held-out: curves of case {runs.case} go from {axis[0]:g} to {axis[-1]:g}, "
                f"those fitted from {modes.axis[0]:g} to {modes.axis[-1]:g}"
            )
        values = np.array([np.interp(modes.axis, axis, y) for y in values])
        weights = _weights(modes.axis)
        scores = ((values - modes.mean) * weights) @ modes.modes.T
        away = values - values.mean(axis=0)
        total = float((weights * away**2).sum())
        errors[runs.case] = float((weights * (values - modes.curves(scores)) ** 2).sum()) / total if total else 0.0
        cases.append(CaseRuns(runs.case, runs.rows, scores, runs.failures))
    count = len(table["modes"][0])
    outputs = tuple(f"{quantity}#{k + 1}" for k in range(count))
    return replace(held_out, outputs=outputs, cases=tuple(cases)), errors


def axis_name(campaign: Campaign, quantity: str) -> str | None:
    quantities = campaign.study.model().quantities
    known = [name for name, item in quantities.items() if item.curve and item.axis]
    if quantity not in known:
        raise InputError(f"curve {quantity}: no such curve of the model: {did_you_mean(quantity, known)}")
    if not campaign.keep_curves:
        raise InputError(
            "--curves: the runs of this design were made without their curves",
            hint="percuss design STUDY --curves keeps them",
        )
    return quantities[quantity].axis


def run_curves(
    session: Session, campaign: Campaign, runs: CaseRuns, quantity: str, along: str | None
) -> list[tuple[Array, Array]]:
    """Axis and values of every finished run of a case, in the order of its rows."""
    parts: dict[tuple[int, int], tuple[Array, Array]] = {}
    columns = [*dict.fromkeys(["sample", *([along] if along else []), quantity])]
    for k, design in enumerate(campaign.designs):
        for event in session.state.batches.get(design.id, []):
            if event.kind != "runs.completed" or batch_of(event).case != runs.case:
                continue
            table = session.table(event, "curves", columns)
            table = table.sort("sample", maintain_order=True)
            y = table[quantity].to_numpy().astype(float)
            x = table[along].to_numpy().astype(float) if along else None
            samples, starts = np.unique(table["sample"].to_numpy(), return_index=True)
            for sample, start, end in zip(samples, starts, [*starts[1:], len(y)], strict=True):
                own = np.arange(end - start, dtype=float) if x is None else x[start:end]
                parts.setdefault((k, int(sample)), (own, y[start:end]))
    listed = []
    for row in runs.rows:
        place = campaign.places[int(row)]
        if place not in parts:
            raise LedgerError(f"case {runs.case}, sample {place[1]}: the run has no curve {quantity}")
        listed.append(parts[place])
    return listed


def case_curves(
    session: Session, campaign: Campaign, runs: CaseRuns, quantity: str, along: str | None
) -> tuple[Array, Array]:
    """Curves of all finished runs of a case on one axis: their own where they share it, else interpolated."""
    listed = run_curves(session, campaign, runs, quantity, along)
    first = listed[0][0]
    if all(len(x) == len(first) and np.array_equal(x, first) for x, _ in listed):
        axis, values = first, np.array([y for _, y in listed])
    else:
        low, high = max(x[0] for x, _ in listed), min(x[-1] for x, _ in listed)
        if not low < high:
            raise InputError(f"curve {quantity}: the curves of case {runs.case} have no common range")
        axis = np.linspace(low, high, max(len(x) for x, _ in listed))
        values = np.array([np.interp(axis, x, y) for x, y in listed])
    if len(axis) < 2:
        raise InputError(f"curve {quantity}: curves of {len(axis)} points are no curves")
    if not np.isfinite(values).all():
        raise InputError(f"curve {quantity}: a curve of case {runs.case} is not finite")
    return axis, values


def _weights(axis: Array) -> Array:
    """Weights of the trapezoidal rule."""
    step = np.diff(axis)
    return np.concatenate([[step[0] / 2], (step[:-1] + step[1:]) / 2, [step[-1] / 2]])


def decompose(axis: Array, values: Array, count: int) -> tuple[Modes, Array]:
    """The first modes of curves (n, t), and the scores (n, count) of the curves."""
    root = np.sqrt(_weights(axis))
    mean = values.mean(axis=0)
    _, _, right = np.linalg.svd((values - mean) * root, full_matrices=False)
    right = right[:count]
    if len(right) < count:
        right = np.concatenate([right, np.zeros((count - len(right), len(axis)))])
    # The sign of a mode is free: the entry of largest size is positive, whatever the library chose.
    largest = np.abs(right).argmax(axis=1)
    right = right * np.where(right[np.arange(count), largest] < 0, -1.0, 1.0)[:, None]
    modes = right / root
    scores = ((values - mean) * root) @ right.T
    rest = (values - mean - scores @ modes).var(axis=0)
    return Modes(axis, mean, modes, rest), scores


def _needed(values: Array, weights: Array) -> tuple[int, Array]:
    """How many modes are needed, and what 1, 2, ... modes leave out of curves that they were found without."""
    n = len(values)
    root = np.sqrt(weights)
    scaled = (values - values.mean(axis=0)) * root
    total = float((scaled**2).sum())
    most = min(MOST_MODES, max(n - n // FOLDS - 1, 1), values.shape[1])
    if total == 0:
        return 1, np.zeros(most)
    left = np.zeros(most)
    places = np.arange(n) % FOLDS
    for fold_number in range(FOLDS):
        outside, inside = scaled[places != fold_number], scaled[places == fold_number]
        if not len(inside) or len(outside) < 2:
            continue
        centre = outside.mean(axis=0)
        _, _, right = np.linalg.svd(outside - centre, full_matrices=False)
        projected = (inside - centre) @ right[:most].T
        caught = np.cumsum((projected**2).sum(axis=0))
        caught = np.concatenate([caught, np.full(most - len(caught), caught[-1])])
        left += np.maximum(float(((inside - centre) ** 2).sum()) - caught, 0.0)
    left /= total
    enough = np.flatnonzero(left < TRUNCATION)
    return (int(enough[0]) + 1 if len(enough) else most), left
