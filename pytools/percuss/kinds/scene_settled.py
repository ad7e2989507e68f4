"""A scene at rest, from which runs start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from percuss.kinds.body import Body, Count
from percuss.kinds.kind import Kind
from percuss.spelling import counted


@dataclass(frozen=True, kw_only=True)
class SceneSettled(Body):
    """What settling depends on, as a key, and how far it came; the state itself is the file `state`.

    A model may tell more of its own: a packing its porosity.
    """

    open_ended: ClassVar[bool] = True

    key: str
    steps: Count = 0
    moved_m: float | None = None
    speed_m_per_s: float | None = None


KIND = Kind(
    "scene.settled",
    SceneSettled,
    "a scene at rest, from which runs start",
    needs={"study": ("study.registered",)},
    summary=lambda body: counted(body.steps, "step"),
    made_by="run",
    repeat="percuss.work.repeat_settled:repeat_settled",
    asked=("key",),
    batch="scene",
)
