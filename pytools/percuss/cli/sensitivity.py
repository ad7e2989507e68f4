"""`percuss sensitivity`: which parameters matter."""

from __future__ import annotations

from collections.abc import Mapping
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
from percuss.errors import InputError

if TYPE_CHECKING:
    from percuss.sensitivity.indices import Indices
    from percuss.work.sensitivity import Sensitivities

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss surrogate @last:campaign | percuss sensitivity -")
def sensitivity(
    event: EventArgument,
    method: Annotated[str, typer.Option(help="auto, expansion, sampling, morris, given-data or borgonovo.")] = "auto",
    n: Annotated[
        int, typer.Option("--n", "-n", min=2, max=1 << 22, help="Base points, when a surrogate is sampled.")
    ] = 8192,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    group: Annotated[
        list[str] | None, typer.Option(help="Treat these parameters as one.", metavar="NAME=P1,P2")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of samples and resampling.")] = 0,
    accept: AcceptOption = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Compute sensitivity indices and record them.

    EVENT is a surrogate or a campaign. For a surrogate, indices follow from the coefficients of an expansion, or by
    sampling for other families. For a campaign, a saltelli or morris design gives its own indices, any other design
    first-order indices from given data. --method borgonovo gives moment-independent indices of either: how much a
    parameter changes the whole distribution of an output. Outputs for which a surrogate misses more than half of the
    variance are named and left out, and the exit code is 1.
    """
    from percuss.cli.output import give_id, leave_untrusted
    from percuss.kinds.table import plain
    from percuss.sensitivity.compute import METHODS, Request
    from percuss.sensitivity.over_time import summary
    from percuss.sensitivity.storage import facts
    from percuss.surrogates.model import chosen
    from percuss.work.sensitivity import compute_indices

    if not 0 < level < 1:
        raise InputError(f"--level {level}: must lie between 0 and 1")
    groups = {name: tuple(p.strip() for p in text.split(",")) for name, text in assignments(group, "--group").items()}
    request = Request(chosen("--method", method, METHODS), n, level, seed, groups)
    event_id = reference(event)
    session = open_session(ledger, accept=accept)
    indices = compute_indices(session, session.event(event_id), request)
    _tell(indices)
    computed = indices.computed
    answer = {"parameters": list(computed.names), "trust": plain(indices.trust), "left_out": list(computed.left_out)}
    answer["outputs"] = [facts(item, computed.names) for item in computed.indices]
    answer["cases_together"] = [facts(item, computed.names) for item in computed.together]
    if indices.over_time is not None:
        answer["over_time"] = summary(indices.over_time)
    give_id(indices.event.id, answer, json)
    leave_untrusted(indices.trust)


def _tell(indices: Sensitivities) -> None:
    """The indices as tables."""
    from percuss.cli.output import hint, say, tell_trust
    from percuss.sensitivity.over_time import summary

    tell_trust(indices.trust)
    if indices.over_time is not None:
        say(_curve_table(summary(indices.over_time)))
        hint(f"percuss export csv {indices.event.id} --table over_time writes the indices at every instant")
        return
    say(_tables((*indices.computed.indices, *indices.computed.together), indices.computed.names))
    for note in indices.computed.notes:
        say(note)


def _curve_table(values: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """Indices of whole curves."""
    from percuss.cli.output import table_text

    rows = [
        (case, parameter, f"{shares['first']:8.4g}", f"{shares['total']:8.4g}")
        for case, parameters in values.items()
        for parameter, shares in parameters.items()
    ]
    return table_text(("case", "parameter", "first", "total"), rows)


def _tables(items: tuple[Indices, ...], names: tuple[str, ...]) -> str:
    """One table for each set of measures; second-order indices above a hundredth under it."""
    from percuss.cli.output import table_text
    from percuss.sensitivity.storage import pairs
    from percuss.spelling import with_span

    parts = []
    for measures in dict.fromkeys(tuple(item.measures) for item in items):
        heads = ["case", "output", "parameter", *measures]
        rows: list[list[object]] = []
        for item in (item for item in items if tuple(item.measures) == measures):
            if item.variance == 0:
                rows.append([item.case, item.output, "-", "constant", *[""] * (len(measures) - 1)])
                continue
            for k, parameter in enumerate(names):
                shares = [with_span(*(float(column[k]) for column in item.measures[name])) for name in measures]
                rows.append([item.case, item.output, parameter, *shares])
        parts.append(table_text(heads, rows, whole=measures, keys=3))
    second = [
        (item.case, item.output, f"{a} x {b}", f"{value:8.4g}")
        for item in items
        for (a, b), value in pairs(item, names).items()
        if value > 0.01
    ]
    if second:
        parts.append(table_text(("case", "output", "pair", "second order"), second))
    groups = [
        (item.case, item.output, name, f"{closed:8.4g}", f"{total:8.4g}")
        for item in items
        for name, (closed, total) in item.groups.items()
    ]
    if groups:
        parts.append(table_text(("case", "output", "group", "closed", "total"), groups))
    return "\n\n".join(parts)
