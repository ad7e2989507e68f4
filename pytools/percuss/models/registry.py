"""The table of model kinds. A new kind is one module and one line here."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, cast

from percuss.models.model import Model
from percuss.plugins import UnknownNameError, extend
from percuss.settings import Setting, clean_settings, files_inside
from percuss.spelling import did_you_mean, shown


@dataclass(frozen=True)
class Kind:
    """Where a model kind lives (imported on first use) and what it is, in one line."""

    module: str
    summary: str


MODELS: dict[str, Kind] = {
    "benchmark": Kind("percuss.models.benchmark", "closed forms to test every part against"),
    "command": Kind("percuss.models.command", "any program as a model: files in, files out, never through a shell"),
    "function": Kind("percuss.models.function", "a function of Python, defined where it is run"),
    "scene": Kind("percuss.models.scene", "rigid bodies that touch, hit and rub, described in the study file"),
    "grains": Kind("percuss.models.grains", "packings of spheres, compressed and sheared: triaxial tests"),
    "oscillators": Kind("percuss.models.oscillators", "masses on springs that collide: pounding of structures"),
    "rockfall-wall": Kind("percuss.models.rockfall_wall", "an articulated wall of blocks hit by a falling rock"),
}


class ModelModule(Protocol):
    """What a module in MODELS offers."""

    def settings(self, table: Mapping[str, object]) -> dict[str, Setting]: ...
    def configure(self, settings: Mapping[str, object], files: Mapping[str, bytes]) -> Model: ...


def all_models() -> Mapping[str, Kind]:
    """The table with the kinds that plugins add."""
    return extend(MODELS, "percuss.models", lambda p: Kind(p.module, f"of {p.package} {p.version}"))


def model_module(kind: str) -> ModelModule:
    """Import the module of a kind; raise UnknownNameError when there is no such kind."""
    if kind not in MODELS and kind not in all_models():
        raise UnknownNameError(f"unknown model kind {shown(kind)}: {did_you_mean(kind, MODELS)}")
    return cast(ModelModule, importlib.import_module(MODELS[kind].module))


def model_files(kind: str, settings: Mapping[str, object]) -> list[str]:
    """The attached files that the settings of a model name."""
    names: list[str] = []
    for name, setting in model_module(kind).settings(settings).items():
        value = settings.get(name)
        if setting.form == "file" and isinstance(value, str):
            names.append(value)
        elif setting.form == "files" and isinstance(value, list):
            names += value
        elif setting.files:
            names += files_inside(value, setting.files)
    return names


def configure(kind: str, settings: Mapping[str, object], files: Mapping[str, bytes]) -> Model:
    """Build the model of a kind from its settings and attached files.

    Raises InputError for an unknown kind, SettingsError (an InputError) for settings it cannot take.
    """
    module = model_module(kind)
    return module.configure(clean_settings(module.settings(settings), settings), files)
