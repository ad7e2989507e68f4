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
    accepted_gates,
    assignments,
    open_at,
)

if TYPE_CHECKING:
    from percuss.sensitivity.indices import Indices

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss surrogate @last:campaign | percuss sensitivity -")
def sensitivity(
    event: EventArgument,
    method: Annotated[str, typer.Option(help="auto, expansion, sampling, morris or given-data.")] = "auto",
    n: Annotated[
        int, typer.Option("--n", "-n", min=2, max=1 << 22, help="Base points, when a surrogate is sampled.")
    ] = 8192,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    group: Annotated[list[str] | None, typer.Option(help="Parameters to take together.", metavar="NAME=P1,P2")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Root of samples and resampling.")] = 0,
    accept: AcceptOption = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Compute sensitivity indices and append them.

    EVENT is a surrogate (indices read off expansions, other families sampled) or a campaign: of a saltelli or morris
    design what that design is for, of any other first-order indices from given data. Outputs of which a surrogate
    misses more than half of the variance are named and left out, and the exit code is 1.
    """
    from percuss.cli.output import give_id, hint, leave_untrusted, say, tell_trust
    from percuss.errors import InputError
    from percuss.ledger.projections import fold
    from percuss.sensitivity.compute import METHODS, Request, compute
    from percuss.sensitivity.storage import draft_indices, facts
    from percuss.surrogates.settings import chosen
    from percuss.trust import write_trust

    if not 0 < level < 1:
        raise InputError(f"--level {level}: must lie between 0 and 1")
    groups = {name: tuple(p.strip() for p in text.split(",")) for name, text in assignments(group, "--group").items()}
    request = Request(chosen("--method", method, METHODS), n, level, seed, accepted_gates(accept), groups)
    book, found = open_at(ledger, event)
    computed = compute(book, fold(book.events()), found, request)
    more = {}
    curve_facts: dict[str, object] = {}
    if computed.surrogate and computed.surrogate.has_curves:
        from percuss.sensitivity.over_time import over_time_table, summary

        cases = list(dict.fromkeys(item.case for item in computed.indices))
        more["over_time"] = over_time_table(computed.surrogate, cases)
        curve_facts["over_time"] = summary(more["over_time"])
    appended = book.append([draft_indices(book, computed, request, more)])[0]
    tell_trust(computed.trust)
    if more:
        say(_curve_table(summary(more["over_time"])))
    else:
        say(_tables((*computed.indices, *computed.together), computed.names))
        for note in computed.notes:
            say(note)
    if more:
        hint(f"percuss export csv {appended.id} --table over_time writes the indices at every instant")
    listed = [facts(item, computed.names) for item in computed.indices]
    together = [facts(item, computed.names) for item in computed.together]
    told = {"parameters": list(computed.names), "trust": write_trust(computed.trust), "left_out": computed.left_out}
    give_id(appended.id, {**told, "outputs": listed, "cases_together": together, **curve_facts}, json)
    leave_untrusted(computed.trust)


def _curve_table(found: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """Indices of whole curves."""
    from percuss.cli.output import table_text

    rows = [
        (case, parameter, f"{shares['first']:8.4g}", f"{shares['total']:8.4g}")
        for case, parameters in found.items()
        for parameter, shares in parameters.items()
    ]
    return table_text(("case", "parameter", "first", "total"), rows)


def _tables(items: tuple[Indices, ...], names: tuple[str, ...]) -> str:
    """One table for each set of measures; second-order indices above a hundredth under it."""
    from percuss.cli.output import table_text
    from percuss.sensitivity.storage import pairs

    parts = []
    for measures in dict.fromkeys(tuple(item.measures) for item in items):
        heads = ["case", "output", "parameter"]
        for name in measures:
            heads += [name, ""]
        rows: list[list[object]] = []
        for item in (item for item in items if tuple(item.measures) == measures):
            if item.variance == 0:
                rows.append([item.case, item.output, "-", "constant", *[""] * (2 * len(measures) - 1)])
                continue
            for k, parameter in enumerate(names):
                row: list[object] = [item.case, item.output, parameter]
                for name in measures:
                    values, low, high = item.measures[name]
                    row += [f"{values[k]:8.4g}", f"{low[k]:.3g} to {high[k]:.3g}" if low[k] == low[k] else ""]
                rows.append(row)
        parts.append(table_text(heads, rows))
    second = [
        (item.case, item.output, f"{a} x {b}", f"{value:8.4g}")
        for item in items
        for (a, b), value in pairs(item, names).items()
        if value > 0.01
    ]
    if second:
        parts.append(table_text(("case", "output", "pair", "second order"), second))
    shares = [
        (item.case, item.output, name, f"{closed:8.4g}", f"{total:8.4g}")
        for item in items
        for name, (closed, total) in item.groups.items()
    ]
    if shares:
        parts.append(table_text(("case", "output", "group", "closed", "total"), shares))
    return "\n\n".join(parts)
