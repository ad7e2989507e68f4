"""`percuss doctor`: what an issue report needs, and what lies around in the ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from percuss.cli.options import JsonOption, LedgerOption

app = typer.Typer(add_completion=False)

# Younger files may belong to a writer at work.
STRAY_AGE_S = 3600


@app.command(epilog="Example: percuss doctor --clean")
def doctor(
    clean: Annotated[bool, typer.Option("--clean", help="Delete stray files older than an hour.")] = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Say versions, build, file system and state of the ledger; list files nothing refers to."""
    import os
    import platform
    from importlib.metadata import version

    from percuss.cli.output import give_json, hint, say, table_text
    from percuss.config import find_settings
    from percuss.errors import LedgerError
    from percuss.ledger.audit import prove_chain
    from percuss.ledger.leftovers import is_leftover, stray_files
    from percuss.ledger.place import has_ledger, open_place
    from percuss.ledger.streams import list_stream, make_names_last, stream_names
    from percuss.models.command.held import held
    from percuss.software import software

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
    facts |= {name: version(name) for name in ("numpy", "polars", "scipy", "emcee", "typer", "rich")}
    facts |= {f"programs.{name.replace(' ', '_')}": words for name, words in held().words().items()}
    root = Path(find_settings({"ledger": ledger})["ledger"].value)
    facts["ledger"] = str(root)
    strays: list[Path] = []
    whole = True
    if has_ledger(root):
        place = open_place(root)
        walk = prove_chain(place)
        whole = walk.proof.holds
        strays = stray_files(place, walk.streams)
        space = os.statvfs(root)
        facts["ledger.id"] = place.id
        facts["ledger.file_system"] = file_system(root)
        facts["ledger.free_bytes"] = space.f_bavail * space.f_frsize
        for stream in stream_names(place):
            listing = list_stream(place, stream)
            events, loose = len(walk.streams[stream]), len(listing.loose)
            facts[f"ledger.{stream}"] = f"{events} events, {loose} loose commits, {len(listing.segments)} sealed"
            if len(listing.loose) > 1000:
                hint(f"stream {stream} has {len(listing.loose)} loose commits; percuss seal makes reading faster")
        if not whole:
            hint("the chain is damaged; percuss audit says where")
    else:
        facts["ledger.state"] = "none yet"
    old = [path for path in strays if is_leftover(place, path, walk.chains) and _age_s(path) > STRAY_AGE_S]
    if json:
        give_json(facts | {"stray": [str(path) for path in strays]})
    else:
        print(table_text(("fact", "value"), list(facts.items())))
        for path in strays:
            print(f"stray  {path}")
    if clean and not whole:
        raise LedgerError(f"{root}: is damaged, so what belongs to which event cannot be told; nothing was deleted")
    if clean:
        if old:
            make_names_last(place)  # what holds the same rows may be of a writer that was killed before it did so
        gone = 0
        for path in old:
            if _age_s(path) > STRAY_AGE_S:  # a writer may have taken a payload up since
                path.unlink(missing_ok=True)
                gone += 1
        say(f"{gone} stray files deleted, {len(strays) - gone} kept (young, not of percuss, or not held elsewhere)")
    elif old:
        hint(f"percuss doctor --clean deletes {len(old)} files a killed writer left behind")


def _age_s(path: Path) -> float:
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
