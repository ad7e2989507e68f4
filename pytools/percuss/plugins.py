"""Plugins: other packages that add to the tables of percuss, by entry points.

A package says in its `pyproject.toml` what it adds, and is installed; nothing else is needed:

    [project.entry-points."percuss.models"]
    pendulum = "percuss_pendulum.model"

What an entry point names is said in `GROUPS`. A table is extended when a name is asked for that it does not have, or
when it is listed: whoever uses what comes with percuss does not pay for looking. A plugin cannot take a name that is
there already. Every event that is made while code of a plugin is loaded says so, with its version.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from percuss.errors import InputError, NotHereError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

# What a plugin may add, and what its entry point names.
GROUPS: dict[str, str] = {
    "percuss.models": "a module with `settings` and `configure` (percuss.models.model)",
    "percuss.priors": "a class of priors (percuss.study.priors.prior.Prior)",
    "percuss.samplers": "a module with `SETTINGS` and `run` (percuss.inference.samplers.registry)",
    "percuss.families": "a module with `fit` and `load` (percuss.surrogates.model)",
    "percuss.sections": "a module with `resolve`, `check_data` and `FILES` (percuss.study.sections)",
    "percuss.kinds": "a kind of event (percuss.kinds.kind.Kind)",
    "percuss.commands": "a module with a Typer `app`, its first line the summary (percuss.cli.app)",
}

Row = TypeVar("Row")


class UnknownNameError(NotHereError):
    """A name that no table has: of a model, a prior, a sampler. It may be of a plugin that is not installed here."""


@dataclass(frozen=True)
class Plugin:
    """Something a package adds: to which table, under which name, and where it is."""

    group: str
    name: str
    value: str
    package: str
    version: str

    @property
    def module(self) -> str:
        """The module it is in."""
        return self.value.partition(":")[0]

    def load(self) -> Any:
        """What the entry point names; raise InputError if that cannot be imported."""
        import importlib

        module, _, name = self.value.partition(":")
        try:
            loaded = importlib.import_module(module)
            return getattr(loaded, name) if name else loaded
        except Exception as fault:  # whatever the code of others does when it is imported
            message = f"{type(fault).__name__}: {fault}"
            raise InputError(
                f"plugin {self.package} {self.version}: {self.value} cannot be loaded ({message})",
                hint="percuss doctor lists plugins; pip uninstall removes one",
            ) from fault


@cache
def installed() -> tuple[Plugin, ...]:
    """Every plugin of this environment, by group and name."""
    if not _any_mentioned():
        return ()
    from importlib.metadata import entry_points

    plugins = [_plugin(point) for group in GROUPS for point in entry_points(group=group)]
    return tuple(sorted(plugins, key=lambda plugin: (plugin.group, plugin.name, plugin.package)))


def _plugin(point: EntryPoint) -> Plugin:
    package = point.dist
    return Plugin(
        point.group, point.name, point.value, package.name if package else "?", package.version if package else "?"
    )


def _any_mentioned() -> bool:
    """Whether any installed package has entry points for percuss: read as text, which costs a tenth of parsing them."""
    for place in dict.fromkeys(sys.path):
        try:
            files = list(Path(place).glob("*.dist-info/entry_points.txt")) if place else []
        except OSError:
            continue
        for file in files:
            try:
                if b"[percuss." in file.read_bytes():
                    return True
            except OSError:
                continue
    return False


def extend(table: MutableMapping[str, Row], group: str, row: Callable[[Plugin], Row]) -> MutableMapping[str, Row]:
    """The table with what plugins add to it, each row made by `row`."""
    for plugin in installed():
        if plugin.group == group and plugin.name not in table:
            table[plugin.name] = row(plugin)
    return table


def loaded() -> dict[str, str]:
    """Packages of plugins whose code is loaded in this process, with their versions."""
    return {p.package: p.version for p in installed() if p.module in sys.modules}
