"""`percuss validate`: may a model be trusted where there is no data?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from percuss.cli.options import (
    AcceptOption,
    JsonOption,
    LedgerOption,
    open_session,
    reference,
    studies_folder,
)

if TYPE_CHECKING:
    from percuss.session import Session
    from percuss.trust import Trust
    from percuss.validation.compute import Validated
    from percuss.work.validate import Subject

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss validate studies/duffing-extrapolation --model linear")
def validate(
    study: Annotated[
        str, typer.Argument(metavar="STUDY|POSTERIOR", help="A study with [validation], or a posterior of one.")
    ],
    model: Annotated[str | None, typer.Option(help="Which model of [validation]; all if not given.")] = None,
    data: Annotated[
        Path | None, typer.Option(help="Data to use instead of those named in the study.", metavar="FILE")
    ] = None,
    track: Annotated[
        list[str] | None, typer.Option(help="A parameter that may drift; may be repeated.", metavar="NAME")
    ] = None,
    drift: Annotated[
        float | None, typer.Option(help="Coefficient of variation of a parameter's step; 0.001 if not set.")
    ] = None,
    gaps: Annotated[
        str | None, typer.Option(metavar="refuse|skip", help="What to do where measurements are missing.")
    ] = None,
    settle: Annotated[str | None, typer.Option(metavar="TIME", help='Judge after this time, such as "20 s".')] = None,
    training: Annotated[
        str | None,
        typer.Option(metavar="TIME", help='Part of the record for the constant calibration, such as "50 s".'),
    ] = None,
    substeps: Annotated[int | None, typer.Option(min=1, help="Steps of the integrator from sample to sample.")] = None,
    traditional: Annotated[bool | None, typer.Option(help="Also calibrate with constant parameters.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws of the constant calibration.")] = 0,
    accept: AcceptOption = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Let parameters that should be constant drift, check whether they do, and record the finding.

    If a study has several models, each is validated and its id printed on a line of its own. --json prints the whole
    finding. A verdict against the model is a result, not a failure: the exit code is 0 unless something that the
    finding depends on failed a gate.
    """
    from percuss.cli.output import give_id, give_json, hint, leave_untrusted, say, tell_trust
    from percuss.kinds.table import plain
    from percuss.validation.settings import models_of
    from percuss.work.validate import Request
    from percuss.work.validate import validate as compute

    session, subject = _subject(study, ledger, accept)
    asked: dict[str, Any] = {"drift": drift, "gaps": gaps, "settle": settle, "training": training}
    asked |= {"track": track or None, "substeps": substeps, "traditional": traditional}
    record = _record(data) if data else None
    validations: dict[str, Any] = {}
    stands_on: Trust = ()
    for name in [model] if model else models_of(subject.study):
        validation = compute(session, subject, Request(name, asked, record, seed))
        stands_on += validation.trust
        tell_trust(validation.trust)
        say(_text(validation.validated))
        hint(f"percuss plot {validation.event.id} --to drift.svg draws the paths")
        validations[validation.validated.asked.name] = {"id": validation.event.id, **plain(validation.event.content)}
        if not json:
            give_id(validation.event.id, {}, False)
    if json:
        (*_, last) = validations.values()
        give_json(last if len(validations) == 1 else {"id": last["id"], "models": validations})
    leave_untrusted(stands_on)


def _subject(text: str, ledger: str | None, accept: list[str] | None) -> tuple[Session, Subject]:
    """A study, for which a ledger may be begun, or a posterior of one."""
    from percuss.study.load import load_study
    from percuss.work.subject import subject
    from percuss.work.validate import Subject, of_posterior

    named = subject(reference(text), studies_folder())
    if isinstance(named, str):
        session = open_session(ledger, accept=accept)
        return session, of_posterior(session, session.event(named))
    study = load_study(named)
    return open_session(ledger, create=True, accept=accept), Subject(study)


def _record(file: Path) -> tuple[bytes, str]:
    from percuss.ledger.files import read_file
    from percuss.study.schema import MAX_ATTACHED_BYTES

    return read_file(file, str(file), MAX_ATTACHED_BYTES), str(file)


def _text(validated: Validated) -> str:
    """Paths, ladder, calibration and verdict for a person."""
    from percuss.cli.output import table_text

    paths = [(p.name, p.mean, p.std, p.low, p.high, p.own_std, p.wander) for p in validated.main.paths]
    parts = [table_text(("parameter", "mean", "std", "min", "max", "filter's std", "wander"), paths)]
    names = [path.name for path in validated.main.paths]
    rungs = [
        (
            f"{r.drift:g}",
            f"{r.course.log_likelihood:.2f}",
            *(p.wander for p in r.paths),
            *(c.surprise for c in r.innovations),
        )
        for r in validated.rungs
    ]
    heads = [
        "drift",
        "log-likelihood",
        *(f"wander {n}" for n in names),
        *(f"surprise {c.name}" for c in validated.asked.observed),
    ]
    parts.append(table_text(heads, rungs))
    if known := validated.calibrated:
        rows = [
            (n, float(known.mode.values[j]), float(known.sample.flat()[:, j].std()))
            for j, n in enumerate(known.target.names)
        ]
        parts.append(table_text(("constant", "mode", "std"), rows))
        methods = [(e.method, f"{e.log_evidence:.2f}", e.error) for e in (known.laplace, known.importance)]
        parts.append(
            table_text(("evidence", "log", "error"), [(m, log, None if e != e else e) for m, log, e in methods])
        )
        scores = [
            (p.part, c.name, float(p.rmse[i]), float(p.rmse_relative[i]), float(p.within_three[i]))
            for p in validated.predictions
            for i, c in enumerate(validated.asked.observed)
        ]
        parts.append(table_text(("prediction", "of", "rmse", "relative", "within 3 std"), scores))
    parts += list(validated.notes)
    if known:
        parts += [*known.notes, *known.importance.notes]
    parts.append(
        "\n".join(
            [
                f"verdict on {validated.asked.name}: {validated.verdict.word}",
                *(f"  {r}" for r in validated.verdict.reasons),
            ]
        )
    )
    return "\n\n".join(parts)
