"""Priors of symmetric 3 x 3 tensors: one law over six inputs that are drawn together.

A parameter `NAME` whose prior is a tensor stands for the inputs NAME_xx, NAME_yy, NAME_zz, NAME_xy, NAME_xz, NAME_yz.
They depend on each other, so that a sample of them is a function of all six of its coordinates in the unit cube (and of
the seed of the design): what freezes or redraws them does so with the tensor as a whole. Each component by itself has
the marginal law, known by a fixed set of draws.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

from percuss.errors import InputError
from percuss.settings import Setting
from percuss.spelling import shown
from percuss.study.priors.prior import Prior, PriorError, Role, checked_fields

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# Fields that are tensors; the others are numbers without a unit.
TENSORS = ("mean", "lower", "upper")
COMPONENTS = ("xx", "yy", "zz", "xy", "xz", "yz")
# Draws that marginal quantiles are read off: a 5 % quantile to about 0.3 % of probability.
MARGINAL_DRAWS = 1 << 14

Components = tuple[float, float, float, float, float, float]


@dataclass(frozen=True)
class TensorLaw(ABC):
    """The law of a tensor. `tensors` are in SI, components as in COMPONENTS; `plain` numbers have no unit."""

    tensors: Mapping[str, Components]
    plain: Mapping[str, float]

    kind: ClassVar[str]
    summary: ClassVar[str]
    # Names of tensors and numbers, those that may be left out with what stands for them.
    needed: ClassVar[tuple[str, ...]]
    optional: ClassVar[Mapping[str, object]] = {}

    @abstractmethod
    def draw(self, seed: int, unit: NDArray[Any]) -> NDArray[Any]:
        """Return the tensor (n, 6) of each point (n, 6) of the unit cube."""

    @abstractmethod
    def check(self) -> None:
        """Raise InputError unless the fields make a law."""

    @cached_property
    def marginals(self) -> NDArray[Any]:
        """Sorted draws (n, 6) of every component."""
        import numpy as np

        keys = np.zeros((MARGINAL_DRAWS, 6))
        keys[:, 0] = (np.arange(MARGINAL_DRAWS) + 0.5) / MARGINAL_DRAWS
        # A Weyl sequence: for laws that are maps of the cube the points fill it evenly.
        for k, step in enumerate((0.6823278038280193, 0.4655712318767680, 0.3176721961719807, 0.2167565720512874), 1):
            keys[:, k] = np.modf(0.5 + step * np.arange(MARGINAL_DRAWS))[0]
        keys[:, 5] = np.modf(0.5 + 0.1478987560169321 * np.arange(MARGINAL_DRAWS))[0]
        return np.sort(self.draw(0, keys), axis=0)

    def to_json(self) -> dict[str, object]:
        """Return kind and fields as plain data."""
        return {"kind": self.kind, **{name: list(value) for name, value in self.tensors.items()}, **self.plain}


@dataclass(frozen=True)
class Component(Prior):
    """One component of a tensor: its place among the six, and its marginal law."""

    law: TensorLaw = None  # type: ignore[assignment]  # given by `components`, always
    index: int = 0

    summary: ClassVar[str] = "a component of a tensor"
    roles: ClassVar[Mapping[str, Role]] = {}
    forms: ClassVar[tuple[tuple[str, ...], ...]] = ()

    @property
    def kind(self) -> str:  # type: ignore[override]
        """That of the tensor."""
        return self.law.kind

    @property
    def suffix(self) -> str:
        """What the name of the tensor's parameter is followed by."""
        return f"_{COMPONENTS[self.index]}"

    def support(self) -> tuple[float, float]:
        import numpy as np

        # Diagonal of a tensor between two bounds; off it |Z_ij| < the root of the product.
        upper = self.law.tensors.get("upper")
        lower = self.law.tensors.get("lower", (0.0,) * 6)
        if self.index < 3:
            return lower[self.index], upper[self.index] if upper else np.inf
        i, j = ((0, 1), (0, 2), (1, 2))[self.index - 3]
        if upper is None:
            return -np.inf, np.inf
        reach = float(np.sqrt((upper[i] - lower[i]) * (upper[j] - lower[j])))
        return lower[self.index] - reach, lower[self.index] + reach

    def ppf(self, u: ArrayLike) -> NDArray[Any]:
        import numpy as np

        return np.asarray(np.quantile(self.law.marginals[:, self.index], np.asarray(u, float)))

    def cdf(self, x: ArrayLike) -> NDArray[Any]:
        import numpy as np

        drawn = self.law.marginals[:, self.index]
        return np.asarray(np.interp(np.asarray(x, float), drawn, np.linspace(0, 1, len(drawn))))

    def logpdf(self, x: ArrayLike) -> NDArray[Any]:
        raise InputError(f"a component of a {self.kind} tensor depends on the other five and has no density of its own")

    def mean(self) -> float:
        return self.law.tensors["mean"][self.index]

    def std(self) -> float:
        return float(self.law.marginals[:, self.index].std())

    def to_json(self) -> dict[str, object]:
        return self.law.to_json() | {"component": COMPONENTS[self.index]}


def components(law: TensorLaw) -> tuple[Component, ...]:
    """The six priors of a tensor."""
    return tuple(Component({}, law, index) for index in range(6))


def read_tensor(kind: type[TensorLaw], table: Mapping[str, object], unit: str) -> TensorLaw:
    """Build the law of a table, bare numbers in `unit`; raise PriorError with every fault."""
    known = (*kind.needed, *kind.optional)
    schema = {
        name: Setting(
            name,
            "numbers" if name in TENSORS else "number",
            default=kind.optional.get(name),
            required=name in kind.needed,
            unit=unit if name in TENSORS else "1",
            doc=f"a {kind.kind} prior takes {', '.join(known)}",
        )
        for name in known
    }
    written = {name: list(value) if isinstance(value, tuple) else value for name, value in table.items()}
    fields, faults = checked_fields(kind.kind, schema, written)
    for name in TENSORS:
        if name in fields and len(fields[name]) not in (3, 6):
            faults.append(
                (name, f"{shown(table[name])}: must be three numbers (xx, yy, zz) or six ({', '.join(COMPONENTS)})")
            )
    if faults:
        raise PriorError(faults)
    tensors = {name: tuple([*fields[name], 0.0, 0.0, 0.0][:6]) for name in known if name in TENSORS}
    plain = {name: fields[name] for name in known if name not in TENSORS}
    law = kind(cast(Mapping[str, Components], tensors), plain)
    try:
        law.check()
    except InputError as fault:
        raise PriorError([("", str(fault))]) from None
    return law


def refuse_tensors(priors: Sequence[Prior], method: str) -> None:
    """Raise InputError if there is a component of a tensor among the priors of something that needs independence."""
    for prior in priors:
        if isinstance(prior, Component):
            raise InputError(
                f"{method}: takes independent parameters, and the components of a {prior.kind} tensor are not",
                hint="sensitivity of a saltelli design and percuss filter work on the runs themselves",
            )
