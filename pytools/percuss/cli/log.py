"""`percuss log`: list events."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import JsonOption, LedgerOption, open_ledger

if TYPE_CHECKING:
    import polars as pl

app = typer.Typer(add_completion=False)


@app.command(epilog="Example: percuss log --kind design.created --limit 5")
def log(
    kind: Annotated[str | None, typer.Option(help="Only this kind, as `runs` or `runs.failed`.")] = None,
    study: Annotated[str | None, typer.Option(help="Only events of this study.")] = None,
    limit: Annotated[int, typer.Option(min=0, help="The newest so many; 0 for all.")] = 40,
    stream: Annotated[str | None, typer.Option(help="A stream that is not (wholly) adopted.")] = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """List events, oldest first. Ids are cut to the shortest prefix that is unique in the ledger."""
    import polars as pl

    from percuss.cli.output import give_json, hint, plain, say, table_text
    from percuss.errors import InputError
    from percuss.ledger.event import from_frame
    from percuss.kinds.table import KINDS
    from percuss.ledger.place import checked_stream
    from percuss.ledger.projections import superseded_ids, superseded_under
    from percuss.ledger.streams import read_stream, stream_names
    from percuss.spelling import did_you_mean

    book = open_ledger(ledger)
    if stream and checked_stream(stream) not in (names := stream_names(book.place)):
        raise InputError(f"stream {stream}: there is none of that name", hint=f"streams are {', '.join(names)}")
    everything = read_stream(book.place, stream) if stream else book.frame()
    frame = everything
    if kind:
        there = {*KINDS, *everything["kind"].unique().to_list()}
        known = sorted({*there, *(name.split(".")[0] for name in there)})
        if kind not in known:
            raise InputError(f"--kind {kind}: is no kind of event: {did_you_mean(kind, known)}")
        frame = frame.filter((pl.col("kind") == kind) | pl.col("kind").str.starts_with(f"{kind}."))
    if study:
        frame = frame.filter(pl.col("study").struct.field("name") == study)
    if limit:
        frame = frame.tail(limit)
    if json:
        gone, under = superseded_ids(everything), superseded_under(everything)
        give_json(
            [
                {
                    "seq": event.seq,
                    "stream": event.stream,
                    "id": event.id,
                    "kind": event.kind,
                    "at": _when(event.at_us),
                    "study": event.study.name if event.study else None,
                    "outcome": event.outcome,
                    "superseded": event.id in gone,
                    "stands_on_superseded": list(under.get(event.id, ())),
                    "hash": event.hash,
                }
                for event in from_frame(frame)
            ]
        )
        return
    rows = log_rows(everything, frame)
    print(table_text(("seq", "id", "at", "kind", "study", ""), rows))
    if frame.height < everything.height and limit and frame.height == limit:
        say(f"{frame.height} of {everything.height} events; --limit 0 lists all")
    for name, version in book.unknown_kinds():
        hint(f"events of kind {plain(name)} (version {version}) are unknown to this percuss: kept, and skipped")


def log_rows(everything: pl.DataFrame, chosen: pl.DataFrame) -> list[tuple[object, ...]]:
    """The lines of the log for some of the events."""
    from percuss.ledger.event import from_frame
    from percuss.ledger.projections import mark_of, superseded_ids, superseded_under

    gone, under = superseded_ids(everything), superseded_under(everything)
    short = shortest_prefixes(everything["id"].to_list(), chosen["id"].to_list())
    return [
        (
            event.seq,
            short[event.id],
            _when(event.at_us),
            event.kind + (f" ({mark})" if (mark := mark_of(event.id in gone, under.get(event.id, ()))) else ""),
            event.study.name if event.study else "",
            "; ".join(filter(None, (summary(event.kind, event.data), failed_gates(event.data)))),
        )
        for event in from_frame(chosen)
    ]


def failed_gates(data: dict[str, object]) -> str:
    """Which gates a result failed; superseded events are marked as they are today, not as they were then."""
    from percuss.trust import failures, is_trust, read_trust

    if not is_trust(data.get("trust")):
        return ""
    failed = [v for v in failures(read_trust(data)) if v.gate != "superseded"]
    told = dict.fromkeys(f"{v.gate} (accepted)" if v.accepted else v.gate for v in failed)
    return f"failed {', '.join(told)}" if told else ""


def summary(kind: str, data: dict[str, object]) -> str:
    """A few words on an event, for one line of the log."""
    match kind:
        case "design.created":
            return f"{data.get('sampler')}, {data.get('n')} points"
        case "runs.completed":
            return f"case {data.get('case')}, {_count(data)} runs"
        case "runs.failed":
            return f"case {data.get('case')}, {_count(data)} failed"
        case "campaign.completed":
            return f"{data.get('completed')} runs, {data.get('failed')} failed"
        case "surrogate.fitted":
            families = data.get("families")
            names = ", ".join(map(str, families)) if isinstance(families, list) else ""
            return f"{names}: {data.get('outputs')} outputs, {data.get('points')} points"
        case "indices.computed":
            methods = data.get("methods")
            return ", ".join(map(str, methods)) if isinstance(methods, list) else ""
        case "region.computed":
            curves = data.get("curves")
            return ", ".join(map(str, curves)) if isinstance(curves, list) else ""
        case "observations.imported":
            return f"{'twin' if data.get('twin') else 'measured'}, {data.get('entries')} values, {data.get('file')}"
        case "posterior.sampled":
            marked = "converged" if data.get("converged") else "NOT CONVERGED"
            return f"{data.get('block')}: {data.get('sampler')}, {marked}"
        case "prediction.made":
            checked = data.get("verification")
            return f"{data.get('draws')} draws" + (", verified" if isinstance(checked, dict) else "")
        case "comparison.made":
            listed = data.get("posteriors")
            return f"{len(listed)} posteriors" if isinstance(listed, list) else ""
        case "convergence.checked":
            outputs = data.get("outputs")
            judged = [item for item in outputs if isinstance(item, dict)] if isinstance(outputs, list) else []
            quoted = sum(item.get("quote") == "yes" for item in judged)
            return f"case {data.get('case')}, {quoted} of {len(judged)} outputs may be quoted"
        case "note.added":
            return str(data.get("text", ""))[:60]
        case "check.passed" | "check.failed":
            return f"{data.get('name')}: {data.get('compared')} values, {data.get('moved')} moved"
        case "stream.adopted" | "stream.sealed":
            return f"{data.get('stream')}, {data.get('events')} events"
        case "event.superseded":
            return str(data.get("reason", ""))[:60]
        case "study.registered":
            about = data.get("study")
            return str(about.get("title", ""))[:60] if isinstance(about, dict) else ""
        case _:
            return ""


def _count(data: dict[str, object]) -> int:
    samples = data.get("samples")
    return len(samples) if isinstance(samples, list) else 0


def _when(at_us: int) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(at_us / 1e6, UTC).strftime("%Y-%m-%d %H:%M:%S")


def shortest_prefixes(ids: list[str], chosen: list[str], least: int = 8) -> dict[str, str]:
    """For each chosen id the shortest prefix that no other of the ids shares.

    >>> shortest_prefixes(["aaaa1", "aaaa2", "b0000"], ["aaaa2", "b0000"], least=2)
    {'aaaa2': 'aaaa2', 'b0000': 'b0'}
    """
    ordered = sorted(ids)
    short = {}
    for id in chosen:
        place = bisect_left(ordered, id)
        beside = ordered[max(place - 1, 0) : place] + ordered[place + 1 : place + 2]
        short[id] = id[: max([least, *(_shared(id, other) + 1 for other in beside)])]
    return short


def _shared(a: str, b: str) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
