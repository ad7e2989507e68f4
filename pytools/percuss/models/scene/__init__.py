"""Rigid bodies in contact, described in a study file; `docs/scenes.md` is the reference.

    [model]
    kind = "scene"
    duration = "2 s"
    step = "1 ms"

    [[model.bodies]]
    name = "ground"
    fixed = true
    contactors = [{ shape = "half-space", group = "ground" }]

    [[model.bodies]]
    name = "block"
    mass = "10 kg"
    position = [0, 0, "10 cm"]
    velocity = ["$speed", 0, 0]
    contactors = [{ shape = "box", size = ["0.4 m", "0.4 m", "0.2 m"], group = "block" }]

    [[model.laws]]
    groups = ["ground", "block"]
    friction = "$mu"

    [[model.probes]]
    name = "block"
    body = "block"

Every `$name` is an input of the model, in the unit of its place, so that a study can put a prior on it, set it in a
case, or give it on the command line. SI inside.
"""

from __future__ import annotations

from percuss.models.scene.experiment import Experiment, SceneModel
from percuss.models.scene.model import configure
from percuss.models.scene.quantities import reference
from percuss.models.scene.tables import settings

__all__ = ["Experiment", "SceneModel", "configure", "reference", "settings"]
