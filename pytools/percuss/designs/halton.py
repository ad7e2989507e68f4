"""Halton sequence (Halton, 1960), plain or scrambled by random digit permutations (Owen, 2017)."""

from __future__ import annotations

from percuss.designs.design import Points, Request
from percuss.designs.registry import count
from percuss.settings import Setting, table_of

OPTIONS = table_of(Setting("scramble", "boolean", doc="permute digits at random"))


def points(request: Request) -> Points:
    """Return points skip .. skip + n of the sequence."""
    import numpy as np
    from scipy.stats import qmc

    n = count(request, "halton")
    scramble = request.options.get("scramble", False)
    sequence = qmc.Halton(len(request.parameters), scramble=scramble, rng=np.random.default_rng(request.seed))
    if request.skip:
        sequence.fast_forward(request.skip)
    return Points(sequence.random(n))
