"""`percuss fragility`: the probability of damage against intensity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import (
    AcceptOption,
    EventArgument,
    JsonOption,
    LedgerOption,
    assignments,
    open_session,
    reference,
)

if TYPE_CHECKING:
    from percuss.study.study import Study
    from percuss.work.fragility import FittedFragility

app = typer.Typer(add_completion=False)


@app.command(
    epilog="Example: percuss fragility @last:campaign --intensity base_sa --output largest_drift_ratio "
    "--state moderate=0.01 --state severe=0.03"
)
def fragility(
    event: EventArgument,
    intensity: Annotated[str, typer.Option(help="Parameter, output or input that measures the intensity.")],
    output: Annotated[str, typer.Option(help="Output that measures the damage.")],
    state: Annotated[
        list[str],
        typer.Option(help="A damage state: the output exceeds this value; mildest first.", metavar="NAME=VALUE"),
    ],
    method: Annotated[
        str,
        typer.Option(help="counts: which runs exceed (stripes too); cloud: regression; ida: capacity for each motion."),
    ] = "counts",
    motion: Annotated[
        str, typer.Option(help="Which runs share a motion: run (none), case, or a parameter (rounded down).")
    ] = "run",
    dispersion: Annotated[
        str, typer.Option(help="common: one for all states, so that curves never cross; each: one per state.")
    ] = "common",
    case: Annotated[list[str] | None, typer.Option(help="Only these cases.")] = None,
    hazard: Annotated[
        str | None,
        typer.Option(help="CSV with intensity and annual_rate, or k0,k of a power law.", metavar="FILE|K0,K"),
    ] = None,
    failed_collapse: Annotated[bool, typer.Option(help="Count failed runs as collapses.")] = False,
    level: Annotated[float, typer.Option(help="Level of the bands.")] = 0.9,
    draws: Annotated[int, typer.Option(help="Resamples of the bootstrap, and draws of the posterior.")] = 400,
    seed: Annotated[int, typer.Option(min=0, help="Seed of both.")] = 0,
    accept: AcceptOption = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Fit lognormal fragility curves to the runs of a campaign, and record them.

    Every damage state gets a bootstrap band over motions and a Bayesian one and, with a hazard curve, a mean annual
    rate.
    """
    from percuss.cli.output import give_id, leave_untrusted
    from percuss.kinds.table import plain
    from percuss.work.fragility import Asked, fit_fragility
    from percuss.work.fragility_words import fit_request, hazard_of

    event_id = reference(event)
    session = open_session(ledger, accept=accept)
    campaign = session.event(event_id)
    study = session.study(campaign)
    request = fit_request(study, output, assignments(state, "--state"), method, dispersion, level, draws, seed)
    curve = hazard_of(study, intensity, hazard) if hazard else []
    asked = Asked(intensity, output, request, case or (), motion, curve, failed_collapse)
    fitted = fit_fragility(session, campaign, asked)
    _tell(study, fitted)
    give_id(fitted.event.id, {"method": method, "states": plain(fitted.body.states)}, json)
    leave_untrusted(fitted.trust)


def _tell(study: Study, fitted: FittedFragility) -> None:
    """Curves with their intervals, in the units of the study."""
    from percuss.cli.output import hint, say, say_table, tell_trust
    from percuss.units import from_si
    from percuss.work.fragility_words import intensity_unit

    tell_trust(fitted.trust)
    body = fitted.body
    unit, own = intensity_unit(study, body.intensity), study.outputs[body.output].unit

    def shown(value: float) -> str:
        return f"{from_si(value, unit):.4g}"

    rows = [
        (
            s.name,
            f"{from_si(s.threshold, own):.4g}",
            f"{s.exceeding} of {body.runs}",
            shown(s.median),
            " to ".join(map(shown, s.median_bootstrap)),
            " to ".join(map(shown, s.median_bayes)),
            f"{s.dispersion:.3f}",
            *(() if s.rate is None else (f"{s.rate:.3g}",)),
        )
        for s in body.states
    ]
    share = f"{100 * body.level:g} %"
    heads = ["state", f"{body.output} [{own}]", "exceed it", f"median [{unit}]", f"bootstrap {share}"]
    heads += [f"Bayes {share}", "dispersion", *(["rate [1/year]"] if body.hazard else [])]
    say_table(heads, rows)
    if body.hazard:
        (first, most), (last, least) = body.hazard[0], body.hazard[-1]
        say(f"hazard: exceeded {most:.3g} times a year at {shown(first)} {unit}, {least:.3g} at {shown(last)} {unit}")
    hint(f"percuss plot {fitted.event.id} --to fragility.svg draws them")
