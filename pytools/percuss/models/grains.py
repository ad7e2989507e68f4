"""Grains: a packing of spheres in a periodic cell or between walls, compressed isotropically and then sheared.

Contacts are those of Cheng, Shuku, Thoeni and Yamamoto (2018), Table 1, steps and servo those of `rust/grains`. The
packing a test starts from depends on the settings of the study alone: it is made once, kept as an event and shared by
all runs. Stresses and strains are positive in compression; strains are logarithmic and count from the isotropic state.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from percuss.errors import InputError
from percuss.ledger.canonical import canonical_json, sha256_hex
from percuss.models.grain_path import PATH, increments
from percuss.models.model import Done, Failed, Input, Numerics, Outcome, Quantity, Reference, Value, telling
from percuss.models.seeds import Seed
from percuss.settings import Setting

if TYPE_CHECKING:
    from numpy import ndarray

    from percuss.scene.film import Film

LAWS = ("hertz-mindlin", "classical-linear")
TESTS = ("drained", "undrained", "oedometric", "isotropic", "path")
MOMENT_LIMITS = ("joint", "separate", "rolling")
BOUNDARIES = ("periodic", "walls")
# Scaled grain sizes of Toyoura sand: diameters in any unit, and the share of mass that is finer.
TOYOURA = ([5.75, 6.85, 8.16, 9.69, 11.50, 13.69, 16.26], [0.013, 0.021, 0.058, 0.174, 0.811, 0.927, 1.0])
# Where secant moduli are taken: deviatoric strain 2/3 (axial - radial).
SECANT_AT = 0.01

INPUTS = (
    Input("law", None, "hertz-mindlin", choices=LAWS, doc="contact law"),
    Input("young", "Pa", low=0, low_open=True, doc="Young's modulus of contacts"),
    Input("poisson", "1", low=0, high=0.5, doc="Poisson's ratio of contacts; ks/kn of the linear law"),
    Input("rolling_stiffness", "1", 0.0, low=0, doc="factor (linear law) or N m/rad (Hertz-Mindlin)"),
    Input("rolling_friction", "1", 0.0, low=0, doc="limit of moments over normal force and smaller radius"),
    Input("friction_angle", "rad", low=0, high=1.55, doc="friction angle between grains"),
    Input("pressure", "Pa", low=0, low_open=True, doc="isotropic pressure before shearing"),
)

CURVES = (
    ("stress_ratio", "1", "axial over radial stress"),
    ("radial_strain", "1", "mean of both radial strains"),
    ("volumetric_strain", "1", "sum of the three strains; positive where the packing shrinks"),
    ("deviatoric_stress", "Pa", "axial less radial stress"),
    ("mean_stress", "Pa", "a third of the sum of axial and twice the radial stress"),
    ("void_ratio", "1", "volume of voids over that of grains"),
    ("coordination", "1", "contacts at a grain"),
    ("mechanical_coordination", "1", "among grains with four contacts or more"),
    ("contacts", "1", "number of contacts"),
    ("normal_force_mean", "N", "mean of the normal forces of contacts"),
    ("normal_force_max", "N", "largest normal force of a contact"),
    ("normal_force_spread", "1", "standard deviation over mean of normal forces"),
    ("sliding_share", "1", "share of contacts that slide"),
    ("energy_elastic", "J", "stored in contacts"),
    ("energy_kinetic", "J", "of the grains"),
    ("energy_boundary", "J", "work of the boundary"),
    ("energy_sliding", "J", "dissipated by sliding"),
    ("energy_rolling", "J", "dissipated by rolling and twisting"),
    ("energy_damping", "J", "dissipated by numerical and viscous damping"),
    ("energy_stiffening", "J", "lost by shear springs whose stiffness changed; below 0 the law created it"),
    ("cycles", "1", "time steps of the increment"),
    ("unbalanced", "1", "mean resultant over mean contact force"),
    ("at_rest", "1", "1 where rest was reached"),
    *((f"{tensor}_{axes}", unit, f"component {axes} of the {tensor} tensor")
      for tensor, unit in (("stress", "Pa"), ("fabric", "1"))
      for axes in ("xx", "yy", "zz", "xy", "xz", "yz")),
    *((f"orientation_{k}", "1", f"share of contacts with |cos| to the axis in bin {k} of ten") for k in range(10)),
)  # fmt: skip
SCALARS = (
    ("peak_stress_ratio", "1", ""),
    ("peak_friction_angle", "rad", "of the packing, from the peak stress ratio"),
    ("young_bulk", "Pa", "secant at a deviatoric strain of 1 %, or at the end if that is less"),
    ("poisson_bulk", "1", "there"),
    ("void_ratio_packing", "1", "before the isotropic compression"),
    ("void_ratio_start", "1", "after it"),
    ("rest_share", "1", "of increments that came to rest"),
    ("energy_closing_error", "1", "what the account lacks, over the work of the boundary"),
    ("steps", "1", "time steps"),
)
# What tells of the computation, not of the packing.
DIAGNOSTIC = ("cycles", "unbalanced", "at_rest", "rest_share", "energy_closing_error", "steps")
QUANTITIES = {
    "axial_strain": Quantity("axial_strain", "1", curve=True, doc="along z, logarithmic, from the isotropic state"),
    **{
        name: Quantity(name, unit, curve=True, doc=doc, axis="axial_strain", diagnostic=name in DIAGNOSTIC)
        for name, unit, doc in CURVES
    },
    **{name: Quantity(name, unit, doc=doc, diagnostic=name in DIAGNOSTIC) for name, unit, doc in SCALARS},
}
QUANTITIES["peak_stress_ratio"] = replace(QUANTITIES["peak_stress_ratio"], meaning="largest axial over radial stress")
CONVENTIONS = (
    "Stresses and strains are positive in compression; strains are logarithmic and count from the isotropic state.",
    "z is the axis of the test, x and y are radial.",
)


def settings(table: Mapping[str, object]) -> dict[str, Setting]:
    """What [model] may set."""
    checked = (
        Setting("grains", "integer", 1000, low=50, high=100_000, doc="number of grains"),
        Setting("packing_seed", "integer", 1, low=0, high=2**53, doc="seed of grain sizes and positions"),
        Setting("cell", "list", [0.05, 0.05, 0.1], doc="edges of the cell at the void ratio asked for, in m"),
        Setting("void_ratio", "number", 0.68, low=0.5, high=0.9, doc="void ratio of the packing without stress"),
        Setting("void_ratio_tolerance", "number", 0.002, low=1e-5, high=0.1, doc="allowed deviation from void_ratio"),
        Setting("diameters", "list", TOYOURA[0], doc="diameters of the grading curve, in any unit"),
        Setting("finer", "list", TOYOURA[1], doc="share of mass finer than each diameter"),
        Setting(
            "packing_pressure",
            "number",
            100.0,
            unit="Pa",
            low=1e-3,
            high=1e6,
            doc="pressure under which the packing is made",
        ),
        Setting("density", "number", 2650.0, unit="kg/m^3", low=1, high=1e5, doc="density of the grains"),
        Setting("density_scaling", "number", 1000.0, low=1, high=1e9, doc="factor on masses in the test"),
        Setting("boundary", "text", "periodic", choices=BOUNDARIES, doc="a periodic cell, or six rigid walls"),
        Setting("gravity", "number", 0.0, unit="m/s^2", low=0, high=1e4, doc="gravity along -z, only between walls"),
        Setting("test", "text", "drained", choices=TESTS, doc="test to be simulated"),
        Setting("path", "list", [], doc="rows of a test along a path: target stress or strain of each axis", of=PATH),
        Setting("strain_step", "number", 0.001, low=1e-6, high=0.1, doc="axial strain of an increment"),
        Setting("strain_end", "number", 0.08, low=1e-6, high=0.5, doc="axial strain at the end of the test"),
        Setting(
            "strain_rate", "number", 0.1, unit="1/s", low=1e-6, high=1e3, doc="strain rate of loading, in model time"
        ),
        Setting("moments", "boolean", True, doc="rolling and twisting moments at contacts"),
        Setting("moment_limit", "text", "joint", choices=MOMENT_LIMITS, doc="which moments the limit applies to"),
        Setting(
            "rescaled", "boolean", True, doc="shear forces are reduced with their stiffness while a contact unloads"
        ),
        Setting(
            "restitution",
            "number",
            1.0,
            low=0.01,
            high=1,
            doc="restitution of contacts, by viscous damping; 1: no damping",
        ),
        Setting("damping_loading", "number", 0.2, low=0, high=0.99, doc="numerical damping while loading"),
        Setting("damping_rest", "number", 0.9, low=0, high=0.99, doc="numerical damping while coming to rest"),
        Setting(
            "unbalanced",
            "number",
            0.001,
            low=1e-9,
            high=1,
            doc="an increment is at rest if mean resultant over mean contact force is below this",
        ),
        Setting(
            "stress_tolerance", "number", 0.001, low=1e-9, high=0.5, doc="relative error of stresses held by the servo"
        ),
        Setting(
            "most_steps", "integer", 40_000, low=10, high=10**9, doc="largest number of time steps in an increment"
        ),
        Setting("step_safety", "number", 0.8, low=1e-3, high=1, doc="time step as a share of the stable one"),
    )
    return {setting.name: setting for setting in checked}


def reference() -> Reference:
    """Inputs and quantities, the same for every study."""
    return Reference(INPUTS, tuple(QUANTITIES.values()), CONVENTIONS)


def configure(settings: Mapping[str, object], files: Mapping[str, bytes]) -> GrainModel:
    """Build the model."""
    table: dict[str, Any] = dict(settings)
    for name, count in (("cell", 3), ("diameters", 0), ("finer", 0)):
        values = table[name]
        if (count and len(values) != count) or not all(type(x) in (int, float) and x > 0 for x in values):
            raise InputError(f"model setting `{name}`: {values} is not a list of {count or 'some'} positive numbers")
    if table["strain_step"] > table["strain_end"]:
        raise InputError(f"model setting `strain_step`: {table['strain_step']} exceeds strain_end")
    if (table["test"] == "path") != bool(increments(table["path"], 1.0)):
        raise InputError(
            'model settings `test` and `path`: test = "path" needs rows of [[model.path]], and rows need that test'
        )
    if table["gravity"] and table["boundary"] != "walls":
        raise InputError('model setting `gravity`: needs boundary = "walls"; in a periodic cell grains fall for ever')
    return GrainModel(table)


@dataclass(frozen=True)
class GrainModel:
    """A configured packing and test."""

    table: Mapping[str, Any]
    kind: str = "grains"
    batch: int = 1

    @property
    def inputs(self) -> Mapping[str, Input]:
        return {item.name: item for item in INPUTS}

    @property
    def quantities(self) -> Mapping[str, Quantity]:
        return QUANTITIES

    def numerics(self, point: Mapping[str, Value]) -> Numerics:
        """The share of the stable step, and how near to rest increments end."""
        return Numerics(self.table["step_safety"], self.table["unbalanced"], "step_safety", "1")

    def refined(self, point: Mapping[str, Value], finer: int, tighter: float) -> tuple[Self, dict[str, Value]]:
        """The same test in finer steps, each increment nearer to rest; curves have the increments of the test."""
        t = self.table
        steps = {"step_safety": t["step_safety"] / finer, "most_steps": t["most_steps"] * finer}
        rest = {key: t[key] / tighter for key in ("unbalanced", "stress_tolerance")}
        return replace(self, table={**t, **steps, **rest}), dict(point)

    @cached_property
    def _packing_spec(self) -> dict[str, Any]:
        t = self.table
        return {
            "diameters": [float(x) for x in t["diameters"]],
            "finer": [float(x) for x in t["finer"]],
            "grains": t["grains"],
            "cell_m": [float(x) for x in t["cell"]],
            "void_ratio": float(t["void_ratio"]),
            "tolerance": float(t["void_ratio_tolerance"]),
            "pressure_pa": float(t["packing_pressure"]),
            "density_kg_m3": float(t["density"]),
            "seed": t["packing_seed"],
            "walls": t["boundary"] == "walls",
        }

    def settling_key(self, point: Mapping[str, Value]) -> str | None:
        """Digest of what the packing depends on: none of the inputs."""
        return sha256_hex(canonical_json({"packing": self._packing_spec}).encode())

    def settled(self, point: Mapping[str, Value]) -> tuple[bytes, dict[str, float]]:
        """Make the packing: the bytes of an array, in its first row the cell and 1 if it has walls, else 0; then centre
        and radius of each grain.
        """
        import numpy as np

        from percuss import _core

        try:
            (cell, centres, radii, walls), facts = _core.grain_packing(self._packing_spec)
        except ValueError as fault:
            raise InputError(f"packing: {fault}") from None
        rows = np.column_stack([np.asarray(centres), np.asarray(radii)])
        into = io.BytesIO()
        np.save(into, np.vstack([[*cell, float(walls)], rows]))
        return into.getvalue(), dict(facts)

    def run(self, points: Sequence[Mapping[str, Value]], seeds: Sequence[int]) -> list[Outcome]:
        """Run each point on a packing made here."""
        return self.run_from(points, seeds, [None] * len(points))

    def run_from(
        self, points: Sequence[Mapping[str, Value]], seeds: Sequence[int], starts: Sequence[bytes | None]
    ) -> list[Outcome]:
        """Run each point from its packing; without one it is made here, to the same bits."""
        made: bytes | None = None
        outcomes: list[Outcome] = []
        for point, start in zip(points, starts, strict=True):
            try:
                if start is None:
                    made = made or self.settled(point)[0]
                outcomes.append(self._one(point, start or made or b""))
            except InputError as fault:
                outcomes.append(Failed(str(fault)))
        return outcomes

    def film(
        self, point: Mapping[str, Value], seed: Seed, start: bytes | None, interval_s: float | None
    ) -> tuple[Film, Outcome]:
        """The test with the packing kept after each increment."""
        from percuss.models.grain_film import grain_film

        rows, result = self._tested(point, start or self.settled(point)[0], film=True)
        outcome = self._done(result)
        strains = (outcome.curves or {})["axial_strain"]
        walls = bool(rows[0, 3])
        return grain_film(result["frames"], rows[1:, 3], strains, self.table["strain_rate"], walls=walls), outcome

    def _one(self, point: Mapping[str, Any], packing: bytes) -> Outcome:
        try:
            _, result = self._tested(point, packing)
        except ValueError as fault:
            return Failed(f"no result: {fault}")
        return self._done(result)

    def _done(self, result: Mapping[str, Any]) -> Done:
        return _outcome(result, None if self.table["test"] == "path" else self._strains)

    @property
    def _strains(self) -> list[float]:
        """Axial strains after the increments."""
        step = float(self.table["strain_step"])
        return [step * k for k in range(1, round(self.table["strain_end"] / step) + 1)]

    def _tested(
        self, point: Mapping[str, Any], packing: bytes, *, film: bool = False
    ) -> tuple[ndarray, dict[str, Any]]:
        """The packing as an array, and what the core says of the test on it."""
        import numpy as np

        from percuss import _core

        rows = np.load(io.BytesIO(packing), allow_pickle=False)
        t = self.table
        spec = {
            "law": point["law"],
            "young_pa": point["young"],
            "poisson": point["poisson"],
            "rolling_stiffness": point["rolling_stiffness"],
            "rolling_friction": point["rolling_friction"],
            "friction": math.tan(point["friction_angle"]),
            "moments": t["moments"],
            "moment_limit": t["moment_limit"],
            "rescaled": t["rescaled"],
            "restitution": float(t["restitution"]),
            "gravity_m_s2": float(t["gravity"]),
            "density_kg_m3": float(t["density"]),
            "density_scaling": float(t["density_scaling"]),
            "pressure_pa": point["pressure"],
            "rate_per_s": float(t["strain_rate"]),
            "damping": [float(t["damping_loading"]), float(t["damping_rest"])],
            "unbalanced": float(t["unbalanced"]),
            "stress_tolerance": float(t["stress_tolerance"]),
            "most_steps": t["most_steps"],
            "step_safety": float(t["step_safety"]),
            "test": t["test"],
            "strains": self._strains,
            "paths": increments(t["path"], point["pressure"]),
            "film": film,
        }
        grains = (rows[0, :3].tolist(), rows[1:, :3].tolist(), rows[1:, 3].tolist(), bool(rows[0, 3]))
        with telling() as tell:
            return rows, _core.grain_test(grains, spec, tell)


def _outcome(result: Mapping[str, Any], strains: Sequence[float] | None) -> Done:
    """Curves and numbers of a test."""
    import numpy as np

    radial = 0.5 * (result["stress_xx"] + result["stress_yy"])
    axial = result["stress_zz"]
    curves = {
        "axial_strain": result["strain_z"],
        "stress_ratio": axial / radial,
        "radial_strain": 0.5 * (result["strain_x"] + result["strain_y"]),
        "volumetric_strain": result["strain_x"] + result["strain_y"] + result["strain_z"],
        "deviatoric_stress": axial - radial,
        "mean_stress": (axial + 2 * radial) / 3,
    }
    curves |= {name: result[name] for name, _, _ in CURVES if name not in curves}
    # Increments end where they should but for rounding (1e-15): the axis has the strains that were asked for.
    if strains is not None:
        curves["axial_strain"] = np.array([0.0, *strains])
    deviatoric = 2 / 3 * (curves["axial_strain"] - curves["radial_strain"])
    # Up to where it first is largest: along a path it may come back.
    rising = np.maximum.accumulate(deviatoric[: int(deviatoric.argmax()) + 1])
    at = min(SECANT_AT, float(rising[-1]))
    strain, stress, across = (
        float(np.interp(at, rising, curves[name][: len(rising)]))
        for name in ("axial_strain", "deviatoric_stress", "radial_strain")
    )
    peak = float(curves["stress_ratio"].max())
    last = {name: float(curves[f"energy_{name}"][-1]) for name in
            ("boundary", "elastic", "kinetic", "sliding", "rolling", "damping", "stiffening")}  # fmt: skip
    spent = sum(value for name, value in last.items() if name != "boundary")
    values = {
        "peak_stress_ratio": peak,
        "peak_friction_angle": math.asin((peak - 1) / (peak + 1)),
        # Without any axial strain, as under isotropic stress, there are no secants.
        "young_bulk": stress / strain if strain else math.nan,
        "poisson_bulk": -across / strain if strain else math.nan,
        "void_ratio_packing": float(result["void_ratio_loaded"]),
        "void_ratio_start": float(curves["void_ratio"][0]),
        "rest_share": float(curves["at_rest"].mean()),
        "energy_closing_error": abs(last["boundary"] - spent) / max(abs(last["boundary"]), 1e-300),
        "steps": float(result["steps"]),
    }
    return Done(values, {name: np.ascontiguousarray(curve) for name, curve in curves.items()})
