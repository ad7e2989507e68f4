"""`percuss design`: choose the sample points of a study."""

from __future__ import annotations

from typing import Annotated

import typer

from percuss.cli.options import (
    JsonOption,
    LedgerOption,
    assignments,
    complete_events,
    complete_studies,
    open_at,
    open_ledger,
    study_path,
)

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
    seed: Annotated[int, typer.Option(min=0, help="Root of all randomness, in the design and in its runs.")] = 0,
    skip: Annotated[int, typer.Option(min=0, help="Points of the sequence to pass over.")] = 0,
    option: Annotated[
        list[str] | None, typer.Option("--option", "-o", help="Of the sampler, as scramble=true.", metavar="NAME=VALUE")
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
    """Choose the sample points of a study's parameters and append them as a design.

    With --extend the points go where the error of a surrogate is, with --posterior as well among the draws of a
    calibration; run the design like any other, and the surrogate of its campaign is fitted to the points of both. With
    --propose they follow the weights of a filter; the next filter takes all of them, each weighed for how it was
    proposed. With --propose and --case an ensemble of other cases starts there: it has these points alone.
    """
    from percuss.cli.output import give_id, say
    from percuss.cli.values import tell_values, unit_of
    from percuss.designs.registry import make_design
    from percuss.errors import InputError
    from percuss.execution.records import draft_design, new_drafts
    from percuss.study.load import load_study

    if extend is not None or propose is not None:
        word = "--propose" if extend is None else "--extend"
        if study or (case and extend) or set_ or option or skip or curves or sampler != "sobol" or (extend and propose):
            more = "--n alone" if extend else "--n, and --case to start on other cases"
            raise InputError(f"{word}: takes study and all else from the design it goes on from; give {more}")
        if propose is not None:
            _propose(propose, n, case, seed, ledger, json)
        elif extend is not None:
            _extend(extend, posterior, n, seed, ledger, json)
        return
    if posterior is not None:
        raise InputError("--posterior: goes with --extend SURROGATE")
    if study is None:
        raise InputError("design: needs a STUDY, --extend SURROGATE or --propose FILTER")
    found = load_study(study_path(study))
    cases = [found.case_name(name) for name in case] if case else list(found.cases)
    points = make_design(found, sampler, n, seed, skip, assignments(option, "--option"))
    size_mb = 16e-6 * points.values.size
    if size_mb > LARGE_MB:
        say(f"note: {len(points.values)} points of {len(points.names)} parameters take about {size_mb:.0f} MB")
    given = assignments(set_, "--set")
    for key in given:
        if key in found.parameters:
            raise InputError(f"--set {key}: is a parameter of the study, which a design varies")
    middle = dict(zip(points.names, points.values[0].tolist(), strict=True))
    merged = [found.point(name, {**middle, **given}) for name in cases]
    fixed = {key: merged[0][key] for key in given}
    tell_values(given, fixed, {key: unit_of(found, key) for key in given})
    book = open_ledger(ledger, create=True)
    record = draft_design(book, found, points, cases=cases, fixed=fixed, keep_curves=curves)
    event = book.append(new_drafts(record))[-1]
    say(f"{points.sampler}: {len(points.values)} points of {len(points.names)} parameters, {len(cases)} cases")
    give_id(
        event.id, {"sampler": points.sampler, "n": len(points.values), "digest": record.digest, "cases": cases}, json
    )


def _extend(surrogate: str, posterior: str | None, n: int | None, seed: int, ledger: str | None, json: bool) -> None:
    """More points for the design of a surrogate."""
    from percuss.calibration.enrichment import draft_extension
    from percuss.calibration.records import load_posterior
    from percuss.cli.output import give_id, say
    from percuss.errors import InputError
    from percuss.execution.records import new_drafts
    from percuss.ledger.projections import fold
    from percuss.surrogates.surrogate import load_surrogate

    if n is None or n < 1:
        raise InputError("--extend: needs the number of points to add, --n N")
    book, event = open_at(ledger, surrogate)
    state = fold(book.events())
    needed = load_posterior(book, state, book.event(posterior)) if posterior else None
    record = draft_extension(book, state, load_surrogate(book, state, event), n, seed, needed)
    appended = book.append(new_drafts(record))[-1]
    where = "where the calibration needs them" if needed else "where the surrogate needs them"
    say(f"{n} points beside the {event.data['points']} there are, {where}")
    give_id(
        appended.id, {"sampler": record.sampler, "n": n, "digest": record.digest, "cases": list(record.cases)}, json
    )


def _propose(reference: str, n: int | None, cases: list[str] | None, seed: int, ledger: str | None, json: bool) -> None:
    """More points where a filter found weight; of other cases, the first points of an ensemble of their own."""
    from percuss.cli.output import give_id, say
    from percuss.errors import InputError
    from percuss.execution.records import draft_design, load_design, new_drafts
    from percuss.filtering.update import KIND, propose
    from percuss.ledger.projections import fold
    from percuss.surrogates.training import load_training

    if n is None or n < 1:
        raise InputError("--propose: needs the number of points to add, --n N")
    book, event = open_at(ledger, reference)
    if event.kind != KIND:
        raise InputError(f"--propose {event.id}: is of the kind {event.kind}, not {KIND}")
    state = fold(book.events())
    if event.id in state.superseded:
        raise InputError(f"--propose {event.id}: is superseded", hint="percuss show says by what")
    last = state.events[event.inputs_as("design")[-1].id]
    points, before = propose(book, load_training(book, state, last), event, n, seed), load_design(book, state, last)
    chosen = [before.study.case_name(name) for name in cases] if cases else list(before.cases)
    goes_on = set(chosen) == set(before.cases)
    record = draft_design(
        book,
        before.study,
        points,
        cases=chosen,
        fixed=before.fixed,
        keep_curves=before.keep_curves,
        inputs=[("filter" if goes_on else "proposal", event)],
        state=state,
    )
    appended = book.append(new_drafts(record))[-1]
    say(f"{n} points beside the {event.data['samples']} of the filter" if goes_on else f"{n} points of other cases")
    give_id(appended.id, {"sampler": points.sampler, "n": n, "digest": record.digest, "cases": chosen}, json)
