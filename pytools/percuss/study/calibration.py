"""`[calibration.NAME]` of a study file: which data, with which discrepancy, by which sampler.

    [calibration.all]
    outputs = ["top_*", "base_*"]                    # default: all that was observed; likewise cases and points
    discrepancy = { kind = "gaussian", std = "2 cm" }
    by = "point"                                     # a data group for each; default: one group
    sampler = "adaptive-metropolis"
    settings = { chains = 100 }                      # of the sampler
    evaluations = 4000000                            # budget; with r_hat and ess, when to stop

Groups of different discrepancies stand in tables `[calibration.NAME.groups.GROUP]` with the first five keys. A number
of a discrepancy is a quantity, or `{ prior = {...} }` to be inferred, with `name` to share it between groups. What
discrepancies and samplers there are is for `percuss.inference` to say, and `percuss.calibration.blocks` to check.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from percuss.settings import KeyPath, Note, Setting, check_table, table_of, wrong_type
from percuss.spelling import did_you_mean, shown
from percuss.study.tables import named_tables

SPLITS = ("output", "case", "point", "axis")
# Columns of the data that may tell specimens apart.
APART = ("specimen", "case", "point")
# How the error of a surrogate counts: one error for all data of an output, or a new one for each datum.
COMMON, PER_DATUM = "common", "per-datum"

STOPPING = table_of(
    Setting("r_hat", "bare", low=1, low_open=True, doc="R-hat below which chains have converged"),
    Setting("ess", "bare", low=0, low_open=True, doc="effective sample size required of every parameter"),
    Setting("evaluations", "integer", low=1, doc="maximum number of likelihood evaluations"),
)

GROUP = table_of(
    Setting("outputs", "texts", doc="which outputs, `*` for any text; default: all that were observed"),
    Setting("cases", "texts", doc="which cases, likewise"),
    Setting("points", "texts", doc="which points of measurement, likewise"),
    Setting("by", "text", "", choices=SPLITS, doc="a data group for each; default: one group"),
    Setting(
        "discrepancy", "table", {}, doc="how data scatter about the model: kind, std and the other fields of the kind"
    ),
)
SPECIMENS = table_of(
    Setting(
        "by", "text", "specimen", choices=APART, doc="what distinguishes specimens: the column specimen, case or point"
    ),
    Setting("free", "texts", [], doc="parameters that are independent in each specimen, with their own prior"),
    Setting("population", "texts", [], doc="parameters drawn from a population, whose centre and spread are inferred"),
    Setting("spread", "table", {}, doc="prior of the spreads, in standard deviations of the parameter's prior"),
)
BLOCK = (
    GROUP
    | STOPPING
    | table_of(
        Setting("groups", "table", {}, doc="groups of different discrepancies, each a table of the keys above"),
        Setting("specimens", "table", {}, of=SPECIMENS, doc="which parameters differ between specimens"),
        Setting("sampler", "text", "", doc="name of the sampler"),
        Setting("settings", "table", {}, doc="settings of the sampler"),
        Setting(
            "mass",
            "bare",
            0.95,
            low=0,
            high=1,
            low_open=True,
            high_open=True,
            doc="probability inside credible intervals",
        ),
        Setting(
            "surrogate_error",
            "boolean",
            True,
            choices=(COMMON, PER_DATUM),
            doc=f'"{COMMON}" for an output, "{PER_DATUM}", or false: not counted',
        ),
        Setting(
            "roughness",
            "boolean",
            False,
            doc="with --direct: whether the roughness of outputs counts as an error of them",
        ),
        Setting("measurement_error", "boolean", True, doc="whether the std of the data is part of the likelihood"),
        Setting("noise_free", "boolean", False, doc="use data that have no error at all"),
        Setting("doc", "text", "", doc="description"),
    )
)


@dataclass(frozen=True)
class DataGroup:
    """Which data (None: all; `*` stands for any text), split by what, and the discrepancy as written."""

    name: str
    outputs: tuple[str, ...] | None = None
    cases: tuple[str, ...] | None = None
    points: tuple[str, ...] | None = None
    by: str | None = None
    discrepancy: Mapping[str, Any] = field(default_factory=dict)

    def takes(self, output: str, case: str, point: str | None) -> bool:
        """Whether a datum belongs to the group."""
        pairs = ((self.outputs, output), (self.cases, case), (self.points, point or ""))
        return all(patterns is None or any(fnmatchcase(text, one) for one in patterns) for patterns, text in pairs)


@dataclass(frozen=True)
class Specimens:
    """Told apart by a column of the data, with parameters of their own; `spread` is the prior as written."""

    by: str
    free: tuple[str, ...]
    population: tuple[str, ...]
    spread: Mapping[str, Any]


@dataclass(frozen=True)
class Block:
    """How to calibrate. Errors of surrogate (None: not at all) and measurement count unless they are switched off, as
    when an inferred std is to hold all error there is. `noise_free`: use data that have no error at all. `raw` is the
    table as written, which the ledger keeps.
    """

    name: str
    groups: tuple[DataGroup, ...]
    sampler: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    stopping: Mapping[str, Any] = field(default_factory=dict)
    mass: float = 0.95
    surrogate_error: str | None = COMMON
    measurement_error: bool = True
    noise_free: bool = False
    raw: Mapping[str, Any] = field(default_factory=dict)
    specimens: Specimens | None = None
    roughness: bool = False

    def with_roughness(self) -> Block:
        """The same, with roughness of a simulator's outputs as an error of them."""
        return replace(self, roughness=True, raw={**self.raw, "roughness": True})


def read_calibration(tables: Mapping[str, Any], known: Mapping[str, tuple[str, ...]], note: Note) -> dict[str, Block]:
    """Read every block, noting what is wrong; `known` as for `read_block`."""
    return {name: read_block(name, table, known, note) for name, table in named_tables(tables, "calibration", note)}


def read_block(name: str, table: Mapping[str, Any], known: Mapping[str, tuple[str, ...]], note: Note) -> Block:
    """Read one block; `known` has the outputs, cases and parameters of the study."""
    path: KeyPath = ("calibration", name)
    checked = check_table(BLOCK, table, path, note)
    counted = checked["surrogate_error"]
    return Block(
        name,
        _groups(table, checked, known, path, note),
        checked["sampler"] or None,
        checked["settings"],
        {key: checked[key] for key in STOPPING if key in checked},
        checked["mass"],
        (COMMON if counted else None) if isinstance(counted, bool) else counted,
        checked["measurement_error"],
        checked["noise_free"],
        table,
        _specimens(checked["specimens"], known, (*path, "specimens"), note) if checked["specimens"] else None,
        checked["roughness"],
    )


def _specimens(table: Mapping[str, Any], known: Mapping[str, tuple[str, ...]], path: KeyPath, note: Note) -> Specimens:
    checked = check_table(SPECIMENS, table, path, note)
    for key in ("free", "population"):
        for i, name in enumerate(checked[key]):
            if name not in known["parameters"]:
                note((*path, key, i), f"no such parameter; {did_you_mean(name, known['parameters'])}")
            elif key == "free" and name in checked["population"]:
                note((*path, key, i), f"{name} is free or of the population, not both")
    if not checked["free"] and not checked["population"]:
        note(path, "name parameters that are free or of a population: without any, all specimens are one")
    return Specimens(checked["by"], tuple(checked["free"]), tuple(checked["population"]), checked["spread"])


def _groups(
    table: Mapping[str, Any],
    checked: Mapping[str, Any],
    known: Mapping[str, tuple[str, ...]],
    path: KeyPath,
    note: Note,
) -> tuple[DataGroup, ...]:
    """The groups that a block names, or the one that it is."""
    if not checked["groups"]:
        return (_group("data", checked, known, path, note),)
    for key in GROUP:
        if key in table:
            note((*path, key), f"stands beside groups: move it into [calibration.{path[-1]}.groups.GROUP]")
    groups = []
    for name, group in checked["groups"].items():
        place = (*path, "groups", name)
        if isinstance(group, dict):
            groups.append(_group(name, check_table(GROUP, group, place, note), known, place, note))
        else:
            note(place, wrong_type(group, "a table"))
    return tuple(groups)


def _group(
    name: str, checked: Mapping[str, Any], known: Mapping[str, tuple[str, ...]], path: KeyPath, note: Note
) -> DataGroup:
    chosen: dict[str, tuple[str, ...] | None] = dict.fromkeys(("outputs", "cases", "points"))
    for key in chosen:
        patterns = checked.get(key)
        if patterns == []:
            note((*path, key), "must be a list of names, with `*` for any text")
        elif patterns is not None:
            chosen[key] = tuple(patterns)
        for i, item in enumerate(patterns or ()):
            if key in known and not any(fnmatchcase(one, item) for one in known[key]):
                note((*path, key, i), f"the study has no {key[:-1]} {shown(item)}; {did_you_mean(item, known[key])}")
    return DataGroup(name, **chosen, by=checked["by"] or None, discrepancy=checked["discrepancy"])
