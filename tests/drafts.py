"""Drafts of events for tests of the ledger, which do not care what a study says."""

from __future__ import annotations

from collections.abc import Sequence

from percuss.ledger.event import Blob, Draft

ABOUT = {"name": "a study", "title": "a study", "source": "", "notes": ""}
STUDY = {
    "format": 1,
    "model": {"kind": "benchmark", "settings": {}, "fixed": {}},
    "parameters": [],
    "cases": [],
    "outputs": [],
    "sections": {},
    "files": {},
}


def study_draft(blobs: Sequence[Blob] = (), notes: str = "") -> Draft:
    """A study that needs nothing before it and can carry anything."""
    return Draft("study.registered", {**STUDY, "study": {**ABOUT, "notes": notes}}, blobs=blobs)
