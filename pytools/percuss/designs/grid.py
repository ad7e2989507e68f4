"""Regular grid: `levels` quantiles of each parameter, evenly from 0 to 1; the last parameter runs fastest.

`levels` is one number for all parameters or `name=number` for each; without it n must be a perfect power.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from percuss.designs.design import Points, Request
from percuss.designs.registry import LEVELS, check_size, level_counts, no_skip
from percuss.settings import table_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

OPTIONS = table_of(LEVELS)


def points(request: Request) -> Points:
    """Return the product of the levels."""
    import numpy as np

    no_skip(request, "grid")
    counts = level_counts(request, "grid")
    check_size(counts, len(request.parameters))
    return Points(product([np.linspace(0.0, 1.0, k) if k > 1 else np.array([0.5]) for k in counts]))


def product(levels: list[NDArray[Any]]) -> NDArray[Any]:
    """Return every combination of the levels, one a row, the last column running fastest."""
    import numpy as np

    return np.stack([axis.ravel() for axis in np.meshgrid(*levels, indexing="ij")], axis=1)
