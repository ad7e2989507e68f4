"""Who meets whom, and how (Gupta et al., 2023, Tables 2 and 3). Pairs that are not listed pass through each other."""

from __future__ import annotations

from percuss.scene import Law


def contact_laws(
    mu_cc: float, mu_cs: float, e: float, bar_friction: float, impact: str, *, connectors: bool, projectile_lands: bool
) -> list[Law]:
    """The laws of Table 3, and with `projectile_lands` one that the table leaves out: the projectile on the ground."""
    laws = [
        Law(("round", "ground"), e, mu_cs, impact),
        Law(("round", "round"), e, mu_cc, impact),
        Law(("cuboid", "projectile"), e, mu_cc, impact),
        Law(("round", "projectile"), e, mu_cc, impact),
    ]
    if connectors:
        laws += [Law(pair, 0.0, bar_friction, impact) for pair in (("odd_bar", "ground"), ("odd_bar", "disk"))]
        laws.append(Law(("even_bar", "disk"), 0.0, bar_friction, impact))
        laws += [Law((plate, "sphere"), 0.0, 0.0, impact) for plate in ("box", "stopper")]
    if projectile_lands:
        laws.append(Law(("projectile", "ground"), e, mu_cs, impact))
    return laws
