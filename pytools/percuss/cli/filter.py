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
    accepted_gates,
    assignments,
    complete_events,
    open_at,
)

if TYPE_CHECKING:
    from percuss.filtering.covariance import ObservationError
    from percuss.filtering.observations import Observations
    from percuss.filtering.update import Updated
    from percuss.study.study import Study

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
    from percuss.cli.output import give_id, hint, leave_untrusted, say, tell_trust
    from percuss.cli.values import tell_measured, tell_values
    from percuss.config import find_settings
    from percuss.errors import InputError
    from percuss.filtering.observations import observed, read_observations
    from percuss.filtering.update import draft_update, summary, update
    from percuss.ledger.projections import fold
    from percuss.ledger.standing import judged
    from percuss.surrogates.training import load_training

    gates = accepted_gates(accept)
    book, found = open_at(ledger, event)
    state = fold(book.events())
    training = load_training(book, state, found)
    state = fold(book.events())
    if data and not observations:
        limit = find_settings()["import_mb"].value * 1_000_000
        seen = read_observations(data, training.study, case, limit)
    elif observations and not data:
        seen = observed(book, book.event(observations), training.study, case)
    else:
        raise InputError("--data and --observations: give one of them")
    error = _error(training.study, seen, covariance, noise, scale, ess)
    others = [book.event(text) for text in against or []]
    done = update(book, state, training, seen, error, ess, others, seed)
    enough = done.verdict()
    # A scale that was searched for claims nothing of errors, and of few samples even the best may be far off.
    own = [enough, done.fit()] if enough.passed and ess is None else [enough]
    told = enough.passed or enough.gate in gates
    draft, trust = judged(state, draft_update(book, done, others, ess, seed, told=told), gates, own)
    appended = book.append([draft])[0]
    tell_trust(trust)
    measured = seen.table()
    tell_values(assignments(noise, "--noise"), error.stds, _units(training.study, seen))
    tell_measured(training.study, measured["variable"].to_list(), measured["value"].to_list())
    facts = summary(done, told=told)
    if told:
        say(_table(done, facts))
    share = facts["effective"] / facts["samples"]
    say(
        f"{len(seen.steps)} steps, {facts['samples']} samples worth {facts['effective']:.3g} "
        f"({100 * share:.2g} %), log evidence {facts['log_evidence']}"
    )
    if facts["left_out"]:
        say(f"{facts['left_out']} points without a finished run in every case are left out")
    for name, probability in facts["probabilities"].items():
        say(f"probability {probability:.4g}: {'this model' if name == 'this' else name}")
    for picture, path in (("evolution", plot), ("densities", densities), ("runs", runs)):
        if path and not told and picture != "runs":
            say(f"{path}: is not drawn, as no estimate is given")
        elif path:
            _draw(done, picture, path)
    if not enough.passed:
        hint(f"percuss design --propose {appended.id} --n N goes on from the samples that have weight")
    give_id(appended.id, {"scale": done.error.scale, **facts, "trust": appended.data["trust"]}, json)
    leave_untrusted(trust)


def _error(
    study: Study,
    observations: Observations,
    mode: str,
    noise: list[str] | None,
    scale: float | None,
    ess: float | None,
) -> ObservationError:
    from percuss.errors import InputError
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


def _table(done: Updated, facts: dict[str, dict[str, dict[str, float]]]) -> str:
    from percuss.cli.output import table_text
    from percuss.units import from_si

    keys = ("mean", "std", "q05", "q50", "q95", "most_probable")
    rows = []
    for name, values in facts["identified"].items():
        unit = done.training.study.parameters[name].unit
        rows.append((name, unit, *(from_si(values[key], unit) for key in keys)))
    return table_text(("parameter", "unit", *(key.replace("_", " ") for key in keys)), rows)


def _draw(done: Updated, picture: str, path: Path) -> None:
    from percuss.cli import filter_pictures

    {
        "evolution": filter_pictures.draw_evolution,
        "densities": filter_pictures.draw_densities,
        "runs": filter_pictures.draw_runs,
    }[picture](done, path)
