"""`percuss compare`: calibrations held against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from percuss.cli.options import AcceptOption, EventsArgument, JsonOption, LedgerOption, open_session, reference

if TYPE_CHECKING:
    from percuss.work.compare import Compared

app = typer.Typer(add_completion=False)

FACTORS = ("first", "second", "log Bayes factor", "error", "evidence")


@app.command(epilog="Example: percuss compare 0197c3a4 0197c3b1")
def compare(
    events: EventsArgument, accept: AcceptOption = None, ledger: LedgerOption = None, json: JsonOption = False
) -> None:
    """Compare posteriors by Bayes factors, leave-one-out and parameters side by side, and record the comparison.

    For validations: Bayes factors between their constant calibrations.

    Bayes factors and leave-one-out need calibrations on the same data. A positive logarithm favours the first.
    """
    from percuss.cli.output import give_id, leave_untrusted, tell_trust
    from percuss.kinds.table import plain
    from percuss.work.compare import compare as hold_against

    event_ids = [reference(text) for text in events]
    session = open_session(ledger, accept=accept)
    comparison = hold_against(session, [session.event(text) for text in event_ids])
    tell_trust(comparison.trust)
    if comparison.validations:
        _tell_validations(comparison)
    else:
        _tell_posteriors(comparison)
    give_id(comparison.event.id, plain(comparison.body), json)
    leave_untrusted(comparison.trust)


def _tell_validations(comparison: Compared) -> None:
    """Bayes factors between models."""
    from percuss.cli.output import say, say_table

    for note in comparison.body.notes:
        say(note)
    models = {item.id: item.block for item in comparison.body.posteriors}
    rows = [
        (models[b.first], models[b.second], f"{b.log:.2f}", b.error, b.words) for b in comparison.body.bayes_factors
    ]
    say_table(FACTORS, rows)


def _tell_posteriors(comparison: Compared) -> None:
    """Parameters side by side, then the evidence for each calibration."""
    from percuss.cli.output import say, say_table
    from percuss.units import from_si

    names = {item.id: f"{number} {item.block}" for number, item in enumerate(comparison.body.posteriors, 1)}
    rows = []
    for row in comparison.table.sort("parameter", maintain_order=True).iter_rows(named=True):
        shown = [from_si(row[key], row["unit"]) for key in ("mean", "std", "median", "mode", "low", "high")]
        rows.append((row["parameter"], names[row["posterior"]], *shown, row["unit"]))
    say_table(("parameter", "posterior", "mean", "std", "median", "mode", "low", "high", "unit"), rows)
    if factors := comparison.body.bayes_factors:
        say("")
        say_table(FACTORS, [(names[b.first], names[b.second], b.log, b.error, b.words) for b in factors])
    if differences := comparison.body.loo_differences:
        gains = [(names[d.first], names[d.second], d.difference, d.error) for d in differences]
        say("")
        say_table(("first", "second", "elpd difference", "error"), gains)
    for note in comparison.body.notes:
        say(note)
