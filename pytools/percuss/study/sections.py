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

from percuss.plugins import extend
from percuss.settings import Note, Setting

if TYPE_CHECKING:
    from percuss.study.study import Study


@dataclass(frozen=True)
class Section:
    """Where a section is read, and what it is for, in one line."""

    module: str
    summary: str


SECTIONS: dict[str, Section] = {
    "observations": Section("percuss.calibration.observations", "files of measured values, and how they are read"),
    "calibration": Section("percuss.calibration.blocks", "which data, with which discrepancy, by which sampler"),
    "correlations": Section("percuss.study.joint", "parameters that are not independent: a Gaussian copula"),
    "limits": Section("percuss.study.limits", "when a run counts as a failure, for percuss reliability"),
    "candidates": Section("percuss.calibration.candidates", "tests that could be made next, for percuss advise"),
    "filter": Section("percuss.filtering.section", "observations that weight the runs of an ensemble, and their error"),
    "files": Section("percuss.study.file_rights", "licence and DOI of data files"),
    "validation": Section("percuss.validation.section", "motions that a model follows with parameters that may drift"),
}


def all_sections() -> Mapping[str, Section]:
    """The table with the sections that plugins add."""
    return extend(SECTIONS, "percuss.sections", lambda p: Section(p.module, f"of {p.package} {p.version}"))


class SectionModule(Protocol):
    """What a module in SECTIONS offers."""

    @property
    def SCHEMA(self) -> Mapping[str, Setting]:  # noqa: N802 (a constant of the module)
        """Keys of the section, or of each of its tables; those of the form `file` name files of the study's folder."""
        ...

    def resolve(self, study: Study, table: Mapping[str, Any], note: Note) -> dict[str, Any]:
        """Check a section, noting every fault, and return it with quantities in SI.

        A quantity comes back as `si_quantity` gives it, so that a resolved section resolves to itself.
        """
        ...

    def check_data(self, study: Study, note: Note) -> None:
        """Note what is wrong with the files of a section that has no faults itself, or does not fit them."""
        ...


def section_module(name: str) -> SectionModule:
    """The module that reads a section."""
    return cast(SectionModule, importlib.import_module(SECTIONS[name].module))


def file_keys(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Keys of a section that name files of the study's folder, at its top or in its tables; and keys of tables of
    tables that do.
    """
    schema = section_module(name).SCHEMA
    own = tuple(key for key, setting in schema.items() if setting.form == "file")
    return own, tuple(key for key, setting in schema.items() if setting.form == "table" and setting.files)


def resolved_sections(study: Study, note: Note) -> dict[str, object]:
    """Check the sections of a study; and what they come to in SI."""
    return {name: section_module(name).resolve(study, table, note) for name, table in _tables(study)}


def check_data(study: Study, note: Note) -> None:
    """Note what is wrong with the data that the sections of a study name."""
    for name, _ in _tables(study):
        section_module(name).check_data(study, note)


def normal(study: Study) -> Study:
    """A study of an old ledger, whose sections were kept as written, in the form they have today."""
    return replace(study, sections=resolved_sections(study, lambda path, message: None))


def _tables(study: Study) -> list[tuple[str, Mapping[str, Any]]]:
    sections: Mapping[str, Any] = study.sections
    known = SECTIONS if sections.keys() <= SECTIONS.keys() else all_sections()
    return [(name, sections[name]) for name in known if name in sections]
