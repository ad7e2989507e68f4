"""Settings: flag > environment > project file > default, and where each value came from.

The project file is `percuss.toml`, in the working folder or the nearest folder above it. A new setting is one line
of the table.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from percuss.errors import InputError
from percuss.settings import Setting, clean_setting, from_text, table_of
from percuss.spelling import did_you_mean

PROJECT_FILE = "percuss.toml"


MOST = 1e9
SETTINGS: dict[str, Setting] = table_of(
    Setting("ledger", "text", "ledger", doc="folder of the ledger"),
    Setting("studies", "text", "studies", doc="folder in which studies are found by name"),
    Setting("identity", "text", "", doc="author of events, a name or an ORCID; empty: the login name"),
    Setting("host", "text", "", doc="name of the machine in events; empty: the name of this machine"),
    Setting(
        "private", "boolean", False, doc="store author, machine and calls separately, so that they can be redacted"
    ),
    Setting("jobs", "integer", 0, low=0, high=MOST, high_open=True, doc="runs at a time; 0: one per core"),
    Setting(
        "flush_s",
        "bare",
        1.0,
        low=0,
        high=MOST,
        high_open=True,
        doc="finished runs are written to the ledger at least this often, in seconds",
    ),
    Setting(
        "import_mb",
        "integer",
        256,
        low=0,
        high=MOST,
        high_open=True,
        doc="largest table that `import` reads, in megabytes",
    ),
)


# Those that say by whom and where events are made.
WHO = ("identity", "host", "private")


def variable_of(name: str) -> str:
    """The environment variable of a setting: PERCUSS_ and its name in capitals."""
    return f"PERCUSS_{name.upper()}"


@dataclass(frozen=True)
class ResolvedSetting:
    """A setting's value and where it came from."""

    value: Any
    source: str


def find_project(start: Path) -> Path | None:
    """The nearest `percuss.toml`, from a folder upwards."""
    for folder in (start, *start.parents):
        path = folder / PROJECT_FILE
        try:
            if path.is_file():
                return path
        except OSError as fault:  # it may hold settings that change results
            raise InputError(
                f"{path}: whether there are settings of a project cannot be seen ({fault.strerror})",
                hint="work in a folder of which every folder above it can be entered",
            ) from fault
    return None


def find_settings(
    flags: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
    start: Path | None = None,
) -> dict[str, ResolvedSetting]:
    """Every setting with its source. Paths of the project file are meant from its folder."""
    environment = os.environ if environment is None else environment
    project = find_project((start or Path.cwd()).absolute())
    table = _read_project(project) if project else {}
    resolved: dict[str, ResolvedSetting] = {}
    for name, setting in SETTINGS.items():
        flag = (flags or {}).get(name)
        if flag is not None:
            resolved[name] = ResolvedSetting(_typed(setting, flag, "flag"), f"flag --{name.replace('_', '-')}")
        elif environment.get(variable := variable_of(name)):
            resolved[name] = ResolvedSetting(
                _typed(setting, environment[variable], variable), f"environment {variable}"
            )
        elif project and name in table:
            value = _typed(setting, table[name], f"{project}: {name}")
            if name in ("ledger", "studies"):
                value = str(project.parent / str(value))
            resolved[name] = ResolvedSetting(value, str(project))
        else:
            resolved[name] = ResolvedSetting(setting.default, "default")
    return resolved


def _read_project(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > 65536:
            raise InputError(f"{path}: {path.stat().st_size} bytes, and at most 65536 are read")
        table = tomllib.loads(path.read_text())
    except (ValueError, RecursionError, OSError) as fault:
        if isinstance(fault, InputError):
            raise
        raise InputError(f"{path}: is not readable TOML ({fault})") from fault
    for key in table:
        if key not in SETTINGS:
            raise InputError(f"{path}: {key} is not a setting", hint=did_you_mean(key, SETTINGS))
    return table


def _typed(setting: Setting, value: object, where: str) -> str | int | float:
    """A value of a flag, the environment or the file: numbers, and what is true, may come as texts."""
    try:
        typed: str | int | float = clean_setting(
            setting, str(value) if isinstance(value, Path) else from_text(setting, value)
        )
    except InputError:
        raise InputError(f"{where} = {value!r}: {setting.name} must be {setting.allowed()}") from None
    return typed
