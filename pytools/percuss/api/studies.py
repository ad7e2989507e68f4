"""Studies from Python: loaded from their files, or written as the same tables without a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from percuss.config import find_settings
from percuss.errors import InputError
from percuss.study.load import load_study as load_from
from percuss.study.load import study_of_tables, study_path
from percuss.study.study import Study

StudyLike = Study | str | Path


def load_study(study: StudyLike) -> Study:
    """A study by its folder, file, or name in the folder of studies.

    >>> percuss.load_study("studies/ishigami").parameters.keys()
    dict_keys(['x1', 'x2', 'x3'])
    """
    if isinstance(study, Study):
        return study
    return load_from(study_path(str(study), Path(find_settings()["studies"].value)))


def make_study(name: str, tables: Mapping[str, Any] | None = None, **more: Any) -> Study:
    """A study from the tables of a study file (docs/study-format.md), as keyword arguments or as one mapping.

    >>> study = percuss.make_study(
    ...     "waves",
    ...     model={"kind": "benchmark", "function": "ishigami"},
    ...     parameters={f"x{i}": {"prior": {"kind": "uniform", "low": -3, "high": 3}} for i in (1, 2, 3)},
    ... )
    >>> study.name, list(study.outputs)
    ('waves', ['y'])
    """
    if not name or not name.isprintable() or "/" in name:
        raise InputError(f"study {name!r}: a name is text without slashes")
    return study_of_tables(name, {**(tables or {}), **more})
