"""Latin hypercube (McKay, Beckman and Conover, 1979): each of n slices of each parameter holds one point.

`centered` puts points in the middle of their slices; `optimize` ("random-cd" or "lloyd") spreads them
further.
"""

from __future__ import annotations

from percuss.designs.design import Points, Request
from percuss.designs.registry import count, no_skip
from percuss.settings import Setting, table_of

OPTIONS = table_of(
    Setting("centered", "boolean", doc="points in the middle of their slices"),
    Setting("optimize", "text", choices=("random-cd", "lloyd"), doc="spread points further"),
)


def points(request: Request) -> Points:
    """Return n points."""
    import numpy as np
    from scipy.stats import qmc

    no_skip(request, "latin-hypercube")
    n = count(request, "latin-hypercube")
    sampler = qmc.LatinHypercube(
        len(request.parameters),
        scramble=not request.options.get("centered", False),
        optimization=request.options.get("optimize"),
        rng=np.random.default_rng(request.seed),
    )
    return Points(np.clip(sampler.random(n), 0.0, 1.0))
