"""Sobol sequence (Sobol, 1967; directions of Joe and Kuo, 2008), plain or Owen-scrambled, of any length.

The plain sequence starts at the origin: skip = 1 leaves it out, as unbounded priors need. It is worked out here, bit
for bit as scipy does, from the table of directions that comes with scipy: loading scipy.stats takes longer than all
else that a design costs.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from percuss.designs.design import Points, Request
from percuss.designs.registry import count
from percuss.errors import InputError
from percuss.settings import Setting, table_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OPTIONS = table_of(Setting("scramble", "boolean", doc="permute digits at random"))
BITS = 30
LIMIT = 2**BITS


def points(request: Request) -> Points:
    """Return points skip .. skip + n of the sequence."""
    n = count(request, "sobol", LIMIT)
    dimensions = len(request.parameters)
    if request.options.get("scramble", False):
        return Points(_scrambled(dimensions, request.skip, n, request.seed))
    return Points(plain_sobol(dimensions, request.skip, n))


def plain_sobol(dimensions: int, skip: int, n: int) -> NDArray[np.float64]:
    """Points skip .. skip + n of the plain sequence, in the order of Gray codes (Antonov and Saleev, 1979)."""
    import numpy as np

    directions = _directions(dimensions)
    index = np.arange(skip, skip + n, dtype=np.uint64)
    code = index ^ (index >> np.uint64(1))
    sequence = np.empty((n, dimensions))
    for j in range(dimensions):
        whole = np.zeros(n, dtype=np.uint64)
        for bit in range((skip + n).bit_length()):
            whole ^= ((code >> np.uint64(bit)) & np.uint64(1)) * directions[j, bit]
        sequence[:, j] = whole * 2.0**-BITS
    return sequence


def _directions(dimensions: int) -> NDArray[np.uint64]:
    """Direction numbers of each dimension, (dimensions, BITS): Joe and Kuo (2008), Eqs. 2 and 3."""
    import numpy as np

    spec = importlib.util.find_spec("scipy")
    assert spec and spec.origin
    with np.load(Path(spec.origin).parent / "stats" / "_sobol_direction_numbers.npz") as table:
        polynomials, initial = table["poly"][:dimensions].tolist(), table["vinit"][:dimensions].tolist()
    if len(polynomials) < dimensions:
        raise InputError(f"a sobol design has at most {len(polynomials)} parameters, not {dimensions}")
    rows = [[1] * BITS]
    for polynomial, first in zip(polynomials[1:], initial[1:], strict=True):
        degree = int(polynomial).bit_length() - 1
        row = first[:degree]
        for i in range(degree, BITS):
            number = row[i - degree]
            for k in range(1, degree + 1):
                if polynomial >> (degree - k) & 1:
                    number ^= row[i - k] << k
            row.append(number)
        rows.append(row)
    return np.array(rows, dtype=np.uint64) << np.arange(BITS - 1, -1, -1, dtype=np.uint64)


def _scrambled(dimensions: int, skip: int, n: int, seed: int) -> NDArray[np.float64]:
    import numpy as np
    from scipy.stats import qmc

    sequence = qmc.Sobol(dimensions, scramble=True, rng=np.random.default_rng(seed))
    if skip:
        sequence.fast_forward(skip)
        return np.asarray(sequence.random(n), float)
    # The first point apart: scipy warns of lost balance when a sequence starts with a number of points that
    # is no power of two, which is the caller's choice here.
    first = sequence.random(1)
    return np.concatenate([first, sequence.random(n - 1)]) if n > 1 else first
