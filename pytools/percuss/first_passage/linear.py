"""Linear systems on a moving base in first-order form, uncoupled by their complex modes.

    x' = A x + b a(t),  x = (u, u'),  u relative to the base

Damping need not be proportional: dampers between buildings are as good as any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from percuss.errors import InputError
from percuss.models.oscillators.system import Oscillators

if TYPE_CHECKING:
    from numpy import ndarray


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """Eigenvalues, eigenvectors (columns, displacements above velocities) and participation of each mode."""

    eigenvalues: ndarray
    vectors: ndarray
    participation: ndarray

    @property
    def masses(self) -> int:
        """How many masses there are."""
        return len(self.eigenvalues) // 2


def linear_system(mass_kg: ndarray, damping: ndarray, stiffness: ndarray) -> LinearSystem:
    """The modes of M u'' + C u' + K u = -M 1 a(t); M as the vector of its diagonal."""
    import numpy as np

    n = len(mass_kg)
    state = np.block([[np.zeros((n, n)), np.eye(n)], [-stiffness / mass_kg[:, None], -damping / mass_kg[:, None]]])
    eigenvalues, vectors = np.linalg.eig(state)
    if eigenvalues.real.max() >= 0:
        raise InputError("first passage: every mode must be damped, and one is not")
    load = np.concatenate([np.zeros(n), -np.ones(n)])
    return LinearSystem(eigenvalues, vectors, np.linalg.solve(vectors, load.astype(complex)))


def of_oscillators(model: Oscillators, point: Mapping[str, Any]) -> LinearSystem:
    """The system of a run without its contacts; raises InputError for springs that are not linear."""
    import numpy as np

    system = model._system(point, 0)
    n = len(system["masses_kg"])
    if any(spring[3] for spring in system["springs"]):
        raise InputError("first passage: springs must be linear, and one has a cubic part")
    if any(law is not None and law[0] != "linear" for law in system.get("spring_laws", [])):
        raise InputError("first passage: springs must be linear, and one has a law that is not")
    if any(exponent != 1.0 for exponent in system.get("damper_exponents", [])):
        raise InputError("first passage: dampers must be linear, and one has an exponent")
    stiffness, damping = np.zeros((n, n)), np.zeros((n, n))
    for matrix, links in ((stiffness, system["springs"]), (damping, system["dampers"])):
        for first, second, value, *_ in links:
            ends = [node for node in (first, second) if node >= 0]
            for end in ends:
                matrix[end, end] += value
            if len(ends) == 2:
                matrix[first, second] -= value
                matrix[second, first] -= value
    mass = np.array(system["masses_kg"])
    damping += system["rayleigh"][0] * np.diag(mass) + system["rayleigh"][1] * stiffness
    return linear_system(mass, damping, stiffness)
