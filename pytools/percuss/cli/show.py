"""`percuss show`: one event in full."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from percuss.cli.options import EventArgument, JsonOption, LedgerOption, open_session, reference
from percuss.spelling import counted

if TYPE_CHECKING:
    from percuss.ledger.event import Event
    from percuss.session import Session

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss show @last:design --rows 5")
def show(
    event: EventArgument,
    rows: Annotated[int, typer.Option(min=0, help="Rows to show of each table.")] = 0,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Show every field of an event and, with --rows, the beginning of the tables it carries. Values are in SI."""
    from percuss.cli.output import give_json, table_text, tell_trust
    from percuss.ledger.rows import to_frame
    from percuss.work import show as work

    event_id = reference(event)
    session = open_session(ledger)
    shown = session.event(event_id)
    standing = work.standing_words(session, shown)
    # What is superseded stands in those words, on stdout.
    tell_trust(verdict for verdict in work.marks(session, shown) if verdict.gate != "superseded")
    tables = work.tables(session, shown) if rows else {}
    if json:
        facts: dict[str, Any] = {"standing": standing} | to_frame([shown]).to_dicts()[0] | {"body": shown.data}
        facts["at"] = facts["at"].isoformat()
        if rows:
            facts["tables"] = {role: table.head(rows).to_dicts() for role, table in tables.items()}
        give_json(facts)
        return
    of_study = work.units(session, shown)
    for line in _lines(session, shown, standing, work.with_units(work.body(session, shown), of_study)):
        print(line)
    for role, table in tables.items():
        units = work.column_units(shown, role, of_study)
        heads = [f"{name} [{units[name]}]" if units.get(name, "1") != "1" else name for name in table.columns]
        print(f"\n{role}: {counted(table.height, 'row')}")
        print(table_text(heads, [_cells(row) for row in table.head(rows).rows()]))


def _cells(row: tuple[Any, ...]) -> list[Any]:
    from percuss.cli.nested import value_text

    return [value_text(cell) if isinstance(cell, list | dict | bool) else cell for cell in row]


def _lines(session: Session, event: Event, standing: list[str], body: dict[str, Any]) -> Iterator[str]:
    from percuss.cli.nested import nested_lines
    from percuss.cli.output import plain
    from percuss.ledger.event import arguments_of
    from percuss.ledger.notes import name_of
    from percuss.work.log import when

    yield plain(f"{event.kind} {event.id}")
    yield from (plain(words) for words in standing)
    software, name = event.software, name_of(session.ledger, event.actor)
    facts: dict[str, Any] = {
        "at": f"{when(event)} UTC, event {event.seq} of {event.stream}, version {event.version}",
        "by": f"{event.actor}{f' ({name.splitlines()[0]})' if name else ''} on {event.host}",
        "call": f"{event.call.interface} {event.call.operation}, {event.call.id}" if event.call else None,
        "words": " ".join(event.argv),
        "because of": event.cause,
        "study": f"{event.study.name}, digest {event.study.digest}" if event.study else None,
        "seed": event.seed,
        "outcome": f"{event.outcome}: {event.reason}" if event.reason else event.outcome,
        "cost": f"{event.cost.wall_us / 1e6:.3g} s, {event.cost.cpu_us / 1e6:.3g} s of processors, "
        f"{event.cost.peak_bytes / 1e6:.4g} MB",
        "made with": f"percuss {software.version}, commit {software.commit}",
        "core": software.core,
        "lock": software.lock,
        "previous": event.prev,
        "hash": event.hash,
    }
    yield from nested_lines(facts)
    if event.call and (arguments := {name: value for name, value in arguments_of(event.call) if value is not None}):
        yield from nested_lines({"arguments": arguments})
    if record := session.ledger.environment(event):
        yield from nested_lines({"environment": record})
    if event.inputs:
        kinds = {
            item.id: session.state.events[item.id].kind for item in event.inputs if item.id in session.state.events
        }
        inputs = [{"role": item.role, "kind": kinds.get(item.id), "id": item.id} for item in event.inputs]
        yield from nested_lines({"made from": inputs})
    if event.blobs:
        blobs = [{"role": b.role, "rows": b.rows or None, "bytes": b.bytes, "sha256": b.sha256} for b in event.blobs]
        yield from nested_lines({"carries": blobs})
    yield from nested_lines({"body": body})
