"""Studies that come with percuss: examples to copy, and a commented beginning for each kind of model."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from percuss.errors import InputError
from percuss.spelling import did_you_mean
from percuss.study.load import EXAMPLES, STUDY_FILE, find_studies

TEMPLATES = Path(__file__).parent / "templates"
PLACEHOLDER = "NAME"
LEFT_BEHIND = shutil.ignore_patterns("__pycache__", "ledger")


def copy_example(name: str, to: Path) -> Path:
    """Copy an example into a folder; raise InputError where there is none of that name, or where one is already."""
    if name not in find_studies(EXAMPLES):
        raise InputError(f"{name!r}: no study comes with percuss under that name", hint=_near(name, EXAMPLES))
    return _write(EXAMPLES / name, to / name)


def new_study(name: str, kind: str, to: Path) -> Path:
    """Write a commented study of a kind of model, which passes `study check`, to be made one's own."""
    if not name.isprintable() or name in ("", ".", "..") or "/" in name or '"' in name or "\\" in name:
        raise InputError(f"{name!r}: the name of a study is that of its folder, without / \\ and quotes")
    if kind not in find_studies(TEMPLATES):
        raise InputError(f"--kind {kind}: there is no template for it", hint=_near(kind, TEMPLATES))
    return _write(TEMPLATES / kind, to / name, name)


def _write(source: Path, target: Path, name: str | None = None) -> Path:
    """Copy a folder whole or not at all: into one beside it that then takes its name."""
    if os.path.lexists(target):
        raise InputError(f"{target}: is there already, and nothing is overwritten")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".new-") as scratch:
            made = Path(scratch) / target.name
            shutil.copytree(source, made, ignore=LEFT_BEHIND)
            if name is not None:
                file = made / STUDY_FILE
                file.write_text(file.read_text().replace(PLACEHOLDER, name, 1))
            made.rename(target)
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror})") from error
    return target


def _near(name: str, folder: Path) -> str:
    return did_you_mean(name, find_studies(folder))
