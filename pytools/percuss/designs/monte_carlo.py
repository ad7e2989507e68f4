"""Monte Carlo: independent draws (PCG64), row by row: a shorter design is the start of a longer one."""

from __future__ import annotations

from percuss.designs.design import Points, Request
from percuss.designs.registry import count
from percuss.settings import Setting

OPTIONS: dict[str, Setting] = {}


def points(request: Request) -> Points:
    """Return draws skip .. skip + n."""
    import numpy as np

    n = count(request, "monte-carlo")
    drawn = np.random.Generator(np.random.PCG64(request.seed)).random((request.skip + n, len(request.parameters)))
    return Points(drawn[request.skip :])
