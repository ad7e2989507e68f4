"""`percuss report`: a page a person can read."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from percuss.cli.options import JsonOption, LedgerOption, complete_events, open_session, reference
from percuss.spelling import counted

app = typer.Typer(add_completion=False)


MARKDOWN_ENDINGS = (".md", ".markdown")


class Form(StrEnum):
    """How the report is written."""

    HTML = "html"
    MARKDOWN = "markdown"


@app.command(epilog="Example: percuss report @last --to report.html")
def report(
    events: Annotated[
        list[str],
        typer.Argument(
            metavar="EVENT...",
            help="What to report on: ids, unique prefixes, @last, @last:KIND, or - for stdin.",
            autocompletion=complete_events,
        ),
    ],
    to: Annotated[
        Path | None,
        typer.Option(help="File to write.", metavar="FILE", show_default="STUDY-ID.html; Markdown: stdout"),
    ] = None,
    form: Annotated[
        Form | None,
        typer.Option(
            "--format",
            help="One HTML file, or Markdown without figures.",
            show_default="by the ending of FILE; html",
        ),
    ] = None,
    film: Annotated[
        bool, typer.Option("--film", help="Write a film of the last run beside the report, and link it.")
    ] = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Write a report on an event and everything it was made from: one HTML file with its figures, or Markdown.

    The path of the file goes to stdout.
    """
    from percuss.cli.output import give_json, plain, say, tell_trust
    from percuss.errors import InputError
    from percuss.export.tables import check_target, write_text
    from percuss.report.source import gather
    from percuss.work.report import make_report, write_film

    if form is None:
        form = Form.MARKDOWN if to is not None and to.suffix.lower() in MARKDOWN_ENDINGS else Form.HTML
    event_ids = [reference(text) for text in events]
    session = open_session(ledger)
    roots = [session.event(text) for text in event_ids]
    if form is Form.HTML and to is None:
        to = Path(f"{roots[0].study.name if roots[0].study else roots[0].kind}-{roots[0].id[:13]}.html")
    if to is not None:
        check_target(to)
    if film and to is None:
        raise InputError("--film: a film stands beside a file; give --to FILE")
    source = gather(session, roots)
    tell_trust(source.trust)
    if film and to is not None:
        source = write_film(source, to)
    made = make_report(source, "html" if form is Form.HTML else "markdown")
    sections = [section.title for section in made.page.sections]
    if to is not None:
        write_text(made.text, to)
        size_mb = len(made.text.encode()) / 1e6
        say(f"{to}: {counted(len(sections), 'section')}, {counted(len(made.source.events), 'event')}, {size_mb:.2g} MB")
    if json:
        facts = {"events": [root.id for root in roots], "sections": sections}
        give_json({**facts, "file": str(to)} if to else {**facts, "markdown": made.text})
    elif to is not None:
        print(to)
    else:
        print("\n".join(plain(line) for line in made.text.splitlines()))
