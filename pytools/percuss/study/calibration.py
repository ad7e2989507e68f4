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

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from percuss.spelling import did_you_mean, shown
from percuss.study.tables import Note, kind_of, named_tables, only_known, optional_text, subtable
from percuss.study.toml_lines import Path

GROUP_KEYS = ("outputs", "cases", "points", "by", "discrepancy")
BLOCK_KEYS = (
    *GROUP_KEYS, "groups", "sampler", "settings", "r_hat", "ess", "evaluations", "mass", "surrogate_error",
    "measurement_error", "noise_free", "doc",
)  # fmt: skip
SPLITS = ("output", "case", "point", "axis")
# How the error of a surrogate counts: one error for all data of an output, or a new one for each datum.
COMMON, PER_DATUM = "common", "per-datum"


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
        return all(wanted is None or any(fnmatchcase(text, one) for one in wanted) for wanted, text in pairs)


@dataclass(frozen=True)
class Block:
    """How to calibrate. Errors of surrogate (None: not at all) and measurement count unless they are switched off, as
    when an inferred std is to hold all error there is. `noise_free`: data without any error are wanted. `raw` is the
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


def read_calibration(
    tables: Mapping[str, Any], outputs: Iterable[str], cases: Iterable[str], note: Note
) -> dict[str, Block]:
    """Read every block, noting what is wrong."""
    known = {"outputs": tuple(outputs), "cases": tuple(cases)}
    return {name: read_block(name, table, known, note) for name, table in named_tables(tables, "calibration", note)}


def read_block(name: str, table: Mapping[str, Any], known: Mapping[str, tuple[str, ...]], note: Note) -> Block:
    """Read one block; `known` has the outputs and cases of the study."""
    path: Path = ("calibration", name)
    only_known(table, BLOCK_KEYS, path, note)
    optional_text(table, "doc", path, note)
    inner = subtable(table, "groups", note, path)
    if inner:
        for key in GROUP_KEYS:
            if key in table:
                note((*path, key), f"stands beside groups: move it into [calibration.{name}.groups.GROUP]")
    groups = []
    for key, group in inner.items():
        if isinstance(group, dict):
            only_known(group, GROUP_KEYS, (*path, "groups", key), note)
            groups.append(_group(key, group, known, (*path, "groups", key), note))
        else:
            note((*path, "groups", key), f"must be a table, not {kind_of(group)}")
    if not inner:
        groups.append(_group("data", table, known, path, note))
    mass = table.get("mass", 0.95)
    if isinstance(mass, bool) or not isinstance(mass, int | float) or not 0 < mass < 1:
        note((*path, "mass"), f"{shown(mass)} must lie between 0 and 1")
    for key in ("measurement_error", "noise_free"):
        if not isinstance(table.get(key, True), bool):
            note((*path, key), f"must be true or false, not {kind_of(table[key])}")
    counted = table.get("surrogate_error", True)
    if not isinstance(counted, bool) and counted not in (COMMON, PER_DATUM):
        note((*path, "surrogate_error"), f'{shown(counted)} is not one of "{COMMON}", "{PER_DATUM}", true, false')
    for key in ("r_hat", "ess", "evaluations"):
        if key in table and (isinstance(table[key], bool) or not isinstance(table[key], int | float)):
            note((*path, key), f"must be a number, not {kind_of(table[key])}")
    return Block(
        name,
        tuple(groups),
        optional_text(table, "sampler", path, note) or None,
        subtable(table, "settings", note, path),
        {key: table[key] for key in ("r_hat", "ess", "evaluations") if key in table},
        mass,
        (COMMON if counted else None) if isinstance(counted, bool) else str(counted),
        bool(table.get("measurement_error", True)),
        bool(table.get("noise_free", False)),
        table,
    )


def _group(
    name: str, table: Mapping[str, Any], known: Mapping[str, tuple[str, ...]], path: Path, note: Note
) -> DataGroup:
    chosen: dict[str, tuple[str, ...] | None] = {}
    for key in ("outputs", "cases", "points"):
        given = table.get(key)
        chosen[key] = None
        if given is None:
            continue
        if not isinstance(given, list) or not given or not all(isinstance(item, str) for item in given):
            note((*path, key), "must be a list of names, with `*` for any text")
            continue
        for i, item in enumerate(given):
            if key in known and not any(fnmatchcase(one, item) for one in known[key]):
                note((*path, key, i), f"the study has no {key[:-1]} {shown(item)}; {did_you_mean(item, known[key])}")
        chosen[key] = tuple(given)
    by = optional_text(table, "by", path, note) or None
    if by is not None and by not in SPLITS:
        note((*path, "by"), f"{shown(by)} is not one of {', '.join(SPLITS)}")
    discrepancy = subtable(table, "discrepancy", note, path)
    return DataGroup(name, **chosen, by=by, discrepancy=discrepancy)
