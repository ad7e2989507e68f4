"""Units: conversions keep the value, and no text does anything but convert or be refused."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from percuss.errors import InputError
from percuss.units import from_si, parse_quantity, parse_unit, to_si

SYMBOLS = "m cm mm µm km in ft kg g t ms min yr N/mm N/mm^1.5 kN*m MPa deg rpm g0 % kip/ft^2 1/s mm^2/s^3 Gal ksi"
UNITS = st.sampled_from(SYMBOLS.split())
NUMBERS = st.floats(min_value=1e-150, max_value=1e150).flatmap(lambda x: st.sampled_from([x, -x]))


@settings(deadline=None)
@given(NUMBERS, UNITS)
def test_round_trip(value, unit):
    # Each way takes the shortest decimal for the number and rounds once: at most one last place.
    assert math.isclose(from_si(to_si(value, unit), unit), value, rel_tol=2**-51)


@settings(deadline=None)
@given(NUMBERS, UNITS)
def test_text_and_number_agree(value, unit):
    assert parse_quantity(f"{value!r} {unit}", unit) == to_si(value, unit) == parse_quantity(value, unit)


@settings(deadline=None)
@given(
    st.integers(-(10**6), 10**6),
    st.integers(0, 6),
    st.sampled_from([("m", 0), ("cm", 2), ("mm", 3), ("µm", 6)]),
)
def test_decimal_shifts_are_exact(digits, places, prefixed):
    unit, shift = prefixed
    assert parse_quantity(f"{digits}e-{places} {unit}", "m") == float(f"{digits}e-{places + shift}")


@settings(deadline=None)
@given(UNITS, UNITS)
def test_products_multiply_scales_and_add_dimensions(a, b):
    product, quotient = parse_unit(f"({a})*({b})"), parse_unit(f"({a})/({b})")
    left, right = parse_unit(a), parse_unit(b)
    assert product.scale == left.scale * right.scale
    assert quotient.scale == left.scale / right.scale
    assert product.dims == tuple(x + y for x, y in zip(left.dims, right.dims, strict=True))


@settings(deadline=None)
@given(st.text(alphabet="mkgNs1250.eE+-*/^()% µ²·", max_size=30))
def test_any_text_is_a_finite_number_or_refused(text):
    try:
        assert math.isfinite(parse_quantity(text, "m"))
    except InputError as fault:
        assert str(fault)
