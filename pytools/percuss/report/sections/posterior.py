"""A calibration: what the data say about the parameters, and whether that can be trusted."""

from __future__ import annotations

import numpy as np

from percuss.calibration.records import Posterior, load_posterior
from percuss.inference.diagnostics import R_HATS, SIZES, worst_figures
from percuss.kinds.posterior_sampled import BandFacts, PosteriorSampled, RoughnessFacts
from percuss.ledger.event import Event
from percuss.ledger.projections import batch_of
from percuss.plots.chains import ess_growth, pareto_shapes, traces, transforms
from percuss.plots.labels import Scale, number_or_nan
from percuss.plots.posterior import MOST_PARAMETERS, column_of, corner_of, marks
from percuss.report.blocks import Block, Cell, Notice, Section, Table, Text
from percuss.report.source import RUNS, Source
from percuss.spelling import counted, log_text, span_text, with_error
from percuss.units import from_si

UNCONVERGED = "UNCONVERGED"


def section(source: Source, event: Event) -> Section:
    """Verdict first, then estimates, pictures and diagnostics."""
    posterior = load_posterior(source.session, event)
    body = PosteriorSampled.of(event)
    columns = [column_of(item) for item in body.parameters]
    scales = [column.scale for column in columns]
    forward = "the simulator itself" if body.direct else "the surrogate"
    forward = "the smooth part of the simulator" if body.roughness else forward
    low, high = map(number_or_nan, body.acceptance)
    blocks: list[Block] = [
        Text(
            f"Block `{body.block}`, forward model {forward}; sampler `{body.sampler}`, {counted(body.chains, 'chain')} "
            f"of {body.draws} draws, {counted(body.evaluations, 'evaluation')}, acceptance "
            f"{100 * low:.0f} to {100 * high:.0f} %."
        ),
        *_own_runs(source, event),
        _verdict(posterior),
        *_fit_verdicts(posterior),
    ]
    if posterior.summary is not None:
        blocks += _estimates(posterior, scales)
    most = slice(None, MOST_PARAMETERS)
    unconverged = not posterior.converged
    blocks.append(corner_of(posterior))
    blocks.append(traces(scales[most], posterior.draws[:, :, most], unconverged))
    blocks.append(ess_growth(scales, posterior.draws, float(body.stopping["ess"])))
    blocks += [drawn for drawn in (transforms(posterior.data), pareto_shapes(posterior.data)) if drawn is not None]
    if len(columns) > MOST_PARAMETERS:
        blocks.append(Text(f"The first {MOST_PARAMETERS} of {len(columns)} unknowns are drawn."))
    blocks += [_diagnostics(posterior), *_errors(posterior, scales), *_fit(posterior), *_evidence(body), _groups(body)]
    blocks += _roughness(body, body.roughness) if body.roughness else []
    blocks += [Notice(f"{note}.", "note") for note in body.notes]
    short = _short(posterior, scales)
    # What the posterior is of, for whoever reads no further.
    short += ["The simulator's roughness counts as an error of its outputs."] if body.roughness else []
    return Section(f"Posterior ({body.block})", blocks, short)


def _own_runs(source: Source, event: Event) -> list[Block]:
    """Runs of the simulator that the calibration made itself."""
    batches = [source.state.events[item.id] for item in event.inputs_as("runs")]
    counts = {kind: sum(len(batch_of(batch).samples) for batch in batches if batch.kind == kind) for kind in RUNS}
    if not batches:
        return []
    completed, failed = counts["runs.completed"], counts["runs.failed"]
    words = f"{counted(completed + failed, 'run')} of the simulator in {counted(len(batches), 'batch', 'batches')}, "
    words += f"{failed or 'none'} failed."
    return [Notice(words) if failed else Text(words)]


def _roughness(body: PosteriorSampled, facts: RoughnessFacts) -> list[Block]:
    """The error that roughness is counted as, output by output, and how well the smooth part is known."""
    words = (
        "Roughness of the simulator's outputs counts as an error of them: runs scatter by so much about a smooth "
        f"function of the parameters. It was learnt from {facts.fitted} of {counted(facts.runs, 'run')} and frozen "
        "before sampling. "
    )
    if facts.excess is not None and facts.excess_error is not None:
        words += (
            f"The last {facts.new_runs} runs at draws of the posterior scatter more than was claimed before them by "
            f"{100 * facts.excess:.1f} ± {100 * facts.excess_error:.1f} % of the variance of all errors."
        )
    sizes: list[list[Cell]] = [
        [item.case, item.output, item.unit, *(from_si(std, item.unit) for std in (item.roughness, item.unlearnt))]
        for item in facts.outputs
    ]
    names = [item.output for item in facts.outputs]
    together: list[list[Cell]] = [
        [name, *(round(value, 2) for value in line)] for name, line in zip(names, facts.correlation, strict=True)
    ]
    errors: list[list[Cell]] = [[item.name, item.mean_error, item.std_error] for item in facts.unknowns]
    return [
        Text(words),
        Table(
            "Roughness of the outputs, and error of their smooth part: standard deviations",
            ["case", "output", "unit", "roughness", "error of the smooth part"],
            sizes,
        ),
        *([Table("Correlations of the roughness between outputs", ["", *names], together)] if len(names) > 1 else []),
        Table(
            "What the error of the smooth part makes of the posterior, in its standard deviations (wanted: at most "
            f"{body.settings['error']:g})",
            ["unknown", "error of the mean", "error of the std"],
            errors,
        ),
    ]


def _verdict(posterior: Posterior) -> Notice:
    table = posterior.diagnostics
    columns = {key: table[key].to_numpy() for key in (*R_HATS, *SIZES) if key in table.columns}
    figures = worst_figures(table["quantity"].to_list(), columns)
    if posterior.converged:
        return Notice(f"converged: {figures}.", "good")
    use = "no point estimate is given" if posterior.summary is None else "a summary was asked for all the same"
    return Notice(f"{UNCONVERGED}: {figures}; {use}.", items=posterior.body.reasons)


def _fit_verdicts(posterior: Posterior) -> list[Block]:
    """Whether the data fit, and the surrogate reaches there."""
    own = [v for v in posterior.body.trust if v.gate in ("fit", "coverage") and v.source is None]
    return [Notice(f"{verdict.sentence}.", "good" if verdict.passed else "warning") for verdict in own]


def _fit(posterior: Posterior) -> list[Block]:
    """How the data fit: p-values and bands, group by group."""
    if not (fit := posterior.body.fit):
        return []
    blocks: list[Block] = []
    parts = [("all", fit.all), *((part.name, part) for part in fit.groups)]
    rows: list[list[Cell]] = [
        [name, part.entries, part.p_value, *(_band(band, part.entries) for band in part.bands)]
        for name, part in (parts if len(fit.groups) > 1 else parts[:1])
    ]
    heads = ["group", "values", "p-value", *(f"in {100 * band.mass:g} % band" for band in fit.all.bands)]
    blocks.append(
        Table(
            "Posterior predictive check; bands with the binomial error of a right model. False alarms: at most "
            f"{100 * fit.false_alarms:g} %",
            heads,
            rows,
        )
    )
    far: list[list[Cell]] = [[item.name, item.deviations, item.tail] for item in fit.prior_distances]
    heads = ["unknown", "prior standard deviations", "prior probability of as much"]
    blocks.append(Table("How far the posterior went from the prior's mean", heads, far))
    return blocks


def _band(band: BandFacts, entries: int) -> str:
    return f"{100 * band.inside / entries:.0f} ± {100 * band.error:.0f} %"


def _short(posterior: Posterior, scales: list[Scale]) -> list[str | Notice]:
    block = posterior.body.block
    verdict = _verdict(posterior)
    lines: list[str | Notice] = [Notice(f"calibration {block} {verdict.text}", verdict.tone)]
    lines += [
        Notice(f"{v.sentence}.", "good" if v.passed else "warning")
        for v in posterior.body.trust
        if v.gate == "fit" and v.source is None
    ]
    if posterior.summary is not None:
        mass = f"{100 * posterior.summary.mass:g} %"
        mark = "" if posterior.converged else f"{UNCONVERGED}: "
        estimates = []
        for row, shown in zip(posterior.summary.rows, scales, strict=True):
            low, high = (number_or_nan(end) * shown.factor for end in row.interval)
            mean, std = (number_or_nan(x) * shown.factor for x in (row.mean, row.std))
            estimates.append(
                f"{row.name} = {with_error(mean, std)} {shown.unit}".rstrip() + f" ({span_text(low, high)})"
            )
        lines.append(f"{mark}Posterior mean ± standard deviation ({mass} interval): {'; '.join(estimates)}.")
    return lines


def _estimate(value: float | None, error: float | None, shown: Scale) -> str:
    """A number with its error."""
    return with_error(number_or_nan(value) * shown.factor, number_or_nan(error) * shown.factor)


def _estimates(posterior: Posterior, scales: list[Scale]) -> list[Block]:
    summary = posterior.trusted_summary()
    truth = marks(posterior).get("truth")
    mass = f"{100 * summary.mass:g} %"
    rows: list[list[Cell]] = []
    notes = []
    for j, (row, shown) in enumerate(zip(summary.rows, scales, strict=True)):
        low, high = (number_or_nan(end) * shown.factor for end in row.densest or (None, None))
        points: list[Cell] = [_estimate(row.mean, row.std, shown), number_or_nan(row.mode) * shown.factor]
        interval = span_text(*(number_or_nan(end) * shown.factor for end in row.interval))
        own = [] if truth is None else [float(truth[j]) * shown.factor]
        rows.append([row.name, shown.unit, *points, interval, span_text(low, high), row.contraction, *own])
        notes += [f"{row.name}: {note}" for note in row.notes]
    heads = [
        "unknown",
        "unit",
        "mean ± std",
        "MAP",
        f"{mass} interval",
        f"densest {mass}",
        "contraction",
    ]
    mark = "" if posterior.converged else f"{UNCONVERGED}. "
    blocks: list[Block] = [
        Table(
            f"{mark}Estimates; contraction is 1 - posterior variance / prior variance",
            [*heads, *([] if truth is None else ["truth"])],
            rows,
        )
    ]
    notes += summary.notes
    if notes:
        blocks.append(Notice("on what the data can tell:", "note", notes))
    if len(rows) > 1:
        matrix: list[list[Cell]] = [
            [name, *(round(number_or_nan(value), 3) for value in line)]
            for name, line in zip(posterior.names, summary.correlations, strict=True)
        ]
        blocks.append(Table(f"{mark}Correlations of the posterior", ["", *posterior.names], matrix))
    return blocks


def _errors(posterior: Posterior, scales: list[Scale]) -> list[Block]:
    """How well the draws tell what was estimated."""
    if posterior.summary is None:
        return []
    rows: list[list[Cell]] = []
    for row, shown in zip(posterior.summary.rows, scales, strict=True):
        # Posteriors of earlier versions have no error of standard deviation, median and interval.
        ends = zip(row.interval, row.interval_error or (None, None), strict=True)
        pairs = ((row.mean, row.mean_error), (row.std, row.std_error), (row.median, row.median_error), *ends)
        rows.append([row.name, shown.unit, *(_estimate(value, error, shown) for value, error in pairs)])
    half = f"{50 * (1 - posterior.summary.mass):g} %", f"{50 * (1 + posterior.summary.mass):g} %"
    mark = "" if posterior.converged else f"{UNCONVERGED}. "
    return [Table(f"{mark}Monte Carlo errors", ["unknown", "unit", "mean", "std", "median", *half], rows)]


def _diagnostics(posterior: Posterior) -> Table:
    shown = {
        column_scale.name: column_scale
        for column_scale in (column_of(item).scale for item in posterior.body.parameters)
    }
    rows: list[list[Cell]] = []
    for row in posterior.diagnostics.iter_rows(named=True):
        factor = shown[row["quantity"]].factor if row["quantity"] in shown else 1.0
        unit = shown[row["quantity"]].unit if row["quantity"] in shown else ""
        error = None if row["mcse"] is None else float(row["mcse"]) * factor
        sizes: list[Cell] = [round(row[name]) if np.isfinite(row[name]) else None for name in ("ess_bulk", "ess_tail")]
        rows.append([row["quantity"], row["r_hat"], row["r_hat_plain"], *sizes, error, unit])
    limits = posterior.body.stopping
    heads = ["quantity", "rank R-hat", "plain R-hat", "bulk ESS", "tail ESS", "error of the mean", "unit"]
    return Table(
        f"Diagnostics (wanted: R-hat below {limits['r_hat']}, effective sample sizes above {limits['ess']:g})",
        heads,
        rows,
    )


def _evidence(body: PosteriorSampled) -> list[Block]:
    rows: list[list[Cell]] = [
        [f"log evidence, {method}", _score(evidence.log_evidence, evidence.error), "; ".join(evidence.notes)]
        for method, evidence in body.evidence.items()
    ]
    if loo := body.loo:
        reliability = f"{number_or_nan(loo.effective_parameters):.3g} effective parameters, "
        reliability += f"largest Pareto k {number_or_nan(loo.pareto_k):.2f}"
        rows.append(
            [
                "expected log density, leave-one-out",
                _score(loo.elpd, loo.elpd_error),
                reliability if loo.reliable else f"{reliability}: not reliable",
            ]
        )
    return [Table("How well it explains the data", ["score", "value ± error", "remarks"], rows)] if rows else []


def _score(value: float | None, error: float | None) -> str:
    return log_text(number_or_nan(value), error)


def _groups(body: PosteriorSampled) -> Table:
    rows: list[list[Cell]] = [
        [
            group.name,
            group.discrepancy,
            group.entries,
            ", ".join(group.cases),
            ", ".join(group.outputs),
            ", ".join(map(str, group.unknowns)),
        ]
        for group in body.groups
    ]
    return Table(
        "Groups of data, each with its likelihood",
        ["group", "discrepancy", "values", "cases", "outputs", "unknowns"],
        rows,
    )
