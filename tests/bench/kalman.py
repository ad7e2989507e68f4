"""The drift filter against the same filter in numpy: the hardening oscillator, five states, 20 000 samples."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tests.bench.measure import Line, best

from percuss.study.load import load_study
from percuss.study.study import Study
from percuss.validation import Filtered, filter

STUDY = Path(__file__).parents[2] / "studies" / "duffing-extrapolation"
Floats = NDArray[np.float64]


def duffing(seed: int, samples: int = 20_000) -> tuple[Floats, Floats, Floats]:
    """Times, force and noisy displacement, made as the reference says: another data set for each seed."""
    random = np.random.default_rng(seed)
    force = random.standard_normal(samples)
    x, v, h = 0.0, 0.0, 0.01
    found = [0.0]

    def pull(x: float, v: float) -> float:
        return -10.0 * x - 0.1 * v - 50.0 * x**3

    listed = force.tolist()
    for before, after in pairwise(listed):
        middle = (before + after) / 2
        a1 = pull(x, v) + before
        v2 = v + h / 2 * a1
        a2 = pull(x + h / 2 * v, v2) + middle
        v3 = v + h / 2 * a2
        a3 = pull(x + h / 2 * v2, v3) + middle
        v4 = v + h * a3
        a4 = pull(x + h * v3, v4) + after
        x, v = x + h / 6 * (v + 2 * v2 + 2 * v3 + v4), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        found.append(x)
    return 0.01 * np.arange(samples), force, np.array(found) + np.sqrt(1e-5) * random.standard_normal(samples)


def ours(times: Floats, force: Floats, data: Floats, cubic: bool) -> Filtered:
    """The filter of percuss with the settings of the reference."""
    start = {"stiffness_1": (10.0, 3.0), "coefficient_1": (0.1, 0.1), "cubic_1": (50.0, 10.0)}
    return filter(
        _study(),
        times_s=times,
        observed={"u1": data},
        noise_variance=1e-5,
        inputs={"1": force},
        start=start,
        values={} if cubic else {"cubic_1": 0.0},
    )


def plain(force: Floats, data: Floats, cubic: bool) -> tuple[Floats, float]:
    """Means of all samples and log-likelihood by the equations of Green et al. (3-25), matrix by matrix."""
    n, h = (5, 0.01) if cubic else (4, 0.01)
    mean = np.array([0, 0, 10, 0.1, 50.0])[:n]
    covariance = np.diag([1e-6, 1e-6, 9, 0.01, 100.0][:n])
    eye = np.eye(n)
    row = eye[0]

    def rate(s: Floats, force: float) -> Floats:
        out = np.zeros(n)
        out[0] = s[1]
        out[1] = force - s[2] * s[0] - s[3] * s[1] - (s[4] * s[0] ** 3 if cubic else 0.0)
        return out

    def slope(s: Floats) -> Floats:
        out = np.zeros((n, n))
        out[0, 1] = 1
        out[1, :4] = -s[2] - (3 * s[4] * s[0] ** 2 if cubic else 0.0), -s[3], -s[0], -s[1]
        if cubic:
            out[1, 4] = -(s[0] ** 3)
        return out

    means, log = [mean], 0.0
    for i in range(1, len(data)):
        d0, d2 = force[i - 1], force[i]
        d1 = (d0 + d2) / 2
        k1 = rate(mean, d0)
        s2 = mean + h / 2 * k1
        k2 = rate(s2, d1)
        s3 = mean + h / 2 * k2
        k3 = rate(s3, d1)
        s4 = mean + h * k3
        k4 = rate(s4, d2)
        f1 = slope(mean)
        f2 = slope(s2) @ (eye + h / 2 * f1)
        f3 = slope(s3) @ (eye + h / 2 * f2)
        f4 = slope(s4) @ (eye + h * f3)
        tangent = eye + h / 6 * (f1 + 2 * f2 + 2 * f3 + f4)
        noise = np.zeros(n)
        noise[2:] = (1e-3 * mean[2:]) ** 2
        mean = mean + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        covariance = tangent @ covariance @ tangent.T + np.diag(noise)
        variance = row @ covariance @ row + 1e-5
        gain = covariance @ row / variance
        innovation = data[i] - mean[0]
        mean = mean + gain * innovation
        left = eye - np.outer(gain, row)
        covariance = left @ covariance @ left.T + 1e-5 * np.outer(gain, gain)
        log -= 0.5 * (np.log(2 * np.pi * variance) + innovation**2 / variance)
        means.append(mean)
    return np.array(means), float(log)


@cache
def _study() -> Study:
    return load_study(STUDY)


def bench() -> list[Line]:
    """Both in turn; the ratio is what counts, the figure says the milliseconds."""
    times, force, data = duffing(3)
    fast, slow = best(5, lambda: ours(times, force, data, True), lambda: plain(force[:4000], data[:4000], True))
    slow *= 5
    figure = f"{fast * 1e3:.1f} ms / {slow * 1e3:.0f} ms"
    return [Line("drift filter of 20 000 samples, against numpy", figure, fast / slow, 1 / 40)]
