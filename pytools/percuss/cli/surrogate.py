"""`percuss surrogate`: surrogates of the model from the runs of a design."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import AcceptOption, EventArgument, JsonOption, LedgerOption, open_session, reference
from percuss.cli.output import unkept_on_interrupt
from percuss.errors import InputError
from percuss.spelling import counted

if TYPE_CHECKING:
    from percuss.work.surrogate import Surrogates

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss design studies/ishigami --n 300 --skip 1 | percuss run - | percuss surrogate -")
def surrogate(
    event: EventArgument,
    family: Annotated[
        str | None,
        typer.Option(
            help="chaos, gp, chaos-plus-gp, or auto: the best of them, or an average, by nested error.",
            show_default="auto; chaos with --folds 0 or --curves",
        ),
    ] = None,
    degree: Annotated[str, typer.Option(help="Degrees to search, such as 1..20 or 2,3,5.")] = "1..20",
    q: Annotated[str, typer.Option("--q", help="q-norms to search, such as 0.5..1 or 0.5,0.75.")] = "0.5..1",
    method: Annotated[
        str, typer.Option(help="How terms are chosen: best, least-angle, matching-pursuit or ordinary.")
    ] = "best",
    search: Annotated[str, typer.Option(help="full: every degree and q; early: until the error rises.")] = "full",
    folds: Annotated[int, typer.Option(min=0, help="Folds of the nested error; 0: none.")] = 5,
    held_out: Annotated[
        str | None,
        typer.Option(help="Fraction of the points to keep back, or another campaign of the study.", metavar="F|EVENT"),
    ] = None,
    low: Annotated[
        str | None,
        typer.Option(help="Multi-fidelity: build on this surrogate of cheaper runs.", metavar="SURROGATE"),
    ] = None,
    bootstrap: Annotated[
        int, typer.Option(min=0, max=10_000, help="Bootstrap resamples for error bands; 0: none.")
    ] = 100,
    curves: Annotated[
        str | None, typer.Option(help="Fit whole curves of this quantity instead of the outputs.", metavar="QUANTITY")
    ] = None,
    at: Annotated[
        Path | None,
        typer.Option(help="Predict with a fitted surrogate at the points of this table; writes CSV.", metavar="FILE"),
    ] = None,
    to: Annotated[Path | None, typer.Option(help="Where --at writes.", show_default="stdout", metavar="FILE")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of folds and resampling.")] = 0,
    accept: AcceptOption = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Fit a surrogate of every output of every case, estimate its errors, and record it.

    EVENT is a design whose runs are complete, its campaign, or runs of it. A design made by percuss design --extend is
    fitted together with those it extends. Errors are mean squared errors divided by the variance of the output. Outputs
    with an error above 0.5 are named, and the exit code is 1. With --at EVENT is a surrogate, and nothing is recorded.
    """
    from percuss.cli.output import give_id, leave_untrusted
    from percuss.kinds.surrogate_fitted import SurrogateFitted
    from percuss.kinds.table import plain
    from percuss.surrogates import model as asked
    from percuss.work.surrogate import fit_surrogates, output_facts

    if folds == 1:
        raise InputError("--folds 1: must be 0 or at least 2")
    if at:
        _predict(event, at, to, ledger, json)
        return
    fraction, other = _held_out(held_out)
    settings = asked.Settings(
        family=asked.chosen(
            "--family", family or (asked.AUTO if folds and not curves else "chaos"), asked.family_choices()
        ),
        degrees=asked.parse_degrees(degree),
        qs=asked.parse_qs(q),
        method=asked.chosen("--method", method, asked.METHODS),
        search=asked.chosen("--search", search, asked.SEARCHES),
        folds=folds,
        held_out=fraction,
        bootstrap=bootstrap,
        seed=seed,
        curves=curves,
    )
    event_id = reference(event)
    session = open_session(ledger, accept=accept)
    with unkept_on_interrupt():
        others, lower = (session.event(text) if text else None for text in (other, low))
        fitted = fit_surrogates(session, session.event(event_id), settings, others, lower)
    _tell(fitted)
    body = SurrogateFitted.of(fitted.event)
    facts = {"points": body.points, "failed": body.failed, "search": search, "trust": plain(body.trust)}
    if body.curves:
        facts["curves"] = plain(body.curves)
    give_id(fitted.event.id, {**facts, "outputs": output_facts(fitted)}, json)
    leave_untrusted(fitted.trust)


def _tell(surrogates: Surrogates) -> None:
    """Errors of every output, and what to think of them."""
    from percuss.cli.output import hint, plain, say, say_table, tell_trust
    from percuss.execution.results import hole_sentences
    from percuss.surrogates.assessment import condensed, whole_curve_errors
    from percuss.surrogates.two_level import TWO_LEVEL

    tell_trust(surrogates.trust)
    fitted = surrogates.fitted
    for sentence in hole_sentences(surrogates.campaign):
        say(plain(sentence))
    if fitted.duplicates:
        say(f"{fitted.duplicates} runs repeat a point: each point counts once, with its mean output")
    rows = []
    for column in fitted.columns:
        e, facts = column.errors, column.facts
        errors = [
            None if x is None else float(f"{x:.2g}")
            for x in (e.loo, e.loo_corrected, e.nested, e.elsewhere, e.held_out)
        ]
        rows.append(
            (column.case, column.output, column.family, *(facts.get(k) for k in ("terms", "degree", "q")), *errors)
        )
    heads = ("case", "output", "family", "terms", "degree", "q", "loo", "corrected", "nested", "elsewhere", "held out")
    say_table(heads, rows)
    if surrogates.curves:
        for name, error, left in whole_curve_errors(fitted.columns, surrogates.curves):
            curve_component = f"{surrogates.curves.quantity}, {name}"
            say(f"{curve_component}: error of the whole curve {error:.2g}, of which the modes leave out {left:.2g}")
    warnings = [(f"{column.output}, {column.case}", word) for column in fitted.columns for word in column.warnings]
    for sentence in condensed(warnings, len(fitted.columns)):
        say(sentence)
    for column in fitted.columns:
        if len(column.tried) > 1:
            # Two levels are an expansion, and kernels of processes have their own names.
            method = column.facts.get("method")
            taken = str(method) if method in column.tried else column.family
            scaled = f", rho {column.facts['rho']:.3g}" if taken == TWO_LEVEL else ""
            say(f"{column.output}, {column.case}: {_comparison(taken, method, column.tried)}{scaled}")
    if any(column.errors.trusted > 0.1 for column in fitted.columns):
        hint(f"percuss design --extend {surrogates.event.id} --n N proposes points where the error is")


def _predict(event: str, at: Path, to: Path | None, ledger: str | None, json: bool) -> None:
    """Predictions at the points of a file."""
    from percuss.cli.output import give_json, say, tell_columns
    from percuss.export.tables import write_csv
    from percuss.surrogates.evaluate import evaluate
    from percuss.surrogates.surrogate import load_surrogate

    event_id = reference(event)
    session = open_session(ledger)
    surrogate = load_surrogate(session, session.event(event_id))
    table, units = evaluate(surrogate, at, 0.95, session.setting("import_mb") * 1_000_000)
    tell_columns(units)
    id = surrogate.event.id
    if json and to is None:
        give_json({"id": id, "columns": table.to_dict(as_series=False)})
        return
    write_csv(table, to)
    if to:
        say(
            f"{to}: {counted(table.height, 'row')}, SI; "
            "std is that of the surrogate's error, low and high its 95 % band"
        )
    if json:
        give_json({"id": id, "file": str(to), "rows": table.height, "columns": table.columns})


def _held_out(text: str | None) -> tuple[float, str | None]:
    """A fraction, or a reference to other runs."""
    if text is None:
        return 0.0, None
    try:
        fraction = float(text)
    except ValueError:
        return 0.0, reference(text)
    if not 0 < fraction < 1:
        raise InputError(f"--held-out {text}: must lie between 0 and 1, or name a campaign")
    return fraction, None


def _comparison(taken: str, members: object, tried: dict[str, float]) -> str:
    """By how much what was taken is better than the others."""
    from percuss.surrogates.model import AVERAGE

    others = ", ".join(
        f"{name} {error:.2g} ({error / max(tried[taken], 1e-300):.3g} times)"
        for name, error in tried.items()
        if name != taken
    )
    if taken == AVERAGE:
        return f"the average of {members} has the nested error {tried[taken]:.2g}; {others}"
    return f"{taken} has the least nested error {tried[taken]:.2g}; {others}"
