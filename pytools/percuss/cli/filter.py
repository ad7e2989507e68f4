"""`percuss filter`: which samples of an ensemble the observations speak for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from percuss.cli.options import (
    AcceptOption,
    EventArgument,
    JsonOption,
    LedgerOption,
    assignments,
    complete_events,
    open_session,
    reference,
)
from percuss.errors import InputError
from percuss.spelling import counted, log_text

if TYPE_CHECKING:
    from percuss.filtering.covariance import ObservationError
    from percuss.filtering.observations import Observations
    from percuss.kinds.filter_updated import Identified
    from percuss.session import Session
    from percuss.study.study import Study
    from percuss.work.filter import FilteredEnsemble

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss filter @last:campaign --data observed.csv --covariance maximum --scale 0.05")
def filter(
    event: EventArgument,
    data: Annotated[
        Path | None, typer.Option(help="Observations, CSV or Parquet, one row per step.", metavar="FILE")
    ] = None,
    observations: Annotated[
        str | None,
        typer.Option(
            help="Instead of --data: observations recorded by percuss observe.",
            metavar="EVENT",
            autocompletion=complete_events,
        ),
    ] = None,
    case: Annotated[str | None, typer.Option(help="Which case was observed, or which rows to use.")] = None,
    covariance: Annotated[
        str | None,
        typer.Option(
            help="Error of the observations: constant, relative, or relative to the maximum.", show_default="constant"
        ),
    ] = None,
    noise: Annotated[
        list[str] | None,
        typer.Option(help="For constant: standard deviation of a variable.", metavar="NAME=STD"),
    ] = None,
    scale: Annotated[float | None, typer.Option(help="Factor of every standard deviation.")] = None,
    ess: Annotated[
        float | None,
        typer.Option(
            help="Find the scale at which the effective sample is this share of the samples.", metavar="SHARE"
        ),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            help="Filter of another model on the same data: print their probabilities.",
            metavar="FILTER",
            autocompletion=complete_events,
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw how parameters evolve, as .svg, .png or .pdf.", metavar="FILE")
    ] = None,
    densities: Annotated[
        Path | None, typer.Option(help="Draw marginal and pairwise densities.", metavar="FILE")
    ] = None,
    runs: Annotated[
        Path | None, typer.Option(help="Draw outputs of the runs over their parameters.", metavar="FILE")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed for fitting the mixture.")] = 0,
    accept: AcceptOption = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Weight the runs of a design by observations, step by step, and record weights and identified parameters.

    EVENT is a design whose runs are complete, or its campaign; imported runs work too. A design made by percuss design
    --propose is filtered together with those it continues, and each run is weighted by how it was proposed. If too few
    samples carry weight, the weights are recorded but no estimate is given. Options that are not given are taken from
    the section [filter] of the study.
    """
    from percuss.cli.output import give_id, leave_untrusted
    from percuss.execution.campaign import closed_campaign
    from percuss.filtering.section import filter_settings, observation_error
    from percuss.kinds.table import plain
    from percuss.work.filter import filter_ensemble

    campaign_id = reference(event)
    session = open_session(ledger, accept=accept)
    campaign = closed_campaign(session, session.event(campaign_id))
    stds = assignments(noise, "--noise")
    asked = filter_settings(
        campaign.study, {"case": case, "covariance": covariance, "noise": stds, "scale": scale, "ess": ess}
    )
    measured = _observations(session, campaign.study, data, observations, asked)
    error = observation_error(campaign.study, measured, asked, "--")
    others = [session.event(text) for text in against or []]
    filtered = filter_ensemble(session, campaign, measured, error, share=asked.get("ess"), against=others, seed=seed)
    _tell(filtered, measured, error, stds)
    for picture, path in (("evolution", plot), ("densities", densities), ("runs", runs)):
        if path:
            _draw(session, filtered, picture, path)
    facts = {key: value for key, value in plain(filtered.body).items() if key in TOLD}
    give_id(filtered.event.id, {"scale": filtered.updated.error.scale, **facts}, json)
    leave_untrusted(filtered.trust)


TOLD = (
    "samples", "left_out", "effective", "log_evidence", "probabilities", "most_probable", "identified", "trust",
)  # fmt: skip


def _observations(
    session: Session, study: Study, data: Path | None, observations: str | None, asked: Mapping[str, Any]
) -> Observations:
    """What was observed: from a file, from what `percuss observe` took in, or from the file that the study names."""
    from percuss.filtering.observations import observed, read_observations
    from percuss.filtering.section import study_observations

    case = asked.get("case")
    if data and not observations:
        return read_observations(data, study, case, session.setting("import_mb") * 1_000_000)
    if observations and not data:
        return observed(session, session.event(observations), study, case)
    if data or "file" not in asked:
        raise InputError("--data and --observations: give one of them, or a file in [filter] of the study")
    return study_observations(study, asked)


def _tell(
    filtered: FilteredEnsemble, measured: Observations, error: ObservationError, noise: Mapping[str, str]
) -> None:
    """What was understood, what the weights say, and what they are worth."""
    from percuss.cli.output import hint, say, tell_measured, tell_trust, tell_values
    from percuss.filtering.section import observed_units

    study, body = filtered.updated.campaign.study, filtered.body
    tell_trust(filtered.trust)
    table = measured.table()
    tell_values(noise, error.stds, observed_units(study, measured))
    tell_measured(study, table["variable"].to_list(), table["value"].to_list())
    if body.identified:
        say(_table(study, body.identified))
    evidence = "" if body.log_evidence is None else f", log evidence {log_text(body.log_evidence)}"
    say(
        f"{counted(len(measured.steps), 'step')}, {counted(body.samples, 'sample')} worth {body.effective:.3g} "
        f"({100 * body.effective / body.samples:.2g} %){evidence}"
    )
    if body.left_out:
        say(f"{counted(body.left_out, 'point')} without a finished run in every case are left out")
    for name, probability in body.probabilities.items():
        say(f"probability {probability:.4g}: {'this model' if name == 'this' else name}")
    if not filtered.enough.passed:
        hint(f"percuss design --propose {filtered.event.id} --n N goes on from the samples that have weight")


def _table(study: Study, identified: dict[str, Identified]) -> str:
    from percuss.cli.output import table_text
    from percuss.units import from_si

    keys = ("mean", "std", "q05", "q50", "q95", "most_probable")
    rows = []
    for name, estimate in identified.items():
        unit = study.parameters[name].unit
        rows.append((name, unit, *(from_si(getattr(estimate, key), unit) for key in keys)))
    return table_text(("parameter", "unit", *(key.replace("_", " ") for key in keys)), rows)


def _draw(session: Session, filtered: FilteredEnsemble, picture: str, path: Path) -> None:
    from percuss.cli.output import say
    from percuss.plots import filtering
    from percuss.work.plot import plot

    if not filtered.may_estimate and picture != "runs":
        say(f"{path}: is not drawn, as no estimate is given")
        return
    functions = {"evolution": filtering.draw, "densities": filtering.densities, "runs": filtering.runs}
    plot(session, [filtered.event], path, function=functions[picture])
