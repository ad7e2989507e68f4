"""A scene in motion, and what a run of it leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from percuss import _core
from percuss.errors import InputError
from percuss.scene.bonds import BondState
from percuss.scene.checkpoint import Checkpoint, run_in_pieces
from percuss.scene.faults import faults_of

if TYPE_CHECKING:
    from numpy import ndarray

    from percuss.scene.description import SceneDescription
    from percuss.scene.shapes import Vector

Table = Mapping[str, "ndarray"]
T = TypeVar("T")


# A run whose shapes overlap by more than this share of half the thinner one's width has sunk; one whose contacts gave
# more than this share of the energy there is was driven by its solver.
MOST_OVERLAP = 0.5
MOST_GAIN = 0.1


@dataclass(frozen=True)
class Settings:
    """Step, stepper, and the scheme and contact solver of the nonsmooth one.

    The `stepper` is `nonsmooth`, or `smooth` for scenes without contact laws: there the `method` is `adams`, `rk4`, or
    `dormand-prince`, which divides each step until its error is below `accuracy` (relative to 1 plus the value, SI).

    `theta` = 1/2 conserves energy between impacts. A step whose contact problem stays above `tolerance` (residual
    free of units, at most 0.1) is counted as not met. A contact is active up to a gap of `contact_tolerance_m`; bodies
    may overlap by `overlap_tolerance_m` at the start. With `look_ahead_m` above 0 contacts without restitution that are
    open by no more than that and would close in the step end at touch, overlap of bodies that slide around each other
    is worked off by their closing velocity, and what lies deeper than a twentieth of it in each other is pushed apart.
    With `stabilise` all overlaps are. Pushing goes as far as this step's dissipation pays for; none of it gives energy.

    Bodies that contacts and joints connect are an island, a contact problem of its own. With `sleep_speed_m_per_s`
    above 0 islands slower than that for `sleep_steps` steps are no longer solved, until something touches or loads
    them. A step takes `threads` threads, with 0 as many as `percuss run` leaves it (1 elsewhere); no number depends
    on it.
    """

    dt_s: float
    stepper: str = "nonsmooth"
    method: str = "adams"
    accuracy: float = 1e-9
    theta: float = 0.5
    solver: str = "auto"
    tolerance: float = 1e-6
    max_iterations: int = 1000
    max_factorisations: int = 2_000
    contact_tolerance_m: float = 1e-8
    look_ahead_m: float = 0.0
    overlap_tolerance_m: float = 1e-6
    stabilise: bool = False
    sleep_speed_m_per_s: float = 0.0
    sleep_steps: int = 50
    threads: int = 0


@dataclass(frozen=True)
class Record:
    """What a run records besides its probes: one row every this many steps, 0 for never."""

    energy_every: int = 1
    steps_every: int = 1
    bodies_every: int = 0
    contacts_every: int = 0


@dataclass(frozen=True)
class Settle:
    """When a scene counts as settled: every body slower than a speed for some steps in a row.

    In each step the velocities are reduced by the share `damping`, so that loose bodies come to rest soon.
    """

    speed_m_per_s: float = 1e-6
    quiet_steps: int = 10
    damping: float = 0.02
    max_steps: int = 20_000


@dataclass(frozen=True)
class Settled:
    """How settling ended: whether at rest, the largest speed, the largest displacement of a centre of mass."""

    at_rest: bool
    steps: int
    speed_m_per_s: float
    moved_m: float


@dataclass(frozen=True)
class Assembled:
    """How joints were assembled: the largest displacement of a centre of mass, and redundant rows, as joint and row."""

    moved_m: float
    redundant: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class PairWork:
    """What the contacts under one law did since the start."""

    impact_dissipation_j: float
    friction_dissipation_j: float
    normal_impulse_n_s: float
    friction_impulse_n_s: float


@dataclass(frozen=True)
class Result:
    """What a run leaves: tables by column, and sums at its end.

    `energy` and `pairs` count from the start of the world, not of the run. Contact forces are mean forces of their
    step, on the second body; `bond_points` has a row for every point of a bond, as often as `contacts`.
    `deepest_overlap_share` is the largest overlap over half the width of the
    thinner shape along the normal; `gain_share` what contacts gave instead of taking, over the largest kinetic energy
    and what would lift every body by its size (a radius, half a side).
    """

    probes: Mapping[str, Table]
    energy: Table
    steps: Table
    bodies: Table
    contacts: Table
    steps_taken: int
    unmet_steps: int
    worst_residual: float
    gain_steps: int
    deepest_overlap_m: float
    deepest_overlap_share: float
    gain_share: float
    overlap_left_m: float
    worst_drift: float
    pairs: Mapping[tuple[str, str], PairWork]
    account_j: Mapping[str, float]
    bonds: Mapping[str, BondState] = field(default_factory=dict)
    bond_points: Table = field(default_factory=dict)

    def faults(self) -> list[str]:
        """Why this run is not reliable, a sentence each; empty if it is."""
        sentences = []
        if self.deepest_overlap_share > MOST_OVERLAP:
            sentences.append(
                f"bodies sank into each other: by {self.deepest_overlap_share:.2g} of half the thinner one's width, at "
                f"most {MOST_OVERLAP:g} is taken for contact; take shorter steps, a smaller tolerance, or masses "
                "nearer to each other"
            )
        if self.gain_share > MOST_GAIN:
            sentences.append(
                f"contacts made energy: {self.gain_share:.2g} of what there is, at most {MOST_GAIN:g} is taken; take a "
                'smaller tolerance, impact = "fremond", or masses nearer to each other'
            )
        return sentences

    def notes(self) -> list[str]:
        """Notes on the run, a sentence each."""
        if not self.unmet_steps:
            return []
        steps = f"{self.unmet_steps} of {self.steps_taken} steps"
        return [f"{steps} missed the tolerance of the contact solver (largest residual {self.worst_residual:.2g})"]


class World:
    """A scene in motion. The same scene and settings give the same bits, on any machine that runs the same build."""

    def __init__(self, scene: SceneDescription, settings: Settings) -> None:
        faults = faults_of(scene)
        if faults:
            more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
            raise InputError(f"{faults[0][1]}{more}")
        self.scene = scene
        self.settings = settings
        self.core = _asked(lambda: _core.RigidWorld(scene.description(), vars(settings)))

    def assembled(self) -> Assembled:
        """How the joints were assembled at the start."""
        moved_m, redundant = self.core.assembled()
        return Assembled(moved_m, tuple(redundant))

    def run(self, duration_s: float, record: Record | None = None, *, checkpoint: Checkpoint | None = None) -> Result:
        """Continue for a duration, rounded to whole steps; with a checkpoint, from where it was stopped."""
        record = record or Record()
        if checkpoint is None:
            recorded = _asked(lambda: self.core.run(duration_s, **vars(record)))
        else:
            start = (self.scene.description(), vars(self.settings))
            recorded = _asked(lambda: run_in_pieces(self.core, start, duration_s, vars(record), checkpoint))
        # What contacts gave instead of taking, over the energy there is.
        gained = recorded.pop("gained_j")
        there = recorded.pop("largest_kinetic_j") + recorded.pop("lifting_j")
        share = gained / there if gained > 0 else 0.0
        account = self.core.energy()
        return Result(**recorded, gain_share=share, pairs=self.pairs(), account_j=account, bonds=self.bonds())

    def bonds(self) -> dict[str, BondState]:
        """What is left of the bonds now, by name."""
        points = self.core.bond_points()
        strengths = {}
        for index, bond in enumerate(self.scene.bonds):
            own = points[points[:, 0] == index]
            area, damage = own[:, 1], own[:, 2]
            whole = float(area.sum())
            mean = float(area @ damage) / whole if whole else 0.0
            strengths[bond.name] = BondState(whole, float(area[damage >= 1].sum()), mean)
        return strengths

    def pairs(self) -> dict[tuple[str, str], PairWork]:
        """What the contacts did so far, by the groups of their law."""
        works = self.core.pair_work()
        return {law.groups: PairWork(*work) for law, work in zip(self.scene.laws, works, strict=True)}

    def settled(self, settle: Settle | None = None) -> tuple[bytes, Settled]:
        """Where the bodies come to rest, for `start_from`; this world stays as it is.

        The state serves every scene that differs in restitution, loads, motions and velocities that are not zero.
        """
        state, facts = _asked(lambda: self.core.settled(**vars(settle or Settle())))
        return state, Settled(**facts)

    def start_from(self, state: bytes) -> None:
        """Put the bodies where `settled` found them at rest; before the first step."""
        _asked(lambda: self.core.start_from(state))

    def settle(self, settle: Settle | None = None) -> Settled:
        """Bring the bodies to rest before the first step. Bodies that have a velocity stay where they are."""
        state, settled = self.settled(settle)
        self.start_from(state)
        return settled

    def snapshot(self) -> bytes:
        """The state now, bit for bit."""
        return self.core.snapshot()

    def restore(self, state: bytes) -> None:
        """Go back to a state of the same scene; what follows repeats to the bit."""
        _asked(lambda: self.core.restore(state))

    def set_velocity(
        self, body: str, velocity_m_per_s: Vector, angular_velocity_rad_per_s: Vector = (0.0, 0.0, 0.0)
    ) -> None:
        """Give a body another velocity; the change of energy is recorded as `brought_in_j`."""
        self.core.set_velocity(self.scene.body_index[body], velocity_m_per_s, angular_velocity_rad_per_s)

    @property
    def time_s(self) -> float:
        """Time now."""
        return self.core.time_s

    def position_m(self, body: str) -> ndarray:
        """Where the origin of a body's frame is."""
        return self.core.poses()[self.scene.body_index[body], :3]

    def velocity_m_per_s(self, body: str) -> ndarray:
        """Velocity of a body's centre of mass."""
        return self.core.velocities()[self.scene.body_index[body], :3]

    def mass_kg(self, body: str) -> float | None:
        """Mass of a body; None where forces do not move it."""
        return self.core.masses_kg()[self.scene.body_index[body]]


def _asked(core: Callable[[], T]) -> T:
    """What the core answers; its refusals are errors of the input."""
    try:
        return core()
    except ValueError as fault:
        raise InputError(str(fault)) from None
