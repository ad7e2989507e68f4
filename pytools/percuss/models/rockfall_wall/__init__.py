"""The articulated wall of concrete blocks hit by a falling rock (Gupta et al., 2023), whole.

    [model]
    kind = "rockfall-wall"
    duration = "1 s"
    step = "0.25 ms"
    layout = "trapezoidal"        # or zig-zag, straight; axes, rows and every dimension are settings too

Inputs are what the paper calibrates (d_z, v_p, mu_cc, mu_cs, e) and how the rock comes (speed, impact_y, impact_z).
x is the direction of the impact, y runs along the wall, z up. SI inside. docs/rockfall-wall.md says how the parts fit
together and where the paper leaves a choice.
"""

from __future__ import annotations

from percuss.models.rockfall_wall.model import configure, reference
from percuss.models.rockfall_wall.tables import settings

__all__ = ["configure", "reference", "settings"]
