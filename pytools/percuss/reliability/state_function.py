"""The limit function of a study's limit: from standard normals through the parameters and the outputs to margins.

    u -> parameters (`percuss.study.joint`) -> outputs (simulator or surrogate) -> formulas -> margins of each limit

A forward model that knows the variance of its error gives the margins one, by differences over one standard deviation.
Parameters that are `held` at a value are no variables any more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from percuss.reliability.estimate import Array
from percuss.reliability.limit import Limit
from percuss.reliability.noise import Noise
from percuss.study.joint import Joint
from percuss.study.limits import LimitState

# Parameters (n, d) in SI, and what else is random in n runs, to outputs (n, m).
OnNoise = Callable[[Array, Noise], Array]
# Parameters (n, d) in SI to outputs (n, m) and the variance of their error, (m,) or (n, m).
Forward = Callable[[Array], tuple[Array, Array]]


def needed_columns(state: LimitState, outputs: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """(case, output) of all that a limit asks of a forward model."""
    columns: dict[tuple[str, str], None] = {}
    for leaf in state.leaves():
        assert leaf.quantity is not None
        columns |= dict.fromkeys((leaf.case, name) for name in leaf.quantity.names if name in outputs)
    return tuple(columns)


@dataclass(frozen=True, eq=False)
class StateFunction:
    """A limit over parameters `names`; `forward` gives the outputs `columns`, `on_noise` those on a given noise of
    `noise_variables`, where runs are random beside their parameters and can be told how.
    """

    state: LimitState
    names: tuple[str, ...]
    joint: Joint
    columns: tuple[tuple[str, str], ...]
    forward: Forward
    on_noise: OnNoise | None = None
    noise_variables: int = 0

    def margins(self, theta: Array, noise: Noise | None = None) -> tuple[Array, Array]:
        """Margins (n, leaves) of parameters in SI, and the standard deviation of their error."""
        mean, variance = (self.on_noise(theta, noise), np.zeros(1)) if self.on_noise and noise else self.forward(theta)
        std = np.sqrt(np.broadcast_to(variance, mean.shape))
        leaves = self.state.leaves()
        margins, errors = np.empty((len(theta), len(leaves))), np.zeros((len(theta), len(leaves)))
        parameters = {name: theta[:, j] for j, name in enumerate(self.names)}
        for k, leaf in enumerate(leaves):
            assert leaf.quantity is not None
            own = {name: i for i, (case, name) in enumerate(self.columns) if case == leaf.case}
            numbers = parameters | {name: mean[:, i] for name, i in own.items()}
            margins[:, k] = leaf.margin(leaf.quantity.values(numbers))
            square = np.zeros(len(theta))
            for name, i in own.items():
                if name in leaf.quantity.names and std[:, i].any():
                    up, down = (
                        leaf.margin(leaf.quantity.values(numbers | {name: mean[:, i] + sign * std[:, i]}))
                        for sign in (1, -1)
                    )
                    square += (0.5 * (up - down)) ** 2
            errors[:, k] = np.sqrt(square)
        return margins, errors

    def limit(self, shift: float = 0.0, held: Mapping[str, float] | None = None) -> Limit:
        """The limit in standard normal space, margins moved by `shift` standard deviations of their error."""
        fixed = dict(held or {})
        free = [j for j, name in enumerate(self.names) if name not in fixed]
        joint = self._joint(tuple(free)) if fixed else self.joint

        def evaluate(u: Array, noise: Noise | None = None) -> Array:
            margins, errors = self.margins(self._parameters(joint.values(u), free, fixed), noise)
            return margins + shift * errors

        return Limit(
            len(free),
            evaluate,
            self.state.combine,
            self.state.has_parallel,
            evaluate if self.on_noise else None,
            self.noise_variables,
        )

    def parameters(self, u: Array, held: Mapping[str, float] | None = None) -> Array:
        """Parameters (n, d) in SI at standard normals of those that are not held."""
        fixed = dict(held or {})
        free = [j for j, name in enumerate(self.names) if name not in fixed]
        joint = self._joint(tuple(free)) if fixed else self.joint
        return self._parameters(joint.values(u), free, fixed)

    def error(self, theta: Array) -> Array:
        """Standard deviation (n,) of the error of the limit function: that of the leaf that decides it."""
        margins, errors = self.margins(theta)
        combined = np.asarray(self.state.combine(margins))
        deciding = np.argmin(np.abs(margins - combined[:, None]), axis=1)
        return np.asarray(errors[np.arange(len(margins)), deciding])

    def over_parameters(self) -> Limit:
        """The limit as a function of the parameters themselves."""
        return Limit(len(self.names), lambda theta: self.margins(theta)[0], self.state.combine, self.state.has_parallel)

    def _parameters(self, values: Array, free: list[int], fixed: Mapping[str, float]) -> Array:
        if not fixed:
            return values
        theta = np.empty((len(values), len(self.names)))
        theta[:, free] = values
        for name, value in fixed.items():
            theta[:, self.names.index(name)] = value
        return theta

    def _joint(self, free: tuple[int, ...]) -> Joint:
        correlation = self.joint.correlation
        kept = None if correlation is None else correlation[np.ix_(free, free)]
        return Joint(tuple(self.joint.priors[j] for j in free), kept, self.joint.seed)

    @cached_property
    def leaf_names(self) -> tuple[str, ...]:
        """Names of the limits of single quantities."""
        return tuple(leaf.name for leaf in self.state.leaves())
