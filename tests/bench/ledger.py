"""The ledger: what appending, reading and logging cost against the bare work beneath them."""

from __future__ import annotations

import io
import os
import tempfile
from pathlib import Path

import polars as pl
from tests.bench.measure import Line, best
from tests.drafts import study_draft

from percuss.designs.design import append_design, draft_design
from percuss.designs.registry import make_design
from percuss.execution.batch import make_batch, run_batch, split
from percuss.execution.campaign import local_executor, run_campaign
from percuss.ledger.event import Draft
from percuss.ledger.ledger import Ledger
from percuss.ledger.seal import seal_stream
from percuss.maker import this_maker
from percuss.session import Session
from percuss.study.load import load_study

MAKER = this_maker(["bench"])


def append_against_polars() -> Line:
    """One event with fsync, against the same Parquet file written by polars with fsync."""
    with tempfile.TemporaryDirectory(dir=".") as folder:
        book = Ledger.open(Path(folder) / "ledger", MAKER, create=True)
        about = book.append([study_draft(notes="x" * 2000)])[0]
        frame = pl.read_parquet(book.place.commit("main", 1))
        number = iter(range(10**9))

        def append() -> None:
            book.append([Draft("note.added", {"text": "x" * 2000}, None, [("about", about)])])

        def bare() -> None:
            buffer = io.BytesIO()
            frame.write_parquet(buffer)
            with (Path(folder) / f"bare-{next(number)}").open("wb") as file:
                file.write(buffer.getvalue())
                file.flush()
                os.fsync(file.fileno())

        ours, theirs = best(300, append, bare)
    return Line("append, against polars + fsync", f"{ours * 1e3:.2f} ms / {theirs * 1e3:.2f} ms", ours / theirs, 2.0)


def _ledger_of(count: int, folder: Path) -> Ledger:
    book = Ledger.open(folder / "ledger", MAKER, create=True)
    about = book.append([study_draft()])[0]
    for start in range(0, count, 1000):
        drafts = [Draft("note.added", {"text": f"note {start + i}"}, None, [("about", about)]) for i in range(1000)]
        book.append(drafts)
    book.append([Draft("note.added", {"text": "last"}, None, [("about", about)])])
    seal_stream(book, "main")
    return book


def read_against_parquet(count: int = 20_000) -> list[Line]:
    """`log` and the resolution of an id in a sealed ledger, against reading one Parquet file of that many rows."""
    from percuss.cli.log import log_rows

    with tempfile.TemporaryDirectory(dir=".") as folder:
        book = _ledger_of(count, Path(folder))
        segment = next((book.place.root / "sealed" / "main").iterdir())
        middle = pl.read_parquet(segment)["id"][count // 2]

        def log() -> None:
            fresh = Ledger(book.place)
            log_rows(fresh.frame(), fresh.frame().tail(40))

        def resolve() -> None:
            Ledger(book.place).resolve(middle)

        times = best(15, log, resolve, lambda: pl.read_parquet(segment))
    read = times[2]
    return [
        Line(f"{what} of {count} events, against one read", f"{t * 1e3:.1f} ms / {read * 1e3:.1f} ms", t / read, 2.0)
        for what, t in (("log", times[0]), ("id resolution", times[1]))
    ]


STUDY = """
[study]
title = "Campaign of 10 ms runs"
source = "rehearsal"
[model]
kind = "benchmark"
function = "ishigami"
delay = "10 ms"
[parameters.x1]
prior = { kind = "uniform", low = -3, high = 3 }
[parameters.x2]
prior = { kind = "uniform", low = -3, high = 3 }
[parameters.x3]
prior = { kind = "uniform", low = -3, high = 3 }
"""


def logging_share() -> Line:
    """A campaign of 10 ms runs with the ledger, against the same batches in the same executor without one."""
    with tempfile.TemporaryDirectory(dir=".") as folder:
        path = Path(folder) / "study.toml"
        path.write_text(STUDY)
        study = load_study(path)
        design = make_design(study, "sobol", 1024, 0)
        session = Session(Ledger.open(Path(folder) / "ledger", MAKER, create=True))

        def with_ledger() -> None:
            stored = append_design(session, draft_design(session, design, cases=["base"], fixed={}))
            run_campaign(session, stored, local_executor(2), workers=lambda: 2)

        def without() -> None:
            drafted = draft_design(session, design, cases=["base"], fixed={})
            with local_executor(2) as executor:
                batches = [make_batch(drafted, "base", samples) for samples in split(1024, study.model().batch)]
                list(executor.map(run_batch, batches))

        ours, bare = best(3, with_ledger, without)
    return Line("campaign of 10 ms runs, against no ledger", f"{ours:.3f} s / {bare:.3f} s", ours / bare, 1.02)


def bench() -> list[Line]:
    """All of them."""
    return [append_against_polars(), *read_against_parquet(), logging_share()]
