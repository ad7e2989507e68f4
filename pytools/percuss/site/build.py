"""Write the site: what has changed since it was written before, and nothing else.

A page is a pure function of its event, of what was said of it and of what was made from it: those make its key. Pages
whose key is that of the file there are left as they are; pages of events that are gone from the ledger go as well. No
clock: the same ledger gives the same bytes.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from pathlib import Path

from percuss.errors import InputError, LedgerError, PercussError
from percuss.ledger.audit import prove_chain, prove_lineage, prove_order, prove_payloads
from percuss.ledger.canonical import sha256_hex
from percuss.ledger.event import Event
from percuss.ledger.place import check_outside
from percuss.ledger.projections import State, mark
from percuss.plots.drawing import drawing, load_matplotlib
from percuss.report.html import style_sheet
from percuss.report.source import when
from percuss.session import Session
from percuss.site.campaigns import campaign_data
from percuss.site.compare import COMPARABLE, comparison_data
from percuss.site.graph import Graph, graph_of
from percuss.site.pages import VIEWS, Badge, event_page, lineage_page, overview
from percuss.site.scripts import call
from percuss.site.table import behind_files, rows_of, table_parts

MANIFEST = "data/manifest.json"
ASSETS = ("site.css", "site.js", "charts.js", "table.js", "compare.js", "campaigns.js", "live.js")


@dataclass(frozen=True)
class Site:
    """What became of the folder: files written anew, files that stayed, files that went."""

    folder: Path
    written: int
    kept: int
    removed: int
    events: int

    @property
    def index(self) -> Path:
        """Where to begin."""
        return self.folder / "index.html"


def build_site(
    session: Session, folder: Path, summary: Callable[[Event], str], *, live: bool = False, audit: bool = True
) -> Site:
    """Write or refresh the site of a ledger. `live`: pages look at their server for what is new."""
    writer = _Writer(folder)
    state = session.state
    for id in state.events:
        # Ids are names of files: those of a stranger lead nowhere else.
        if not re.fullmatch("[0-9a-f-]{4,64}", id):
            raise LedgerError(f"event {id[:80]!r}: its id is no name of a page")
    graph = graph_of(state)
    summaries = {id: summary(state.events[id]) for id in graph.parents}
    badge = _badge(session, state, audit=audit)
    for name in ASSETS:
        writer.put(name, files("percuss.site").joinpath("assets").joinpath(name).read_text(encoding="utf-8"))
    writer.put("report.css", style_sheet())
    for view, _ in VIEWS:
        if view == "lineage.html":
            writer.put(view, lineage_page(state, graph, summaries, badge, live=live))
        else:
            writer.put(view, overview(view, badge, live=live))
    data = table_parts(rows_of(state, graph, lambda event: summaries[event.id]))
    for name, text in {**data, **behind_files(state, graph, summary)}.items():
        writer.put(name, text)
    telling = session.for_telling()
    _put_data(writer, telling, state, graph, summaries)
    with session.voice.progress("pages", len(graph.parents)) as advance, drawing(), writer.kept_when_cut_off():
        # By hash, as good as at random: a page of a posterior takes a hundred times as long as one of a note, and in
        # the order of the ledger those left would cost something else than those done.
        for id in sorted(graph.parents, key=lambda id: state.events[id].hash):
            event = state.events[id]
            key = _key(state, graph, event)
            make = partial(event_page, telling, state, graph, event, summaries)
            writer.put_once(f"events/{id}.html", key, make)
            advance(1, event.kind)
    return writer.finish(len(state.events))


def _put_data(writer: _Writer, session: Session, state: State, graph: Graph, summaries: dict[str, str]) -> None:
    """Small data of what can be compared, and of campaigns."""
    comparable, campaigns, rows = [], [], []
    for id in reversed(graph.parents):
        event = state.events[id]
        if event.kind in COMPARABLE and event.outcome == "ok":
            make = partial(_call, "compare", comparison_data, session, event)
            if writer.put_data(f"data/compare-{id}.js", _base(event), make):
                form = COMPARABLE[event.kind]
                comparable.append({"id": id, "form": form, "words": summaries[id], "study": _study(event)})
        if event.kind == "campaign.completed":
            name = f"data/campaign-{id}.js"
            if writer.put_data(name, _base(event), partial(_call, "campaign", campaign_data, session, event)):
                own = json.loads(writer.text(name)[len("percuss.campaign(") : -len(");\n")])
                campaigns.append({"id": id, "study": own["study"], "runs": own["runs"]})
                rows += [[own["study"], id, *row] for row in own["rows"]]
    writer.put("data/comparable.js", call("list", {"of": "comparable", "items": comparable}))
    writer.put("data/campaigns.js", call("list", {"of": "campaigns", "campaigns": campaigns, "rows": rows}))


def _call(function: str, make: Callable[[Session, Event], object], session: Session, event: Event) -> str | None:
    """Data of an event; None where what a stranger wrote cannot be read, or a run kept nothing to show."""
    try:
        return call(function, make(session, event))
    except (PercussError, KeyError, ValueError, IndexError):
        return None


def _study(event: Event) -> str:
    return event.study.name if event.study else ""


def _badge(session: Session, state: State, *, audit: bool) -> Badge:
    """What `percuss audit` proves without running anything, and of when the last event is that it holds for."""
    last = next(reversed(state.events.values()), None)
    if last is None:
        return Badge(True, "no events yet")
    until = f"{len(state.events)} events up to {when(last)}"
    if not audit:
        return Badge(True, until)
    place = session.ledger.place
    walk = prove_chain(place)
    proofs = [walk.proof, prove_payloads(place, walk), prove_order(walk), prove_lineage(walk)]
    broken = [proof.name for proof in proofs if not proof.holds]
    if broken:
        return Badge(False, f"NOT WHOLE: {', '.join(broken)} ({until})")
    return Badge(True, f"audited: chain, payloads and lineage of {until}")


@cache
def _code() -> str:
    """Digest of the code that makes pages, and of what draws in it."""
    parts = [str(load_matplotlib().__version__)]
    for package in ("percuss.site", "percuss.report", "percuss.plots", "percuss.report.sections"):
        for item in sorted(files(package).iterdir(), key=lambda item: item.name):
            if item.name.endswith((".py", ".css")):
                parts.append(sha256_hex(item.read_bytes()))
    return sha256_hex("".join(parts).encode())


def _base(event: Event) -> str:
    return sha256_hex(f"{_code()} {event.hash}".encode())


def _key(state: State, graph: Graph, event: Event) -> str:
    """All that the page of an event depends on: itself, what stands around it, what was said of it."""
    around = [*graph.ancestors(event.id), *graph.children.get(event.id, ()), *graph.words.get(event.id, ())]
    hashes = [state.events[id].hash + mark(state, id) for id in around]
    return sha256_hex(" ".join([_base(event), *hashes, *graph.behind.get(event.id, ())]).encode())


class _Writer:
    """A folder that is a site, or is to become one."""

    def __init__(self, folder: Path) -> None:
        check_outside(folder / "index.html")
        self.folder = folder
        manifest = folder / MANIFEST
        if manifest.is_file():
            self.before = self._listed(manifest)
        elif folder.is_dir() and any(folder.iterdir()):
            raise InputError(f"{folder}: holds other files; give an empty folder, or one that a site was written to")
        else:
            self.before = {}
        self.now: dict[str, str] = {}
        self.written = 0

    def _listed(self, manifest: Path) -> dict[str, str]:
        """The files of the site that is there, which may be a stranger's: what is not in its folder is none of them."""
        try:
            listed = json.loads(manifest.read_text(encoding="utf-8"))["files"]
            if not all(isinstance(key, str) for key in listed.values()):
                raise ValueError("a file has no key")
            for name in listed:
                self._place(name)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as fault:
            if isinstance(fault, PercussError):
                raise
            raise InputError(f"{manifest}: is not the list of files of a site ({fault})") from fault
        return dict(listed)

    def _place(self, name: str) -> Path:
        """Where a file of the site is: in its folder, whatever links and names lead to."""
        path = self.folder / name
        if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self.folder)):
            raise InputError(f"{path}: leads out of the folder of the site")
        check_outside(path)
        return path

    def put(self, name: str, text: str) -> None:
        """A file, written where its bytes are others."""
        self.put_once(name, sha256_hex(text.encode()), lambda: text)

    def put_once(self, name: str, key: str, make: Callable[[], str]) -> None:
        """A file that is made only where its key is another."""
        if self.before.get(name) != key or not (self.folder / name).is_file():
            self._write(name, make())
        self.now[name] = key

    def put_data(self, name: str, key: str, make: Callable[[], str | None]) -> bool:
        """Data of an event; False where there are none, which is remembered."""
        path = self.folder / name
        if self.before.get(name) == f"{key} none":
            self.now[name] = f"{key} none"
            return False
        if self.before.get(name) != key or not path.is_file():
            text = make()
            if text is None:
                self.now[name] = f"{key} none"
                return False
            self._write(name, text)
        self.now[name] = key
        return True

    def text(self, name: str) -> str:
        """A file that was put."""
        return (self.folder / name).read_text(encoding="utf-8")

    def _write(self, name: str, text: str) -> None:
        self._store(name, text)
        self.written += 1

    def _store(self, name: str, text: str) -> None:
        path = self._place(name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        except OSError as fault:
            raise InputError(f"{path}: cannot be written ({fault.strerror})") from fault

    @contextmanager
    def kept_when_cut_off(self) -> Iterator[None]:
        """Within this, what is written is listed even if it comes to no end: the next call goes on from there."""
        self._store(MANIFEST, _listing(self.before | self.now))
        try:
            yield
        except BaseException:
            self._store(MANIFEST, _listing(self.before | self.now))
            raise

    def finish(self, events: int) -> Site:
        """Take away what is no longer part of it, and write the list."""
        gone = [name for name in self.before if name not in self.now]
        for name in gone:
            self._place(name).unlink(missing_ok=True)
        self._store(MANIFEST, _listing(self.now))
        self.written += self.now != self.before
        kept = sum(self.before.get(name) == key for name, key in self.now.items())
        return Site(self.folder, self.written, kept, len(gone), events)


def _listing(files: dict[str, str]) -> str:
    return json.dumps({"files": dict(sorted(files.items()))}, indent=0, sort_keys=True)
