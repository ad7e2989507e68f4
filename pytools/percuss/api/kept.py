"""Methods of a ledger: what it holds, whether that can be relied on, and how it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from percuss.api.book import Book, ResultLike
from percuss.api.calls import operation
from percuss.api.picture import Picture
from percuss.api.report import Report
from percuss.api.results import Result

if TYPE_CHECKING:
    import polars as pl

    from percuss.work.audit import Audit
    from percuss.work.diff import Diff
    from percuss.work.reproduce import Reproduction


class Kept(Book):
    """Reading, proving, showing and commenting on events."""

    def log(self, kind: str | None = None, study: str | None = None, **more: str) -> pl.DataFrame:
        """The events, oldest first: id, time, kind, study, how it stands, and what it is in a few words.

        Also by `since`, `until`, `actor`, `file` and `text`, as `percuss log` takes them.
        """
        import polars as pl

        from percuss.work.log import log_lines, when
        from percuss.work.selection import Selection

        rows = [
            (e.id, when(e), e.kind, e.study.name if e.study else None, line.mark, line.summary)
            for line in log_lines(self.session.ledger, Selection(kind, study, **more))
            for e in [line.event]
        ]
        names = ("id", "at", "kind", "study", "mark", "summary")
        return pl.DataFrame(rows, dict.fromkeys(names, pl.String), orient="row")

    def lineage(self, result: ResultLike, *, onwards: bool = False) -> list[Any]:
        """All that a result comes from and itself, in ledger order; with `onwards` what was made from it."""
        from percuss.ledger.projections import descendants, lineage

        find = descendants if onwards else lineage
        return [self[event] for event in find(self.session.state, self._event(result).id)]

    def diff(self, a: ResultLike, b: ResultLike, rows: int = 10) -> Diff:
        """What differs between two results of a kind; `same` says whether nothing does."""
        from percuss.work.diff import diff

        return diff(self.session, self._event(a), self._event(b), rows)

    def restore(self, result: ResultLike, to: str | Path) -> Path:
        """Write the study that a result stands on, as it was, into a new folder in the folder `to`; where it is."""
        from percuss.work.restore import restore

        return restore(self.session, self._event(result), Path(to)).path

    def reproduce(self, result: ResultLike, runs: int | None = None) -> Reproduction:
        """Compute a result, and all it stands on, again; `holds` says whether it came out. Nothing is appended."""
        from percuss.work.reproduce import reproduce

        return reproduce(self.session, self._event(result), runs)

    def export_crate(self, result: ResultLike, to: str | Path, licence: str = "") -> str:
        """Write a result and all it stands on as an RO-Crate, a folder or .zip; the hash that covers it."""
        from percuss.work.crate import write_crate

        return write_crate(self.session, self._event(result), Path(to), licence).root.hash

    def import_crate(self, path: str | Path, hash: str | None = None) -> Result:
        """Take in a crate of another ledger as one event, after every hash in it was checked."""
        from percuss.work.crate import import_crate

        return self._result(import_crate(self.session, Path(path), hash)[0])

    def anchor(
        self,
        to: str | Path,
        *,
        events: Sequence[ResultLike] = (),
        since: str | Path | None = None,
        sign: str | Path | None = None,
        stamp: str | None = None,
    ) -> str:
        """Write a checkpoint of all streams to a file outside of the ledger, and give its root.

        With proofs for `events` and `since` an older anchor; signed with an SSH key, stamped by an authority's address.
        """
        from percuss.work.anchor import Request, make_anchor

        ids = [self._event(item).id for item in events]
        request = Request(ids, Path(since) if since else None, str(sign) if sign else None, stamp)
        return make_anchor(self.session, Path(to), request).checkpoint.root

    @operation
    def audit(
        self,
        rerun: int = 3,
        anchor: str | Path | None = None,
        beacon: str | None = None,
        *,
        signers: str | Path | None = None,
        authorities: str | Path | None = None,
        record: bool = False,
    ) -> Audit:
        """Prove that the ledger is whole, computing so many results of each sort again; `holds` says whether it is.

        `anchor`: a file of `anchor`, or the hash of an event, that was kept elsewhere. `beacon`: a text by which
        results are drawn; without one nobody can know which they are. `signers`, `authorities`: files of whom to trust.
        `record`: append what was drawn, and how it came out.
        """
        from percuss.anchors.witnesses import Trusted
        from percuss.work import audit as work

        trusted = Trusted(Path(signers) if signers else None, Path(authorities) if authorities else None)
        done = work.audit(self.session, rerun, anchor, beacon, trusted)
        if record:
            work.record(self.session, done, rerun)
        return done

    def report(self, *results: ResultLike) -> Report:
        """A page on results and all they come from; a notebook shows it inline."""
        from percuss.report.source import gather
        from percuss.work.report import make_report

        return Report(make_report(gather(self.session, [self._event(item) for item in results])))

    def plot(
        self,
        *results: ResultLike,
        curves: Sequence[str] = (),
        samples: int | None = None,
        title: str = "",
        style: Literal["screen", "paper"] = "screen",
    ) -> Picture:
        """Draw results: curves of runs, and of every other kind its own picture; a notebook shows it inline."""
        from percuss.plots.subject import Request
        from percuss.work.plot import plot

        events = [self._event(item) for item in results]
        request = Request(curves, title, samples)
        return Picture(lambda path: plot(self.session, events, path, request, style=style))

    def site(self, to: str | Path) -> Path:
        """Write the whole ledger as a static site, or bring it up to date; returns its first page."""
        from percuss.work.site import make_site

        return make_site(self.session, Path(to)).index

    @operation
    def note(self, result: ResultLike, text: str) -> Result:
        """Add words to a result; private ones by `percuss note --private`, since a call is recorded with its words."""
        from percuss.work.note import add_note

        return self._result(add_note(self.session, self._event(result), text))

    @operation
    def supersede(self, result: ResultLike, reason: str, by: ResultLike | None = None) -> Result:
        """Say that a result is not to be used any more, and why."""
        from percuss.work.supersede import supersede

        other = self._event(by) if by is not None else None
        return self._result(supersede(self.session, self._event(result), reason, other).event)
