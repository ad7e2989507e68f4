"""`percuss region`: where time histories lie, run by run and as a whole."""

from __future__ import annotations

from typing import Annotated

import typer

from percuss.cli.options import AcceptOption, EventArgument, JsonOption, LedgerOption, accepted_gates, open_at

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss region @last:campaign --curve rock_ax --level 0.9")
def region(
    event: EventArgument,
    curve: Annotated[list[str], typer.Option(help="Which curves of the runs.")],
    level: Annotated[float, typer.Option(help="Share of the runs in the region.")] = 0.9,
    accept: AcceptOption = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Compute confidence regions of time histories over the runs of a campaign, and append them.

    The pointwise region holds that share of the runs at every instant, the simultaneous one that share of whole
    histories. With them the convergence of the mean-square norm with the number of runs; of a saltelli design, the
    variance at every instant split by source.
    """
    from percuss.cli.output import give_id, hint, leave_untrusted, say, table_text, tell_trust
    from percuss.errors import InputError
    from percuss.ledger.projections import fold
    from percuss.ledger.standing import judged
    from percuss.regions.compute import compute_regions

    gates = accepted_gates(accept)
    if not 0 < level < 1:
        raise InputError(f"--level {level}: must lie between 0 and 1")
    book, found = open_at(ledger, event)
    computed = compute_regions(book, fold(book.events()), found, list(dict.fromkeys(curve)), level)
    draft, trust = judged(fold(book.events()), computed.draft, gates)
    appended = book.append([draft])[0]
    tell_trust(trust)
    heads = ["case", "curve", "runs", "widened by", "norm", "its error"]
    rows: list[list[object]] = []
    for fact in computed.facts:
        row = [fact["case"], fact["curve"], fact["runs"], f"{fact['factor']:.3g}"]
        row += [f"{fact['norm']:.4g}", f"{100 * fact['error'] / fact['norm'] if fact['norm'] else 0:.2g} %"]
        rows.append(row)
    say(table_text(heads, rows))
    shares: list[list[object]] = []
    for fact in computed.facts:
        for source, share in fact.get("split", {}).items():
            shares.append([fact["case"], fact["curve"], source, f"{share['first']:.3f}", f"{share['total']:.3f}"])
    if shares:
        say("\n" + table_text(("case", "curve", "source", "first", "total"), shares))
    hint(f"percuss plot {appended.id} --to region.svg draws them")
    give_id(appended.id, {"level": level, "curves": computed.facts}, json)
    leave_untrusted(trust)
