"""`[files]` of a study file: under which licence a data file may be used, and where it is published.

    [files."observations/drops.csv"]
    licence = "CC-BY-4.0"
    doi = "10.5281/zenodo.1234567"

A file is named as the study names it. Licences are best written as SPDX identifiers (https://spdx.org/licenses).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from percuss.settings import Note, Noted, Setting, check_table, table_of, wrong_type
from percuss.spelling import did_you_mean
from percuss.study.study import Study

SCHEMA = table_of(
    Setting("licence", "text", "", doc="licence of the file, as an SPDX identifier"),
    Setting("doi", "text", "", doc="DOI of the file, such as 10.5281/zenodo.1234567"),
)
# The registrant's number and what it calls the object, as the DOI Handbook (2.2) has it.
_DOI = re.compile(r"10\.\d{4,9}(\.\d+)*/\S+")
LONGEST = 200


@dataclass(frozen=True)
class FileRights:
    """Licence and DOI of a file; empty where they are not said."""

    licence: str
    doi: str


def file_rights(study: Study) -> dict[str, FileRights]:
    """What a study says of its files, by their names."""
    table: Any = study.sections.get("files", {})
    return {name: FileRights(**entry) for name, entry in table.items()}


def resolve(study: Study, table: Mapping[str, Any], note: Note) -> dict[str, Any]:
    """Check `[files]` of a study."""
    checked_files: dict[str, Any] = {}
    for name, entry in table.items():
        path = ("files", name)
        noted = Noted(note)
        if not isinstance(entry, dict):
            noted(path, wrong_type(entry, "a table with licence and doi"))
            continue
        if name not in study.files:
            noted(path, f"the study has no such file: {did_you_mean(name, study.files)}")
        checked = check_table(SCHEMA, entry, path, noted)
        for key in SCHEMA:
            text = checked.get(key, "")
            if not isinstance(text, str) or len(text) > LONGEST or not text.isprintable():
                noted((*path, key), f"must be one line of at most {LONGEST} characters")
            elif key == "doi" and text and not _DOI.fullmatch(text):
                noted((*path, key), f"{text!r} is no DOI, which is written as 10.5281/zenodo.1234567")
        if not noted.faults:
            checked_files[name] = checked
    return checked_files


def check_data(study: Study, note: Note) -> None:
    """Nothing: that the files are there was checked when they were read."""
