"""`python -m tests.bench.site FOLDER N`: a ledger of 20 campaigns and N notes on them, for `percuss site`.

Every note is a row of the table and a page: the hardest case for the first page. The figures of docs/site.md are of
100 000.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.bench.ledger import MAKER
from tests.bench.scale import STUDY
from tests.machines import Quick

CAMPAIGNS, RUNS, BATCH, COMMIT = 20, 640, 64, 500


def fill(folder: Path, notes: int) -> None:
    """Write the ledger `folder/ledger`; the disk is not waited for."""
    from percuss.designs.design import append_design, draft_design
    from percuss.designs.registry import make_design
    from percuss.execution.batch import Result, split
    from percuss.execution.campaign import close_campaign
    from percuss.execution.records import draft_result
    from percuss.ledger import files
    from percuss.ledger.event import Draft
    from percuss.ledger.ledger import Ledger
    from percuss.session import Session
    from percuss.study.load import load_study

    files.system = Quick()
    root, campaigns = folder / "ledger", []
    for k in range(CAMPAIGNS):
        place = folder / f"study-{k:02d}"
        place.mkdir(parents=True)
        (place / "study.toml").write_text(STUDY)
        session = Session(Ledger.open(root, MAKER, create=True))
        points = make_design(load_study(place / "study.toml"), "monte-carlo", RUNS, k)
        design = append_design(session, draft_design(session, points, cases=["base"], fixed={}))
        outputs = design.values[:, 0].tolist()
        drafts = []
        for samples in split(RUNS, BATCH):
            result = Result("base", list(samples), [{"y": outputs[i]} for i in samples])
            drafts += draft_result(session.ledger, design, result)
        session.ledger.append(drafts)
        campaigns.append(close_campaign(Session(Ledger.open(root, MAKER)), design))
    book = Ledger.open(root, MAKER)
    for first in range(0, notes, COMMIT):
        book.append(
            [
                Draft(
                    "note.added",
                    {"text": f"looked at run {i}: nothing new"},
                    None,
                    [("about", campaigns[i % CAMPAIGNS])],
                )
                for i in range(first, min(first + COMMIT, notes))
            ]
        )


if __name__ == "__main__":
    fill(Path(sys.argv[1]), int(sys.argv[2]))
