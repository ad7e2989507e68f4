"""The table of model kinds. A new kind is one module and one line here."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, cast

from percuss.errors import InputError
from percuss.models.model import Model
from percuss.settings import Setting, clean_settings
from percuss.spelling import did_you_mean, shown


@dataclass(frozen=True)
class Kind:
    """Where a model kind lives (imported on first use) and what it is, in one line."""

    module: str
    summary: str


MODELS: dict[str, Kind] = {
    "benchmark": Kind("percuss.models.benchmark", "closed forms to test every part against"),
    "command": Kind("percuss.models.command", "any program as a model: files in, files out, never through a shell"),
    "scene": Kind("percuss.models.scene", "rigid bodies that touch, hit and rub, described in the study file"),
    "grains": Kind("percuss.models.grains", "packings of spheres, compressed and sheared: triaxial tests"),
    "oscillators": Kind("percuss.models.oscillators", "masses on springs that collide: pounding of structures"),
    "rockfall-wall": Kind("percuss.models.rockfall_wall", "an articulated wall of blocks hit by a falling rock"),
}


class ModelModule(Protocol):
    """What a module in MODELS offers."""

    def settings(self, table: Mapping[str, object]) -> dict[str, Setting]: ...
    def configure(self, settings: Mapping[str, object], files: Mapping[str, bytes]) -> Model: ...


def model_module(kind: str) -> ModelModule:
    """Import the module of a kind; raise InputError when there is no such kind."""
    if kind not in MODELS:
        raise InputError(f"unknown model kind {shown(kind)}: {did_you_mean(kind, MODELS)}")
    return cast(ModelModule, importlib.import_module(MODELS[kind].module))


def configure(kind: str, settings: Mapping[str, object], files: Mapping[str, bytes]) -> Model:
    """Build the model of a kind from its settings and attached files.

    Raises InputError for an unknown kind, SettingsError (an InputError) for settings it cannot take.
    """
    module = model_module(kind)
    return module.configure(clean_settings(module.settings(settings), settings), files)
