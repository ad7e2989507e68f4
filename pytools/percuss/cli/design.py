"""`percuss design`: choose the sample points of a study."""

from __future__ import annotations

from typing import Annotated

import typer

from percuss.cli.options import JsonOption, LedgerOption, StudyArgument, assignments, open_ledger, study_path

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss design studies/ishigami --sampler sobol --n 300 --skip 1")
def design(
    study: StudyArgument,
    sampler: Annotated[
        str,
        typer.Option(help="sobol, halton, latin-hypercube, monte-carlo, grid, full-factorial or mean."),
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
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Choose the sample points of a study's parameters and append them as a design."""
    from percuss.cli.output import give_id, say
    from percuss.designs.registry import make_design
    from percuss.errors import InputError
    from percuss.execution.records import draft_design, new_drafts
    from percuss.study.load import load_study

    found = load_study(study_path(study))
    cases = [found.case_name(name) for name in case] if case else list(found.cases)
    points = make_design(found, sampler, n, seed, skip, assignments(option, "--option"))
    given = assignments(set_, "--set")
    for key in given:
        if key in found.parameters:
            raise InputError(f"--set {key}: is a parameter of the study, which a design varies")
    middle = dict(zip(points.names, points.values[0].tolist(), strict=True))
    merged = [found.point(name, {**middle, **given}) for name in cases]
    fixed = {key: merged[0][key] for key in given}
    book = open_ledger(ledger, create=True)
    record = draft_design(book, found, points, cases=cases, fixed=fixed, keep_curves=curves)
    event = book.append(new_drafts(record))[-1]
    say(f"{points.sampler}: {len(points.values)} points of {len(points.names)} parameters, {len(cases)} cases")
    give_id(
        event.id, {"sampler": points.sampler, "n": len(points.values), "digest": record.digest, "cases": cases}, json
    )
