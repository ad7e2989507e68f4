"""Masses on springs that collide: pounding of structures (Polycarpou, Papaloizou and Kyriakides, 2024; and beyond).

    [model]
    kind = "oscillators"
    duration = "12 s"
    sampling = "1 ms"                               # interval of the curves
    masses = [{ name = "1", mass = "6 kg", displacement = "-40 mm" }, { name = "2", mass = "5 kg" }]
    springs = [{ between = ["base", "1"], stiffness = "288 N/m", damping_ratio = 0.006 }, ...]
    contacts = [{ between = ["1", "2"] }]           # the first meets the second moving in the positive direction
    gap = "23 mm"                                   # gap, law, restitution, stiffness, damping: of every contact
    law = "kelvin-voigt"                            # that does not have its own

Every number of a mass, spring, damper or contact is an input of the model, named after it (`mass_1`, `stiffness_1`,
`gap_roof`), so that a study can put a prior on it, set it in a case, or give it on the command line. Curves are
relative to the base but for accelerations, which are absolute. SI inside.
"""

from __future__ import annotations

from percuss.models.oscillators.reference import reference
from percuss.models.oscillators.system import configure
from percuss.models.oscillators.tables import settings

__all__ = ["configure", "reference", "settings"]
