"""Full factorial: every combination of levels; two levels by default.

`levels` is a number for all parameters, `name=number` for each, or explicit values `name=[...]` (text with
units, bare numbers in the parameter's unit). Numbers of levels are quantiles evenly from `tail` to 1 -
`tail`, so that unbounded priors have finite levels: two levels are the 5 % and 95 % quantiles unless `tail`
says otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from percuss.designs.design import Points, Request
from percuss.designs.grid import product
from percuss.designs.registry import LEVELS_OR_VALUES, check_size, level_counts, no_skip
from percuss.errors import InputError
from percuss.settings import Setting, table_of
from percuss.study.study import Parameter
from percuss.units import parse_quantity

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEFAULT_TAIL = 0.05
OPTIONS = table_of(
    LEVELS_OR_VALUES,
    Setting("tail", "bare", DEFAULT_TAIL, low=0, high=0.5, high_open=True, doc="quantile of the lowest level"),
)


def points(request: Request) -> Points:
    """Return the product of the levels."""
    import numpy as np

    no_skip(request, "full-factorial")
    counts = level_counts(request, "full-factorial", default=2)
    check_size(counts, len(request.parameters))
    tail = request.options.get("tail", DEFAULT_TAIL)
    option = request.options.get("levels")
    unit, values = [], []
    for parameter, k in zip(request.parameters, counts, strict=True):
        explicit = option.get(parameter.name) if isinstance(option, dict) else None
        if isinstance(explicit, list):
            levels = _explicit(parameter, explicit)
            unit.append(np.asarray(parameter.prior.cdf(levels)))
        else:
            unit.append(np.linspace(tail, 1.0 - tail, k) if k > 1 else np.array([0.5]))
            levels = parameter.prior.ppf(unit[-1])
        values.append(levels)
    return Points(product(unit), product(values))


def _explicit(parameter: Parameter, levels: list[Any]) -> NDArray[Any]:
    import numpy as np

    low, high = parameter.prior.support()
    values = [parse_quantity(level, parameter.unit) for level in levels]
    for level, value in zip(levels, values, strict=True):
        if not low <= value <= high:
            raise InputError(f"level {level} of `{parameter.name}` is outside its prior, [{low:g}, {high:g}] in SI")
    return np.array(values)
