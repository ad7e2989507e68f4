"""Reductions of curves, in closed form."""

import math

import numpy as np
import pytest

from percuss.errors import InputError
from percuss.study.output import Output

X = np.array([0.0, 1.0, 3.0])
CURVES = {"t_s": X, "y": np.array([1.0, -3.0, 2.0])}


def value(reduce, **places):
    return Output("o", "y", "1", reduce, **places).evaluate({}, CURVES, "t_s")


def test_extremes_and_end():
    assert (value("max"), value("min"), value("absmax"), value("final")) == (2.0, -3.0, 3.0, 2.0)


def test_at_interpolates():
    assert value("at", at=2.0) == -0.5
    assert value("at", at=3.0) == 2.0


def test_mean_and_rms_are_integrals_of_the_straight_lines():
    assert value("mean") == pytest.approx((-1.0 + -1.0) / 3)
    # Integral of the square of a line from a to b over a step h is h (a^2 + a b + b^2) / 3.
    assert value("rms") == pytest.approx(math.sqrt(((1 - 3 + 9) / 3 + 2 * (9 - 6 + 4) / 3) / 3))


def test_window_is_cut_at_its_exact_ends():
    assert value("max", start=0.5, stop=2.0) == -0.5
    assert value("final", start=0.5, stop=2.0) == -0.5
    assert value("mean", start=1.0, stop=2.0) == pytest.approx(-1.75)
    assert value("min", stop=0.5) == -1.0


def test_sampling_does_not_move_the_mean():
    fine = np.unique(np.concatenate([np.linspace(0, 3, 100) ** 2 / 3, X]))
    curves = {"t_s": fine, "y": np.interp(fine, X, CURVES["y"])}
    assert Output("o", "y", "1", "mean").evaluate({}, curves, "t_s") == pytest.approx(value("mean"), rel=1e-12)


@pytest.mark.parametrize(
    ("output", "curves", "said"),
    [
        (Output("o", "y", "1", "at", at=4.0), CURVES, "covers 0.0 to 3.0"),
        (Output("o", "y", "1", "max", start=2.0, stop=9.0), CURVES, "covers"),
        (Output("o", "y", "1", "max"), None, "gave no curve"),
        (Output("o", "z", "1", "max"), CURVES, "gave no curve"),
        (Output("o", "y", "1", "max"), {"t_s": X, "y": X * math.nan}, "not finite"),
        (Output("o", "y", "1", "max"), {"t_s": X, "y": X[:2]}, "axis of 3"),
        (Output("o", "s", "1"), CURVES, "gave no `s`"),
    ],
)
def test_what_a_run_did_not_give_is_said(output, curves, said):
    with pytest.raises(InputError, match=said):
        output.evaluate({}, curves, "t_s")
