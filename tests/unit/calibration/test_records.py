"""Records among data: which entries are neighbours, and what is said where their errors last."""

from __future__ import annotations

import numpy as np
import polars as pl

from percuss.calibration.fit import LEAST_P, SHORTEST, Check, records, verdicts
from percuss.inference.predictive import Fit, Neighbours
from percuss.kinds.posterior_sampled import PriorDistance

NEAR = PriorDistance(name="x", deviations=0.1, tail=0.9)
QUANTITIES = {"u1": "u1", "u2": "u2", "peak": "u1"}
SCHEMA = {"case": pl.String(), "point": pl.String(), "axis": pl.String(), "output": pl.String(), "group": pl.String()}


def _data(rows: list[tuple[str, str, float | None]], point: str | None = "logger") -> pl.DataFrame:
    entries = [
        {"case": "base", "point": point, "axis": None, "output": o, "group": g, "instant": t} for g, o, t in rows
    ]
    return pl.DataFrame(entries, {**SCHEMA, "instant": pl.Float64()})


def test_a_record_is_read_in_the_order_of_its_instants() -> None:
    times = [0.3, 0.1, 0.2, 0.5, 0.4, 0.7, 0.6, 0.0]
    mixed = [row for t in times for row in (("a", "u1", t), ("a", "u2", t))]
    places = records(_data(mixed), QUANTITIES)["a"]
    assert [list(np.array(times)[own // 2]) for own in places] == [sorted(times)] * 2
    assert [set(own % 2) for own in places] == [{0}, {1}]


def test_places_are_those_within_the_group() -> None:
    rows = [("a", "peak", None)] + [("a", "u1", t) for t in range(SHORTEST)] + [("b", "u1", t) for t in range(SHORTEST)]
    found = records(_data(rows), QUANTITIES)
    assert list(found["a"][0]) == list(range(1, SHORTEST + 1))
    assert list(found["b"][0]) == list(range(SHORTEST))


def test_short_records_and_repeated_measurements_are_none() -> None:
    assert records(_data([("a", "u1", t) for t in range(SHORTEST - 1)]), QUANTITIES) == {}
    assert records(_data([("a", "u1", t // 2) for t in range(2 * SHORTEST)], point=None), QUANTITIES) == {}


def test_errors_that_last_fail_the_fit_though_the_misfit_is_right() -> None:
    fit = Fit(60, 0.5, 0.01, 4000, {0.5: 30, 0.95: 57})
    good, bad = (Check(fit, {"g": fit}, (NEAR,), {"g": Neighbours(0.7, p, 4000)}) for p in (0.3, 0.0))
    assert [v.passed for v in verdicts(good)] == [True]
    fits, lasts = verdicts(bad)
    assert fits.passed and not lasts.passed
    assert fits.threshold == lasts.threshold == LEAST_P / 2
    assert lasts.gate == "fit" and "below 0.00025" in lasts.sentence and "too narrow" in lasts.sentence
