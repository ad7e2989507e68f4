"""`percuss converge`: which outputs of a study depend on how it is computed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import (
    AcceptOption,
    JsonOption,
    LedgerOption,
    StudyArgument,
    assignments,
    open_session,
    study_path,
)
from percuss.spelling import counted

if TYPE_CHECKING:
    from percuss.execution.convergence import Checked, Judged, Tolerance
    from percuss.study.study import Study

app = typer.Typer(add_completion=False)

HEADS = ("output", "last change", "relative", "order", "error at finest step", "error at own step", "may be quoted")


@app.command(epilog="Example: percuss converge studies/sliding-block --set e=0")
def converge(
    study: StudyArgument,
    case: Annotated[str | None, typer.Option(help="Which case; not needed if there is only one.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help='An input, such as gap="23 mm".', metavar="NAME=VALUE")
    ] = None,
    levels: Annotated[
        int,
        typer.Option(
            min=3, max=13, help="Number of runs with finer and finer steps; the first has the study's own step."
        ),
    ] = 4,
    refine: Annotated[int, typer.Option(min=2, max=64, help="Each level divides the step by this.")] = 2,
    tighten: Annotated[float, typer.Option(min=1.5, max=1e6, help="The last run divides the tolerance by this.")] = 10,
    tolerance: Annotated[
        list[str] | None,
        typer.Option(
            help="Allowed error of outputs: a share, or NAME=VALUE for one output in its unit.",
            metavar="SHARE",
            show_default="1 %",
        ),
    ] = None,
    to: Annotated[
        Path | None, typer.Option(help="Draw the changes over the step, as .svg, .png or .pdf.", metavar="FILE")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the runs' random numbers.")] = 0,
    accept: AcceptOption = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Repeat one run with smaller steps and a tighter tolerance, and say for each output whether it may be quoted.

    Parameters that are not given are at their prior means, as for simulate. For each output the last change, the order
    of the last two changes, the error left at the finest step, and the error at the study's own step are printed. The
    exit code is 1 if an output may not be quoted.
    """
    from percuss.cli.output import give_id, leave_untrusted, say, tell_trust, tell_values, unit_of
    from percuss.execution.convergence import Plan
    from percuss.execution.points import point_design
    from percuss.kinds.convergence_checked import ConvergenceChecked
    from percuss.kinds.table import plain
    from percuss.study.load import load_study
    from percuss.work import converge as work

    session = open_session(ledger, create=True, accept=accept)
    plan = Plan(levels, refine, tighten)
    if to:
        from percuss.plots.files import check_picture

        check_picture(to)
    loaded = load_study(study_path(study))
    name = loaded.case_name(case)
    allowed = _tolerance(loaded, tolerance)
    written = assignments(set_, "--set")
    point = point_design(loaded, name, written)
    tell_values(written, point.point, {key: unit_of(loaded, key) for key in written})
    for parameter in point.at_mean:
        say(f"{parameter}: not given, at its prior mean")
    convergence = work.converge(session, loaded, name, point.point, plan, allowed, seed)
    tell_trust(convergence.trust)
    _tell(convergence.checked)
    if to:
        from percuss.work.plot import plot

        plot(session, [convergence.event], to)
    give_id(
        convergence.event.id, {"case": name, "outputs": plain(ConvergenceChecked.of(convergence.event).outputs)}, json
    )
    leave_untrusted(convergence.trust)


def _tolerance(study: Study, texts: list[str] | None) -> Tolerance:
    from percuss.errors import InputError
    from percuss.execution.convergence import Tolerance
    from percuss.spelling import did_you_mean
    from percuss.units import parse_quantity

    shares = [text for text in texts or [] if "=" not in text]
    if len(shares) > 1:
        raise InputError(f"--tolerance {shares[1]}: the share for all outputs is given twice")
    share = parse_quantity(shares[0], "1") if shares else Tolerance.share
    if not 0 < share < 1:
        raise InputError(f"--tolerance {shares[0]}: must lie between 0 and 1")
    own = {}
    for name, text in assignments([text for text in texts or [] if "=" in text], "--tolerance").items():
        if name not in study.outputs:
            raise InputError(f"--tolerance {name}: is no output; {did_you_mean(name, study.outputs)}")
        own[name] = parse_quantity(text, study.outputs[name].unit)
        if own[name] <= 0:
            raise InputError(f"--tolerance {name}={text}: must be above 0")
    return Tolerance(share, own)


def _tell(checked: Checked) -> None:
    from percuss.cli.output import say, say_table
    from percuss.units import from_si

    numerics, plan = checked.numerics, checked.plan
    unit = "" if numerics.unit == "1" else f" {numerics.unit}"
    solved = "" if numerics.tolerance is None else f", tolerance {numerics.tolerance:g}; tighter: over {plan.tighten:g}"
    note = f" ({numerics.note})" if numerics.note else ""
    say(f"{numerics.name} {numerics.step:.6g}{unit}{note}, each level {plan.refine} times finer{solved}")
    outputs = checked.study.outputs
    heads = ["output", "unit", numerics.name, *(f"/{finer}" for finer in plan.finer[1:])]
    heads += ["tighter"] if numerics.tolerance is not None else []
    rows = []
    for item in checked.outputs:
        values = [*item.values, *([] if item.tightened is None else [item.tightened])]
        rows.append(
            (item.name, outputs[item.name].unit, *(from_si(value, outputs[item.name].unit) for value in values))
        )
    say_table(heads, rows)
    verdict_rows = []
    for item in checked.outputs:
        change = f"{from_si(item.change, outputs[item.name].unit):.2g}"
        order = "n/a" if item.order is None else f"{item.order:.2f}"
        parts = [_share(part, item.value) for part in (item.change, item.error, item.off)]
        verdict_rows.append((item.name, change, parts[0], order, *parts[1:], _quoted(item, plan.finer)))
    say("")
    say_table(HEADS, verdict_rows)


def _share(part: float, value: float) -> str:
    return f"{100 * abs(part / value):.2g} %" if value else ""


def _quoted(item: Judged, finer: list[int]) -> str:
    if item.enough is None:
        return item.quote
    held = "unchanged" if item.digits is None else counted(item.digits, "digit")
    return f"yes, {held}" if item.quote == "yes" else f"from /{finer[item.enough]} on, {held}"
