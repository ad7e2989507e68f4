"""Units: exact conversion, dimensions, and what bad text gets."""

import math
import subprocess
import sys
from fractions import Fraction

import pytest

from percuss.errors import InputError
from percuss.units import dimension, from_si, parse_quantity, parse_unit, same_dimension, to_si


@pytest.mark.parametrize(
    ("text", "unit", "si"),
    [
        ("7.1 cm", "m", 0.071),
        ("2000 N/mm", "N/m", 2e6),
        ("0.25 ms", "s", 0.00025),
        ("20 deg", "rad", math.radians(20)),
        ("3 g", "kg", 0.003),
        ("3 g0", "m/s^2", 29.41995),
        ("5 %", "1", 0.05),
        ("1e-3", "m", 0.001),
        ("7.1", "cm", 0.071),
        ("-.5e1 kN", "N", -5000.0),
        ("9.81 kg*m/s^2", "N", 9.81),
        ("30 MPa", "Pa", 3e7),
        ("1.2 kJ", "N*m", 1200.0),
        ("2 N.s/m", "kg/s", 2.0),
        ("2 N·s/m", "kg/s", 2.0),
        ("60 rpm", "rad/s", 2 * math.pi),
        ("1 rev", "rad", 2 * math.pi),
        ("3 m2", "m^2", 3.0),
        ("3 m/s²", "m/s^2", 3.0),
        ("3 m/s**2", "m/s^2", 3.0),
        ("3 m s-1".replace(" s", "*s"), "m/s", 3.0),
        ("4 kN/(m*s)", "N/m/s", 4000.0),
        ("1 mm^(3/2)", "m^1.5", 10**-4.5),
        ("2.5 Gal", "m/s^2", 0.025),
        ("1 psi", "Pa", float("6894.757293168361336722673445")),
        ("1 ft", "m", 0.3048),
        ("12 µm", "m", 1.2e-05),
        ("3 min", "s", 180.0),
        ("1 d", "s", 86400.0),
        ("2 1/s", "Hz", 2.0),
        ("0 m", "m", 0.0),
    ],
)
def test_quantities_in_si_to_the_last_bit(text, unit, si):
    assert parse_quantity(text, unit) == si


def test_fractional_powers():
    # 500 N/mm^1.5 is 500 x 1000^1.5 N/m^1.5; the exact value is 500 sqrt(10^9).
    assert parse_quantity("500 N/mm^1.5", "N/m^1.5") == pytest.approx(500 * math.sqrt(1e9), rel=2e-16)
    assert parse_unit("N/mm^1.5").dims[0] == Fraction(-1, 2)
    assert dimension("N/mm^1.5") == "kg/m^0.5/s^2"


def test_numbers_stand_for_their_shortest_decimal():
    assert to_si(7.1, "cm") == 0.071
    assert from_si(0.071, "cm") == 7.1
    assert to_si(0.3, "mm") == 0.0003
    assert to_si(math.inf, "mm") == math.inf


def test_angle_is_a_dimension():
    assert not same_dimension("Hz", "rad/s")
    assert same_dimension("N/m", "kg/s^2")


@pytest.mark.parametrize(
    ("text", "unit", "said"),
    [
        ("3 kg", "m", "`3 kg` is in kg where m is wanted"),
        ("3 Hz", "rad/s", "rad/s"),
        ("3 mmm", "m", "unknown unit `mmm`: did you mean `mm`"),
        ("3 newton", "N", "unknown unit"),
        ("3 N m", "N*m", "cannot be read from `m` on"),
        ("3 N/", "N", "symbol is missing"),
        ("3 (N", "N", "closing parenthesis"),
        ("3 m^40", "m", "exponent beyond"),
        ("3 m^(1/0)", "m", "divides by zero"),
        ("20 degC", "K", "offset"),
        ("abc", "m", "no quantity"),
        ("", "m", "no quantity"),
        ("nan", "m", "no quantity"),
        ("1e999 m", "m", "not a finite number"),
        ("1e300 km^9", "m^9", "too large"),
        ("1" * 200, "m", "longer than"),
        (math.nan, "m", "not a finite number"),
        (math.inf, "m", "not a finite number"),
        (10**400, "m", "not a finite number"),
        (True, "m", "no number"),
        ([1], "m", "no number"),
    ],
)
def test_bad_quantities_are_refused_with_a_sentence(text, unit, said):
    with pytest.raises(InputError) as caught:
        parse_quantity(text, unit)
    assert said in str(caught.value)


def test_tiny_numbers_cost_nothing():
    assert parse_quantity("1e-999999999 m", "m") == 0.0


def test_reading_studies_imports_nothing_heavy():
    code = (
        "import sys, percuss.units, percuss.study.load, percuss.designs.registry, percuss.models.benchmark\n"
        "print([m for m in ('numpy', 'scipy', 'polars') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
