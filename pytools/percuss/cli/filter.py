"""`percuss filter`: which samples of an ensemble the observations speak for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
        Path | None, typer.Option(help="Observations, CSV or Parquet, one row a step.", metavar="FILE")
    ] = None,
    observations: Annotated[
        str | None,
        typer.Option(
            help="Instead of --data: what percuss observe took in.", metavar="EVENT", autocompletion=complete_events
        ),
    ] = None,
    case: Annotated[str | None, typer.Option(help="Which case was observed, or which rows to use.")] = None,
    covariance: Annotated[
        str, typer.Option(help="Error of the observations: constant, relative, or relative to the maximum.")
    ] = "constant",
    noise: Annotated[
        list[str] | None,
        typer.Option(help="For constant: standard deviation of a variable.", metavar="NAME=STD"),
    ] = None,
    scale: Annotated[float | None, typer.Option(help="Factor of every standard deviation.")] = None,
    ess: Annotated[
        float | None, typer.Option(help="Search the scale for this effective share of the samples.", metavar="SHARE")
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            help="Filter of another model on the same data: tell their probabilities.",
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
    seed: Annotated[int, typer.Option(min=0, help="Root of the mixture's start.")] = 0,
    accept: AcceptOption = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Weigh the runs of a design by observations, step by step, and append weights and identified parameters.

    EVENT is a design whose runs are all in, or its campaign; runs made elsewhere do as well. A design made by percuss
    design --propose is filtered together with those it goes on from, each run weighed for how it was proposed.
    Weights that come down to too few samples are kept, and no estimate is given from them.
    """
    from percuss.cli.output import give_id, leave_untrusted
    from percuss.kinds.body import plain
    from percuss.work.campaigns import closed_campaign
    from percuss.work.filter import filter_ensemble

    campaign_id = reference(event)
    session = open_session(ledger, accept=accept)
    campaign = closed_campaign(session, session.event(campaign_id))
    measured = _observations(session, campaign.study, data, observations, case)
    error = _error(campaign.study, measured, covariance, noise, scale, ess)
    others = [session.event(text) for text in against or []]
    filtered = filter_ensemble(session, campaign, measured, error, share=ess, against=others, seed=seed)
    _tell(filtered, measured, error, noise)
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
    session: Session, study: Study, data: Path | None, observations: str | None, case: str | None
) -> Observations:
    """What was observed: from a file, or from what `percuss observe` took in."""
    from percuss.filtering.observations import observed, read_observations

    if data and not observations:
        return read_observations(data, study, case, session.setting("import_mb") * 1_000_000)
    if observations and not data:
        return observed(session, session.event(observations), study, case)
    raise InputError("--data and --observations: give one of them")


def _tell(filtered: FilteredEnsemble, measured: Observations, error: ObservationError, noise: list[str] | None) -> None:
    """What was understood, what the weights say, and what they are worth."""
    from percuss.cli.output import hint, say, tell_trust
    from percuss.cli.values import tell_measured, tell_values

    study, body = filtered.updated.campaign.study, filtered.body
    tell_trust(filtered.trust)
    table = measured.table()
    tell_values(assignments(noise, "--noise"), error.stds, _units(study, measured))
    tell_measured(study, table["variable"].to_list(), table["value"].to_list())
    if body.identified:
        say(_table(study, body.identified))
    say(
        f"{len(measured.steps)} steps, {body.samples} samples worth {body.effective:.3g} "
        f"({100 * body.effective / body.samples:.2g} %), log evidence {body.log_evidence}"
    )
    if body.left_out:
        say(f"{body.left_out} points without a finished run in every case are left out")
    for name, probability in body.probabilities.items():
        say(f"probability {probability:.4g}: {'this model' if name == 'this' else name}")
    if not filtered.enough.passed:
        hint(f"percuss design --propose {filtered.event.id} --n N goes on from the samples that have weight")


def _error(
    study: Study,
    observations: Observations,
    mode: str,
    noise: list[str] | None,
    scale: float | None,
    ess: float | None,
) -> ObservationError:
    from percuss.filtering.covariance import LARGEST, MODES, SMALLEST, ObservationError
    from percuss.spelling import did_you_mean
    from percuss.surrogates.settings import chosen
    from percuss.units import parse_quantity

    chosen("--covariance", mode, MODES)
    if scale is not None and not SMALLEST <= scale <= LARGEST:
        raise InputError(f"--scale {scale}: must lie between {SMALLEST} and {LARGEST}")
    if scale is not None and ess is not None:
        raise InputError("--scale and --ess: the one gives the scale, the other searches it; give one")
    if mode != "constant" and scale is None and ess is None:
        raise InputError(f"--covariance {mode}: needs --scale SCALE, or --ess SHARE to search it")
    if mode != "constant" and noise:
        raise InputError(f"--noise: goes with --covariance constant, not with {mode}")
    if ess is not None and not 0 < ess < 1:
        raise InputError(f"--ess {ess}: must lie between 0 and 1")
    units = _units(study, observations)
    stds = dict(observations.stds) if mode == "constant" else {}
    for name, text in assignments(noise, "--noise").items():
        if name not in units:
            raise InputError(f"--noise {name}: is not observed; {did_you_mean(name, units)}")
        stds[name] = parse_quantity(text, units[name])
    return ObservationError(mode, 1.0 if scale is None else scale, stds)


def _units(study: Study, observations: Observations) -> dict[str, str]:
    """The unit of every observed variable."""
    units = {name: item.unit for name, item in study.model().quantities.items()}
    units |= {name: item.unit for name, item in study.outputs.items()}
    pairs = (pair for step in observations.steps for pair in zip(step.variables, step.names, strict=True))
    return {variable: units[name] for variable, name in pairs}


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
