"""`percuss reproduce`: compute an event, or a crate, and all it depends on, again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import AllowCommandOption, JsonOption, LedgerOption, open_session, reference
from percuss.errors import InputError

if TYPE_CHECKING:
    from percuss.work.reproduce import Reproduction

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss reproduce @last:posterior --runs 20")
def reproduce(
    event: Annotated[str, typer.Argument(metavar="EVENT|CRATE", help="An event, or a crate in a folder or .zip.")],
    runs: Annotated[
        int | None,
        typer.Option(min=1, help="Repeat only this many results of each event, drawn at random.", show_default="all"),
    ] = None,
    hash: Annotated[str | None, typer.Option(help="For a crate: the hash that its author gave you.")] = None,
    allow_command: AllowCommandOption = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Compute an event and everything it was made from again, and compare. Nothing is recorded.

    Exit code 0: everything compared is the same, bit for bit or within a stated bound; 1: something differs, or nothing
    could be compared here.
    """
    from percuss.cli.output import Terminal
    from percuss.work.crate import crate_session
    from percuss.work.crate_reading import is_crate
    from percuss.work.reproduce import reproduce

    if is_crate(Path(event)):
        with crate_session(Path(event), hash, allow_command=allow_command, voice=Terminal()) as (inner, crate):
            done = reproduce(inner, crate.root, runs)
    elif hash:
        raise InputError(f"--hash: is for a crate, and {event} is not one")
    else:
        event_id = reference(event)
        session = open_session(ledger, allow_command=allow_command)
        done = reproduce(session, session.event(event_id), runs)
    _leave(done, json)


def _leave(done: Reproduction, as_json: bool) -> None:
    from percuss.cli.output import give_json

    if as_json:
        outcomes = [
            {
                "id": o.event.id,
                "kind": o.event.kind,
                "verdict": o.verdict,
                "compared": o.compared,
                "of": o.parts,
                "because": list(o.sentences),
            }
            for o in done.outcomes
        ]
        give_json({"event": done.event.id, "verdict": done.verdict, "holds": done.holds, "events": outcomes})
    else:
        _print(done)
    if not done.holds:
        raise typer.Exit(1)


def _print(done: Reproduction) -> None:
    from percuss.cli.output import plain, table_text
    from percuss.work.reproduce import WORDS

    rows = [
        (o.event.kind, o.event.id, o.compared, o.parts, WORDS[o.verdict], "; ".join(_counted(o.sentences)))
        for o in done.outcomes
    ]
    print(table_text(("kind", "id", "compared", "of", "verdict", ""), rows))
    print(plain(f"{done.event.kind} {done.event.id}: {WORDS[done.verdict]}"))


def _counted(sentences: dict[str, int]) -> list[str]:
    return [sentence if count == 1 else f"{count}: {sentence}" for sentence, count in list(sentences.items())[:4]]
