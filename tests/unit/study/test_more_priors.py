"""Triangular, extreme value and truncated priors: ends, forms by mean and std, faults."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from percuss.study.priors.prior import PriorError
from percuss.study.priors.registry import read_prior
from percuss.testing.priors import check_prior

CASES = {
    "triangular, mode at an end": ({"low": 1, "mode": 1, "high": 5}, stats.triang(0, 1, 4)),
    "gev, upper end": ({"location": 1, "scale": 2, "shape": -0.4}, stats.genextreme(0.4, 1, 2)),
    "gev, flat": ({"location": 1, "scale": 2, "shape": 0}, stats.gumbel_r(1, 2)),
}


@pytest.mark.parametrize("name", CASES)
def test_as_scipy_has_it(name: str) -> None:
    fields, peer = CASES[name]
    prior = read_prior({"kind": name.split(",")[0]} | fields, "1")
    u = np.linspace(0.001, 0.999, 50)
    x = prior.ppf(u)
    np.testing.assert_allclose(x, peer.ppf(u), rtol=1e-9)
    np.testing.assert_allclose(prior.cdf(x), peer.cdf(x), rtol=1e-9)
    np.testing.assert_allclose(prior.logpdf(x), peer.logpdf(x), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose([prior.mean(), prior.std()], [peer.mean(), peer.std()], rtol=1e-8)


def test_by_mean_and_std() -> None:
    for kind in ("gumbel", "weibull"):
        prior = read_prior({"kind": kind, "mean": "30 mm", "std": "12 mm"}, "m")
        check_prior(prior)
        assert (prior.mean(), prior.std()) == (0.03, 0.012)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"kind": "triangular", "low": 1, "mode": 0, "high": 2}, "mode"),
        ({"kind": "triangular", "low": 3, "mode": 3, "high": 2}, "must be above low"),
        ({"kind": "gumbel", "location": 0, "scale": 0}, "must be above 0"),
        ({"kind": "weibull", "shape": 1e9, "scale": 1}, "must lie from 0.05 to 1000"),
        ({"kind": "weibull", "mean": 1, "std": 1e-6}, "which no shape"),
        ({"kind": "gev", "location": 0, "scale": 1, "shape": 0.5}, "variance is infinite"),
        ({"kind": "truncated-gumbel", "location": 0, "scale": 1}, "takes low, high or both"),
        ({"kind": "truncated-gumbel", "location": 0, "scale": 1, "low": 30}, "leaves .* of the gumbel prior"),
        ({"kind": "truncated-gumbel", "location": 0, "scale": -1, "low": 3}, "must be above 0"),
    ],
)
def test_faults(table: dict[str, object], words: str) -> None:
    with pytest.raises(PriorError, match=words):
        read_prior(table, "1")
