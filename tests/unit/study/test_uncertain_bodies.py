"""Uncertain mass, centre and inertia: against closed forms and quadrature, and through study files and designs."""

import csv
import math
import os
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson

from percuss._core import KummerBeta
from percuss.designs.registry import make_design
from percuss.errors import InputError
from percuss.scene.bodies import Body, inertia_of
from percuss.study.load import check_study, load_study
from percuss.study.priors.prior import PriorError
from percuss.study.priors.registry import prior_from_json, read_prior, read_priors
from percuss.study.study import Study
from percuss.surrogates.canonical import Canonical

GOLDEN = Path(__file__).parents[2] / "golden" / "bodies"

STUDY = """
[model]
kind = "scene"
duration = "10 ms"
step = "1 ms"
[[model.bodies]]
name = "rock"
mass = "$mass"
gyration = ["$z_xx", "$z_yy", "$z_zz", "$z_xy", "$z_xz", "$z_yz"]
centre = ["$cx", 0, 0]
angular_velocity = [1, 2, 3]
[[model.probes]]
name = "rock"
body = "rock"
[parameters.mass]
prior = { kind = "gamma", mean = "20 kg", dispersion = 0.5 }
[parameters.cx]
unit = "cm"
prior = { kind = "truncated-exponential", mean = 1, low = -5, high = 5 }
[parameters.z]
unit = "cm^2"
prior = { kind = "kummer-beta", mean = [400, 300, 100], upper = [1200, 900, 300] }
[cases.mass]
hold = ["cx", "z"]
[cases.all]
[outputs.turned]
quantity = "rock_turn"
reduce = "max"
[outputs.spin]
quantity = "rock_wx"
reduce = "final"
"""


def rows(name):
    with (GOLDEN / name).open() as file:
        return list(csv.DictReader(file))


@pytest.fixture
def study(tmp_path) -> Study:
    (tmp_path / "study.toml").write_text(STUDY)
    return load_study(tmp_path)


def test_mass_is_the_gamma_of_the_table():
    table = {row["quantity"]: float(row["value"]) for row in rows("mass.csv")}
    prior = read_prior({"kind": "gamma", "mean": 1.0, "dispersion": 0.5}, "1")
    assert prior.shape_and_scale() == (table["shape"], table["scale_over_mean"])
    assert (prior.mean(), prior.std()) == (table["mean"], table["sd"])
    for key, value in table.items():
        if key.startswith("q"):
            assert float(prior.ppf(float(key[1:]))) == pytest.approx(value, rel=5e-9)


def test_a_mass_too_scattered_is_refused_with_the_reason():
    with pytest.raises(PriorError, match=r"dispersion.*below 1/sqrt 2.*E\[M\^-2\]"):
        read_prior({"kind": "gamma", "mean": 1.0, "dispersion": math.sqrt(0.5)}, "1")
    assert read_prior({"kind": "gamma", "mean": 1.0, "dispersion": 0.7071}, "1")
    # The same spread as a std says nothing about a mass.
    assert read_prior({"kind": "gamma", "mean": 1.0, "std": 2.0}, "1")


def test_centre_of_mass_is_the_law_of_the_table():
    for row in rows("centre_of_mass.csv"):
        low, high, mean = (float(row[key]) for key in ("lo", "hi", "mean_asked"))
        prior = read_prior({"kind": "truncated-exponential", "mean": mean, "low": low, "high": high}, "1")
        width = high - low
        assert prior.multiplier() * width == pytest.approx(float(row["lambda"]) * width, rel=1e-8, abs=1e-12)
        assert prior.std() == pytest.approx(float(row["sd"]), rel=5e-9)
        assert prior.mean() == mean
        for q in ("05", "50", "95"):
            assert float(prior.ppf(int(q) / 100)) == pytest.approx(float(row[f"q{q}"]), rel=5e-9, abs=1e-12 * width)


@pytest.mark.parametrize("mean", [-1.0, 0.0, 1.0, 1.5, math.inf])
def test_a_centre_outside_its_box_is_refused(mean):
    with pytest.raises(PriorError, match="mean"):
        read_prior({"kind": "truncated-exponential", "mean": mean, "low": 0.0, "high": 1.0}, "1")


def test_multiplier_of_the_tensor_is_that_of_the_table():
    one = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
    for row in rows("kummer_beta_scalar.csv"):
        law = KummerBeta((0.0,) * 6, [float(row["g"]) * x for x in one], one, -5.0, -5.0)
        own_error = 3 * abs(float(row["quad_n60_minus_n30"]))
        allowed = max(1e-8, own_error) * max(1.0, abs(float(row["mu"])))
        assert law.multiplier[:3] == pytest.approx([float(row["mu"])] * 3, abs=allowed)
        assert law.multiplier[3:] == pytest.approx([0.0] * 3, abs=allowed)


@pytest.mark.parametrize("g", [1.5, 3.0, 9.0])
def test_eigenvalues_have_the_quantiles_of_their_density(g):
    """Ordered eigenvalues below g I: density ~ prod l^5 (g - l)^5 exp(-mu l) prod (l_j - l_i), by their own densities.

    Multiplied out, prod (l_j - l_i) leaves integrals below and above one eigenvalue, by Simpson's rule good to 1e-9.
    """
    n = 200_000 if os.environ.get("HYPOTHESIS_PROFILE") == "fuzz" else 20_000
    one = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
    law = KummerBeta((0.0,) * 6, [g * x for x in one], one, -5.0, -5.0)
    x = np.linspace(0.0, g, 4001)
    weight = (x * (g - x)) ** 5 * np.exp(-law.multiplier[0] * x)
    weight /= np.trapezoid(weight, x)

    def up_to(y):
        return cumulative_simpson(y, x=x, initial=0.0)

    below = [up_to(x**m * weight) for m in range(3)]
    above = [part[-1] - part for part in below]
    # Two below x, the smaller to the power m, the larger to the power n; and two above it.
    both_below = [[up_to(x**n * weight * below[m]) for n in range(3)] for m in range(3)]
    both_above = [[p[-1] - p - below[m] * above[n] for n, p in enumerate(row)] for m, row in enumerate(both_below)]

    def outermost(pair):
        square, line, rest = (pair[m][n] - pair[n][m] for m, n in ((0, 1), (0, 2), (1, 2)))
        return x * x * square - x * line + rest

    middle = x * (above[2] * below[0] - below[2] * above[0]) - x * x * (above[1] * below[0] - below[1] * above[0])
    middle += below[2] * above[1] - below[1] * above[2]
    drawn = law.draw(5, np.random.default_rng(2).random((n, 6)))
    found = np.linalg.eigvalsh(drawn[:, [0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(-1, 3, 3))
    for place, density in enumerate((outermost(both_above), middle, outermost(both_below))):
        share_below = up_to(weight * density)
        for p in (0.05, 0.25, 0.5, 0.75, 0.95):
            quantile = np.interp(p, share_below / share_below[-1], x)
            share = (found[:, place] < quantile).mean()
            assert abs(share - p) < 4 * math.sqrt(p * (1 - p) / n), (place, p, share)


def test_the_documented_study_loads(tmp_path):
    text = (Path(__file__).parents[3] / "docs" / "uncertain-bodies.md").read_text()
    (example,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    (tmp_path / "study.toml").write_text(example)
    assert check_study(tmp_path) == []


def test_a_tensor_gives_six_parameters_drawn_together(study):
    assert list(study.parameters) == ["mass", "cx", "z_xx", "z_yy", "z_zz", "z_xy", "z_xz", "z_yz"]
    assert {p.source for p in study.parameters.values()} == {"mass", "cx", "z"}
    design = make_design(study, "monte-carlo", 2000, 3)
    mean, sd = design.values[:, 2:5].mean(axis=0), design.values[:, 2:5].std(axis=0)
    assert np.abs(mean - [0.04, 0.03, 0.01]).max() < (4 * sd / math.sqrt(2000)).max()
    for z in design.values[:, 2:]:
        j = np.linalg.eigvalsh(inertia_of(2.0, z))
        assert j[0] > 0 and j[2] < j[0] + j[1]
    longer = make_design(study, "monte-carlo", 2100, 3)
    assert np.array_equal(longer.values[:2000], design.values)
    assert not np.array_equal(make_design(study, "monte-carlo", 2000, 4).values[:, 2:], design.values[:, 2:])


def test_the_resolved_study_gives_the_same_draws(study):
    again = Study.from_resolved(study.resolved(), {})
    assert again.digest == study.digest
    ours, theirs = (make_design(each, "sobol", 50, 1, skip=1) for each in (study, again))
    assert np.array_equal(ours.values, theirs.values)


def test_a_case_holds_parameters_at_their_means(study):
    drawn = dict(zip(study.parameters, make_design(study, "monte-carlo", 1, 1).values[0].tolist(), strict=True))
    held, free = study.point("mass", drawn), study.point("all", drawn)
    assert held["mass"] == free["mass"] == drawn["mass"]
    assert (held["cx"], held["z_xx"], held["z_xy"]) == (0.01, 0.04, 0.0)
    assert free["z_xx"] == drawn["z_xx"]


def test_pick_freeze_redraws_a_tensor_as_a_whole(study):
    design = make_design(study, "saltelli", 8, 1, options={"groups": "where=cx; what=mass,z_xx"})
    a, b, where, what = design.values.reshape(4, 8, 8)
    assert np.array_equal(where[:, 1], b[:, 1]) and np.array_equal(np.delete(where, 1, 1), np.delete(a, 1, 1))
    assert np.array_equal(what[:, 1], a[:, 1]) and np.array_equal(np.delete(what, 1, 1), np.delete(b, 1, 1))
    assert make_design(study, "saltelli", 8, 1).values.shape == (8 * (3 + 2), 8)
    with pytest.raises(InputError, match="`cx` is in the groups `a` and `b`"):
        make_design(study, "saltelli", 8, 1, options={"groups": "a=cx; b=cx"})
    with pytest.raises(InputError, match="no parameter `q`"):
        make_design(study, "saltelli", 8, 1, options={"groups": "a=q"})


@pytest.mark.parametrize("sampler", ["grid", "full-factorial", "morris"])
def test_designs_by_levels_say_that_a_tensor_has_none(study, sampler):
    with pytest.raises(InputError, match="components of a kummer-beta tensor"):
        make_design(study, sampler, 2, 1)


def test_surrogates_say_that_components_are_not_independent(study):
    with pytest.raises(InputError, match="a surrogate: takes independent parameters"):
        Canonical.of([p.prior for p in study.parameters.values()])


def test_runs_of_a_free_body_keep_its_angular_momentum(study):
    """The drawn inertia reaches the core: a free body's spin follows Euler's equations with it."""
    point = study.point("all", dict(zip(study.parameters, make_design(study, "mean", None, 0).values[0], strict=True)))
    (done,) = study.model().run([point], [0])
    j1, j2, j3 = np.diag(inertia_of(point["mass"], [point[f"z_{c}"] for c in ("xx", "yy", "zz", "xy", "xz", "yz")]))
    rate = (j2 - j3) * 2 * 3 / j1
    assert done.curves["rock_wx"][-1] == pytest.approx(1 + 0.01 * rate, abs=2e-3)


def test_wishart_has_the_mean_and_the_dispersion():
    priors = read_priors({"kind": "wishart", "mean": [2.0, 1.0, 0.5, 0.3, 0.0, 0.1], "dispersion": 0.4}, "1")
    law = priors["_xx"].law
    z = law.draw(0, np.random.default_rng(1).random((40000, 6)))
    assert np.abs(z.mean(axis=0) - law.tensors["mean"]).max() < 4 * z.std(axis=0).max() / 200
    whole = np.linalg.cholesky(np.array([[2, 0.3, 0], [0.3, 1, 0.1], [0, 0.1, 0.5]]))
    tensors = z[:, [0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(-1, 3, 3)
    inverse = np.linalg.inv(whole)
    away = inverse @ tensors @ inverse.T - np.eye(3)
    assert math.sqrt((away**2).sum(axis=(1, 2)).mean() / 3) == pytest.approx(0.4, rel=0.01)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("upper = [1200, 900, 300]", "upper = [1200, 200, 300]"), "upper - mean has the eigenvalue -1.0"),
        (("mean = [400, 300, 100]", "mean = [400, 300]"), "must be three numbers"),
        ((", upper = [1200, 900, 300]", ""), "missing; a kummer-beta prior takes mean, upper"),
        (("upper = [1200, 900, 300]", "upper = [1200, 900, 300], lower_exponent = 1"), "lower_exponent = 1"),
        (('"kummer-beta"', '"kummer"'), "unknown kind"),
        (('hold = ["cx", "z"]', 'hold = ["cy"]'), "no parameter `cy`"),
        (('hold = ["cx", "z"]', "hold = 1"), "must be a list of parameters"),
        (('"$z_yz"]', "0]"), "no such input `z_yz`"),
        (("dispersion = 0.5", "dispersion = 0.8"), "1/sqrt 2"),
    ],
)
def test_faults_are_one_sentence_each(tmp_path, change, said):
    (tmp_path / "study.toml").write_text(STUDY.replace(*change))
    faults = [fault.message for fault in check_study(tmp_path)]
    assert any(said in message for message in faults), faults


def test_a_body_gives_inertia_in_one_way():
    with pytest.raises(InputError, match="must give one of them"):
        Body("b", mass_kg=1.0, inertia_kg_m2=((1, 0, 0), (0, 1, 0), (0, 0, 1)), gyration_m2=(1, 1, 1, 0, 0, 0)).role()
    with pytest.raises(InputError, match="gyration_m2 without mass_kg"):
        Body("b", density_kg_per_m3=1.0, gyration_m2=(1, 1, 1, 0, 0, 0)).role()


def test_components_know_their_marginals(study):
    prior = study.parameters["z_xx"].prior
    assert prior.mean() == pytest.approx(0.04)
    # sd of G11 below 3 I is 0.332634908.
    assert prior.std() == pytest.approx(0.332634908 * 0.04, rel=0.02)
    assert float(prior.cdf(prior.ppf(0.3))) == pytest.approx(0.3, abs=1e-3)
    assert prior_from_json(prior.to_json()) == prior
