"""Long runs that survive being killed: their state and tables in a file, written at an interval."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from percuss.errors import InputError

if TYPE_CHECKING:
    from percuss._core import RigidWorld

# Sums over the pieces of a run, largest values of them, and values of the last; the rest are tables.
SUMS = ("steps_taken", "unmet_steps", "gain_steps", "gained_j")
LARGEST = ("worst_residual", "deepest_overlap_m", "deepest_overlap_share", "worst_drift", "largest_kinetic_j")
LAST = ("overlap_left_m", "lifting_j")


@dataclass(frozen=True)
class Checkpoint:
    """A file that a run writes every `every_s` seconds of its own time, and goes on from if it is there.

    A run that goes on ends with the same bits as one that was never stopped. The file is gone when the run has ended.
    """

    path: str | os.PathLike[str]
    every_s: float


def run_in_pieces(
    core: RigidWorld,
    start: tuple[Mapping[str, Any], Mapping[str, Any]],
    duration_s: float,
    record: Mapping[str, Any],
    checkpoint: Checkpoint,
) -> dict[str, Any]:
    """What the core leaves of a whole run, by pieces between checkpoints; `start` are its scene and settings."""
    path, step = Path(checkpoint.path), start[1]["dt_s"]
    if not 0.5 * step < checkpoint.every_s < math.inf:
        raise InputError(f"every_s = {checkpoint.every_s:g}: must be finite and at least a step, {step:g} s")
    if not path.parent.is_dir():
        raise InputError(f"{path}: its folder does not exist")
    total, every = round(duration_s / step), round(checkpoint.every_s / step)
    digest = _digest(core, start, duration_s, record)
    record_so_far: dict[str, Any] = {}
    if path.exists():
        record_so_far, state = _read(path, digest)
        core.restore(state)
    while (steps := record_so_far.get("steps_taken", 0)) < total:
        piece = core.run(min(every, total - steps) * step, **record)
        record_so_far = _joined(record_so_far, piece)
        if record_so_far["steps_taken"] < total:
            _write(path, record_so_far, core.snapshot(), digest)
    if not record_so_far:
        record_so_far = core.run(0.0, **record)
    path.unlink(missing_ok=True)
    return record_so_far


def _digest(
    core: RigidWorld, start: tuple[Mapping[str, Any], Mapping[str, Any]], duration_s: float, record: Mapping[str, Any]
) -> str:
    from hashlib import sha256

    scene, settings = start[0], {key: value for key, value in start[1].items() if key != "threads"}
    parts = (_in_full(scene), settings, duration_s, dict(record), sha256(core.snapshot()).hexdigest())
    return sha256(repr(parts).encode()).hexdigest()


def _in_full(part: Any) -> Any:
    """The same with arrays as lists: an array of more than a thousand numbers shows only the first and last of them."""
    import numpy as np

    if isinstance(part, Mapping):
        return {key: _in_full(value) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [_in_full(value) for value in part]
    return part.tolist() if isinstance(part, np.ndarray) else part


def _joined(first: Mapping[str, Any], then: Mapping[str, Any]) -> dict[str, Any]:
    """Two pieces of a run as one."""
    import numpy as np

    if not first:
        return dict(then)

    def one(key: str) -> Any:
        a, b = first[key], then[key]
        if key in SUMS:
            return a + b
        if key in LARGEST:
            return max(a, b)
        if key in LAST:
            return b
        if key == "probes":
            return {name: {c: np.concatenate([a[name][c], b[name][c]]) for c in b[name]} for name in b}
        return {column: np.concatenate([a[column], b[column]]) for column in b}

    return {key: one(key) for key in then}


def _write(path: Path, record: Mapping[str, Any], state: bytes, digest: str) -> None:
    """The file as a whole or not at all."""
    import numpy as np

    arrays: dict[str, Any] = {"digest": np.array(digest), "state": np.frombuffer(state, np.uint8)}
    for key, value in record.items():
        tables = {f"probes/{name}": table for name, table in value.items()} if key == "probes" else {key: value}
        for name, table in tables.items():
            if isinstance(table, Mapping):
                arrays |= {f"table/{name}/{column}": values for column, values in table.items()}
            else:
                arrays[f"number/{name}"] = np.array(table)
    part = path.with_name(path.name + ".part")
    with part.open("wb") as file:
        np.savez(file, **arrays)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def _read(path: Path, digest: str) -> tuple[dict[str, Any], bytes]:
    import zipfile

    import numpy as np

    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
        known, state = str(arrays["digest"]), arrays["state"].tobytes()
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, EOFError):
        raise InputError(f"{path}: is not a checkpoint of a run; delete it to start again") from None
    if known != digest:
        raise InputError(f"{path}: is a checkpoint of another scene or run; delete it to start again")
    tables: dict[str, Any] = {"probes": {}}
    for key, values in arrays.items():
        kind, _, name = key.partition("/")
        if kind == "number":
            tables[name] = values.item()
        elif kind == "table":
            table, _, column = name.rpartition("/")
            where = tables["probes"] if table.startswith("probes/") else tables
            where.setdefault(table.removeprefix("probes/"), {})[column] = values
    return tables, state
