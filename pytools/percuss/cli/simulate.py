"""`percuss simulate`: one run with given values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated

import typer

from percuss.cli.options import (
    AllowCommandOption,
    JsonOption,
    LedgerOption,
    StudyArgument,
    assignments,
    consented,
    open_ledger,
    study_path,
)

app = typer.Typer(add_completion=False)


@contextmanager
def _bar() -> Iterator[None]:
    """A bar of hundredths, as soon as a run tells how far it has come."""
    from percuss.cli.output import progress
    from percuss.models.under_way import listening

    with ExitStack() as open_bars:
        shown = 0
        advance: Callable[[int, str], None] | None = None

        def listen(share: float) -> None:
            nonlocal shown, advance
            advance = advance or open_bars.enter_context(progress("running", 100))
            reached = int(100 * share)
            advance(reached - shown, "")
            shown = reached

        with listening(listen):
            yield


@app.command(epilog="Example: percuss simulate studies/ishigami --set x1=1 --set x2=0.5 --set x3=-1")
def simulate(
    study: StudyArgument,
    case: Annotated[str | None, typer.Option(help="Which case; not needed if there is one only.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help='An input, as gap="23 mm".', metavar="NAME=VALUE")
    ] = None,
    integrator: Annotated[str | None, typer.Option(help="Short for --set integrator=NAME.")] = None,
    csv: Annotated[
        Path | None, typer.Option(help="Write the time histories (or outputs) here.", metavar="FILE")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Root of the run's randomness.")] = 0,
    allow_command: AllowCommandOption = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Run a study's model once and append the run like any other, time histories included."""
    from dataclasses import replace

    from percuss import _core
    from percuss.cli.output import give_id, hint, plain, say, table_text, tell_no_limit
    from percuss.cli.values import tell_values, unit_of
    from percuss.errors import AnswerIsNo
    from percuss.execution.batch import run_batch
    from percuss.execution.given import given_point
    from percuss.execution.records import draft_design, draft_result, new_drafts
    from percuss.execution.rest import settled_here
    from percuss.export.tables import check_target, with_unit_names, write_csv
    from percuss.models.model import NOTES, Driven, Runner
    from percuss.study.load import load_study
    from percuss.units import from_si

    _core.set_default_threads(0)  # a run by itself takes all cores
    if csv:
        check_target(csv)
    found = consented(load_study(study_path(study)), allow_command)
    name = found.case_name(case)
    given = assignments(set_, "--set") | ({"integrator": integrator} if integrator else {})
    point, inputs, fixed, at_mean = given_point(found, name, given)
    tell_values(given, inputs, {key: unit_of(found, key) for key in given})
    for parameter in at_mean:
        say(f"{parameter}: not given, at its prior mean")
    model = found.model()
    if isinstance(model, Driven) and (motion := model.record_of(inputs)):
        say(plain(motion.sentence()))
    if isinstance(model, Runner):
        # No run at all is enough to refuse a program that is not there, before anything is written.
        model.run((), ())
    book = open_ledger(ledger, create=True)
    record = draft_design(book, found, replace(point, seed=seed), cases=[name], fixed=fixed, keep_curves=True)
    record, settled = settled_here(book, record, [(name, [0])])
    with _bar():
        result = run_batch(record.batch(name, [0]))
    drafts = [*new_drafts(record), *settled, *draft_result(book, record, result)]
    event = book.append(drafts)[-1]
    if result.failures:
        hint(f"the failed run is recorded as {event.id}")
        raise AnswerIsNo(f"the run failed: {result.failures[0]}")
    if notes := result.printed.get(0, {}).get(NOTES):
        say(notes)
    outputs = result.outputs[0]
    rows = [(name, from_si(outputs[name], output.unit), output.unit) for name, output in found.outputs.items()]
    say(table_text(("output", "value", "unit"), rows))
    tell_no_limit(found)
    if csv:
        role = "curves" if event.blob("curves") else "runs"
        write_csv(with_unit_names(found, book.table(event, role).drop("sample")), csv)
    give_id(event.id, {"case": name, "outputs": outputs}, json)
