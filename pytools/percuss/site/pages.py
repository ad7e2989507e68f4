"""Pages of the site: one for every event, made of the report's sections; and those that look over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import polars as pl

from percuss.errors import LedgerError, PercussError
from percuss.kinds.event_superseded import EventSuperseded
from percuss.kinds.note_added import NoteAdded
from percuss.kinds.table import is_batch, is_known
from percuss.ledger.event import Event
from percuss.ledger.projections import State, mark
from percuss.report.blocks import Notice, Page, Section
from percuss.report.html import body_parts, document, inline
from percuss.report.sections.registry import RUNS_KINDS, SECTIONS, section_of
from percuss.report.source import Source, when
from percuss.session import Session, standing
from percuss.site.graph import Graph
from percuss.site.lineage import Box, draw, without_crowds
from percuss.spelling import counted
from percuss.trust import Trust, failures

# Scripts and styles of the site itself and nothing else; `file:` is what 'self' is for a page opened from a folder.
POLICY = (
    "default-src 'none'; script-src 'self' file:; style-src 'self' file: 'unsafe-inline'; img-src data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'"
)
VIEWS = (
    ("index.html", "Events"),
    ("lineage.html", "Lineage"),
    ("campaigns.html", "Campaigns"),
    ("compare.html", "Compare"),
)
# Kinds that are named after what was done: "Sealed: main, 417 events".
DONE = ("event", "payloads", "stream")
# Events drawn below the one a page is about.
MOST_BELOW = 12


@dataclass(frozen=True)
class Badge:
    """Whether the ledger proved whole, up to which event; in words."""

    holds: bool
    text: str


def frame(
    title: str, here: str, body: Sequence[str], badge: Badge | None = None, scripts: Sequence[str] = (), up: str = ""
) -> str:
    """A page of the site: the bar of views above what is on it. Pages of events have no badge: it changes with each."""
    links = "".join(
        f'<a href="{up}{file}"{" aria-current=page" if file == here else ""}>{escape(name)}</a>' for file, name in VIEWS
    )
    side = f'<span class="badge{"" if badge.holds else " no"}">{inline(badge.text)}</span>' if badge else ""
    bar = f'<nav class="bar" aria-label="Site"><span class="home">percuss</span>{links}{side}</nav>'
    head = [f'<link rel="stylesheet" href="{up}{name}">' for name in ("report.css", "site.css")]
    tail = [f'<script src="{up}{name}" defer></script>' for name in scripts]
    return document(title, [*head, *tail], [bar, *body], POLICY, "site")


def overview(view: str, badge: Badge, *, live: bool) -> str:
    """One of the pages that look over all events."""
    more = ["live.js"] if live else []
    name = dict(VIEWS)[view]
    no_script = "<noscript><p>This view needs scripts; the pages of events do not.</p></noscript>"
    opening = f'<main id="content"><h1>{escape(name)}</h1>{no_script}'
    if view == "index.html":
        body = (
            '<div class="controls" role="search">'
            '<label>Search<input type="search" id="search" placeholder="words, id, study"></label>'
            '<label>Kind<select id="kind"><option value="">all kinds</option></select></label>'
            '<label>Study<select id="study"><option value="">all studies</option></select></label>'
            '<label class="check"><input type="checkbox" id="bad">failed or not trusted</label>'
            '<label class="check"><input type="checkbox" id="gone">hide superseded</label></div>'
            '<p class="count" id="count" role="status"></p>'
            '<div class="events" id="events" tabindex="0" role="region" aria-label="Events, newest first"></div>'
        )
        scripts = ["site.js", "table.js"]
    elif view == "campaigns.html":
        body = (
            '<div class="table" id="outputs" tabindex="0" role="region" aria-label="Outputs of campaigns"></div>'
            '<h2>Runs of one campaign</h2><div class="controls">'
            '<label>Campaign<select id="campaign"></select></label><label>Across<select id="x"></select></label>'
            '<label>Up<select id="y"></select></label></div><div class="pair" id="scatter"></div>'
        )
        scripts = ["site.js", "charts.js", "campaigns.js"]
    else:
        body = (
            '<div class="controls"><label>First<select id="first"></select></label>'
            '<label>Second<select id="second"></select></label></div><div id="compared" aria-live="polite"></div>'
        )
        scripts = ["site.js", "charts.js", "compare.js"]
    return frame(name, view, [f"{opening}{body}</main>"], badge, [*scripts, *more])


def lineage_page(state: State, graph: Graph, summaries: dict[str, str], badge: Badge, *, live: bool) -> str:
    """What came from what in the whole ledger, study by study, newest study first."""
    by_study: dict[str, list[str]] = {}
    for id in graph.parents:
        event = state.events[id]
        by_study.setdefault(event.study.name if event.study else "about the ledger", []).append(id)
    parts = ['<main id="content"><h1>Lineage</h1><p>Sources stand above what was made from them; runs are']
    parts.append("behind what they were made for. Each box leads to the page of its event.</p>")
    for name, ids in reversed(by_study.items()):
        shown = without_crowds(ids, graph.parents, lambda id: state.events[id].kind)
        picture = draw(shown, graph.parents, lambda id: _box(state, id, summaries[id], "events/"), f"Lineage of {name}")
        if picture:
            more = len(ids) - len(shown)
            words = f"<p>{more} older events of the same kinds are not drawn; Events has them.</p>" if more else ""
            parts.append(f'<h2>{inline(name)}</h2><div class="scroll" tabindex="0">{picture}</div>{words}')
    parts.append("</main>")
    return frame("Lineage", "lineage.html", parts, badge, ["live.js"] if live else [])


def _box(state: State, id: str, words: str, folder: str, more: str = "") -> Box:
    event = state.events[id]
    failed = [verdict for verdict in failures(_trust(state, event)) if verdict.stops]
    classes = [more, "bad" if failed or event.outcome == "failed" else "", "gone" if id in state.superseded else ""]
    return Box(event.kind, words or id, f"{folder}{id}.html", " ".join(filter(None, classes)))


def event_page(session: Session, state: State, graph: Graph, event: Event, summaries: dict[str, str]) -> str:
    """The page of one event: its own sections, what was said of it, and where it stands in the lineage.

    `session` is one for telling, `state` that of the ledger as it stands. Called within `drawing`: to set that up takes
    longer than most pages.
    """
    # Sections are of the event alone; those of runs need the batches behind their campaign.
    known = {event.id, *(item.id for item in event.inputs), *graph.behind.get(event.id, ())}
    if event.study:
        known |= {registered.id for registered in [state.studies.get(event.study.digest)] if registered}
    events = tuple(state.events[id] for id in sorted(known & state.events.keys(), key=graph.order.__getitem__))
    trust = _trust(state, event)
    source = Source(session, state.superseded, trust, (event,), events)
    sections = [*_sections(source, event), section_of("facts", source, event)]
    shown = [part for part in sections if part is not None]
    failed = [Notice(verdict.line()) for verdict in failures(trust)]
    first = [*_words(state, graph, event, dependence=not failed), *failed]
    facts = [("Study", event.study.name if event.study else "none"), ("Made", when(event)), ("By", event.actor)]
    footer = f"Event {event.id} of a ledger; the same events give the same page."
    page = Page(_heading(event, summaries[event.id]), event.kind, facts, shown, footer, first)
    body = [*body_parts(page)]
    # Below the result, above the event as it stands in the ledger.
    place = next(i for i, part in enumerate(body) if part.startswith('<section id="in-the-ledger'))
    body.insert(place, _around(state, graph, event, summaries))
    return frame(
        f"{event.kind}: {summaries[event.id] or event.id}", "", [f'<div class="page">{"".join(body)}</div>'], up="../"
    )


def _heading(event: Event, summary: str) -> str:
    """What the event is and holds; the title of a study speaks for itself.

    "64 runs, 0 failed" of a campaign becomes "Campaign: 64 runs, 0 failed".
    """
    if not summary or event.kind == "study.registered":
        return summary or event.kind
    thing, _, deed = event.kind.partition(".")
    word = deed if thing in DONE else thing
    return f"{word.capitalize()}{', ' if ': ' in summary else ': '}{summary}"


def _trust(state: State, event: Event) -> Trust:
    """How an event stands; nothing is said of one that cannot be read."""
    try:
        return standing(state, event) if is_known(event.kind, event.version) else ()
    except LedgerError:
        return ()


def _sections(source: Source, event: Event) -> list[Section | None]:
    """The sections of the kind; what cannot be read of a ledger of a stranger is said in its place."""
    if not is_known(event.kind, event.version):
        return []
    kind = "design.created" if event.kind in RUNS_KINDS else event.kind
    modules = [module for name, module in SECTIONS if name == kind]
    if event.kind in RUNS_KINDS:
        modules = [module for module in modules if module != "design"]
    elif event.kind == "design.created":
        modules = ["design"]
    parts: list[Section | None] = []
    for module in [*modules, "trust"]:
        try:
            runs = event.kind in RUNS_KINDS and module != "trust"
            parts.append(section_of(module, source, source.state.events[event.input("design")] if runs else event))
        except (PercussError, pl.exceptions.PolarsError, KeyError) as fault:
            reason = Notice(f"this part of the event cannot be shown: {fault}")
            parts.append(Section(module.capitalize(), [reason]))
    return parts


def _words(state: State, graph: Graph, event: Event, *, dependence: bool) -> list[Notice]:
    """Notes of people about an event, and whether it is superseded or, where that is asked for, depends on what is."""
    notices = []
    if (reason := mark(state, event.id)) and (dependence or event.id in state.superseded):
        words = reason
        if event.id in state.superseded:
            withdrawal = EventSuperseded.of(state.superseded[event.id])
            by = f" by `{withdrawal.new}`" if withdrawal.new else ""
            words = f"superseded{by}: {withdrawal.reason or 'no reason given'}"
        notices.append(Notice(f"{words}."))
    for id in graph.words.get(event.id, ()):
        about = state.events[id]
        if about.kind == "note.added" and is_known(about.kind, about.version):
            try:
                notices.append(Notice(f"{about.actor} on {when(about)}: {NoteAdded.of(about).text}", "note"))
            except LedgerError as fault:
                notices.append(Notice(f"a note that cannot be read: {fault}"))
    return notices


def _around(state: State, graph: Graph, event: Event, summaries: dict[str, str]) -> str:
    """What the event comes from, and what was made from it directly."""
    below = graph.children.get(event.id, ())[-MOST_BELOW:]
    sources = graph.ancestors(event.id)
    shown = without_crowds(sources, graph.parents, lambda id: state.events[id].kind)
    ids = [*shown, *below]
    parents = {id: graph.parents[id] for id in ids}
    parents |= dict.fromkeys(below, (event.id,))

    def box(id: str) -> Box:
        return _box(state, id, summaries[id], "", "here" if id == event.id else "below" if id in below else "")

    picture = draw(ids, parents, box, f"Lineage of {event.kind}")
    more = len(graph.children.get(event.id, ())) - len(below)
    words = f"<p>{more} more events were made from it.</p>" if more > 0 else ""
    if left_out := len(sources) - len(shown):
        words += f"<p>{left_out} older sources of the same kinds are not drawn; Events has them.</p>"
    behind = sum(is_batch(state.events[id].kind) for id in graph.behind.get(event.id, ()))
    if behind:
        stand = "stands" if behind == 1 else "stand"
        words += f"<p>{counted(behind, 'batch', 'batches')} of runs {stand} behind it.</p>"
    return (
        f'<section class="lineage"><h2>Lineage</h2><div class="scroll" tabindex="0">{picture}</div>{words}</section>'
        if picture
        else words
    )
