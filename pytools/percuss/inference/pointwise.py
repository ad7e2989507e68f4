"""Each datum given all others: how dense its distribution is where it was measured, and how much of it lies below.

The second is the probability integral transform (Dawid, 1984). Weighted by the posterior without the datum it is its
leave-one-out transform, uniform if the model is right (Gelfand, Dey and Chang, 1992).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from percuss.inference.arrays import Floats

LOG_2PI = float(np.log(2 * np.pi))


class Pointwise(NamedTuple):
    """At n points, of m data: log density and probability below what was measured, (n, m) each."""

    log_density: Floats
    below: Floats


def normal(pull: Floats, precision: Floats) -> Pointwise:
    """Residuals that have, given all others, variance 1 / precision and error pull / precision."""
    from scipy.special import ndtr

    log_density = np.asarray(0.5 * (np.log(precision) - LOG_2PI - pull * pull / precision))
    return Pointwise(log_density, np.asarray(ndtr(pull / np.sqrt(precision))))


def mixed(log_components: Floats, each: list[Pointwise]) -> Pointwise:
    """Data of a mixture: log densities of all data with each component (n, k), and each datum with each of the k."""
    without = log_components[:, None, :] - np.stack([one.log_density for one in each], axis=2)
    total = log_sum(without)
    below = np.stack([one.below for one in each], axis=2)
    return Pointwise(
        log_sum(log_components)[:, None] - total, np.sum(np.exp(without - total[:, :, None]) * below, axis=2)
    )


def log_sum(logs: Floats) -> Floats:
    """log(sum(exp)) over the last axis."""
    top = np.max(logs, axis=-1, keepdims=True)
    return np.asarray(top[..., 0] + np.log(np.sum(np.exp(logs - top), axis=-1)))
