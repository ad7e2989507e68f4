"""Estimators against functions whose indices are known in closed form."""

import numpy as np
import pytest
from tests.bench.sensitivity_coverage import measure

from percuss.designs.registry import make_design
from percuss.sensitivity.elementary_effects import design_effects, screen
from percuss.sensitivity.given_data import given_data_indices
from percuss.sensitivity.indices import Indices, bare, over_cases
from percuss.sensitivity.sampling import design_indices, sample_indices, shapley_of
from percuss.study.load import load_study

FIRST = np.array([0.313905, 0.442411, 0.0])
TOTAL = np.array([0.557589, 0.442411, 0.243684])
NAMES = [("base", "y")]


def ishigami(unit):
    x = np.pi * (2 * unit - 1)
    return (np.sin(x[:, 0]) + 7 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * np.sin(x[:, 0]))[:, None]


def test_sampled_indices_of_ishigami():
    (found,) = sample_indices(ishigami, 3, NAMES, 8192, 0, 0.95)
    # Quasi-Monte Carlo at 8192 points: errors of some thousandths.
    np.testing.assert_allclose(found.measures["first"].values, FIRST, atol=0.01)
    np.testing.assert_allclose(found.measures["total"].values, TOTAL, atol=0.01)
    np.testing.assert_allclose(found.second[0, 2], 0.243684, atol=0.02)
    assert found.variance == pytest.approx(13.844588, rel=0.01)
    shapley = found.measures["shapley"].values
    np.testing.assert_allclose(shapley, [0.435747, 0.442411, 0.121842], atol=0.03)
    assert shapley.sum() == pytest.approx(1, abs=1e-12)
    for name, exact in (("first", FIRST), ("total", TOTAL)):
        _, low, high = found.measures[name]
        assert ((low - 0.01 <= exact) & (exact <= high + 0.01)).all()


@pytest.mark.filterwarnings("error")
def test_an_output_that_is_constant_has_no_indices():
    constant = np.full((32 * 5, 1), 3.0)
    (found,), _ = design_indices(constant, np.zeros(len(constant), dtype=bool), 3, "base", ["y"], 0.95, 0)
    assert found.variance == 0
    for values, low, high in found.measures.values():
        assert np.isnan([values, low, high]).all()


def test_shapley_effects_of_an_additive_game():
    closed = {(): np.zeros(1), (0,): np.array([0.5]), (1,): np.array([0.25]), (0, 1): np.ones(1)}
    np.testing.assert_allclose(shapley_of(closed, 2), [[0.625, 0.375]])


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("ishigami") / "study.toml"
    parameters = "\n".join(
        f'[parameters.x{i}]\nprior = {{ kind = "uniform", low = -3.141592653589793, high = 3.141592653589793 }}'
        for i in (1, 2, 3)
    )
    path.write_text(f'[model]\nkind = "benchmark"\nfunction = "ishigami"\n{parameters}\n')
    return load_study(path)


def test_runs_of_a_saltelli_design(study):
    design = make_design(study, "saltelli", 1024, 3)
    assert design.values.shape == (1024 * 5, 3)
    values = ishigami(design.unit)
    failed = np.zeros(len(values), dtype=bool)
    (found,), lost = design_indices(values, failed, 3, "base", ["y"], 0.95, 0)
    assert lost == 0
    np.testing.assert_allclose(found.measures["total"].values, TOTAL, atol=0.03)
    failed[[5, 1024 + 5, 2 * 1024 + 9]] = True
    _, lost = design_indices(values, failed, 3, "base", ["y"], 0.95, 0)
    assert lost == 2


def test_screening_of_a_linear_function_is_exact(study):
    function = lambda u: (3 * u[:, 0] - 2 * u[:, 1])[:, None]  # noqa: E731
    (found,) = screen(function, 3, NAMES, 10, 0, 0.9)
    np.testing.assert_allclose(found.measures["mu"].values, [3, -2, 0], atol=1e-12)
    np.testing.assert_allclose(found.measures["mu_star"].values, [3, 2, 0], atol=1e-12)
    np.testing.assert_allclose(found.measures["sigma"].values, 0, atol=1e-12)
    design = make_design(study, "morris", 10, 0)
    failed = np.zeros(40, dtype=bool)
    failed[7] = True
    (again,), lost = design_effects(design.unit, function(design.unit), failed, "base", ["y"], 0.9, 0)
    assert lost == 1
    np.testing.assert_allclose(again.measures["mu"].values, [3, -2, 0], atol=1e-12)


@pytest.mark.parametrize("sampler", ["monte-carlo", "sobol", "latin-hypercube"])
def test_given_data(study, sampler):
    design = make_design(study, sampler, 1000, 1)
    (found,) = given_data_indices(design.values, ishigami(design.unit), "base", ("y",), 0.95, 0)
    # Both estimators have a standard error of some hundredths at 1000 runs.
    np.testing.assert_allclose(found.measures["rank"].values, FIRST, atol=0.12)
    np.testing.assert_allclose(found.measures["binning"].values, FIRST, atol=0.06)


def test_cases_count_by_their_variance():
    one = Indices("a", "y", "expansion", 0.0, 3.0, {"first": bare(np.array([1.0, 0.0]))})
    two = Indices("b", "y", "expansion", 0.0, 1.0, {"first": bare(np.array([0.0, 1.0]))})
    (together,) = over_cases([one, two])
    np.testing.assert_allclose(together.measures["first"].values, [0.75, 0.25])
    assert over_cases([one]) == []


@pytest.mark.parametrize("seed", range(6))
def test_intervals_hold_their_estimates(study, seed):
    """Of every method, from few runs and skewed outputs: an estimate outside of its interval is told by nobody."""
    spiked = lambda u: ishigami(u) ** 6 + np.exp(8 * u[:, :1])  # noqa: E731
    saltelli, morris, plain = (
        make_design(study, s, n, seed) for s, n in (("saltelli", 8), ("morris", 4), ("sobol", 32))
    )
    whole = np.zeros(len(saltelli.unit), dtype=bool)
    found, _ = design_indices(spiked(saltelli.unit), whole, 3, "base", ["y"], 0.5, seed)
    effects, _ = design_effects(morris.unit, spiked(morris.unit), np.zeros(16, dtype=bool), "base", ["y"], 0.5, seed)
    given = given_data_indices(plain.values, spiked(plain.unit), "base", ("y",), 0.5, seed)
    sampled = sample_indices(spiked, 3, NAMES, 32, seed, 0.5)
    intervals = 0
    for item in (*found, *effects, *given, *sampled):
        for values, low, high in item.measures.values():
            known = ~np.isnan(low)
            intervals += known.sum()
            assert (low[known] <= values[known]).all()
            assert (values[known] <= high[known]).all()
    assert intervals == 3 * 6


@pytest.mark.parametrize(("name", "n"), [("gfunction", 48), ("stop", 48), ("ishigami", 64)])
def test_intervals_of_a_surrogate_hold_the_indices_of_the_model(name, n):
    """The table of docs/surrogates.md, with few designs: of 6 x 2 d indices at least nine tenths are held."""
    row = measure(name, n, 6)
    assert row.holds_estimate
    assert row.covered >= 0.9
    # And they say something.
    assert row.width < 0.4
