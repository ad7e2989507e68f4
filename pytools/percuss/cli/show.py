"""`percuss show`: one event in full."""

from __future__ import annotations

from typing import Annotated

import typer

from percuss.cli.options import EventArgument, JsonOption, LedgerOption, open_session, reference

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss show @last:design --rows 5")
def show(
    event: EventArgument,
    rows: Annotated[int, typer.Option(min=0, help="Rows to show of each table.")] = 0,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Show every field of an event and, with --rows, the beginning of the tables it carries."""
    from percuss.cli.output import give_json, table_text
    from percuss.ledger.blobs import FILE_ROLE
    from percuss.ledger.event import to_frame
    from percuss.ledger.projections import superseded_ids
    from percuss.ledger.standing import superseded

    event_id = reference(event)
    session = open_session(ledger)
    book, shown = session.ledger, session.event(event_id)
    # Few ledgers have anything superseded, and only those are worth folding whole for one event.
    verdicts = superseded(session.state, shown) if superseded_ids(book.frame()) else ()
    standing = [verdict.line() for verdict in verdicts]
    facts = {"standing": standing} | to_frame([shown]).to_dicts()[0] | {"body": shown.data}
    tables = (
        {blob.role: book.table(shown, blob.role) for blob in shown.blobs if not blob.role.startswith(FILE_ROLE)}
        if rows
        else {}
    )
    if json:
        facts["at"] = facts["at"].isoformat()
        if rows:
            facts["tables"] = {role: table.head(rows).to_dicts() for role, table in tables.items()}
        give_json(facts)
        return
    lines: list[tuple[str, object]] = []
    for name, value in facts.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            lines += [(f"{name}.{item['role']}", _joined(item, skip="role")) for item in value]
        elif name == "standing":
            lines += [(name, item) for item in value]
        elif isinstance(value, dict):
            lines += [(f"{name}.{key}", item) for key, item in value.items() if item is not None]
        elif isinstance(value, list):
            lines.append((name, " ".join(str(item) for item in value)))
        elif value is not None:
            lines.append((name, value))
    print(table_text(("field", "value"), lines))
    for role, table in tables.items():
        print(f"\n{role}: {table.height} rows")
        print(table_text(table.columns, table.head(rows).rows()))


def _joined(item: dict[str, object], skip: str) -> str:
    return " ".join(f"{key}={value}" for key, value in item.items() if key != skip)
