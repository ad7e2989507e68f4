"""`percuss region`: where time histories lie, run by run and as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import AcceptOption, EventArgument, JsonOption, LedgerOption, open_session, reference

if TYPE_CHECKING:
    from percuss.work.region import ComputedRegions

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
    """Compute confidence regions of time histories over the runs of a campaign, and record them.

    The pointwise region contains the given share of the runs at every instant, the simultaneous region that share of
    whole histories. The convergence of the mean-square norm with the number of runs is recorded too and, for a saltelli
    design, the variance at every instant by source.
    """
    from percuss.cli.output import give_id, leave_untrusted
    from percuss.kinds.table import plain
    from percuss.work.region import compute_regions

    event_id = reference(event)
    session = open_session(ledger, accept=accept)
    regions = compute_regions(session, session.event(event_id), curve, level)
    _tell(regions)
    give_id(regions.event.id, {"level": level, "curves": plain(regions.regions.facts)}, json)
    leave_untrusted(regions.trust)


def _tell(regions: ComputedRegions) -> None:
    """How well the runs tell, and the variance by source."""
    from percuss.cli.output import hint, say, say_table, tell_trust

    tell_trust(regions.trust)
    facts = regions.regions.facts
    rows = [
        (
            f.case,
            f.curve,
            f.runs,
            f"{f.factor:.3g}",
            f"{f.norm:.4g}",
            f"{100 * f.error / f.norm if f.norm else 0:.2g} %",
        )
        for f in facts
    ]
    say_table(("case", "curve", "runs", "widened by", "norm", "its error"), rows)
    shares = [
        (fact.case, fact.curve, source, f"{share.first:.3f}", f"{share.total:.3f}")
        for fact in facts
        for source, share in (fact.split or {}).items()
    ]
    if shares:
        say("")
        say_table(("case", "curve", "source", "first", "total"), shares)
    hint(f"percuss plot {regions.event.id} --to region.svg draws them")
