"""`percuss restore`: a study as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from percuss.cli.options import EventArgument, JsonOption, LedgerOption, open_session, reference
from percuss.spelling import counted

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss restore @last:posterior --to restored")
def restore(
    event: EventArgument,
    to: Annotated[Path, typer.Option(help="Folder in which the study's folder is made.", metavar="FOLDER")],
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Write the study that an event was made from, as it was then: study.toml and every file that it names.

    The study is checked against the digest in the ledger before its folder appears. Nothing is overwritten. The folder
    is printed.
    """
    from percuss.cli.output import give_json, plain, say
    from percuss.work.restore import restore

    event_id = reference(event)
    session = open_session(ledger)
    done = restore(session, session.event(event_id), to)
    for fault in done.faults:
        say(f"note: this percuss checks more than that of then: {fault}")
    if json:
        facts = {"folder": str(done.path), "event": done.registered.id, "digest": done.digest}
        give_json(facts | {"files": list(done.files), "as_written": done.as_written, "faults": list(done.faults)})
        return
    words = "as it was written" if done.as_written else "rewritten from its resolved form, as its file was not kept"
    say(f"study.toml {words}; {counted(len(done.files), 'data file')}, byte for byte; digest {done.digest}")
    print(plain(str(done.path)))
