"""Sobol sequence (Sobol, 1967; directions of Joe and Kuo, 2008), plain or Owen-scrambled, of any length.

The plain sequence starts at the origin: skip = 1 leaves it out, as unbounded priors need. Both are worked out here, bit
for bit as scipy does, from the table of directions that comes with scipy: loading scipy.stats takes longer than all
else that a design costs, and half as long as fitting surrogates.
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
    import numpy as np

    n = count(request, "sobol", LIMIT)
    dimensions = len(request.parameters)
    if request.options.get("scramble", False):
        return Points(scrambled_sobol(dimensions, request.skip, n, np.random.default_rng(request.seed)))
    return Points(plain_sobol(dimensions, request.skip, n))


def plain_sobol(dimensions: int, skip: int, n: int) -> NDArray[np.float64]:
    """Points skip .. skip + n of the plain sequence."""
    import numpy as np

    return _sequence(_directions(dimensions), np.zeros(dimensions, dtype=np.uint64), skip, n)


def scrambled_sobol(dimensions: int, skip: int, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Points skip .. skip + n of a sequence whose digits are mixed by a random lower matrix and shifted (Matousek,
    1998). The matrix is drawn from a child of `rng`, as scipy does: the next call with it makes another sequence.
    """
    import numpy as np

    own = rng.spawn(1)[0]
    shift = own.integers(2, size=(dimensions, BITS), dtype=np.uint32).astype(np.uint64)
    lower = np.tril(own.integers(2, size=(dimensions, BITS, BITS), dtype=np.uint32)).astype(np.uint64)
    diagonal = np.arange(BITS)
    lower[:, diagonal, diagonal] = 1
    # Of each direction number the digits, the highest first.
    places = np.arange(BITS - 1, -1, -1, dtype=np.uint64)
    digits = (_directions(dimensions)[:, :, None] >> places) & np.uint64(1)
    mixed = (digits @ np.swapaxes(lower, 1, 2)) & np.uint64(1)
    directions = (mixed << places).sum(axis=2, dtype=np.uint64)
    return _sequence(directions, (shift << places[::-1]).sum(axis=1, dtype=np.uint64), skip, n)


def _sequence(directions: NDArray[np.uint64], shift: NDArray[np.uint64], skip: int, n: int) -> NDArray[np.float64]:
    """Points in the order of Gray codes (Antonov and Saleev, 1979)."""
    import numpy as np

    index = np.arange(skip, skip + n, dtype=np.uint64)
    code = index ^ (index >> np.uint64(1))
    sequence = np.empty((n, len(directions)))
    for j in range(len(directions)):
        whole = np.full(n, shift[j], dtype=np.uint64)
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
