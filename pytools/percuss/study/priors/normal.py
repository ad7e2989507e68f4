"""Normal prior."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from percuss.study.priors.prior import FieldFault, Prior, Role, positive

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)


class Normal(Prior):
    """Gaussian by mean and standard deviation, on the whole line."""

    kind: ClassVar[str] = "normal"
    summary: ClassVar[str] = "Gaussian of mean and std, unbounded"
    roles: ClassVar[dict[str, Role]] = {"mean": "value", "std": "value"}
    forms: ClassVar[tuple[tuple[str, ...], ...]] = (("mean", "std"),)

    def faults(self) -> list[FieldFault]:
        return positive(self.fields, "std")

    def support(self) -> tuple[float, float]:
        return -math.inf, math.inf

    def ppf(self, u: ArrayLike) -> NDArray[Any]:
        import numpy as np
        from scipy.special import ndtri

        return np.asarray(self.fields["mean"] + self.fields["std"] * ndtri(np.asarray(u, float)))

    def cdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np
        from scipy.special import ndtr

        return np.asarray(ndtr((np.asarray(x, float) - self.fields["mean"]) / self.fields["std"]))

    def logpdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np

        z = (np.asarray(x, float) - self.fields["mean"]) / self.fields["std"]
        return np.asarray(-0.5 * z * z - LOG_SQRT_2PI - math.log(self.fields["std"]))

    def mean(self) -> float:
        return self.fields["mean"]

    def std(self) -> float:
        return self.fields["std"]
