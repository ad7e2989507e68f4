"""Formulas are read by a whitelist and follow dimensions."""

from __future__ import annotations

import numpy as np
import pytest

from percuss.errors import InputError
from percuss.study.formula import Formula

UNITS = {"drift": "mm", "gap": "m", "force": "N", "t": "s", "e": "1"}


def test_values_and_names() -> None:
    formula = Formula.read("max(abs(drift), 2 * gap) - '5 mm' + sqrt(gap ** 2) / 2")
    assert formula.names == ("drift", "gap")
    told = formula.values({"drift": np.array([-0.3, 0.1]), "gap": np.array([0.1, 0.2])})
    np.testing.assert_allclose(told, [0.3 - 0.005 + 0.05, 0.4 - 0.005 + 0.1])


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("drift", "mm"),
        ("drift - gap", "m"),
        ("force / drift", "kg/s^2"),
        ("sqrt(gap * drift)", "m"),
        ("e ** 2 + exp(drift / gap)", "1"),
        ("-gap ** -1", "1/m"),
    ],
)
def test_units_of_formulas(text: str, unit: str) -> None:
    assert Formula.read(text).unit(UNITS) == unit


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("drift +", "is no formula"),
        ("__import__('os').system('true')", "is not allowed in a formula"),
        ("drift.__class__", "is not allowed in a formula"),
        ("[drift][0]", "is not allowed in a formula"),
        ("open(drift)", "unknown function `open`"),
        ("abs(drift, gap)", "takes one number"),
        ("drift ** gap", "a power must be a plain number"),
        ("drift and gap", "is not allowed in a formula"),
        ("True", "is not allowed in a formula"),
        ("drift - 'much'", "is no quantity"),
        ("x" * 1001, "longer than"),
        ("(" * 300 + "e" + ")" * 300, "is no formula"),
    ],
)
def test_what_is_not_allowed(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Formula.read(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [("drift - t", "puts m and s together"), ("drft", "did you mean"), ("log(gap)", "puts 1 and m together")],
)
def test_dimensions_are_followed(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Formula.read(text).unit(UNITS)
