"""Load and check study files: `studies/NAME/study.toml`, or a TOML file by itself.

A study is data. Nothing in it is executed, no path it names leaves its folder, and a file that is too
large, too deeply nested or not TOML is refused with one clear sentence.

A study may come from a stranger. A path it names must stay inside its folder once links are followed, be a
regular file (a pipe would hang, /dev/zero would never end) and be small enough to hold in memory; the size is
checked on the open file, before reading.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from percuss.errors import InputError
from percuss.ledger.files import read_resolved
from percuss.study.faults import Fault, StudyError, dotted

if TYPE_CHECKING:
    from percuss.settings import KeyPath
    from percuss.study.study import Study

STUDY_FILE = "study.toml"
MAX_STUDY_BYTES = 1_000_000
MAX_FAULTS = 100
# The folder `studies` of the repository, part of the package under this name.
EXAMPLES = Path(__file__).parent.parent / "examples"


class _TooManyFaultsError(Exception):
    """Enough was found: a hostile file could keep the check busy for hours."""


def find_studies(root: Path) -> list[str]:
    """List the studies in a folder by name, sorted, without reading them; none where there is no folder."""
    try:
        with os.scandir(root) as entries:
            return sorted(entry.name for entry in entries if Path(entry.path, STUDY_FILE).is_file())
    except OSError:
        return []


def named_study(text: str, studies: Path) -> Path | None:
    """A study by path, or by its name in the folder of studies; None where there is no such."""
    path = Path(text)
    if path.exists():
        return path
    named = studies / text
    return named if named.is_dir() and "/" not in text and text not in ("", ".", "..") else None


def study_path(text: str, studies: Path) -> Path:
    """A study by path or by name; raise InputError where there is no such."""
    from percuss.spelling import did_you_mean

    if path := named_study(text, studies):
        return path
    example = text.removeprefix(f"{studies}/")
    raise InputError(
        f"study {text!r}: neither a path nor a name in {studies}",
        hint=f"percuss study copy {example} brings the example of that name"
        if example in find_studies(EXAMPLES)
        else did_you_mean(text, find_studies(studies)),
    )


def is_study(path: Path, name: str) -> bool:
    """Whether a study of that name lies in a folder or file, without reading it."""
    file = path / STUDY_FILE if path.is_dir() else path
    return file.suffix == ".toml" and file.is_file() and _name(file) == name


def _name(file: Path) -> str:
    return file.resolve().parent.name if file.name == STUDY_FILE else file.stem


def load_study(path: Path) -> Study:
    """Load the study in a folder or file; raise StudyError with every fault found."""
    study, faults = _read(Path(path), data=False)
    if faults or study is None:
        raise StudyError(faults, str(path))
    return study


def study_of_tables(name: str, tables: Mapping[str, Any]) -> Study:
    """A study from the tables of a study file; raise StudyError with every fault. It has no folder, so no files."""
    from percuss.study.schema import read_study

    noted: list[tuple[KeyPath, str]] = []

    def read_file(relative: str, limit: int) -> bytes:
        raise InputError(f"{relative}: a study without a folder has no files")

    study = read_study(name, tables, lambda key, message: noted.append((key, message)), read_file)
    if noted or study is None:
        raise StudyError([Fault(name, 0, dotted(key), message) for key, message in noted], name)
    return study


def check_study(path: Path) -> list[Fault]:
    """Find every fault of a study file and of the data it names, in the order of its lines."""
    return _read(Path(path), data=True)[1]


def _read(path: Path, *, data: bool) -> tuple[Study | None, list[Fault]]:
    """Read a study and, if it has no faults so far, check the `data` its sections name."""
    # Here and not above: completing the name of a study should cost no more than listing a folder.
    from percuss.study.schema import read_study
    from percuss.study.sections import check_data
    from percuss.study.tables import TomlError, TomlFile

    file = path / STUDY_FILE if path.is_dir() else path
    shown = str(file)
    try:
        content = read_inside(file.parent, file.name, MAX_STUDY_BYTES)
        tables = TomlFile(shown, content)
    except TomlError as fault:
        return None, [fault.fault]
    except InputError as fault:
        return None, [Fault(shown, 0, "", str(fault))]
    noted: list[tuple[KeyPath, str]] = []

    def note(key: KeyPath, message: str) -> None:
        noted.append((key, message))
        if len(noted) == MAX_FAULTS:
            raise _TooManyFaultsError

    def read_file(relative: str, limit: int) -> bytes:
        return read_inside(file.parent, relative, limit)

    name = _name(file)
    study = None
    try:
        study = read_study(name, tables.table, note, read_file)
        study = replace(study, text=content) if study else None
        if data and study and not noted:
            check_data(study, note)
    except _TooManyFaultsError:
        noted.append(((), f"has more than {MAX_FAULTS} faults: the rest is not listed"))
    return (None, tables.faults(noted)) if noted else (study, [])


def read_inside(folder: Path, relative: str, limit: int) -> bytes:
    """Read a regular file of at most `limit` bytes that lies inside `folder`, links followed."""
    try:
        root = folder.resolve(strict=True)
        target = (root / relative).resolve(strict=True)
    except FileNotFoundError:
        raise InputError(f"`{relative}` does not exist in {folder}") from None
    except (OSError, RuntimeError) as fault:
        raise InputError(f"`{relative}` cannot be read: {getattr(fault, 'strerror', None) or fault}") from None
    if not target.is_relative_to(root):
        raise InputError(f"`{relative}` is a link out of the study's folder")
    # Not resolved again: what has become a link since is refused.
    return read_resolved(target, f"`{relative}`", limit)
