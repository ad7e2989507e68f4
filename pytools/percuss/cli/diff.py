"""`percuss diff`: what differs between two events of a kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from percuss.cli.options import EventArgument, JsonOption, LedgerOption, open_session, reference
from percuss.spelling import counted

if TYPE_CHECKING:
    from percuss.work.diff import Diff, Group
    from percuss.work.table_rows import TableDifference

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss diff 01a1e2 @last:posterior --rows 5")
def diff(
    a: EventArgument,
    b: EventArgument,
    rows: Annotated[int, typer.Option(min=0, help="Rows to show of each table that differs.")] = 10,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Show the differences between two events of a kind, even superseded ones: study, data, settings, code, results.

    Values are in SI. Exit code 0: no difference; 1: something differs, or could not be compared. Time, author and cost
    of the events are not compared.
    """
    from percuss.cli.output import give_json, say
    from percuss.work.diff import diff

    event_ids = reference(a), reference(b)
    session = open_session(ledger)
    done = diff(session, session.event(event_ids[0]), session.event(event_ids[1]), rows)
    if json:
        give_json(_facts(done))
    else:
        _print(done)
    for note in done.notes:
        say(f"not compared: {note}")
    if not done.same:
        raise typer.Exit(1)
    say(f"two events of the kind {done.a.kind} that do not differ")


def _print(done: Diff) -> None:
    from percuss.cli.output import plain

    for name, group in done.groups.items():
        if not group:
            continue
        print(f"{name}:")
        if group.values:
            _print_pairs(("",), [((d.key,), d.a, d.b, d.in_errors) for d in group.values], 2)
        for role, table in group.tables.items():
            print(plain(f"  table {role}: {_summary(table)}"))
            if table.changes:
                heads = (" ".join(table.key), "column")
                rows = [((" ".join(map(str, c.row)), c.column), c.a, c.b, c.in_errors) for c in table.changes]
                _print_pairs(heads, rows, 4)


def _print_pairs(
    heads: tuple[str, ...], rows: Sequence[tuple[tuple[str, ...], Any, Any, float | None]], indent: int
) -> None:
    """Values of A beside those of B; how far apart, where they are numbers; in errors, where they have some."""
    from percuss.cli.output import table_text

    lines = [(*names, *_shown(a, b), *_apart(a, b, in_errors)) for names, a, b, in_errors in rows]
    all_heads = (*heads, "A", "B", "B - A", "in errors")
    used = [i for i in range(len(all_heads)) if i < len(all_heads) - 2 or any(line[i] for line in lines)]
    text = table_text([all_heads[i] for i in used], [[line[i] for i in used] for line in lines])
    print("\n".join(" " * indent + line for line in text.split("\n")))


def _summary(table: TableDifference) -> str:
    parts = [f"{table.rows[0]} and {counted(table.rows[1], 'row')}"]
    for rows, which in ((table.only_a, "A"), (table.only_b, "B")):
        if rows:
            some = ", ".join(" ".join(map(str, row)) for row in rows[:5])
            parts.append(
                f"{len(rows)} only in {which} ({' '.join(table.key)}: {some}{', ...' if len(rows) > 5 else ''})"
            )
    for columns, which in ((table.columns_a, "A"), (table.columns_b, "B")):
        if columns:
            parts.append(f"column {', '.join(columns)} only in {which}")
    for column, count in table.changed.items():
        largest = table.largest.get(column)
        far = f", by {largest:.3g} at most" if largest is not None else ""
        parts.append(f"{column} differs in {count} of them{far}")
    return "; ".join(parts)


def _apart(a: Any, b: Any, in_errors: float | None) -> tuple[str, str]:
    """The distance of two numbers, and that in their uncertainty."""
    numbers = all(isinstance(item, float | int) and not isinstance(item, bool) for item in (a, b))
    return (f"{b - a:.3g}" if numbers else "", f"{in_errors:.2f}" if in_errors is not None else "")


def _shown(a: Any, b: Any) -> tuple[str, str]:
    texts = tuple(f"{item:.9g}" if isinstance(item, float) else _text(item) for item in (a, b))
    if texts[0] == texts[1]:
        # They differ in a later digit, or far on.
        texts = repr(a), repr(b)
    return texts[0], texts[1]


def _text(value: Any) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _facts(done: Diff) -> dict[str, object]:
    return {
        "kind": done.a.kind,
        "a": done.a.id,
        "b": done.b.id,
        "same": done.same,
        "differences": {name: _group_facts(group) for name, group in done.groups.items() if group},
        "not_compared": done.notes,
    }


def _group_facts(group: Group) -> dict[str, object]:
    from percuss.work.diff import ABSENT

    def value(item: Any) -> Any:
        return None if item is ABSENT else item

    return {
        "values": [{"key": d.key, "a": value(d.a), "b": value(d.b), "in_errors": d.in_errors} for d in group.values],
        "tables": {
            role: {
                "key": list(t.key),
                "rows": list(t.rows),
                "only_a": [list(row) for row in t.only_a],
                "only_b": [list(row) for row in t.only_b],
                "columns_only_a": list(t.columns_a),
                "columns_only_b": list(t.columns_b),
                "changed_rows": t.changed_rows,
                "changed": dict(t.changed),
                "largest": dict(t.largest),
                "changes": [
                    {"row": list(c.row), "column": c.column, "a": c.a, "b": c.b, "in_errors": c.in_errors}
                    for c in t.changes
                ],
            }
            for role, t in group.tables.items()
        },
    }
