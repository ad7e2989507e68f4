"""One point at the means of the priors."""

from __future__ import annotations

from percuss.designs.design import Points, Request
from percuss.designs.registry import no_skip
from percuss.errors import InputError
from percuss.settings import Setting

OPTIONS: dict[str, Setting] = {}


def points(request: Request) -> Points:
    """Return the mean point."""
    import numpy as np

    no_skip(request, "mean")
    if request.n not in (None, 1):
        raise InputError(f"a mean design has one point, not n = {request.n}")
    values = np.array([[parameter.prior.mean() for parameter in request.parameters]])
    unit = [[float(p.prior.cdf(value)) for p, value in zip(request.parameters, values[0], strict=True)]]
    return Points(np.array(unit), values)
