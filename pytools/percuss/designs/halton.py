"""Halton sequence (Halton, 1960), plain or scrambled by random digit permutations (Owen, 2017)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from percuss.designs.design import Points, Request
from percuss.designs.registry import count
from percuss.settings import Setting, table_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

OPTIONS = table_of(Setting("scramble", "boolean", doc="permute digits at random"))


def points(request: Request) -> Points:
    """Return points skip .. skip + n of the sequence."""
    import numpy as np

    n, dimensions = count(request, "halton"), len(request.parameters)
    if not request.options.get("scramble", False):
        return Points(plain(n, dimensions, request.skip))
    from scipy.stats import qmc

    sequence = qmc.Halton(dimensions, scramble=True, rng=np.random.default_rng(request.seed))
    if request.skip:
        sequence.fast_forward(request.skip)
    return Points(sequence.random(n))


def plain(n: int, dimensions: int, skip: int) -> NDArray[Any]:
    """Points (n, dimensions) without scrambling, bit for bit those of scipy, whose scipy.stats takes long to load."""
    import numpy as np

    sequence = np.zeros((n, dimensions))
    for j, base in enumerate(_primes(dimensions)):
        left, place = np.arange(skip, skip + n), 1.0 / base
        while 1.0 - place < 1.0:
            left, digits = np.divmod(left, base)
            sequence[:, j] += digits * place
            place /= base
    return sequence


def _primes(count: int) -> list[int]:
    primes: list[int] = []
    number = 2
    while len(primes) < count:
        if all(number % prime for prime in primes if prime * prime <= number):
            primes.append(number)
        number += 1
    return primes
