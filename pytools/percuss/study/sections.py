"""The table of sections that other parts of percuss work by, each read by the part that knows what it may say.

A section is checked to the end when a study is loaded, and kept with its quantities in SI. What is in the files it
names is for `study check`, and for the command that uses them. A new section is one module and one line here: the
module is loaded when a study has the section, so that a study may be read without the parts it does not ask for.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, cast

from percuss.study.tables import Note

if TYPE_CHECKING:
    from percuss.study.study import Study


@dataclass(frozen=True)
class Section:
    """Where a section is read, and which of its keys name files of the study's folder."""

    module: str
    files: tuple[str, ...] = ()


SECTIONS: dict[str, Section] = {
    "observations": Section("percuss.calibration.observations", ("file",)),
    "calibration": Section("percuss.calibration.blocks"),
    "validation": Section("percuss.validation.section", ("file", "extrapolate")),
}


class SectionModule(Protocol):
    """What a module in SECTIONS offers."""

    def resolve(self, study: Study, table: Mapping[str, Any], note: Note) -> dict[str, Any]:
        """Check a section, noting every fault, and return it with quantities in SI.

        A quantity comes back as `si_quantity` gives it, so that a resolved section resolves to itself.
        """
        ...

    def check_data(self, study: Study, note: Note) -> None:
        """Note what is wrong with the files of a section that has no faults itself, or does not fit them."""
        ...


def resolved_sections(study: Study, note: Note) -> dict[str, object]:
    """Check the sections of a study; and what they come to in SI."""
    return {name: _module(name).resolve(study, table, note) for name, table in _tables(study)}


def check_data(study: Study, note: Note) -> None:
    """Note what is wrong with the data that the sections of a study name."""
    for name, _ in _tables(study):
        _module(name).check_data(study, note)


def normal(study: Study) -> Study:
    """A study of an old ledger, whose sections were kept as written, in the form they have today."""
    return replace(study, sections=resolved_sections(study, lambda path, message: None))


def _tables(study: Study) -> list[tuple[str, Mapping[str, Any]]]:
    sections: Mapping[str, Any] = study.sections
    return [(name, sections[name]) for name in SECTIONS if name in sections]


def _module(name: str) -> SectionModule:
    return cast(SectionModule, importlib.import_module(SECTIONS[name].module))
