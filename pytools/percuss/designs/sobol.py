"""Sobol sequence (Sobol, 1967; directions of Joe and Kuo, 2008), plain or Owen-scrambled, of any length.

The plain sequence starts at the origin: skip = 1 leaves it out, as unbounded priors need.
"""

from __future__ import annotations

from percuss.designs.design import Points, Request
from percuss.designs.registry import count

OPTIONS = {"scramble": "boolean"}
LIMIT = 2**30


def points(request: Request) -> Points:
    """Return points skip .. skip + n of the sequence."""
    import numpy as np
    from scipy.stats import qmc

    n = count(request, "sobol", LIMIT)
    scramble = request.options.get("scramble", False)
    sequence = qmc.Sobol(len(request.parameters), scramble=scramble, rng=np.random.default_rng(request.seed))
    if request.skip:
        sequence.fast_forward(request.skip)
        return Points(sequence.random(n))
    # The first point apart: scipy warns of lost balance when a sequence starts with a number of points that
    # is no power of two, which is the caller's choice here.
    first = sequence.random(1)
    return Points(np.concatenate([first, sequence.random(n - 1)]) if n > 1 else first)
