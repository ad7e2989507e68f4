"""Wishart tensor: positive definite, with a given mean and dispersion and no upper bound.

The law of largest entropy for given expectations of Z and log det Z (Soize, 2000): Z = L G L', L L' = mean, with
G = T T' / a, a = 2 / dispersion^2, T lower triangular, T_ii^2 ~ gamma(a - (i - 1)/2), T_ij ~ normal of variance 1/2.
dispersion^2 = E[|G - I|^2] / |I|^2. A map of the unit cube, so that designs that fill it evenly fill the tensors too.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from percuss.errors import InputError
from percuss.study.priors.tensor import TensorLaw

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Wishart(TensorLaw):
    """Largest entropy above zero for a given mean and dispersion."""

    kind: ClassVar[str] = "wishart"
    summary: ClassVar[str] = "tensor of largest entropy above zero for the given mean and dispersion"
    needed: ClassVar[tuple[str, ...]] = ("mean", "dispersion")

    def check(self) -> None:
        dispersion = self.plain["dispersion"]
        if not 0 < dispersion < math.sqrt(0.5):
            raise InputError(
                f"dispersion {dispersion!r} must lie in (0, 1/sqrt 2): beyond it E[|Z^-1|^2] is infinite, and with it "
                "the variance of the response"
            )
        import numpy as np

        if not np.linalg.eigvalsh(self._matrix())[0] > 0:
            raise InputError("mean must be positive definite")

    def _matrix(self) -> NDArray[Any]:
        import numpy as np

        xx, yy, zz, xy, xz, yz = self.tensors["mean"]
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    def draw(self, seed: int, unit: NDArray[Any]) -> NDArray[Any]:
        import numpy as np
        from scipy.special import gammaincinv, ndtri

        a = 2.0 / self.plain["dispersion"] ** 2
        u = np.clip(np.asarray(unit, float), 2.0**-53, 1.0 - 2.0**-53)
        factor = np.zeros((len(u), 3, 3))
        for i in range(3):
            factor[:, i, i] = np.sqrt(gammaincinv(a - 0.5 * i, u[:, i]))
        for k, (i, j) in enumerate(((1, 0), (2, 0), (2, 1))):
            factor[:, i, j] = math.sqrt(0.5) * ndtri(u[:, 3 + k])
        whole = np.linalg.cholesky(self._matrix()) @ factor / math.sqrt(a)
        z = whole @ whole.transpose(0, 2, 1)
        return np.stack([z[:, i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))], axis=1)
