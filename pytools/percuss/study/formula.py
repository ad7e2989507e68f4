"""Formulas of a study file, as `max(drift_1, drift_2) - 0.5 * gap`: read by a whitelist, never executed.

A formula names numbers by name and knows + - * / ** (with a plain number for a power), parentheses, and the functions
of `FUNCTIONS`. A quantity with a unit stands in quotes: `gap - '2 mm'`. Dimensions are followed, so that a sum of
metres and seconds is a fault of the study and not of a result.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from percuss.errors import InputError
from percuss.spelling import did_you_mean
from percuss.units import NONE, Dimensions, parse_quantity, parse_unit, quantity_unit, spell

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONGEST = 1000
# Functions that keep the dimension of their arguments, and those that take and give plain numbers.
SAME = ("abs", "min", "max")
PLAIN = ("exp", "log", "sin", "cos", "tan", "tanh")
FUNCTIONS = (*SAME, "sqrt", *PLAIN)
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}


@dataclass(frozen=True)
class Formula:
    """A formula that can be evaluated; `names` are the numbers it needs, in the order of their first use."""

    text: str
    names: tuple[str, ...]

    @classmethod
    def read(cls, text: str) -> Formula:
        """Check the form of a formula; raise InputError with what is not allowed in it."""
        names: dict[str, None] = {}
        _check(_parsed(text), names)
        return cls(text, tuple(names))

    def values(self, numbers: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """The formula at arrays of numbers in SI."""
        import numpy as np

        with np.errstate(all="ignore"):
            return np.asarray(_value(_parsed(self.text), numbers), float)

    def unit(self, units: Mapping[str, str]) -> str:
        """The SI unit of the formula, from the units of the numbers in it; raise InputError where they do not fit."""
        tree = _parsed(self.text)
        if isinstance(tree, ast.Name) and tree.id in units:
            return units[tree.id]
        return spell(_dims(tree, units))


def _parsed(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise InputError(f"`{text[:20]}...` is longer than {LONGEST} characters: no formula")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(f"`{text}` is no formula: write sums, products and powers of names, as `a - 2 * b`") from None


def _check(node: ast.expr, names: dict[str, None]) -> None:
    if isinstance(node, ast.Name):
        names[node.id] = None
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        parse_quantity(node.value, quantity_unit(node.value, "1"))
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd | ast.USub):
        _check(node.operand, names)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        _power(node)
        _check(node.left, names)
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        _check(node.left, names)
        _check(node.right, names)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        name = node.func.id
        if name not in FUNCTIONS:
            raise InputError(f"unknown function `{name}`: {did_you_mean(name, FUNCTIONS)}")
        if not node.args or (len(node.args) > 1) != (name in ("min", "max")):
            raise InputError(f"`{name}` takes {'two or more numbers' if name in ('min', 'max') else 'one number'}")
        for item in node.args:
            _check(item, names)
    else:
        raise InputError(f"`{ast.unparse(node)[:60]}` is not allowed in a formula")


def _power(node: ast.BinOp) -> float:
    power = node.right
    sign = 1
    if isinstance(power, ast.UnaryOp) and isinstance(power.op, ast.USub):
        sign, power = -1, power.operand
    if not isinstance(power, ast.Constant) or isinstance(power.value, bool) or not isinstance(power.value, int | float):
        raise InputError(f"`{ast.unparse(node)[:60]}`: a power must be a plain number")
    return float(sign * power.value)


def _value(node: ast.expr, numbers: Mapping[str, Any]) -> Any:
    import numpy as np

    if isinstance(node, ast.Name):
        return numbers[node.id]
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            return parse_quantity(node.value, quantity_unit(node.value, "1"))
        return float(node.value)  # type: ignore[arg-type]  # checked
    if isinstance(node, ast.UnaryOp):
        inner = _value(node.operand, numbers)
        return -inner if isinstance(node.op, ast.USub) else inner
    if isinstance(node, ast.BinOp):
        left = _value(node.left, numbers)
        if isinstance(node.op, ast.Pow):
            return np.power(left, _power(node))
        return _OPERATORS[type(node.op)](left, _value(node.right, numbers))
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    arguments = [_value(item, numbers) for item in node.args]
    if node.func.id in ("min", "max"):
        return reduce(np.minimum if node.func.id == "min" else np.maximum, arguments)
    return getattr(np, node.func.id)(arguments[0])


def _dims(node: ast.expr, units: Mapping[str, str]) -> Dimensions:
    if isinstance(node, ast.Name):
        if node.id not in units:
            raise InputError(f"no output or parameter `{node.id}`: {did_you_mean(node.id, units)}")
        return parse_unit(units[node.id]).dims
    if isinstance(node, ast.Constant):
        return parse_unit(quantity_unit(node.value, "1")).dims if isinstance(node.value, str) else NONE
    if isinstance(node, ast.UnaryOp):
        return _dims(node.operand, units)
    if isinstance(node, ast.BinOp):
        left = _dims(node.left, units)
        if isinstance(node.op, ast.Pow):
            return _scaled(left, _power(node))
        right = _dims(node.right, units)
        if isinstance(node.op, ast.Mult | ast.Div):
            sign = 1 if isinstance(node.op, ast.Mult) else -1
            return _joined(left, right, sign)
        return _same([left, right], node)
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    inner = [_dims(item, units) for item in node.args]
    if node.func.id in PLAIN:
        return _same([NONE, *inner], node)
    return _scaled(inner[0], 0.5) if node.func.id == "sqrt" else _same(inner, node)


def _same(dims: list[Dimensions], node: ast.expr) -> Dimensions:
    for other in dims[1:]:
        if other != dims[0]:
            raise InputError(f"`{ast.unparse(node)[:60]}` puts {spell(dims[0])} and {spell(other)} together")
    return dims[0]


def _scaled(dims: Dimensions, power: float) -> Dimensions:
    from fractions import Fraction

    exact = Fraction(power).limit_denominator(1000)
    return tuple(exponent * exact for exponent in dims)


def _joined(left: Dimensions, right: Dimensions, sign: int) -> Dimensions:
    return tuple(a + sign * b for a, b in zip(left, right, strict=True))
