"""Averages: weights, sums of their members, storage to the bit, honest nested errors, and what `auto` makes of them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import qmc

from percuss.surrogates import average, gaussian_process
from percuss.surrogates.average import Averages, Member, ordered, typical_variance, weights_of
from percuss.surrogates.fit import Group, _fit_group
from percuss.surrogates.kernels import KERNELS, OFFERED, kernels_beside, kernels_of_gp, kernels_under_a_trend
from percuss.surrogates.model import AVERAGE, Data, Settings, family_choices, family_module
from percuss.surrogates.storage import points_table

SETTINGS = Settings(family="auto", degrees=tuple(range(1, 9)), search="early", bootstrap=20)
LEGENDRE = [("legendre", list[float]())] * 2


def franke(x):
    a, b = 4.5 * (x.T + 1)
    return (
        0.75 * np.exp(-((a - 2) ** 2) / 4 - (b - 2) ** 2 / 4)
        + 0.75 * np.exp(-((a + 1) ** 2) / 49 - (b + 1) / 10)
        + 0.5 * np.exp(-((a - 7) ** 2) / 4 - (b - 3) ** 2 / 4)
        - 0.2 * np.exp(-((a - 4) ** 2) - (b - 7) ** 2)
    )


POINTS = 2 * qmc.LatinHypercube(2, rng=np.random.default_rng(7)).random(50) - 1
VALUES = np.column_stack([franke(POINTS), np.full(50, 2.0), 1 + POINTS[:, 0] * POINTS[:, 1], np.abs(POINTS[:, 0])])
DATA = Data(LEGENDRE, POINTS, VALUES)
PROBES = np.random.default_rng(2).uniform(-1, 1, (500, 2))
FRESH = np.random.default_rng(5).uniform(-1, 1, (2000, 2))


@pytest.fixture(scope="module")
def members():
    one = Data(LEGENDRE, POINTS, VALUES[:, :1])
    fits = {name: family_module(name).fit(one, SETTINGS) for name in ("chaos", "gp", "chaos-plus-gp")}
    fits["gp-rough"] = gaussian_process.fit(one, Settings(kernels=("rough",)))
    weights = {"chaos": 0.1, "gp": 0.4, "gp-rough": 0.3, "chaos-plus-gp": 0.2}
    return tuple(Member(name, weights[name], fits[name]) for name in ordered(fits))


@pytest.fixture(scope="module")
def averages(members):
    left_out = [VALUES[:, 0] - m.model.loo_residuals(DATA.take([0]))[:, 0] for m in members]
    return Averages((members,), (typical_variance(members, left_out),))


@pytest.fixture(scope="module")
def fits():
    return _fit_group(Group(0, (0, 1, 2, 3), DATA, np.arange(50), 0), SETTINGS, PROBES, None, None)


def test_weights_are_inverse_to_the_product_of_three_errors_and_small_ones_are_left_out():
    one = np.ones(3)
    np.testing.assert_allclose(weights_of(one, one, np.array([1.0, 2.0, 3.0])), np.array([6, 3, 2]) / 11)
    np.testing.assert_allclose(weights_of(np.array([1.0, 2.0, 3.0]), np.array([1.0, 4.0, 9.0]), one), [8 / 9, 1 / 9, 0])
    two = np.array([[1.0, 5.0], [1.0, 0.05]])
    np.testing.assert_allclose(weights_of(two, np.ones((2, 2)), np.ones((2, 2))), [[0.5, 0.0], [0.5, 1.0]])
    np.testing.assert_allclose(weights_of(*np.zeros((3, 4))), 0.25)


def test_members_have_an_order():
    assert ordered(["gp-smooth", "chaos-plus-gp", "gp", "chaos", "gp-rough"]) == [
        "chaos", "gp", "gp-rough", "gp-smooth", "chaos-plus-gp",
    ]  # fmt: skip


def test_an_average_is_the_sum_of_its_members(members, averages):
    mean = sum(m.weight * m.model.mean(FRESH)[:, 0] for m in members)
    np.testing.assert_allclose(averages.mean(FRESH)[:, 0], mean, rtol=1e-12)
    left_out = sum(m.weight * m.model.loo_residuals(DATA.take([0]))[:, 0] for m in members)
    np.testing.assert_allclose(averages.loo_residuals(DATA.take([0]))[:, 0], left_out, rtol=1e-12)
    at = FRESH[:9]
    _, slopes = averages.gradient(at)
    for k in range(2):
        step = 1e-4 * np.eye(2)[k]
        difference = (averages.mean(at + step) - averages.mean(at - step)) / 2e-4
        np.testing.assert_allclose(slopes[:, :, k], difference, rtol=1e-4, atol=1e-5)


def test_the_variance_has_what_members_differ_by(members, averages):
    known = [m for m in members if m.name != "chaos"]
    own = sum(m.weight * m.model.variance(FRESH)[:, 0] for m in known) / sum(m.weight for m in known)
    each = np.stack([m.model.mean(FRESH)[:, 0] for m in members])
    weights = np.array([m.weight for m in members])
    apart = weights @ (each - weights @ each) ** 2
    np.testing.assert_allclose(averages.variance(FRESH)[:, 0], own + apart, rtol=1e-10)
    (facts,) = averages.facts()
    assert facts["loo_variance"] > 0
    assert facts["method"] == "chaos 0.10, gp 0.40, gp-rough 0.30, chaos-plus-gp 0.20"


def test_resampled_designs_are_those_of_the_members(averages):
    counts = np.ones((2, 50), dtype=np.intp)
    counts[1, ::7] = 0
    (replicates,) = averages.resampled(DATA.take([0]), counts)
    assert (replicates.coefficients.shape[1], replicates.weights.shape[1]) == averages.replicate_sizes(0)
    whole, part = averages.replicate_means(FRESH, 0, replicates)
    np.testing.assert_allclose(whole, averages.mean(FRESH)[:, 0], rtol=1e-5, atol=1e-6)
    assert np.abs(part - whole).max() > 1e-4


def test_stored_and_loaded_it_predicts_the_same_bits(averages):
    tables = averages.tables([4], 0) | {"points": points_table(0, POINTS)}
    assert set(tables) == {"terms", "processes", "points"}
    again = average.load(LEGENDRE, tables, [4])
    np.testing.assert_array_equal(again.mean(FRESH), averages.mean(FRESH))
    np.testing.assert_array_equal(again.variance(FRESH), averages.variance(FRESH))
    np.testing.assert_array_equal(again.gradient(FRESH)[1], averages.gradient(FRESH)[1])


def test_auto_averages_what_is_no_expansion(fits):
    assert fits.columns[1]["family"] == fits.columns[2]["family"] == "chaos"
    assert fits.columns[0]["family"] == AVERAGE
    assert set(fits.columns[0]["tried"]) == {"chaos", "gp", "chaos-plus-gp", "gp-rough", "gp-smooth", AVERAGE}
    # Where the expansion has the least error nothing else is tried.
    assert AVERAGE not in fits.columns[2]["tried"]


def test_the_nested_error_of_an_average_is_an_error_at_fresh_points(fits):
    (part,) = (part for part in fits.parts if part.family == AVERAGE)
    at = part.columns.index(0)
    errors = fits.columns[0]["errors"]
    true = np.mean((part.model.mean(FRESH)[:, at] - franke(FRESH)) ** 2) / VALUES[:, 0].var()
    assert 0.3 * true < errors.trusted < 20 * true
    # What the models of the folds say of the points they have not seen.
    residuals = fits.residuals[0]
    for fold, model in enumerate(part.folds):
        inside = residuals.folds == fold
        np.testing.assert_allclose(model.mean(POINTS[inside])[:, at], residuals.nested[inside], rtol=1e-9)


def test_weights_of_a_fold_are_found_without_it():
    """Runs of one fold that are moved move nothing of what is said of them."""
    from percuss.surrogates.assessment import Folds, Nested
    from percuss.surrogates.trials import Trial, Weighed

    places = Folds.of(DATA, 5, 0).places
    rng = np.random.default_rng(1)

    def trial():
        left_out, predicted = VALUES[:, :1] + 0.1 * rng.standard_normal((2, 50, 1))
        return Trial(None, left_out, None, Nested((), predicted), None, np.full((5, 1), 0.01), None, None, None)

    trials = {"gp": trial(), "gp-rough": trial(), "chaos": trial()}
    moved = VALUES[:, :1].copy()
    moved[places == 2] += rng.standard_normal(((places == 2).sum(), 1))
    # Errors are over the variance of the output, which moves as well.
    far = np.full((5, 1), 0.01 * VALUES[:, 0].var() / moved.var())
    one = Weighed.of(trials, VALUES[:, :1], places)
    other = Weighed.of({name: replace(trial, apart=far) for name, trial in trials.items()}, moved, places)
    np.testing.assert_allclose(one.without[2], other.without[2], rtol=1e-9)
    assert np.abs(one.weights - other.weights).max() > 1e-3


def test_families_of_an_average_are_tried_by_auto_alone():
    assert AVERAGE not in family_choices()
    assert family_module(AVERAGE) is average


def test_older_events_name_other_kernels_and_are_not_averaged():
    assert kernels_of_gp(OFFERED) == ("layered",) and kernels_beside(OFFERED) == ("rough", "smooth")
    assert kernels_of_gp(("layered",)) == ("layered",) and kernels_beside(("layered",)) == ()
    assert kernels_under_a_trend(("layered",)) == kernels_under_a_trend(OFFERED)
    older = ("matern-wide", "gaussian")
    assert kernels_of_gp(older) == kernels_under_a_trend(older) == older and kernels_beside(older) == ()
    assert set(OFFERED) <= set(KERNELS)
    once = Settings(**{**vars(SETTINGS), "kernels": ("layered",)})
    fits = _fit_group(Group(0, (0, 1, 2, 3), DATA, np.arange(50), 0), once, PROBES, None, None)
    assert AVERAGE not in {column["family"] for column in fits.columns.values()}
