"""`percuss replay`: rebuild every table from the events alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from percuss.cli.options import JsonOption, LedgerOption, open_session
from percuss.spelling import counted

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss replay --to tables")
def replay(
    to: Annotated[Path | None, typer.Option(help="Write the tables here, as Parquet.", metavar="FOLDER")] = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Drop the cache and rebuild every table from the original events; print its rows and its digest.

    The same ledger gives the same digests, on any machine.
    """
    from percuss.cli.output import give_json, say, table_text
    from percuss.errors import InputError
    from percuss.export.tables import write_parquet
    from percuss.ledger.blobs import table_digest
    from percuss.ledger.place import check_outside
    from percuss.work import replay as work

    replayed = work.replay(open_session(ledger))
    if to:
        check_outside(to / "table")
        try:
            to.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise InputError(f"{to}: cannot be made a folder ({fault.strerror})") from fault
        for name, table in replayed.tables.items():
            write_parquet(table, to / f"{name}.parquet")
        say(f"{counted(len(replayed.tables), 'table')} written to {to}")
    rows = [(name, table.height, table_digest(table)) for name, table in replayed.tables.items()]
    if json:
        give_json([{"table": name, "rows": count, "digest": digest} for name, count, digest in rows])
    else:
        print(table_text(("table", "rows", "digest"), rows))
    if replayed.skipped:
        say(f"{counted(replayed.skipped, 'event')} of kinds this percuss does not know were skipped")
