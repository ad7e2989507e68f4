"""Units: parse text such as `7.1 cm` or `500 N/mm^1.5` and convert it to SI, dimension by dimension.

A unit is an exact rational scale and seven exponents (m, kg, s, A, K, mol, rad). Plane angle is kept as a
dimension of its own, so that `2 Hz` is never taken for 2 rad/s. `g` is the gram; standard gravity is `g0`.
Units with an offset (degC) are left out: a difference and a level cannot be told apart from the text.

Conversions are correctly rounded: a float stands for the shortest decimal that names it, so 7.1 cm is 0.071 m
to the last bit. Own code rather than pint: it is heavy to import, and the start of every command is timed.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache

from percuss.errors import InputError
from percuss.spelling import did_you_mean, shown

Dimensions = tuple[Fraction, ...]

BASES = ("m", "kg", "s", "A", "K", "mol", "rad")
NONE: Dimensions = (Fraction(0),) * 7

# Forty digits leave the one rounding, to the nearest double, to the very end.
_DIGITS = Context(prec=40)
_PI = Fraction("3.141592653589793238462643383279502884197169399375105820974944592")

_PREFIXES = {
    "f": Fraction(1, 10**15), "p": Fraction(1, 10**12), "n": Fraction(1, 10**9), "u": Fraction(1, 10**6),
    "µ": Fraction(1, 10**6), "μ": Fraction(1, 10**6), "m": Fraction(1, 1000), "c": Fraction(1, 100),
    "d": Fraction(1, 10), "h": Fraction(100), "k": Fraction(1000), "M": Fraction(10**6), "G": Fraction(10**9),
    "T": Fraction(10**12),
}  # fmt: skip


@dataclass(frozen=True)
class Unit:
    """A unit: one of it is `scale` SI units of the dimensions `dims` (exponents of BASES)."""

    name: str
    scale: Fraction
    dims: Dimensions


def _dims(**exponents: int) -> Dimensions:
    return tuple(Fraction(exponents.get(base, 0)) for base in BASES)


_LENGTH, _MASS, _TIME, _ANGLE = _dims(m=1), _dims(kg=1), _dims(s=1), _dims(rad=1)
_FORCE, _PRESSURE, _ENERGY = _dims(m=1, kg=1, s=-2), _dims(m=-1, kg=1, s=-2), _dims(m=2, kg=1, s=-2)
_ACCELERATION = _dims(m=1, s=-2)
_POUND, _INCH = Fraction("0.45359237"), Fraction("0.0254")
_GRAVITY = Fraction("9.80665")
_POUND_FORCE = _POUND * _GRAVITY

# Symbols that take a prefix.
_PREFIXED: dict[str, tuple[Fraction, Dimensions]] = {
    "m": (Fraction(1), _LENGTH),
    "g": (Fraction(1, 1000), _MASS),
    "s": (Fraction(1), _TIME),
    "A": (Fraction(1), _dims(A=1)),
    "K": (Fraction(1), _dims(K=1)),
    "mol": (Fraction(1), _dims(mol=1)),
    "rad": (Fraction(1), _ANGLE),
    "N": (Fraction(1), _FORCE),
    "Pa": (Fraction(1), _PRESSURE),
    "bar": (Fraction(10**5), _PRESSURE),
    "J": (Fraction(1), _ENERGY),
    "W": (Fraction(1), _dims(m=2, kg=1, s=-3)),
    "Hz": (Fraction(1), _dims(s=-1)),
    "V": (Fraction(1), _dims(m=2, kg=1, s=-3, A=-1)),
    "C": (Fraction(1), _dims(s=1, A=1)),
    "Gal": (Fraction(1, 100), _ACCELERATION),
}

# Symbols that stand alone.
_PLAIN: dict[str, tuple[Fraction, Dimensions]] = {
    "1": (Fraction(1), NONE),
    "-": (Fraction(1), NONE),
    "%": (Fraction(1, 100), NONE),
    "‰": (Fraction(1, 1000), NONE),
    "ppm": (Fraction(1, 10**6), NONE),
    "min": (Fraction(60), _TIME),
    "h": (Fraction(3600), _TIME),
    "d": (Fraction(86400), _TIME),
    "yr": (Fraction(31557600), _TIME),
    "t": (Fraction(1000), _MASS),
    "deg": (_PI / 180, _ANGLE),
    "°": (_PI / 180, _ANGLE),
    "rev": (2 * _PI, _ANGLE),
    "rpm": (_PI / 30, _dims(s=-1, rad=1)),
    "g0": (_GRAVITY, _ACCELERATION),
    "kgf": (_GRAVITY, _FORCE),
    "L": (Fraction(1, 1000), _dims(m=3)),
    "l": (Fraction(1, 1000), _dims(m=3)),
    "atm": (Fraction(101325), _PRESSURE),
    "in": (_INCH, _LENGTH),
    "ft": (12 * _INCH, _LENGTH),
    "mi": (63360 * _INCH, _LENGTH),
    "lb": (_POUND, _MASS),
    "lbf": (_POUND_FORCE, _FORCE),
    "kip": (1000 * _POUND_FORCE, _FORCE),
    "psi": (_POUND_FORCE / _INCH**2, _PRESSURE),
    "ksi": (1000 * _POUND_FORCE / _INCH**2, _PRESSURE),
}

_MAX_TEXT = 100  # longer text is no quantity, and bounds the work a stranger's study can ask for
_MAX_POWER = 12
_TOKEN = re.compile(
    r"\s*(?:(?P<operator>\*(?!\*)|·|⋅|\.|/)|(?P<open>\()|(?P<close>\))|(?P<symbol>g0|[A-Za-zµμ°%‰]+|1(?![\d.])|-))"
)
_POWER = re.compile(
    r"(?:\s*(?:\^|\*\*)\s*(?:(?P<plain>[+-]?\d{1,3}(?:\.\d{1,6})?)|\(\s*(?P<num>[+-]?\d{1,3}(?:\.\d{1,6})?)\s*"
    r"(?:/\s*(?P<den>\d{1,3})\s*)?\))|(?P<trailing>[+-]?[1-9]\d?)|(?P<raised>[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))"
)
_RAISED = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_QUANTITY = re.compile(r"\s*(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(?P<unit>.*?)\s*", re.DOTALL)


class _Reader:
    """Recursive descent over `unit = factor { (* | / | .) factor }`, products and quotients from the left."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def product(self) -> tuple[Fraction, Dimensions]:
        scale, dims = self.factor()
        while (token := _TOKEN.match(self.text, self.at)) and token["operator"]:
            self.at = token.end()
            other, exponents = self.factor()
            sign = -1 if token["operator"] == "/" else 1
            scale = scale / other if sign < 0 else scale * other
            dims = _sum(dims, exponents, sign)
        return scale, dims

    def factor(self) -> tuple[Fraction, Dimensions]:
        token = _TOKEN.match(self.text, self.at)
        if token and token["open"]:
            self.at = token.end()
            base = self.product()
            token = _TOKEN.match(self.text, self.at)
            if not (token and token["close"]):
                raise InputError(f"unit `{self.text}` lacks a closing parenthesis")
        elif token and token["symbol"]:
            base = _symbol(token["symbol"], self.text)
        else:
            rest = self.text[self.at :].strip()
            complaint = f"a symbol is missing before `{rest}`" if rest else "it ends where a symbol is missing"
            raise InputError(f"unit `{self.text}` cannot be read: {complaint}")
        self.at = token.end()
        power = _POWER.match(self.text, self.at)
        if power is None:
            return base
        self.at = power.end()
        return _raise(base, self.exponent(power))

    def exponent(self, power: re.Match[str]) -> Fraction:
        digits = power["plain"] or power["num"] or power["trailing"] or power["raised"].translate(_RAISED)
        if power["den"] and int(power["den"]) == 0:
            raise InputError(f"unit `{self.text}` divides by zero in an exponent")
        exponent = Fraction(digits) / int(power["den"] or 1)
        if abs(exponent) > _MAX_POWER:
            raise InputError(f"unit `{self.text}` has an exponent beyond {_MAX_POWER}")
        return exponent


def _sum(left: Dimensions, right: Dimensions, times: Fraction | int) -> Dimensions:
    return tuple(a + times * b for a, b in zip(left, right, strict=True))


def _raise(base: tuple[Fraction, Dimensions], power: Fraction) -> tuple[Fraction, Dimensions]:
    scale, dims = base
    if power.denominator == 1:
        raised = scale**power.numerator
    else:
        digits = _DIGITS.divide(Decimal(scale.numerator), Decimal(scale.denominator))
        exponent = _DIGITS.divide(Decimal(power.numerator), Decimal(power.denominator))
        raised = Fraction(_DIGITS.power(digits, exponent))
    return raised, _sum(NONE, dims, power)


def _symbol(symbol: str, text: str) -> tuple[Fraction, Dimensions]:
    if symbol in _PLAIN:
        return _PLAIN[symbol]
    if symbol in _PREFIXED:
        return _PREFIXED[symbol]
    scale, base = _PREFIXES.get(symbol[0]), _PREFIXED.get(symbol[1:])
    if scale is not None and base is not None:
        return scale * base[0], base[1]
    if symbol in ("degC", "degF", "°C", "°F"):
        raise InputError(f"unit `{symbol}` has an offset and is not taken", hint="give temperatures in K")
    known = [*_PREFIXED, *_PLAIN, *(p + s for p in "kMGmucn" for s in _PREFIXED)]
    where = "" if symbol == text else f" in `{text}`"
    raise InputError(f"unknown unit `{symbol}`{where}: {did_you_mean(symbol, known)}")


@lru_cache(maxsize=1024)
def parse_unit(text: str) -> Unit:
    """Read a unit: symbols joined by `*`, `.` or `/`, powers as `^1.5`, `^(3/2)`, `2` or `²`, parentheses.

    >>> parse_unit("kN/m").scale
    Fraction(1000, 1)
    >>> parse_unit("N/mm^1.5").dims == parse_unit("Pa*m^(1/2)").dims
    True
    """
    name = text.strip()
    if len(name) > _MAX_TEXT:
        raise InputError(f"unit `{name[:20]}...` is longer than {_MAX_TEXT} characters")
    if not name:
        return Unit("1", Fraction(1), NONE)
    reader = _Reader(name)
    scale, dims = reader.product()
    rest = name[reader.at :].strip()
    if rest:
        hint = "join symbols by `*`, as in `N*m`" if rest[0].isalpha() else None
        raise InputError(f"unit `{name}` cannot be read from `{rest}` on", hint=hint)
    return Unit(name, scale, dims)


def same_dimension(unit: str, other: str) -> bool:
    """Tell whether two units measure the same thing."""
    return parse_unit(unit).dims == parse_unit(other).dims


def _with_dimension(unit: str) -> str:
    spelt = dimension(unit)
    return unit if spelt == unit else f"{unit} ({spelt})"


def dimension(unit: str) -> str:
    """Spell the dimension of a unit in SI base units, as `kg/s^2` for `N/m`."""
    return spell(parse_unit(unit).dims)


def spell(dims: Dimensions) -> str:
    """The SI unit of a dimension, in base units.

    >>> spell(parse_unit("kN/m").dims)
    'kg/s^2'
    """
    up: list[str] = []
    down: list[str] = []
    for base, exponent in zip(BASES, dims, strict=True):
        if exponent:
            power = abs(exponent)
            shown = str(power) if power.denominator == 1 else f"{float(power):g}"
            (up if exponent > 0 else down).append(base if power == 1 else f"{base}^{shown}")
    return "/".join(["*".join(up) or "1", *down])


def _scaled(value: float, factor: Fraction) -> float:
    if not math.isfinite(value) or value == 0:
        return float(value)
    try:
        return float(Fraction(repr(float(value))) * factor)
    except OverflowError:
        raise InputError(f"{value!r} is too large to be converted") from None


def to_si(value: float, unit: str) -> float:
    """Convert a number of `unit` to SI, correctly rounded.

    >>> to_si(7.1, "cm"), to_si(2000, "N/mm"), to_si(0.25, "ms")
    (0.071, 2000000.0, 0.00025)
    """
    return _scaled(value, parse_unit(unit).scale)


def from_si(value: float, unit: str) -> float:
    """Convert an SI number to `unit`, correctly rounded.

    >>> from_si(0.071, "cm")
    7.1
    """
    return _scaled(value, 1 / parse_unit(unit).scale)


def quantity_unit(text: str, unit: str) -> str:
    """The unit a quantity is written in; `unit` for a bare number or for what is no quantity.

    >>> quantity_unit("500 N/mm^1.5", "N/m"), quantity_unit("500", "N/m")
    ('N/mm^1.5', 'N/m')
    """
    match = _QUANTITY.fullmatch(text) if len(text) <= _MAX_TEXT else None
    return match["unit"] if match and match["unit"] else unit


def parse_quantity(value: str | int | float, unit: str) -> float:
    """Read a finite quantity and return it in SI. A bare number is in `unit`; text may bring its own unit.

    >>> parse_quantity("7.1 cm", "m"), parse_quantity(7.1, "cm"), parse_quantity("5 %", "1")
    (0.071, 0.071, 0.05)

    Raises InputError for text that is no quantity, a unit of another dimension, NaN and infinities.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError(
            f"{shown(value)} is no number{'' if unit == '1' else f' in {unit} nor a text such as `2 {unit}`'}"
        )
    if not isinstance(value, str):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise InputError(f"{str(value)[:40]} is not a finite number")
        return to_si(number, unit)
    if len(value) > _MAX_TEXT:
        raise InputError(f"`{value[:20]}...` is longer than {_MAX_TEXT} characters: no quantity")
    match = _QUANTITY.fullmatch(value)
    if match is None:
        way = "a number, as in `0.5`" if unit == "1" else f"a number and a unit, as in `2 {unit}`"
        raise InputError(f"`{value}` is no quantity: write {way}")
    number = float(match["number"])
    if not math.isfinite(number):
        raise InputError(f"`{value}` is not a finite number")
    # A float that is finite and not zero has a small decimal exponent: its exact fraction is cheap.
    exact = Fraction(match["number"]) if number else Fraction(0)
    own = parse_unit(match["unit"]) if match["unit"] else parse_unit(unit)
    if own.dims != parse_unit(unit).dims:
        needed = "a number without a unit" if unit == "1" else _with_dimension(unit)
        raise InputError(f"`{value}` is in {_with_dimension(own.name)} where {needed} is wanted")
    try:
        return float(exact * own.scale)
    except OverflowError:
        raise InputError(f"`{value}` is too large") from None


def si_quantity(value: str | int | float, unit: str | None) -> str | int | float:
    """A quantity in SI, in a form that is read as the same quantity whatever unit bare numbers are in.

    Without a unit (bare numbers have several) a bare number comes back as it is.

    >>> si_quantity("0.3 mm", "cm"), si_quantity(0.3, "mm"), si_quantity("30 %", "1"), si_quantity("0.3 mm", None)
    ('0.0003 m', '0.0003 m', 0.3, '0.0003 m')
    """
    if unit is None:
        unit = quantity_unit(value, "") if isinstance(value, str) else ""
        if not unit:
            return value
    number = parse_quantity(value, unit)
    return number if unit == "1" else f"{number!r} {dimension(unit)}"
