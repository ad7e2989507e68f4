"""A scene: what it consists of, what is wrong with it, and how it is set in motion."""

from __future__ import annotations

from dataclasses import dataclass

from percuss.scene.description import SceneDescription
from percuss.scene.faults import faults_of
from percuss.scene.world import Record, Result, Settings, World


@dataclass(frozen=True)
class Scene(SceneDescription):
    """Everything a simulation starts from. Names are unique; groups are referred to by name."""

    def run(
        self, duration_s: float, settings: Settings, record: Record | None = None, *, start: bytes | None = None
    ) -> Result:
        """Run from the start, or from the settled state `start`, for a duration."""
        world = self.world(settings)
        if start is not None:
            world.start_from(start)
        return world.run(duration_s, record)

    def world(self, settings: Settings) -> World:
        """The scene in motion; raises InputError for an impossible scene."""
        return World(self, settings)

    def faults(self) -> list[tuple[str, str]]:
        """Everything wrong with names, groups and laws: where, and in one sentence what."""
        return faults_of(self)
