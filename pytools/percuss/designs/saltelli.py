"""Saltelli's design for Sobol indices of the model itself (Saltelli et al., 2010): n (d + 2) points for n asked.

A, then B, then for each parameter A with that column from B. A and B are halves of one scrambled Sobol sequence of
twice the dimension. `percuss sensitivity` on its campaign knows what to do with it.
"""

from __future__ import annotations

from percuss.designs.design import Points, Request
from percuss.designs.options import check_size, count, no_skip

OPTIONS: dict[str, str] = {}


def points(request: Request) -> Points:
    """Return the blocks one after the other."""
    import numpy as np
    from scipy.stats import qmc

    no_skip(request, "saltelli")
    n, d = count(request, "saltelli"), len(request.parameters)
    check_size([n, d + 2], d)
    sequence = qmc.Sobol(2 * d, scramble=True, rng=np.random.default_rng(request.seed))
    # The whole power of two that holds n points: scipy warns of lost balance otherwise, which is the caller's choice.
    drawn = np.clip(sequence.random_base2(max(n - 1, 1).bit_length())[:n], 2.0**-53, 1.0 - 2.0**-53)
    a, b = drawn[:, :d], drawn[:, d:]
    blocks = [a, b]
    for k in range(d):
        block = a.copy()
        block[:, k] = b[:, k]
        blocks.append(block)
    return Points(np.concatenate(blocks))
