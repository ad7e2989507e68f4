"""`percuss simulate`: one run with given values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import (
    AllowCommandOption,
    JsonOption,
    LedgerOption,
    StudyArgument,
    assignments,
    open_session,
    study_path,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from percuss.execution.points import PointDesign
    from percuss.work.simulate import Simulated

app = typer.Typer(add_completion=False)


@contextmanager
def _bar() -> Iterator[None]:
    """A bar of hundredths, as soon as a run tells how far it has come."""
    from percuss.cli.output import progress
    from percuss.models.model import listening

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
    case: Annotated[str | None, typer.Option(help="Which case; not needed if there is only one.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help='An input, such as gap="23 mm".', metavar="NAME=VALUE")
    ] = None,
    integrator: Annotated[str | None, typer.Option(help="Short for --set integrator=NAME.")] = None,
    csv: Annotated[
        Path | None, typer.Option(help="Write the time histories (or outputs) here.", metavar="FILE")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the run's random numbers.")] = 0,
    allow_command: AllowCommandOption = False,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Run a study's model once and record the run, with its time histories."""
    from percuss.cli.output import give_id, hint
    from percuss.errors import AnswerIsNo
    from percuss.execution.points import point_design
    from percuss.export.tables import check_target, with_unit_names, write_csv
    from percuss.study.load import load_study
    from percuss.work import simulate as work

    if csv:
        check_target(csv)
    loaded = load_study(study_path(study))
    name = loaded.case_name(case)
    written = assignments(set_, "--set") | ({"integrator": integrator} if integrator else {})
    point = point_design(loaded, name, written)
    session = open_session(ledger, create=True, allow_command=allow_command)
    _tell_point(point, written)
    with _bar():
        simulated = work.simulate(session, point, name, seed)
    if simulated.failure is not None:
        hint(f"the failed run is recorded as {simulated.event.id}")
        raise AnswerIsNo(f"the run failed: {simulated.failure}")
    _tell(simulated)
    if csv:
        role = "curves" if simulated.event.blob("curves") else "runs"
        write_csv(with_unit_names(loaded, session.table(simulated.event, role).drop("sample")), csv)
    give_id(simulated.event.id, {"case": name, "outputs": simulated.outputs}, json)


def _tell_point(point: PointDesign, written: Mapping[str, str]) -> None:
    """What was understood of the values, and what drives the run."""
    from percuss.cli.output import plain, say, tell_values, unit_of
    from percuss.models.model import Driven

    study = point.design.study
    tell_values(written, point.point, {key: unit_of(study, key) for key in written})
    for parameter in point.at_mean:
        say(f"{parameter}: not given, at its prior mean")
    model = study.model()
    if isinstance(model, Driven) and (motion := model.record_of(point.point)):
        say(plain(motion.sentence()))
        if mismatch := motion.mismatch():
            say(plain(mismatch))


def _tell(simulated: Simulated) -> None:
    from percuss.cli.output import say, say_table, tell_no_limit
    from percuss.models.model import NOTES
    from percuss.units import from_si

    if notes := simulated.result.printed.get(0, {}).get(NOTES):
        say(notes)
    study = simulated.design.study
    rows = [
        (name, from_si(simulated.outputs[name], output.unit), output.unit) for name, output in study.outputs.items()
    ]
    say_table(("output", "value", "unit"), rows)
    tell_no_limit(study)
