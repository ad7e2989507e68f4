"""`percuss design`: choose the sample points of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import (
    JsonOption,
    LedgerOption,
    assignments,
    complete_events,
    complete_studies,
    open_session,
    reference,
    study_path,
)
from percuss.errors import InputError
from percuss.spelling import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from percuss.designs.design import Design

app = typer.Typer(add_completion=False)

# A design that takes more than this in memory and ledger is told.
LARGE_MB = 50


@app.command(epilog="Example: percuss design studies/ishigami --sampler sobol --n 300 --skip 1")
def design(
    study: Annotated[
        str | None,
        typer.Argument(metavar="STUDY", help="Name, folder or file of a study.", autocompletion=complete_studies),
    ] = None,
    sampler: Annotated[
        str,
        typer.Option(
            help="sobol, halton, latin-hypercube, monte-carlo, grid, full-factorial, saltelli, morris or mean."
        ),
    ] = "sobol",
    n: Annotated[int | None, typer.Option("--n", "-n", help="Number of points.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all random numbers, in the design and in its runs.")] = 0,
    skip: Annotated[int, typer.Option(min=0, help="Points of the sequence to skip.")] = 0,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-o", help="Option of the sampler, such as scramble=true.", metavar="NAME=VALUE"),
    ] = None,
    case: Annotated[list[str] | None, typer.Option(help="Only these cases; default: all.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Fix an input for every run.", metavar="NAME=VALUE")
    ] = None,
    curves: Annotated[bool, typer.Option("--curves", help="Keep the time histories of every run.")] = False,
    extend: Annotated[
        str | None,
        typer.Option(
            help="Instead of a study: more points where this surrogate needs them.",
            metavar="SURROGATE",
            autocompletion=complete_events,
        ),
    ] = None,
    propose: Annotated[
        str | None,
        typer.Option(
            help="Instead of a study: more points where this filter found weight.",
            metavar="FILTER",
            autocompletion=complete_events,
        ),
    ] = None,
    posterior: Annotated[
        str | None,
        typer.Option(
            help="With --extend: only where this calibration needs them.",
            metavar="POSTERIOR",
            autocompletion=complete_events,
        ),
    ] = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Choose the sample points of a study's parameters and record them as a design.

    --extend puts points where the error of a surrogate is large, with --posterior only among the draws of a
    calibration. Run the design as usual; the surrogate of its campaign is then fitted to the points of both designs.

    --propose draws points by the weights of a filter. The next filter combines all points and weights each by how it
    was proposed. With --propose and --case a new ensemble of other cases starts from these points alone.
    """
    from percuss.cli.output import say
    from percuss.study.load import load_study
    from percuss.work.design import Request, create_design, plan_design

    if extend is not None or propose is not None:
        word = "--propose" if extend is None else "--extend"
        if study or (case and extend) or set_ or option or skip or curves or sampler != "sobol" or (extend and propose):
            more = "--n alone" if extend else "--n, and --case to start on other cases"
            raise InputError(f"{word}: takes study and all else from the design it goes on from; give {more}")
    if propose is not None:
        _propose(propose, n, case, seed, ledger, json)
        return
    if extend is not None:
        _extend(extend, posterior, n, seed, ledger, json)
        return
    if posterior is not None:
        raise InputError("--posterior: goes with --extend SURROGATE")
    if study is None:
        raise InputError("design: needs a STUDY, --extend SURROGATE or --propose FILTER")
    options, fixed = assignments(option, "--option"), assignments(set_, "--set")
    request = Request(sampler, n, seed, skip, options, case or (), fixed, curves)
    planned = plan_design(load_study(study_path(study)), request)
    _tell_plan(planned, fixed)
    created = create_design(open_session(ledger, create=True), planned)
    points, parameters = created.values.shape
    say(
        f"{created.sampler}: {counted(points, 'point')} of {counted(parameters, 'parameter')}, "
        f"{counted(len(created.cases), 'case')}"
    )
    _give(created, json)


def _tell_plan(planned: Design, written: Mapping[str, str]) -> None:
    """What was understood, and what it takes."""
    from percuss.cli.output import say, tell_values, unit_of

    size_mb = 16e-6 * planned.values.size
    if size_mb > LARGE_MB:
        parameters = counted(len(planned.names), "parameter")
        say(f"note: {counted(len(planned.values), 'point')} of {parameters} take about {size_mb:.0f} MB")
    tell_values(written, planned.fixed, {key: unit_of(planned.study, key) for key in written})


def _extend(surrogate: str, posterior: str | None, n: int | None, seed: int, ledger: str | None, json: bool) -> None:
    """More points for the design of a surrogate."""
    from percuss.cli.output import say
    from percuss.kinds.surrogate_fitted import SurrogateFitted
    from percuss.work.design import extend_design

    surrogate_id = reference(surrogate)
    session = open_session(ledger)
    event = session.event(surrogate_id)
    created = extend_design(session, event, n, seed, session.event(posterior) if posterior else None)
    where = "where the calibration needs them" if posterior else "where the surrogate needs them"
    say(f"{counted(len(created.values), 'point')} beside the {SurrogateFitted.of(event).points} there are, {where}")
    _give(created, json)


def _propose(filter_: str, n: int | None, cases: list[str] | None, seed: int, ledger: str | None, json: bool) -> None:
    """More points where a filter found weight."""
    from percuss.cli.output import say
    from percuss.kinds.filter_updated import FilterUpdated
    from percuss.work.design import propose_design

    filter_id = reference(filter_)
    session = open_session(ledger)
    event = session.event(filter_id)
    created = propose_design(session, event, n, seed, cases or ())
    goes_on = created.stored.inputs_as("filter")
    samples = FilterUpdated.of(event).samples
    points = counted(len(created.values), "point")
    say(f"{points} beside the {samples} of the filter" if goes_on else f"{points} of other cases")
    _give(created, json)


def _give(created: Design, json: bool) -> None:
    from percuss.cli.output import give_id

    facts = {
        "sampler": created.sampler,
        "n": len(created.values),
        "digest": created.digest,
        "cases": list(created.cases),
    }
    give_id(created.id, facts, json)
