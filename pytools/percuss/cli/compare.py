"""`percuss compare`: calibrations held against each other."""

from __future__ import annotations

import typer

from percuss.cli.options import AcceptOption, EventsArgument, JsonOption, LedgerOption, accepted_gates, open_at_all

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss compare 0197c3a4 0197c3b1")
def compare(
    events: EventsArgument, accept: AcceptOption = None, ledger: LedgerOption = None, json: JsonOption = False
) -> None:
    """Compare posteriors: Bayes factors, leave-one-out, parameters side by side. Appends the comparison.

    Of validations: Bayes factors between their constant calibrations.

    Bayes factors and leave-one-out need calibrations on the same data; a positive log speaks for the first.
    """
    from percuss.calibration.comparison import compare as weigh
    from percuss.calibration.comparison import draft_comparison
    from percuss.calibration.records import load_posterior
    from percuss.cli.output import give_id, leave_untrusted, say, table_text, tell_trust
    from percuss.ledger.projections import fold
    from percuss.ledger.standing import inherit
    from percuss.trust import accept as accept_failures
    from percuss.units import from_si
    from percuss.validation.comparison import draft_weighed
    from percuss.validation.comparison import weigh as weigh_validations
    from percuss.validation.storage import KIND as VALIDATION
    from percuss.validation.storage import load_validation

    gates = accepted_gates(accept)
    book, found = open_at_all(ledger, events)
    state = fold(book.events())
    trust = accept_failures(inherit(state, found), gates)
    if all(event.kind == VALIDATION for event in found):
        validations = [load_validation(book, state, event) for event in found]
        told, rows_of = weigh_validations(validations, trust)
        made = book.append([draft_weighed(book, validations, told, rows_of)])[0]
        tell_trust(trust)
        for note in told["notes"]:
            say(note)
        models = {item["id"]: item["block"] for item in told["posteriors"]}
        lines = [
            (models[b["first"]], models[b["second"]], f"{b['log']:.2f}", b["error"], b["words"])
            for b in told["bayes_factors"]
        ]
        say(table_text(("first", "second", "log Bayes factor", "error", "evidence"), lines))
        give_id(made.id, told, json)
        leave_untrusted(trust)
        return
    posteriors = [load_posterior(book, state, event) for event in found]
    body, table = weigh(posteriors, trust)
    event = book.append([draft_comparison(book, posteriors, body, table)])[0]
    short = {p.event.id: f"{number} {p.body['block']}" for number, p in enumerate(posteriors, 1)}
    tell_trust(trust)
    rows = []
    for row in table.sort("parameter", maintain_order=True).iter_rows(named=True):
        shown = [from_si(row[key], row["unit"]) for key in ("mean", "std", "median", "mode", "low", "high")]
        rows.append((row["parameter"], short[row["posterior"]], *shown, row["unit"]))
    say(table_text(("parameter", "posterior", "mean", "std", "median", "mode", "low", "high", "unit"), rows))
    if body["bayes_factors"]:
        factors = [
            (short[b["first"]], short[b["second"]], b["log"], b["error"], b["words"]) for b in body["bayes_factors"]
        ]
        say("\n" + table_text(("first", "second", "log Bayes factor", "error", "evidence"), factors))
    if body["loo_differences"]:
        gains = [(short[d["first"]], short[d["second"]], d["difference"], d["error"]) for d in body["loo_differences"]]
        say("\n" + table_text(("first", "second", "elpd difference", "error"), gains))
    for note in body["notes"]:
        say(note)
    give_id(event.id, body, json)
    leave_untrusted(trust)
