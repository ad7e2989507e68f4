"""`percuss site`: the whole ledger as pages to look through."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from percuss.cli.options import JsonOption, LedgerOption, open_session

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss site --to site")
def site(
    to: Annotated[Path, typer.Option(help="Folder to write to: empty, or a site to update.", metavar="DIR")],
    serve: Annotated[
        bool,
        typer.Option("--serve", help="Serve the site on this machine (127.0.0.1) and show what is new; Ctrl-C ends."),
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port for --serve; 0: any free one.")] = 8321,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Write the whole ledger as a static site: a page for every event, lineage, campaigns, results side by side.

    It needs no network and no server. Pages that have not changed are not rewritten. The path of the first page goes to
    stdout.
    """
    from percuss.cli.output import give_json, say
    from percuss.work import site as work

    session = open_session(ledger)
    if serve:
        work.serve_site(session, to, port, lambda address: print(address, flush=True))
        return
    made = work.make_site(session, to)
    say(f"{to}: {made.events} events; {made.written} files written, {made.kept} as they were, {made.removed} removed")
    if json:
        facts = {"written": made.written, "kept": made.kept, "removed": made.removed, "events": made.events}
        give_json({"file": str(made.index), **facts})
    else:
        print(made.index)
