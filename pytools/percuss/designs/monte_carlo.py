"""Monte Carlo: independent draws (PCG64), row by row: a shorter design is the start of a longer one."""

from __future__ import annotations

from percuss.designs.design import Points, Request
from percuss.designs.registry import count
from percuss.settings import Setting

OPTIONS: dict[str, Setting] = {}


def points(request: Request) -> Points:
    """Return draws skip .. skip + n."""
    import numpy as np

    n, dimensions = count(request, "monte-carlo"), len(request.parameters)
    # A double takes one step of the generator, so that what is left out need not be drawn.
    generator = np.random.PCG64(request.seed).advance(request.skip * dimensions)
    return Points(np.random.Generator(generator).random((n, dimensions)))
