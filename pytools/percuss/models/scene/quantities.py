"""What a run of a scene gives: curves of probes and of the energy account, numbers at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from percuss.errors import InputError
from percuss.models.model import Quantity, Reference
from percuss.scene import JOINT_KINDS, BodyProbe, JointProbe, PairProbe, PointProbe, Result, Scene
from percuss.scene.links import is_angle

if TYPE_CHECKING:
    from numpy import ndarray

    from percuss.scene.probes import Probe

# Why largest values have no limit as the step goes to zero: a nonsmooth contact gives impulses, not forces.
NO_LIMIT = {
    "force": "where bodies hit, a contact force is an impulse over the sampling interval and grows as that shrinks: "
    "take the impulse, or the largest mean over a stated `window`",
    "reaction": "where bodies hit, a reaction is an impulse over the step and grows as that shrinks",
    "acceleration": "where bodies hit, an acceleration is a change of velocity over the step and grows as that "
    "shrinks: take velocities",
}
TIME = Quantity("t", "s", True, "time")
CONVENTIONS = (
    "Every $name of the study is an input, in the unit of its place; z is up unless gravity says otherwise.",
    "Places, velocities, forces and torques of probes are along world axes.",
    "Contact forces act on the body of the probe, torques about its centre of mass.",
    "Reactions of a joint act on its second body, torques about the place of the joint.",
    "A normal force is positive where bodies push each other; contacts do not pull.",
    "Coordinates of a joint are zero while its frames coincide and count from the first body to the second.",
    "Forces are means over the sampling interval, so that their sum is the impulse.",
)
# Curve of a probe: end of its name, column of the core, unit, what it is.
_XYZ = "xyz"
_POINT = (
    [(axis, f"{axis}_m", "m", f"place along {axis}") for axis in _XYZ]
    + [(f"v{axis}", f"v{axis}_m_per_s", "m/s", f"velocity along {axis}") for axis in _XYZ]
    + [(f"a{axis}", f"a{axis}_m_per_s2", "m/s^2", f"acceleration along {axis}") for axis in _XYZ]
    + [(f"w{axis}", f"w{axis}_rad_per_s", "rad/s", f"angular velocity about {axis}") for axis in _XYZ]
    + [(f"alpha{axis}", f"alpha{axis}_rad_per_s2", "rad/s^2", f"angular acceleration about {axis}") for axis in _XYZ]
)
_BODY = (
    [(f"f{axis}", f"f{axis}_n", "N", f"contact force along {axis}") for axis in _XYZ]
    + [(f"t{axis}", f"t{axis}_n_m", "N*m", f"contact torque about {axis}") for axis in _XYZ]
    + [("contacts", "contacts", "1", "number of contacts")]
)
_REACTION = [(f"f{axis}", f"f{axis}_n", "N", f"reaction along {axis}") for axis in _XYZ] + [
    (f"t{axis}", f"t{axis}_n_m", "N*m", f"torque of the reaction about {axis}") for axis in _XYZ
]
_PAIR = [
    ("normal_force", "normal_force_n", "N", "sum of normal forces"),
    ("friction_force", "friction_force_n", "N", "sum of the magnitudes of friction forces"),
    ("impact_dissipation", "impact_dissipation_j", "J", "energy lost in the normal direction"),
    ("friction_dissipation", "friction_dissipation_j", "J", "energy lost by friction"),
    ("contacts", "contacts", "1", "number of contacts"),
]
# Impulses since the start: end of their name, column of the mean force they are the integral of, what they are.
_BODY_IMPULSES = [(f"impulse_{axis}", f"f{axis}_n", f"contact impulse since the start along {axis}") for axis in _XYZ]
_PAIR_IMPULSES = [
    ("normal_impulse", "normal_force_n", "sum of normal impulses since the start"),
    ("friction_impulse", "friction_force_n", "sum of the magnitudes of friction impulses since the start"),
]
_ENERGY = [
    ("kinetic_energy", "kinetic_j", "kinetic energy"),
    ("potential_energy", "potential_j", "potential energy, zero at the origin"),
    ("elastic_energy", "elastic_j", "energy of springs, bushings and stops"),
    ("impact_dissipation", "impact_dissipation_j", "energy lost in the normal direction of contacts"),
    ("friction_dissipation", "friction_dissipation_j", "energy lost by friction"),
    ("damping_dissipation", "damping_dissipation_j", "energy lost in dampers"),
    ("external_work", "external_work_j", "work of loads and actuators"),
    ("motion_work", "motion_work_j", "work of prescribed motions"),
    ("stabilisation_work", "stabilisation_work_j", "energy given by position stabilisation"),
    ("energy_gain", "contact_gain_j", "energy that contacts gave instead of taking"),
    ("closing_error", "closing_error_j", "what the energy account fails to explain"),
]
_FRACTURE = [("fracture_dissipation", "fracture_dissipation_j", "energy spent on breaking bonds")]
# What tells of the computation alone.
_DIAGNOSTIC = ("stabilisation_work", "closing_error")
_RUN = {
    "steps": ("steps_taken", "1", "steps taken"),
    "unmet_steps": ("unmet_steps", "1", "steps whose contact problem stayed above the tolerance"),
    "worst_residual": ("worst_residual", "1", "largest residual of a step"),
    "gain_steps": ("gain_steps", "1", "steps in which contacts gave energy"),
    "worst_drift": ("worst_drift", "1", "largest drift of a joint, m or rad"),
    "deepest_overlap": ("deepest_overlap_m", "m", "deepest overlap of any step"),
    "overlap_left": ("overlap_left_m", "m", "deepest overlap of the last step"),
}


def _columns(probe: Probe, joint_kind: str) -> list[tuple[str, str, str, str]]:
    if isinstance(probe, JointProbe):
        listed = []
        for name in JOINT_KINDS[joint_kind]:
            unit = "rad" if is_angle(name) else "m"
            listed.append((name, f"{name}_{unit}", unit, f"{name} of the joint"))
            listed.append((f"{name}_rate", f"{name}_rate_{unit}_per_s", f"{unit}/s", f"rate of the {name}"))
        return listed + _REACTION
    if isinstance(probe, PointProbe):
        return _POINT
    return _BODY if isinstance(probe, BodyProbe) else _PAIR


def _impulses(probe: Probe) -> list[tuple[str, str, str]]:
    return _BODY_IMPULSES if isinstance(probe, BodyProbe) else _PAIR_IMPULSES if isinstance(probe, PairProbe) else []


def _no_limit(column: str, probe: Probe) -> str:
    """Why the largest values of a column have no limit where bodies hit; empty: they have one."""
    if column.endswith("_per_s2"):
        return NO_LIMIT["acceleration"]
    if column.endswith(("_n", "_n_m")):
        return NO_LIMIT["reaction" if isinstance(probe, JointProbe) else "force"]
    return ""


def quantities_of(scene: Scene, *, hits: bool = True) -> dict[str, Quantity]:
    """Everything a run of the scene gives, by name; `hits`: velocities may jump."""
    kinds = {probe.name: _joint_kind(scene, probe) for probe in scene.probes}
    listed = [quantity for probe in scene.probes for quantity in _of_probe(probe, kinds[probe.name], hits)]
    listed = [TIME, *listed, *_of_run([law.groups for law in scene.laws], [bond.name for bond in scene.bonds])]
    named = {item.name: item for item in listed}
    if len(named) < len(listed):
        names = [item.name for item in listed]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"two quantities are called {twice}: give probes or groups names that differ")
    return named


def reference() -> Reference:
    """What probes of each kind give, and every run; inputs are those the study names."""
    probes: list[tuple[Probe, str]] = [
        (PointProbe("<point probe>", "<body>"), ""),
        (BodyProbe("<contacts probe>", "<body>"), ""),
        (PairProbe("<pair probe>", ("<A>", "<B>")), ""),
        *((JointProbe(f"<{kind} probe>", f"a {kind} joint"), kind) for kind in JOINT_KINDS),
    ]
    listed = [quantity for probe, kind in probes for quantity in _of_probe(probe, kind, hits=True)]
    return Reference((), (TIME, *listed, *_of_run([("<A>", "<B>")], ["<bond>"])), CONVENTIONS)


def _joint_kind(scene: Scene, probe: Probe) -> str:
    return scene.joints[scene.joint_index[probe.joint]].kind if isinstance(probe, JointProbe) else ""


def _of_probe(probe: Probe, joint_kind: str, hits: bool) -> list[Quantity]:
    """Curves of a probe."""
    if isinstance(probe, PairProbe):
        subject = f"between {probe.groups[0]} and {probe.groups[1]}"
    else:
        subject = f"of {probe.joint if isinstance(probe, JointProbe) else probe.body}"
    listed = []
    for end, column, unit, doc in _columns(probe, joint_kind):
        no_limit = _no_limit(column, probe) if hits else ""
        means = no_limit == NO_LIMIT["force"]
        listed.append(Quantity(f"{probe.name}_{end}", unit, True, f"{doc}, {subject}", "t", means, no_limit))
    for end, _, doc in _impulses(probe):
        listed.append(Quantity(f"{probe.name}_{end}", "N*s", True, f"{doc}, {subject}", "t"))
    if isinstance(probe, PointProbe):
        for axis in _XYZ:
            doc = f"displacement along {axis} since the start, of {probe.body}"
            listed.append(Quantity(f"{probe.name}_u{axis}", "m", True, doc, "t"))
        doc = f"angle by which {probe.body} has turned since the start"
        listed.append(Quantity(f"{probe.name}_turn", "rad", True, doc, "t"))
    return listed


def _of_run(pairs: Sequence[tuple[str, str]], bonds: Sequence[str] = ()) -> list[Quantity]:
    """The energy account, broken bonds, numbers of the run, and what is lost between groups that have a law."""
    energies = [*_ENERGY, *(_FRACTURE if bonds else ())]
    listed = [Quantity(name, "J", True, doc, "t", diagnostic=name in _DIAGNOSTIC) for name, _, doc in energies]
    listed += [Quantity(f"broken_{name}", "m^2", doc=f"broken area of bond {name} at the end") for name in bonds]
    listed += [Quantity(name, unit, doc=doc, diagnostic=True) for name, (_, unit, doc) in _RUN.items()]
    for groups in pairs:
        for part in ("impact", "friction"):
            doc = f"energy lost between {groups[0]} and {groups[1]} ({part})"
            listed.append(Quantity(_pair_name(part, groups), "J", doc=doc))
    return listed


def _pair_name(part: str, groups: tuple[str, str]) -> str:
    return f"{part}_{groups[0]}_{groups[1]}"


def values_of(scene: Scene, result: Result) -> dict[str, float]:
    """The numbers of a run."""
    values = {name: float(getattr(result, attribute)) for name, (attribute, _, _) in _RUN.items()}
    for groups, work in result.pairs.items():
        values[_pair_name("impact", groups)] = work.impact_dissipation_j
        values[_pair_name("friction", groups)] = work.friction_dissipation_j
    return values | {f"broken_{name}": bond.broken_m2 for name, bond in result.bonds.items()}


def curves_of(scene: Scene, result: Result) -> dict[str, ndarray]:
    """The curves of a run."""
    import numpy as np

    curves: dict[str, ndarray] = {"t": result.energy["time_s"]}
    for probe in scene.probes:
        table = result.probes[probe.name]
        for end, column, _, _ in _columns(probe, _joint_kind(scene, probe)):
            curves[f"{probe.name}_{end}"] = table[column]
        for end, column, _ in _impulses(probe):
            # Forces are means since the row before.
            work_input = table[column][1:] * np.diff(table["time_s"])
            curves[f"{probe.name}_{end}"] = np.concatenate([[0.0], np.cumsum(work_input)])
        if isinstance(probe, PointProbe):
            for axis in _XYZ:
                place = table[f"{axis}_m"]
                curves[f"{probe.name}_u{axis}"] = place - place[0]
            turned = np.stack([table[f"q{part}"] for part in "wxyz"])
            # |q - q0| = 2 sin(angle / 4) for the nearer of q and -q; exact for small angles too.
            side = np.where((turned * turned[:, :1]).sum(axis=0) < 0.0, -1.0, 1.0)
            chord = np.sqrt(((side * turned - turned[:, :1]) ** 2).sum(axis=0))
            curves[f"{probe.name}_turn"] = 4.0 * np.arcsin(np.minimum(0.5 * chord, 1.0))
    for name, column, _ in [*_ENERGY, *(_FRACTURE if scene.bonds else ())]:
        curves[name] = result.energy[column]
    return curves
