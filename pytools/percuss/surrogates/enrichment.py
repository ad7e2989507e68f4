"""New points for a design, where its surrogate needs them: what `percuss design --extend` proposes.

Points are taken one by one from a dense scrambled Sobol sample of the priors: the one where

    distance to the nearest point already there  x  expected error of the surrogate

is largest, in the unit cube of probabilities. The expected error at a candidate is the nested residual of the training
point nearest to it and the spread of resampled surrogates there, over the standard deviation of each output, taken
together over all outputs. The first quarter goes by distance alone, so that a surrogate which is wrong about its own
error does not leave the rest of the space unseen. Candidates whose nearest point is a run that failed are left out:
theirs would most likely fail as well.

With draws of a posterior these are the candidates: points go where a calibration needs the surrogate, and there to
where its error is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from percuss.designs.design import Design, read_design
from percuss.designs.sobol import scrambled_sobol
from percuss.ledger.projections import State
from percuss.session import Session
from percuss.study.joint import Joint
from percuss.surrogates.surrogate import Surrogate

Array = NDArray[Any]

SAMPLER = "enrichment"
CANDIDATES_A_POINT = 64
FEWEST_CANDIDATES = 2048
MOST_CANDIDATES = 65_536
SPACE_FILLING = 0.25


def extend(session: Session, surrogate: Surrogate, count: int, seed: int, draws: Array | None = None) -> Design:
    """A design of `count` points for the study of a surrogate, among draws (n, d) in SI where some are given."""
    designs = [read_design(session, session.state.events[i.id]) for i in surrogate.event.inputs_as("design")]
    known = np.concatenate([design.unit for design in designs])
    n_candidates = min(max(CANDIDATES_A_POINT * count, FEWEST_CANDIDATES), MOST_CANDIDATES)
    # Another seed for every further extension, so that it does not see the same candidates again.
    rng = np.random.default_rng([seed, len(known), 31])
    joint = Joint.of(surrogate.study)
    if draws is None:
        candidates, values = _of_priors(joint, n_candidates, rng)
    else:
        values = np.unique(draws, axis=0)
        values = values[rng.permutation(len(values))[:n_candidates]]
        candidates = joint.to_unit(values)
    error = expected_error(surrogate, designs, known, candidates, values)
    lost = _failed(session.state, designs)
    chosen = choose(known, candidates, error, count, lost)
    options: dict[str, Any] = {"surrogate": surrogate.event.id}
    return Design(surrogate.study, SAMPLER, seed, 0, options, surrogate.names, candidates[chosen], values[chosen])


def _of_priors(joint: Joint, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """At least so many points of the unit cube, and the parameters there."""
    candidates = scrambled_sobol(len(joint.priors), 0, 2 ** math.ceil(math.log2(n)), rng)
    candidates = np.clip(candidates, 2.0**-53, 1.0 - 2.0**-53)
    return candidates, joint.from_unit(candidates)


def expected_error(
    surrogate: Surrogate, designs: Sequence[Design], known: Array, candidates: Array, values: Array
) -> Array:
    """The expected error at every candidate, relative to the spread of the outputs."""
    from scipy.spatial import cKDTree

    starts = dict(zip([d.id for d in designs], np.cumsum([0, *(len(d.values) for d in designs)]), strict=False))
    residuals = surrogate.tables["residuals"]
    square = np.zeros(len(candidates))
    for number, column in enumerate(surrogate.columns):
        if column.variance <= 0:
            continue
        own_residuals = residuals.filter(pl.col("column") == number)
        seen = own_residuals["nested"] if own_residuals["nested"].null_count() == 0 else own_residuals["left_out"]
        rows = [int(starts[design]) + sample for design, sample in own_residuals.select("design", "sample").iter_rows()]
        off = (own_residuals["value"] - seen).to_numpy() ** 2
        nearest = cKDTree(known[rows]).query(candidates)[1]
        square += off[nearest] / column.variance
    if surrogate.bands:
        points = surrogate.canonical.points(values)
        for part in surrogate.parts:
            for i, number in enumerate(part.columns):
                if surrogate.columns[number].variance > 0:
                    spread = surrogate.bands[number].spread(part.model, i, points)
                    square += spread / surrogate.columns[number].variance
    return np.sqrt(square)


def _failed(state: State, designs: Sequence[Design]) -> NDArray[np.bool_]:
    """Which points failed, in some case."""
    parts = []
    for design in designs:
        lost = np.zeros(len(design.values), dtype=bool)
        rows = state.rows(design.id)
        lost[rows.sample[list(rows.failures())]] = True
        parts.append(lost)
    return np.concatenate(parts)


def choose(
    known: Array, candidates: Array, error: Array, count: int, lost: NDArray[np.bool_] | None = None
) -> NDArray[np.intp]:
    """Greedily: distance to the nearest point, after the first quarter times the expected error."""
    from scipy.spatial import cKDTree

    distance, nearest = cKDTree(known).query(candidates)
    if lost is not None and not lost.all():
        distance = np.where(lost[nearest], 0.0, distance)
    first = math.ceil(SPACE_FILLING * count)
    chosen = []
    for k in range(count):
        score = distance if k < first else distance * error
        best = int(np.argmax(score))
        chosen.append(best)
        distance = np.minimum(distance, np.linalg.norm(candidates - candidates[best], axis=1))
    return np.array(chosen, dtype=np.intp)
