"""A surrogate to be called like the model it stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from percuss.api.results import Result
from percuss.errors import InputError
from percuss.kinds.surrogate_fitted import SurrogateFitted
from percuss.spelling import did_you_mean
from percuss.surrogates.surrogate import Surrogate as Fitted
from percuss.surrogates.surrogate import load_surrogate
from percuss.units import from_si, to_si

if TYPE_CHECKING:
    import polars as pl

Numbers = NDArray[np.float64]


class Surrogate(Result):
    """Surrogates of the outputs of a study. Points and predictions are in the units of the study.

    Points are keyword arguments (a number or an array each), a table with a column for every parameter, or an array
    (n, d) with the parameters in the order of `names`.
    """

    @cached_property
    def fitted(self) -> Fitted:
        """The surrogate as percuss works with it, in SI."""
        return load_surrogate(self._session, self.event)

    @property
    def body(self) -> SurrogateFitted:
        """What was fitted to what."""
        return SurrogateFitted.of(self.event)

    @property
    def names(self) -> tuple[str, ...]:
        """Its parameters, in order."""
        return self.fitted.names

    @property
    def outputs(self) -> list[str]:
        """What it predicts, as `case/output`."""
        return [column.name for column in self.fitted.columns]

    @property
    def units(self) -> dict[str, str]:
        """Units of parameters, and of outputs by `case/output`."""
        study = self.study
        units = {name: study.parameters[name].unit for name in self.names}
        return units | {c.name: self._unit(c.output) for c in self.fitted.columns}

    def errors(self) -> pl.DataFrame:
        """Mean squared errors of every output, divided by its variance."""
        columns = ("case", "output", "family", "loo", "nested", "elsewhere", "held_out", "points")
        table = self.table("outputs")
        return table.select([name for name in columns if name in table.columns])

    def __call__(self, points: Any = None, **parameters: Any) -> pl.DataFrame:
        """Predictions, one row per point: for each output `case/output` and `std:case/output`, the std of its error."""
        import polars as pl

        value, std = self.predict(points, **parameters)
        columns: dict[str, Numbers] = {}
        for j, name in enumerate(self.outputs):
            columns |= {name: value[:, j], f"std:{name}": std[:, j]}
        return pl.DataFrame(columns)

    def value(self, points: Any = None, **parameters: Any) -> Numbers:
        """Predictions (n, m)."""
        return self._shown(self.fitted.mean(self._theta(points, parameters)))

    def predict(self, points: Any = None, **parameters: Any) -> tuple[Numbers, Numbers]:
        """Predictions (n, m) and the standard deviation (n, m) of their errors."""
        mean, variance = self.fitted.predict(self._theta(points, parameters))
        return self._shown(mean), self._shown(np.sqrt(np.broadcast_to(variance, mean.shape)))

    def gradient(self, points: Any = None, **parameters: Any) -> Numbers:
        """Derivatives (n, m, d) of the outputs with respect to the parameters, in the units of both."""
        _, gradient = self.fitted.gradient(self._theta(points, parameters))
        per = [from_si(1.0, self.study.parameters[name].unit) for name in self.names]
        return np.asarray(self._shown(gradient.swapaxes(1, 2)).swapaxes(1, 2) / per)

    def _unit(self, output: str) -> str:
        return self.study.outputs[output].unit if output in self.study.outputs else "1"

    def _shown(self, values: Numbers) -> Numbers:
        """SI numbers, outputs along the last axis, in the units of the study."""
        return np.asarray(values * [from_si(1.0, self._unit(column.output)) for column in self.fitted.columns])

    def _theta(self, points: Any, parameters: Mapping[str, Any]) -> Numbers:
        """Points (n, d) in SI."""
        if (points is None) == (not parameters):
            raise InputError("a surrogate is called with one table of points, or with every parameter by name")
        columns = _columns(self.names, parameters if points is None else points)
        try:
            theta = np.stack(np.broadcast_arrays(*columns), axis=-1)
        except ValueError:
            sizes = ", ".join(f"{name} {np.shape(c)}" for name, c in zip(self.names, columns, strict=True))
            raise InputError(f"parameters of different sizes: {sizes}") from None
        theta = np.atleast_2d(theta)
        scale = [to_si(1.0, self.study.parameters[name].unit) for name in self.names]
        return np.asarray(theta * scale)


def _columns(names: Sequence[str], points: Any) -> list[Numbers]:
    """One array for each parameter."""
    if isinstance(points, Mapping) or hasattr(points, "columns"):
        known = list(points) if isinstance(points, Mapping) else list(points.columns)
        for name in names:
            if name not in known:
                raise InputError(f"points: no value for the parameter {name}; there are {', '.join(map(str, known))}")
        if isinstance(points, Mapping):
            for name in known:
                if name not in names:
                    raise InputError(f"{name}: is no parameter of the surrogate: {did_you_mean(str(name), names)}")
        return [np.asarray(points[name], float) for name in names]
    array = np.asarray(points, float)
    if array.ndim not in (1, 2) or array.shape[-1] != len(names):
        raise InputError(f"points of shape {array.shape}: one column each for {', '.join(names)}")
    return list(np.moveaxis(array, -1, 0))
