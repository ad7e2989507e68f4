"""What the parameters of a model do to the data: the gradient that the error of the model is kept orthogonal to.

It is taken at the parameters that fit the data best, with errors as they are known or at the medians of their priors:
what the parameters of a wrong model are, is defined there (Plumlee, 2017).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from percuss.inference.arrays import Floats
from percuss.inference.discrepancies.discrepancy import Unknown
from percuss.inference.discrepancies.model_error import ModelError
from percuss.inference.likelihood import Forward, Group
from percuss.study.priors.prior import Prior

# Half the width of a central difference, in standard normal numbers behind the priors.
STEP = 1e-3


def with_slopes(groups: Sequence[Group], forwards: Mapping[str, Forward], priors: Sequence[Prior]) -> tuple[Group, ...]:
    """The groups, those with an error of the model with the gradient of the model at their entries."""
    if not any(isinstance(group.discrepancy, ModelError) and group.discrepancy.orthogonal for group in groups):
        return tuple(groups)
    best = _best(groups, forwards, priors)
    steps = np.concatenate([best + STEP * np.eye(len(best)), best - STEP * np.eye(len(best))])
    made = []
    for group in groups:
        if isinstance(group.discrepancy, ModelError):
            high, low = np.split(_entries(group, forwards, priors, steps), 2)
            slopes = np.asarray((high - low).T / (2 * STEP))
            group = replace(group, discrepancy=replace(group.discrepancy, slopes=slopes))
        made.append(group)
    return tuple(made)


def _best(groups: Sequence[Group], forwards: Mapping[str, Forward], priors: Sequence[Prior]) -> Floats:
    """The best fit, in standard normal numbers behind the priors, which the priors hold back."""
    from scipy.optimize import least_squares

    stds = [np.sqrt(np.square(group.measurement_std) + np.square(_median(group.discrepancy.std))) for group in groups]

    def misfit(normal: Floats) -> Floats:
        entries = [_entries(group, forwards, priors, normal[None])[0] for group in groups]
        left = [(group.observed - own) / std for group, own, std in zip(groups, entries, stds, strict=True)]
        return np.asarray(np.nan_to_num(np.concatenate([*left, normal]), nan=1e6), float)

    return np.asarray(least_squares(misfit, np.zeros(len(priors)), diff_step=STEP, max_nfev=100).x)


def _entries(group: Group, forwards: Mapping[str, Forward], priors: Sequence[Prior], normal: Floats) -> Floats:
    """Entries (n, m) of a group at points (n, d) of standard normal numbers."""
    from scipy.special import ndtr

    theta = np.stack([prior.ppf(ndtr(normal[:, j])) for j, prior in enumerate(priors)], axis=1)
    unknowns = {unknown.name: np.full(len(theta), float(unknown.prior.ppf(0.5))) for unknown in group.unknowns()}
    return group.read(forwards[group.forward](theta)[0], unknowns)


def _median(std: float | Floats | Unknown) -> float | Floats:
    return float(std.prior.ppf(0.5)) if isinstance(std, Unknown) else std
