"""An experiment: a scene brought to rest if need be, run for a while, its measurements as curves and numbers.

What a model of rigid bodies has in common, whoever builds its scene: subclass `SceneModel` and say how a point becomes
an experiment.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from percuss.errors import InputError
from percuss.ledger.canonical import canonical_json, sha256_hex
from percuss.models.model import NOTES, Done, Failed, Input, Numerics, Outcome, Quantity, Value
from percuss.models.scene.quantities import curves_of, values_of
from percuss.models.seeds import Seed
from percuss.scene import Record, Result, Scene, Settings, Settle, Settled, World
from percuss.scene.film import Film
from percuss.scene.filming import film_of

# A looser tolerance leaves what lies still creeping, and rest is found late or never.
SETTLING_TOLERANCE = 1e-4
# Frames of a film unless an interval is given: ten seconds of play at a fluent rate.
FRAMES = 240
# Settings of the smooth stepper, which does not settle, and one that changes no number.
_SMOOTH = ("stepper", "method", "accuracy", "threads")


@dataclass(frozen=True)
class Experiment:
    """A scene, how to step it, for how long, and every how many steps to measure; `settle`: come to rest first."""

    scene: Scene
    settings: Settings
    duration_s: float
    every: int = 1
    settle: Settle | None = None

    @property
    def hits(self) -> bool:
        """Whether velocities may jump: by contacts, or at stops of joints."""
        stops = any(joint.limits for joint in self.scene.joints)
        return self.settings.stepper == "nonsmooth" and (bool(self.scene.laws) or stops)

    @property
    def numerics(self) -> Numerics:
        """Step and tolerance."""
        if self.settings.stepper == "nonsmooth":
            return Numerics(self.settings.dt_s, self.settings.tolerance)
        divided = self.settings.method == "dormand-prince"
        return Numerics(self.settings.dt_s, self.settings.accuracy if divided else None)

    def refined(self, finer: int, tighter: float) -> Experiment:
        """The same with step and sampling over `finer`, tolerance and accuracy over `tighter`."""
        s = self.settings
        finest = replace(s, dt_s=s.dt_s / finer, tolerance=s.tolerance / tighter, accuracy=s.accuracy / tighter)
        return replace(self, settings=finest)

    @cached_property
    def settling_key(self) -> str:
        """Digest of everything the settled state depends on: experiments that agree in it share the state."""
        scene = self.scene.description()
        bodies = []
        for body, described in zip(self.scene.bodies, scene["bodies"], strict=True):
            thrown = any(body.velocity_m_per_s) or any(body.angular_velocity_rad_per_s)
            bodies.append(
                {key: described[key] for key in ("contactors", "position_m", "rotation_rad", "birth_s")}
                | {"role": described["role"] if body.dynamic and not thrown else None}
            )
        parts = {
            "bodies": bodies,
            "laws": [{key: law[key] for key in law if key != "restitution"} for law in scene["laws"]],
            "gravity": scene["gravity_m_per_s2"],
            "settings": {key: value for key, value in vars(self.settings).items() if key not in self._apart},
            "settle": vars(self.settle) if self.settle else None,
        }
        parts |= {key: scene[key] for key in ("joints", "elements", "bonds") if scene[key]}
        return sha256_hex(canonical_json(parts).encode())

    @property
    def _apart(self) -> tuple[str, ...]:
        """Settings that the settled state does not depend on."""
        return _SMOOTH if self.settings.sleep_speed_m_per_s > 0 else (*_SMOOTH, "sleep_speed_m_per_s", "sleep_steps")

    def settled(self) -> tuple[bytes, Settled]:
        """Where the bodies come to rest; raises InputError if they do not."""
        settings = replace(self.settings, tolerance=min(self.settings.tolerance, SETTLING_TOLERANCE))
        state, how = self.scene.world(settings).settled(self.settle)
        if not how.at_rest:
            raise InputError(
                f"the scene does not come to rest: after {how.steps} steps of settling its fastest body moves "
                f"at {how.speed_m_per_s:.3g} m/s"
            )
        return state, how

    def run(self, start: bytes | None = None, record: Record | None = None) -> Result:
        """Run from a settled state; without one the scene is settled here, to the same bits."""
        return self.run_in(start, record)[1]

    def run_in(self, start: bytes | None = None, record: Record | None = None) -> tuple[World, Result]:
        """As `run`, with the world it ended in."""
        scene = replace(self.scene, probes=[replace(probe, every=self.every) for probe in self.scene.probes])
        if start is None and self.settle is not None:
            start = self.settled()[0]
        world = scene.world(self.settings)
        if start is not None:
            world.start_from(start)
        return world, world.run(self.duration_s, replace(record or Record(), energy_every=self.every, steps_every=0))


@dataclass(frozen=True)
class SceneModel(ABC):
    """A model whose runs are experiments."""

    inputs: Mapping[str, Input]
    quantities: Mapping[str, Quantity]
    kind: str = "scene"
    batch: int = 4
    record: Record | None = None
    finer: int = 1
    tighter: float = 1.0

    @abstractmethod
    def described(self, point: Mapping[str, Value]) -> Experiment:
        """The experiment of a point as the study describes it; raises InputError for values that make no scene."""

    def experiment(self, point: Mapping[str, Value]) -> Experiment:
        """The experiment of a point, as fine as this model is."""
        described = self.described(point)
        return described if (self.finer, self.tighter) == (1, 1.0) else described.refined(self.finer, self.tighter)

    def numerics(self, point: Mapping[str, Value]) -> Numerics:
        """Step and tolerance of the run of a point."""
        return self.experiment(point).numerics

    def refined(self, point: Mapping[str, Value], finer: int, tighter: float) -> tuple[Self, dict[str, Value]]:
        """The same model, finer."""
        record = self.record and replace(self.record, bodies_every=finer * self.record.bodies_every)
        return replace(self, finer=finer * self.finer, tighter=tighter * self.tighter, record=record), dict(point)

    def settling_key(self, point: Mapping[str, Value]) -> str | None:
        """Digest of all that the settled state depends on; None: the scene starts as it is, or is none."""
        try:
            experiment = self.experiment(point)
        except InputError:
            return None
        return experiment.settling_key if experiment.settle else None

    def settled(self, point: Mapping[str, Value]) -> tuple[bytes, dict[str, float]]:
        """Where the scene comes to rest, and how."""
        state, how = self.experiment(point).settled()
        return state, {"steps": how.steps, "speed_m_per_s": how.speed_m_per_s, "moved_m": how.moved_m}

    def outcome(self, experiment: Experiment, result: Result) -> Done:
        """The quantities of a finished run."""
        return Done(values_of(experiment.scene, result), curves_of(experiment.scene, result))

    def run(self, points: Sequence[Mapping[str, Value]], seeds: Sequence[int]) -> list[Outcome]:
        """Run each point, settling first where the experiment asks for it."""
        return self.run_from(points, seeds, [None] * len(points))

    def run_from(
        self, points: Sequence[Mapping[str, Value]], seeds: Sequence[int], starts: Sequence[bytes | None]
    ) -> list[Outcome]:
        """Run each point from its settled state; None: settle here, to the same bits.

        A run whose bodies sank into each other or whose contacts made energy has failed.
        """
        outcomes: list[Outcome] = []
        for point, start in zip(points, starts, strict=True):
            try:
                experiment = self.experiment(point)
                result = experiment.run(start, self.record)
                notes = {NOTES: "\n".join(result.notes())} if result.notes() else {}
                if faults := result.faults():
                    outcomes.append(Failed(faults[0], notes))
                else:
                    outcomes.append(replace(self.outcome(experiment, result), printed=notes))
            except InputError as fault:
                outcomes.append(Failed(str(fault)))
        return outcomes

    def film(
        self, point: Mapping[str, Value], seed: Seed, start: bytes | None, interval_s: float | None
    ) -> tuple[Film, Outcome]:
        """The run with bodies and contacts kept."""
        experiment = self.experiment(point)
        steps = max(round(experiment.duration_s / experiment.settings.dt_s), 1)
        stride = interval_s / experiment.settings.dt_s if interval_s else steps / FRAMES
        every = min(max(round(stride), 1), steps)
        world, result = experiment.run_in(start, Record(bodies_every=every, contacts_every=every))
        return film_of(world, result), self.outcome(experiment, result)
