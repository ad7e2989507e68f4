"""What an issue report needs, and what lies around in a ledger."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from percuss.errors import LedgerError
from percuss.ledger.audit import Walk, prove_chain
from percuss.ledger.leftovers import is_leftover, stray_files
from percuss.ledger.place import Place, has_ledger, open_place
from percuss.ledger.streams import list_stream, make_names_last, stream_names
from percuss.maker import software
from percuss.models.command.held import held
from percuss.plugins import installed
from percuss.spelling import counted

# Younger files may belong to a writer at work.
STRAY_AGE_S = 3600
# From so many loose commits on, sealing makes reading faster.
MANY_LOOSE = 1000
PACKAGES = ("numpy", "polars", "scipy", "emcee", "msgspec", "typer", "rich")


@dataclass
class Condition:
    """Facts by name, what to do about them, files nothing refers to, and those of them that may be deleted."""

    root: Path
    facts: dict[str, object]
    hints: list[str] = field(default_factory=list)
    strays: list[Path] = field(default_factory=list)
    old: list[Path] = field(default_factory=list)
    place: Place | None = None
    whole: bool = True


def examine(root: Path) -> Condition:
    """Versions, build, plugins, what holds programs in, and the state of the ledger in a folder."""
    condition = Condition(root, _program_facts() | {"ledger": str(root)})
    if not has_ledger(root):
        condition.facts["ledger.state"] = "none yet"
        return condition
    place = condition.place = open_place(root)
    walk = prove_chain(place)
    condition.whole = walk.proof.holds
    condition.strays = stray_files(place, walk.streams)
    condition.old = [
        path for path in condition.strays if is_leftover(place, path, walk.chains) and age_s(path) > STRAY_AGE_S
    ]
    _tell_ledger(condition, place, walk)
    return condition


def clean(condition: Condition) -> int:
    """Delete stray files that are old enough and whose rows are proven elsewhere; returns how many."""
    if not condition.whole:
        raise LedgerError(
            f"{condition.root}: is damaged, so it is not known what belongs to which event; nothing was deleted"
        )
    if condition.old and condition.place:
        # What holds the same rows may be of a writer that was killed before it did so.
        make_names_last(condition.place)
    gone = 0
    for path in condition.old:
        if age_s(path) > STRAY_AGE_S:  # a writer may have taken a payload up since
            path.unlink(missing_ok=True)
            gone += 1
    return gone


def _program_facts() -> dict[str, object]:
    made = software()
    facts: dict[str, object] = {
        "percuss": made.version,
        "commit": made.commit,
        "core": made.core,
        "lock": made.lock,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": os.cpu_count(),
    }
    facts |= {name: version(name) for name in PACKAGES}
    added: dict[str, list[str]] = {}
    for plugin in installed():
        addition = f"{plugin.group.removeprefix('percuss.')} {plugin.name}"
        added.setdefault(f"plugin.{plugin.package} {plugin.version}", []).append(addition)
    facts |= {name: ", ".join(addition) for name, addition in added.items()}
    return facts | {f"programs.{name.replace(' ', '_')}": words for name, words in held().words().items()}


def _tell_ledger(condition: Condition, place: Place, walk: Walk) -> None:
    space = os.statvfs(condition.root)
    facts = condition.facts
    facts["ledger.id"] = place.id
    facts["ledger.file_system"] = file_system(condition.root)
    facts["ledger.free_bytes"] = space.f_bavail * space.f_frsize
    for stream in stream_names(place):
        listing = list_stream(place, stream)
        events, loose = len(walk.streams[stream]), len(listing.loose)
        facts[f"ledger.{stream}"] = (
            f"{counted(events, 'event')}, {counted(loose, 'loose commit')}, {len(listing.segments)} sealed"
        )
        if loose > MANY_LOOSE:
            condition.hints.append(
                f"stream {stream} has {counted(loose, 'loose commit')}; percuss seal makes reading faster"
            )
    if not condition.whole:
        condition.hints.append("the chain is damaged; percuss audit says where")


def age_s(path: Path) -> float:
    """Age of a file; none if it has gone since it was listed, as the temporary files of writers do."""
    import time

    try:
        return time.time() - path.lstat().st_mtime
    except FileNotFoundError:
        return 0.0


def file_system(path: Path) -> str:
    """Kind of the file system a folder is on, as far as the system tells."""
    try:
        mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text().splitlines()]
    except OSError:
        return "unknown"
    resolved = str(path.resolve())
    fitting = [
        (len(place), kind)
        for place, kind in mounts
        if resolved == place or resolved.startswith(place.rstrip("/") + "/")
    ]
    return max(fitting)[1] if fitting else "unknown"
