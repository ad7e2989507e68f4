"""`percuss surrogate`: stand-ins for the model from the runs of a design."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from percuss.cli.options import AcceptOption, EventArgument, JsonOption, LedgerOption, accepted_gates, open_at

if TYPE_CHECKING:
    import polars as pl

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss design studies/ishigami --n 300 --skip 1 | percuss run - | percuss surrogate -")
def surrogate(
    event: EventArgument,
    family: Annotated[
        str | None,
        typer.Option(
            help="chaos, gp, chaos-plus-gp, or auto: by nested error.",
            show_default="auto; chaos with --folds 0 or --curves",
        ),
    ] = None,
    degree: Annotated[str, typer.Option(help="Degrees to search, as 1..20 or 2,3,5.")] = "1..20",
    q: Annotated[str, typer.Option("--q", help="q-norms to search, as 0.5..1 or 0.5,0.75.")] = "0.5..1",
    method: Annotated[
        str, typer.Option(help="Choice of terms: best, least-angle, matching-pursuit or ordinary.")
    ] = "best",
    search: Annotated[str, typer.Option(help="full: every degree and q; early: until the error rises.")] = "full",
    folds: Annotated[int, typer.Option(min=0, help="Folds of the nested error; 0: none.")] = 5,
    held_out: Annotated[
        str | None,
        typer.Option(help="Fraction of the points to keep back, or another campaign of the study.", metavar="F|EVENT"),
    ] = None,
    bootstrap: Annotated[int, typer.Option(min=0, max=10_000, help="Resampled designs for bands; 0: none.")] = 100,
    curves: Annotated[
        str | None, typer.Option(help="Fit whole curves of this quantity instead of the outputs.", metavar="QUANTITY")
    ] = None,
    at: Annotated[
        Path | None,
        typer.Option(help="Of a fitted surrogate: predict at the points of this table, as CSV.", metavar="FILE"),
    ] = None,
    to: Annotated[Path | None, typer.Option(help="Where --at writes.", show_default="stdout", metavar="FILE")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Root of folds and resampling.")] = 0,
    accept: AcceptOption = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Fit a surrogate of every output of every case, tell its errors, and append it.

    EVENT is a design whose runs are all in, its campaign, or runs of it. A design made by percuss design --extend
    is fitted together with those it extends. Errors are mean squares over the variance of the output; outputs with
    more than half of it are named, and the exit code is 1. With --at EVENT is a surrogate, and nothing is appended.
    """
    import os
    import resource
    import time

    from percuss.cli.output import give_id, hint, leave_untrusted, plain, progress, say, table_text, tell_trust
    from percuss.errors import InputError
    from percuss.ledger.event import Cost
    from percuss.ledger.projections import fold
    from percuss.ledger.standing import judged
    from percuss.surrogates.fit import fit_all
    from percuss.surrogates.holes import hole_sentences
    from percuss.surrogates.registry import AUTO, CHOICES
    from percuss.surrogates.settings import METHODS, SEARCHES, Settings, chosen, parse_degrees, parse_qs
    from percuss.surrogates.skill import skill
    from percuss.surrogates.storage import draft_surrogate
    from percuss.surrogates.training import load_training
    from percuss.trust import write_trust

    gates = accepted_gates(accept)
    if folds == 1:
        raise InputError("--folds 1: must be 0 or at least 2")
    if at:
        _predict(event, at, to, ledger, json)
        return
    fraction, other = _held_out(held_out)
    settings = Settings(
        family=chosen("--family", family or (AUTO if folds and not curves else "chaos"), CHOICES),
        degrees=parse_degrees(degree),
        qs=parse_qs(q),
        method=chosen("--method", method, METHODS),
        search=chosen("--search", search, SEARCHES),
        folds=folds,
        held_out=fraction,
        bootstrap=bootstrap,
        seed=seed,
        curves=curves,
    )
    book, found = open_at(ledger, event)
    training = load_training(book, fold(book.events()), found)
    validation = None
    if other:
        state = fold(book.events())
        validation = load_training(book, state, book.event(other))
        if validation.study.digest != training.study.digest:
            raise InputError(f"--held-out {other}: is of study {validation.study.name}, not of the same study")
        if {d.id for d in validation.designs} & {d.id for d in training.designs}:
            raise InputError(f"--held-out {other}: holds points the surrogate is fitted to")
    facts: dict[str, Any] = {}
    more: dict[str, pl.DataFrame] = {}
    fitted_to = training
    if curves:
        from percuss.surrogates.curves import project_curves, reduce_curves

        fitted_to, more, facts = reduce_curves(book, training, curves)
        if validation:
            validation, left_out = project_curves(book, validation, curves, more["modes"])
            facts["curves"] |= {"held_out_error": left_out}
    count = len(fitted_to.cases) * len(fitted_to.outputs)
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        with progress("fitting", count) as advance:
            fitted = fit_all(fitted_to, settings, validation, advance)
    except KeyboardInterrupt:
        say("interrupted: nothing was appended")
        # Folds that are still being fitted in other threads cannot be stopped from here.
        os._exit(130)
    held = validation.campaigns if validation else ()
    draft = draft_surrogate(book, fitted_to, settings, fitted, held, more, facts)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    draft.cost = Cost(round(1e6 * wall), round(1e6 * cpu), peak)
    draft, trust = judged(fold(book.events()), draft, gates, skill(fitted.columns, facts))
    appended = book.append([draft])[0]
    tell_trust(trust)
    for sentence in hole_sentences(training):
        say(plain(sentence))
    if fitted.duplicates:
        say(f"{fitted.duplicates} runs repeat a point: each point counts once, with its mean output")
    rows = []
    for column in fitted.columns:
        e, told = column.errors, column.facts
        errors = [
            None if x is None else float(f"{x:.2g}")
            for x in (e.loo, e.loo_corrected, e.nested, e.elsewhere, e.held_out)
        ]
        rows.append(
            (column.case, column.output, column.family, *(told.get(k) for k in ("terms", "degree", "q")), *errors)
        )
    heads = ("case", "output", "family", "terms", "degree", "q", "loo", "corrected", "nested", "elsewhere", "held out")
    say(table_text(heads, rows))
    if curves:
        from percuss.surrogates.curves import whole_curve_errors

        for name, error, left in whole_curve_errors(fitted.columns, facts):
            say(f"{curves}, {name}: error of the whole curve {error:.2g}, of which the modes leave out {left:.2g}")
    for column in fitted.columns:
        for warning in column.warnings:
            say(f"{column.output}, {column.case}: {warning}")
        if len(column.tried) > 1:
            say(f"{column.output}, {column.case}: {_comparison(column.family, column.tried)}")
    if any(column.errors.trusted > 0.1 for column in fitted.columns):
        hint(f"percuss design --extend {appended.id} --n N proposes points where the error is")
    outputs = [
        {
            "case": column.case,
            "output": column.output,
            "family": column.family,
            "loo": column.errors.loo,
            "loo_corrected": column.errors.loo_corrected,
            "nested": column.errors.nested,
            "elsewhere": column.errors.elsewhere,
            "held_out": column.errors.held_out,
            "points": column.points,
            **{key: column.facts.get(key) for key in ("method", "degree", "q", "candidates", "terms", "leverage")},
            "tried": column.tried,
            "warnings": list(column.warnings),
        }
        for column in fitted.columns
    ]
    failed = sum(len(runs.failures) for runs in training.cases)
    told_facts = {"points": len(training.theta), "failed": failed, "search": search, "trust": write_trust(trust)}
    give_id(appended.id, {**told_facts, **facts, "outputs": outputs}, json)
    leave_untrusted(trust)


def _predict(event: str, at: Path, to: Path | None, ledger: str | None, json: bool) -> None:
    """Predictions at the points of a file."""
    from percuss.cli.output import give_json, say
    from percuss.cli.values import tell_columns
    from percuss.config import find_settings
    from percuss.export.tables import write_csv
    from percuss.ledger.projections import fold
    from percuss.surrogates.evaluate import evaluate
    from percuss.surrogates.surrogate import load_surrogate

    book, found = open_at(ledger, event)
    stand_in = load_surrogate(book, fold(book.events()), found)
    table, units = evaluate(stand_in, at, 0.95, find_settings()["import_mb"].value * 1_000_000)
    tell_columns(units)
    if json and to is None:
        give_json({"id": found.id, "columns": table.to_dict(as_series=False)})
        return
    write_csv(table, to)
    if to:
        say(f"{to}: {table.height} rows, SI; std is that of the surrogate's error, low and high its 95 % band")
    if json:
        give_json({"id": found.id, "file": str(to), "rows": table.height, "columns": table.columns})


def _held_out(text: str | None) -> tuple[float, str | None]:
    """A fraction, or a reference to other runs."""
    from percuss.cli.options import reference
    from percuss.errors import InputError

    if text is None:
        return 0.0, None
    try:
        fraction = float(text)
    except ValueError:
        return 0.0, reference(text)
    if not 0 < fraction < 1:
        raise InputError(f"--held-out {text}: must lie between 0 and 1, or name a campaign")
    return fraction, None


def _comparison(family: str, tried: dict[str, float]) -> str:
    """By how much the family that was taken is better than the others."""
    others = ", ".join(
        f"{name} {error:.2g} ({error / max(tried[family], 1e-300):.3g} times)"
        for name, error in tried.items()
        if name != family
    )
    return f"{family} has the least nested error {tried[family]:.2g}; {others}"
