"""Designs: known points, prefixes, and what cannot be asked for."""

from pathlib import Path

import numpy as np
import pytest

from percuss.designs.design import run_seed
from percuss.designs.halton import plain as plain_halton
from percuss.designs.latin_hypercube import latin_hypercube
from percuss.designs.registry import SAMPLERS, make_design, sampler_name
from percuss.designs.sobol import plain_sobol, scrambled_sobol
from percuss.errors import InputError
from percuss.study.load import load_study

STUDIES = Path(__file__).parents[3] / "studies"
OWN_SIZE = {"grid": {"levels": 3}, "full-factorial": {}, "mean": {}}


@pytest.fixture(scope="module")
def ishigami():
    return load_study(STUDIES / "ishigami")


@pytest.fixture(scope="module")
def borehole():
    return load_study(STUDIES / "borehole")


# A grid has the ends of the priors, and the borehole's lognormal has none.
PAIRS = [(s, name) for s in SAMPLERS for name in ("ishigami", "borehole") if (s, name) != ("grid", "borehole")]


@pytest.mark.parametrize(("sampler", "study_name"), PAIRS)
def test_values_are_the_quantiles_of_the_unit_points(sampler, study_name, request):
    study = request.getfixturevalue(study_name)
    n = None if sampler in OWN_SIZE else 50
    skip = 1 if sampler in ("sobol", "halton") else 0
    design = make_design(study, sampler, n, 7, skip, OWN_SIZE.get(sampler, {}))
    assert design.names == tuple(study.parameters)
    assert design.unit.shape == design.values.shape
    assert design.unit.min() >= 0 and design.unit.max() <= 1
    for j, parameter in enumerate(study.parameters.values()):
        np.testing.assert_allclose(parameter.prior.cdf(design.values[:, j]), design.unit[:, j], atol=1e-12)


SEQUENCES = [("sobol", {}), ("sobol", {"scramble": True}), ("halton", {}), ("halton", {"scramble": True})]
SEQUENCES += [("monte-carlo", {})]


@pytest.mark.parametrize(("sampler", "options"), SEQUENCES)
@pytest.mark.parametrize("skip", [1, 5])
def test_a_shorter_design_is_the_start_of_a_longer_one(borehole, sampler, options, skip):
    long = make_design(borehole, sampler, 300, 3, skip, options)
    short = make_design(borehole, sampler, 200, 3, skip, options)
    np.testing.assert_array_equal(long.unit[:200], short.unit)
    np.testing.assert_array_equal(long.values[:200], short.values)
    later = make_design(borehole, sampler, 100, 3, skip + 200, options)
    np.testing.assert_array_equal(long.values[200:], later.values)


def test_independent_draws_are_those_of_the_generator(borehole):
    """What is skipped is not drawn, and the rest is as if it were."""
    drawn = np.random.Generator(np.random.PCG64(5)).random((1100, len(borehole.parameters)))
    for skip, n in ((0, 1100), (1, 7), (1000, 100)):
        np.testing.assert_array_equal(make_design(borehole, "monte-carlo", n, 5, skip).unit, drawn[skip : skip + n])


def test_sequences_are_named_as_such():
    assert {name for name, sampler in SAMPLERS.items() if sampler.sequence} == {name for name, _ in SEQUENCES}


def test_skip_leaves_out_the_first_points(ishigami):
    for sampler, options in SEQUENCES:
        whole = make_design(ishigami, sampler, 8, 3, 0, options)
        later = make_design(ishigami, sampler, 7, 3, 1, options)
        np.testing.assert_array_equal(whole.unit[1:], later.unit)


@pytest.mark.parametrize("sampler", ["sobol", "halton", "latin-hypercube", "monte-carlo"])
def test_seeds(ishigami, sampler):
    options = {"scramble": True} if sampler in ("sobol", "halton") else {}
    first, again = (make_design(ishigami, sampler, 20, 1, 0, options) for _ in range(2))
    other = make_design(ishigami, sampler, 20, 2, 0, options)
    np.testing.assert_array_equal(first.values, again.values)
    assert not np.array_equal(first.values, other.values)


def test_halton_is_van_der_corput_in_the_first_primes(ishigami):
    unit = make_design(ishigami, "halton", 4, 0, 1).unit
    np.testing.assert_allclose(unit[:, 0], [1 / 2, 1 / 4, 3 / 4, 1 / 8], rtol=1e-15)
    np.testing.assert_allclose(unit[:, 1], [1 / 3, 2 / 3, 1 / 9, 4 / 9], rtol=1e-15)
    np.testing.assert_allclose(unit[:, 2], [1 / 5, 2 / 5, 3 / 5, 4 / 5], rtol=1e-15)


@pytest.mark.parametrize("options", [{}, {"centered": True}, {"optimize": "random-cd"}])
def test_latin_hypercube_has_one_point_a_slice(ishigami, options):
    design = make_design(ishigami, "latin-hypercube", 40, 5, 0, options)
    for column in np.floor(design.unit * 40).T:
        assert sorted(column) == list(range(40))


def test_grid(ishigami):
    design = make_design(ishigami, "grid", None, 0, 0, {"levels": {"x1": 2, "x2": 3, "x3": 1}})
    assert design.unit.tolist() == [[a, b, 0.5] for a in (0.0, 1.0) for b in (0.0, 0.5, 1.0)]
    np.testing.assert_array_equal(
        make_design(ishigami, "grid", 27, 0).unit,
        make_design(ishigami, "grid", None, 0, 0, {"levels": "3"}).unit,
    )


def test_full_factorial(borehole, ishigami):
    two = make_design(ishigami, "full-factorial", None, 0)
    assert two.unit.shape == (8, 3)
    assert set(two.unit.ravel()) == {0.05, 0.95}
    levels = "rw=5 cm:0.1 m:15,r=2,Tu=1,Hu=1,Tl=1,Hl=1,L=1,Kw=1"
    design = make_design(borehole, "full-factorial", None, 0, 0, {"levels": levels, "tail": 0.1})
    assert design.values[:, 0].tolist() == [0.05, 0.05, 0.1, 0.1, 0.15, 0.15]
    np.testing.assert_allclose(design.unit[:2, 1], [0.1, 0.9])
    listed = {"rw": ["5 cm", 10, 15], "r": 2} | dict.fromkeys(["Tu", "Hu", "Tl", "Hl", "L", "Kw"], 1)
    again = make_design(borehole, "full-factorial", None, 0, 0, {"levels": listed, "tail": 0.1})
    np.testing.assert_array_equal(design.values, again.values)


def test_mean(borehole):
    design = make_design(borehole, "mean", None, 0)
    assert design.values.tolist() == [[parameter.prior.mean() for parameter in borehole.parameters.values()]]


def test_names_of_samplers():
    assert sampler_name("Latin_Hypercube") == sampler_name("LHS") == "latin-hypercube"
    assert sampler_name(" Monte Carlo ") == "monte-carlo"
    with pytest.raises(InputError, match="did you mean `sobol`"):
        sampler_name("sobl")


@pytest.mark.parametrize(
    ("sampler", "n", "options", "said"),
    [
        ("sobol", None, {}, "needs its number of points"),
        ("sobol", 0, {}, "at least 1"),
        ("sobol", 10**9, {}, "more than"),
        ("sobol", 2**31, {}, "ends after"),
        ("sobol", 8, {"scrambel": True}, "did you mean `scramble`"),
        ("sobol", 8, {"scramble": "perhaps"}, "it takes true or false"),
        ("monte-carlo", 8, {"scramble": True}, "it takes none"),
        ("grid", None, {}, "needs levels"),
        ("grid", 28, {}, "cannot have n = 28"),
        ("grid", 9, {"levels": 3}, "27 points, not n = 9"),
        ("grid", None, {"levels": {"x1": 3}}, "lacks x2, x3"),
        ("grid", None, {"levels": {"x4": 3}}, "no parameter `x4`"),
        ("grid", None, {"levels": 0}, "no number of levels"),
        ("grid", None, {"levels": 10**6}, "more than"),
        ("grid", None, {"levels": "x1=1:2,x2=1,x3=1"}, "no number of levels"),
        ("full-factorial", None, {"levels": "x1=9:2,x2=1,x3=1"}, "outside its prior"),
        ("full-factorial", None, {"tail": 0.7}, "it takes a number of at least 0, below 0.5"),
        ("latin-hypercube", 8, {"optimize": "loyd"}, "did you mean `lloyd`"),
        ("mean", 2, {}, "one point"),
    ],
)
def test_what_cannot_be_asked_for(ishigami, sampler, n, options, said):
    with pytest.raises(InputError) as caught:
        make_design(ishigami, sampler, n, 0, 0, options)
    assert said in str(caught.value)


@pytest.mark.parametrize("sampler", ["latin-hypercube", "grid", "full-factorial", "mean"])
def test_skip_needs_a_sequence(ishigami, sampler):
    with pytest.raises(InputError, match="no sequence"):
        make_design(ishigami, sampler, None if sampler in OWN_SIZE else 8, 0, 1, OWN_SIZE.get(sampler, {}))


def test_the_origin_and_an_unbounded_prior():
    study = load_study(STUDIES / "linear-gaussian")
    with pytest.raises(InputError, match=r"quantile 0\.0 of the normal prior of `x1`") as caught:
        make_design(study, "sobol", 8, 0)
    assert "skip = 1" in caught.value.hint
    assert np.isfinite(make_design(study, "sobol", 8, 0, 1).values).all()


def test_no_parameters(tmp_path):
    (tmp_path / "study.toml").write_text('[model]\nkind="benchmark"\nfunction="ishigami"\nx1=0\nx2=0\nx3=0')
    with pytest.raises(InputError, match="nothing to design"):
        make_design(load_study(tmp_path), "mean", None, 0)


def test_run_seeds():
    # Pinned: stored campaigns depend on these numbers.
    assert run_seed(0, "ab12", 0) == 17_311_391_311_962_341_569
    assert len({run_seed(s, d, i) for s in range(4) for d in ("a", "b") for i in range(50)}) == 400
    assert all(0 <= run_seed(1, "a", i) < 2**64 for i in range(100))


@pytest.mark.parametrize("dimensions", [1, 3, 40])
def test_the_plain_sobol_sequence_is_that_of_scipy_to_the_bit(dimensions):
    from scipy.stats import qmc

    sequence = qmc.Sobol(dimensions, scramble=False).random(512)
    np.testing.assert_array_equal(plain_sobol(dimensions, 0, 512), sequence)
    np.testing.assert_array_equal(plain_sobol(dimensions, 37, 101), sequence[37:138])
    with pytest.raises(InputError, match="at most 21201 parameters"):
        plain_sobol(21202, 0, 1)


@pytest.mark.parametrize("dimensions", [1, 3, 40])
def test_the_plain_halton_sequence_is_that_of_scipy_to_the_bit(dimensions):
    from scipy.stats import qmc

    sequence = qmc.Halton(dimensions, scramble=False).random(512)
    np.testing.assert_array_equal(plain_halton(512, dimensions, 0), sequence)
    np.testing.assert_array_equal(plain_halton(101, dimensions, 37), sequence[37:138])


@pytest.mark.parametrize("dimensions", [1, 3, 40])
def test_scrambled_sobol_points_and_latin_hypercubes_are_those_of_scipy_to_the_bit(dimensions):
    from scipy.stats import qmc

    ours, theirs = np.random.default_rng(7), np.random.default_rng(7)
    for _ in range(2):  # the second sequence of a generator is another one, in both
        sequence = qmc.Sobol(dimensions, rng=theirs).random(256)
        np.testing.assert_array_equal(scrambled_sobol(dimensions, 0, 256, ours), sequence)
    np.testing.assert_array_equal(
        scrambled_sobol(dimensions, 37, 101, np.random.default_rng(5)),
        qmc.Sobol(dimensions, rng=np.random.default_rng(5)).random(256)[37:138],
    )
    for centered in (False, True):
        np.testing.assert_array_equal(
            latin_hypercube(dimensions, 50, ours, centered=centered),
            qmc.LatinHypercube(dimensions, scramble=not centered, rng=theirs).random(50),
        )
