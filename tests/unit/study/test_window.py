"""Extremes of the mean over a window that moves along a curve, and curves whose samples are means of intervals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from percuss.errors import InputError
from percuss.study.curve import Curve
from percuss.study.load import check_study
from percuss.study.output import Output

X = np.array([0.0, 1.0, 3.0])
# The first sample of a curve of means belongs to no interval: nothing may read it.
FORCE = np.array([777.0, 4.0, 1.0])


def value(reduce, **more):
    return Output("o", "y", "N", reduce, **more).evaluate({}, {"t": X, "y": FORCE}, "t", means=True)


def test_samples_that_are_means_are_read_as_steps():
    assert (value("max"), value("min"), value("final")) == (4.0, 1.0, 1.0)
    assert value("mean") == (4 * 1 + 1 * 2) / 3
    assert value("rms") == math.sqrt((16 * 1 + 1 * 2) / 3)
    assert [value("at", at=place) for place in (0.0, 0.5, 1.0, 1.5, 3.0)] == [4.0, 4.0, 4.0, 1.0, 1.0]
    assert value("mean", start=0.5, stop=2.0) == (4 * 0.5 + 1 * 1.0) / 1.5
    assert value("max", start=1.5) == 1.0


def test_the_largest_mean_over_a_window_is_the_impulse_in_it():
    assert value("max", window=2.0) == (4 * 1 + 1 * 1) / 2
    assert value("min", window=2.0) == 1.0
    assert value("max", window=3.0) == 2.0
    assert value("absmax", window=2.5, start=0.5) == pytest.approx((4 * 0.5 + 1 * 2) / 2.5)


@pytest.mark.parametrize("samples", [10, 40, 160, 640])
def test_one_blow_gives_its_impulse_over_the_window_at_any_sampling(samples):
    times = np.linspace(0, 1, samples + 1)
    force = np.zeros(samples + 1)
    force[samples // 3 + 1] = 5.0 * samples  # 5 N s within one interval
    curves = {"t": times, "y": force}
    found = Output("o", "y", "N", "max", window=0.25).evaluate({}, curves, "t", means=True)
    assert found == pytest.approx(5.0 / 0.25, rel=1e-12)
    assert Output("o", "y", "N", "max").evaluate({}, curves, "t", means=True) == 5.0 * samples


def test_the_window_over_straight_lines_finds_extremes_between_samples():
    # A tent of height 1: the largest mean over a window w lies around its top, 1 - w / 4.
    tent = Curve(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 0.0]))
    assert tent.moving_means(1.0).max() == pytest.approx(0.75, rel=1e-14)
    assert tent.moving_means(1.5).max() == pytest.approx(0.625, rel=1e-14)


@given(
    st.lists(st.tuples(st.floats(0.1, 1), st.floats(-5, 5)), min_size=2, max_size=12),
    st.floats(0.05, 1.0),
    st.booleans(),
)
def test_no_place_on_a_fine_grid_beats_the_extremes(pieces, share, means):
    steps, heights = zip(*pieces, strict=True)
    x = np.concatenate([[0.0], np.cumsum(steps)])
    curve = Curve(x, np.array([0.0, *heights]), means)
    window = share * curve.span
    found = curve.moving_means(window)
    fine = np.linspace(0.0, curve.span, 4001)
    running = np.array([curve.cut(0.0, stop).mean() * stop if stop else 0.0 for stop in fine[::40]])
    grid = fine[::40]
    inside = grid[grid <= curve.span - window]
    means_there = [(np.interp(t + window, grid, running) - np.interp(t, grid, running)) / window for t in inside]
    # The grid reads the integral between its places as straight: off by at most slope * step^2 / 8, twice.
    slack = 2 * 50 * (curve.span / 100) ** 2 / window + 1e-9
    assert max(means_there) <= found.max() + slack
    assert min(means_there) >= found.min() - slack


@pytest.mark.parametrize(("window", "said"), [(4.0, "on a curve of 3.0"), (1.0, "shorter than the sampling of 2.0")])
def test_a_window_the_curve_cannot_tell_is_refused(window, said):
    with pytest.raises(InputError, match=said):
        value("max", window=window)


STUDY = """
[model]
kind = "benchmark"
function = "impact"
speed = 2
gap = 1
[outputs.o]
quantity = "position"
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('reduce = "mean"\nwindow = "1 s"', "goes with reduce = max, min, absmax"),
        ('reduce = "max"\nwindow = 0', "0 is outside (0, inf] s"),
        ('reduce = "max"\nwindow = "1 m"', "where s"),
    ],
)
def test_a_window_that_makes_no_sense_is_a_fault(tmp_path, text, said):
    (tmp_path / "study.toml").write_text(STUDY + text)
    (fault,) = check_study(tmp_path)
    assert fault.key == "outputs.o.window"
    assert said in fault.message


def test_an_output_with_a_window_is_kept_as_it_is():
    output = Output("o", "y", "N", "max", window=0.01)
    assert Output.from_json(output.to_json()) == output
