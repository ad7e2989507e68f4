"""Measured values, bound to the outputs of a study."""

from __future__ import annotations

from dataclasses import dataclass, field

from percuss.kinds.body import Body, Count
from percuss.kinds.kind import Kind, Table
from percuss.spelling import counted


@dataclass(frozen=True, kw_only=True)
class ObservationsImported(Body):
    """From which files, with their digests, how many values; `twin` has the true parameters of twin data, in SI.

    `own`: they are the files that the study names, read as it says; None where that was not recorded.
    """

    file: str
    entries: Count
    twin: dict[str, float] | None
    files: dict[str, str] = field(default_factory=dict)
    own: bool | None = None


COLUMNS = {"entry": "1", "case": "", "output": "", "value": "", "std": "", "point": "", "axis": "", "instant": ""}
KIND = Kind(
    "observations.imported",
    ObservationsImported,
    "measured values, assigned to the outputs of a study",
    needs={"study": ("study.registered",)},
    tables={"observations": Table("a datum, in the SI unit of its output", COLUMNS)},
    summary=lambda body: f"{'twin' if body.twin else 'measured'}, {counted(body.entries, 'value')}, {body.file}",
    made_by="observe",
    load="percuss.calibration.records:load_observations",
    repeat="percuss.work.observe:repeat_observations",
    asked=("file", "own"),
)
