"""Latin hypercube (McKay, Beckman and Conover, 1979): each of n slices of each parameter holds one point.

`centered` puts points in the middle of their slices; `optimize` ("random-cd" or "lloyd") spreads them
further.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from percuss.designs.design import Points, Request
from percuss.designs.registry import count, no_skip
from percuss.settings import Setting, table_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OPTIONS = table_of(
    Setting("centered", "boolean", doc="points in the middle of their slices"),
    Setting("optimize", "text", choices=("random-cd", "lloyd"), doc="improve the spread of the points"),
)


def points(request: Request) -> Points:
    """Return n points."""
    import numpy as np

    no_skip(request, "latin-hypercube")
    n, d = count(request, "latin-hypercube"), len(request.parameters)
    rng, centered = np.random.default_rng(request.seed), bool(request.options.get("centered", False))
    if not (optimize := request.options.get("optimize")):
        return Points(latin_hypercube(d, n, rng, centered=centered))
    from scipy.stats import qmc

    sampler = qmc.LatinHypercube(d, scramble=not centered, optimization=optimize, rng=rng)
    return Points(np.clip(sampler.random(n), 0.0, 1.0))


def latin_hypercube(
    dimensions: int, n: int, rng: np.random.Generator, *, centered: bool = False
) -> NDArray[np.float64]:
    """Points (n, dimensions) of the unit cube, bit for bit those of scipy, whose scipy.stats takes long to load."""
    import numpy as np

    own = rng.spawn(1)[0]
    inside = 0.5 if centered else own.uniform(size=(n, dimensions))
    slices = np.tile(np.arange(1, n + 1), (dimensions, 1))
    for row in slices:
        own.shuffle(row)
    return np.asarray((slices.T - inside) / n)
