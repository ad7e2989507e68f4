"""A curve between its samples: straight lines, or steps where each sample is the mean since the one before.

What is read off it is exact for that reading: integrals over the axis, places between samples, and the means over a
window that moves along the curve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Curve:
    """Values over rising places. With `means` a value belongs to the interval that ends at its place, and the first,
    which has none before it, to nothing.
    """

    x: NDArray[Any]
    y: NDArray[Any]
    means: bool = False

    @property
    def values(self) -> NDArray[Any]:
        """The values among which the largest and smallest are."""
        return self.y[1:] if self.means and self.y.size > 1 else self.y

    @property
    def span(self) -> float:
        """Length of the axis."""
        return float(self.x[-1] - self.x[0])

    def at(self, places: Any) -> NDArray[Any]:
        """Values at places within the curve."""
        import numpy as np

        if self.means:
            return np.asarray(self.y[np.maximum(np.searchsorted(self.x, places), min(1, self.y.size - 1))])
        return np.asarray(np.interp(places, self.x, self.y))

    def cut(self, start: float, stop: float) -> Curve:
        """The part between two places within the curve."""
        import numpy as np

        inside = self.x[(self.x > start) & (self.x < stop)]
        places = np.concatenate([[start], inside, [stop]])
        return Curve(places, self.at(places), self.means)

    def mean(self) -> float:
        """The integral over the span."""
        return float(self._running()[-1]) / self.span if self.span else float(self.y[-1])

    def rms(self) -> float:
        """Root of the integral of the square over the span."""
        import numpy as np

        if not self.span:
            return abs(float(self.y[-1]))
        a, b = (self.y[1:], self.y[1:]) if self.means else (self.y[:-1], self.y[1:])
        return math.sqrt(float(np.sum(np.diff(self.x) * (a * a + a * b + b * b))) / (3 * self.span))

    def moving_means(self, window: float) -> NDArray[Any]:
        """Means over a window at every place where the mean is largest or smallest, or may be.

        The integral over the window is smooth between samples that enter or leave it; there it is extreme where the
        value that enters is the value that leaves.
        """
        import numpy as np

        last = self.x[-1] - window
        starts = np.concatenate([self.x[self.x <= last], self.x[self.x >= self.x[0] + window] - window, [last]])
        starts = np.unique(np.clip(starts, self.x[0], max(last, self.x[0])))
        if not self.means and starts.size > 1:
            gain = self.at(np.minimum(starts + window, self.x[-1])) - self.at(starts)
            turns = gain[:-1] * gain[1:] < 0
            share = gain[:-1][turns] / (gain[:-1] - gain[1:])[turns]
            starts = np.concatenate([starts, starts[:-1][turns] + share * np.diff(starts)[turns]])
        ends = np.minimum(starts + window, self.x[-1])
        return np.asarray((self._integral(ends) - self._integral(starts)) / window)

    def _running(self) -> NDArray[Any]:
        """Integral from the first sample to each."""
        import numpy as np

        heights = self.y[1:] if self.means else 0.5 * (self.y[:-1] + self.y[1:])
        return np.concatenate([[0.0], np.cumsum(np.diff(self.x) * heights)])

    def _integral(self, places: NDArray[Any]) -> NDArray[Any]:
        import numpy as np

        if self.means:
            return np.asarray(np.interp(places, self.x, self._running()))
        before = np.clip(np.searchsorted(self.x, places, side="right") - 1, 0, self.x.size - 1)
        return np.asarray(
            self._running()[before] + 0.5 * (places - self.x[before]) * (self.y[before] + self.at(places))
        )
