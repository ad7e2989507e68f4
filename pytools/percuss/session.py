"""One call's way to the ledger: what every operation of `percuss.work` is given.

A session folds the events once and goes on from there with what it appends; what others append it sees after
`refresh`. Studies are built once, by digest. It also carries what belongs to the call and not to the ledger: settings,
consent to run programs, gates whose failure is accepted, and how to speak to whoever called.

What an event depends on today follows from the state: its own verdicts, and whether anything it comes from was
superseded since.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from percuss.config import ResolvedSetting, find_settings
from percuss.errors import InputError
from percuss.kinds.event_superseded import EventSuperseded
from percuss.kinds.table import KINDS
from percuss.kinds.trusted import Result
from percuss.ledger.event import Draft, Event, StudyRef
from percuss.ledger.ledger import MAIN, Ledger
from percuss.ledger.projections import State, fold
from percuss.study.load import STUDY_FILE
from percuss.study.study import Study
from percuss.trust import Trust, Verdict, accept, inherited

if TYPE_CHECKING:
    import polars as pl

Advance = Callable[[int, str], None]


class Voice(Protocol):
    """How an operation speaks while it is at work."""

    def say(self, text: str) -> None:
        """Words for a person."""

    def progress(self, label: str, total: int | None) -> AbstractContextManager[Advance]:
        """How far a long job has come: yields `advance(count, note)`; without a total there is only a count."""


class Silent:
    """Says nothing."""

    def say(self, text: str) -> None:
        """Words for a person."""

    @contextmanager
    def progress(self, label: str, total: int | None) -> Iterator[Advance]:
        """How far a long job has come."""
        yield lambda count, note: None


# How often a long job says how far it has come, in seconds.
EVERY_S = 5.0


class Lines:
    """Speaks in plain lines, for notebooks and logs: words at once, progress every few seconds."""

    def __init__(self, write: Callable[[str], None] | None = None, every_s: float = EVERY_S) -> None:
        self.write = write or (lambda text: print(text, file=sys.stderr))
        self.every_s = every_s

    def say(self, text: str) -> None:
        """Words for a person."""
        self.write(text)

    @contextmanager
    def progress(self, label: str, total: int | None) -> Iterator[Advance]:
        """How far a long job has come; a job that is done before the first line is due says nothing."""
        started = last_print = time.monotonic()
        steps = 0

        def advance(count: int, note: str) -> None:
            nonlocal steps, last_print
            steps += count
            now = time.monotonic()
            if now - last_print < self.every_s or not steps:
                return
            last_print = now
            how_far = f"{steps}"
            if total:
                left_s = (now - started) / steps * (total - steps)
                left = f"{left_s:.0f} s" if left_s < 90 else f"{left_s / 60:.0f} min"
                how_far = f"{steps} of {total}, about {left} left"
            self.write(f"{label}: {how_far}{f', {note}' if note else ''}")

        yield advance


class Session:
    """A ledger that is worked on: see the module."""

    def __init__(
        self,
        ledger: Ledger | Callable[[], Ledger],
        *,
        settings: Mapping[str, ResolvedSetting] | None = None,
        allow_command: bool = False,
        accept: Collection[str] = (),
        voice: Voice | None = None,
    ) -> None:
        self._ledger = ledger
        self.settings = find_settings() if settings is None else settings
        self.allow_command = allow_command
        self.accept = frozenset(accept)
        self.voice: Voice = voice or Silent()
        self._state: State | None = None
        self._studies: dict[str, Study] = {}

    @property
    def ledger(self) -> Ledger:
        """The ledger; one that is to be begun is begun when it is first asked for, after all that can be refused."""
        if not isinstance(self._ledger, Ledger):
            self._ledger = self._ledger()
        return self._ledger

    @property
    def state(self) -> State:
        """What the events add up to."""
        if self._state is None:
            self._state = fold(self.ledger.events())
        return self._state

    def for_telling(self) -> Session:
        """A session that reads superseded events like any other: for telling what was done, or repeating it."""
        session = Session(self.ledger, settings=self.settings, allow_command=self.allow_command, voice=self.voice)
        session._state = replace(self.state, superseded={})
        session._studies = self._studies
        return session

    def begin_from(self, events: Iterable[Event]) -> State:
        """Fold these events, which were read from the original files, instead of what the cache gives."""
        self._state = fold(events)
        return self._state

    def refresh(self) -> State:
        """Take in what others have appended since."""
        self.ledger.refresh()
        self._state = None
        return self.state

    def append(self, drafts: Sequence[Draft], stream: str = MAIN) -> list[Event]:
        """Append events in one commit: all of them, or an error and none."""
        events = self.ledger.append(drafts, stream)
        if stream == MAIN and self._state is not None:
            self._state = self._state.advanced(events)
        return events[-len(drafts) :]

    def append_result(
        self,
        draft: Draft,
        own: Iterable[Verdict] = (),
        about: Collection[str] | None = None,
        first: Sequence[Event | Draft] = (),
    ) -> tuple[Event, Trust]:
        """Append a result with its verdicts: its own, and those it inherits from all it is made from.

        `about`: what it uses of that, as `case/output`; verdicts that concern nothing of it stay behind. Drafts among
        `first` are appended before it, in the same commit.
        """
        draft, trust = judged(self.state, draft, self.accept, own, about)
        return self.append([*(item for item in first if isinstance(item, Draft)), draft])[-1], trust

    def event(self, reference: str | Event) -> Event:
        """An event by id, unique prefix of an id, `@last` or `@last:KIND`."""
        if isinstance(reference, Event):
            return reference
        # The state first: what was read for it serves prefixes and @last as well.
        return self.state.events.get(reference) or self.ledger.event(reference)

    def take(self, reference: str | Event, *kinds: str) -> Event:
        """An event to work with: of one of these kinds, and not superseded."""
        event = self.event(reference)
        if kinds and event.kind not in kinds:
            verbs = dict.fromkeys(KINDS[kind].made_by for kind in kinds)
            raise InputError(
                f"event {event.id} is of the kind {event.kind}, not {' or '.join(kinds)}",
                hint=f"percuss {' or percuss '.join(verbs)} makes one",
            )
        self.refuse_superseded(event)
        return event

    def refuse_superseded(self, event: Event) -> None:
        """Raise InputError for an event that is superseded."""
        if event.id in self.state.superseded:
            raise InputError(f"{event.kind.split('.')[0]} {event.id}: is superseded", hint="percuss show says by what")

    def load(self, reference: str | Event) -> Any:
        """An event as the object that its kind is worked with; its body where there is no such."""
        event = self.event(reference)
        kind = KINDS.get(event.kind)
        loader = kind.loader() if kind else None
        return loader(self, event) if loader else event.content

    def table(self, event: Event, role: str, columns: list[str] | None = None) -> pl.DataFrame:
        """The table an event carries in this role."""
        return self.ledger.table(event, role, columns)

    def study(self, event: Event) -> Study:
        """The study that an event belongs to, as it was registered."""
        registered = event if event.kind == "study.registered" else self.state.events[event.input("study")]
        if registered.id not in self._studies:
            self._studies[registered.id] = Study.from_resolved(registered.data, self.ledger.files(registered))
        return self._studies[registered.id]

    def registered(self, study: Study) -> Event | Draft:
        """The event that registered this very study, or a draft that will."""
        if event := self.state.studies.get(study.digest):
            self._studies.setdefault(event.id, study)
            return event
        files = ({STUDY_FILE: study.text} if study.text else {}) | study.files
        blobs = [self.ledger.put_file(name, data) for name, data in sorted(files.items())]
        return Draft("study.registered", study.resolved(), reference(study), blobs=blobs)

    def register(self, study: Study) -> Event:
        """The event that registered this very study; appended if it is new."""
        source = self.registered(study)
        return source if isinstance(source, Event) else self.append([source])[0]

    def consented(self, study: Study) -> Study:
        """The study, allowed to run what it wants to run; refused, with all of that shown, if nobody said so."""
        calls = study.calls()
        if not calls:
            return study
        # What a stranger wrote can neither break the line nor steer the terminal.
        shown = "\n".join(f"  {line if line.isprintable() else ascii(line)[1:-1]}" for line in calls)
        if not self.allow_command:
            raise InputError(
                f"study {study.name}: runs a program, with all the rights you have:\n{shown}",
                hint="if you know who wrote this and want it run, give the command again with --allow-command",
            )
        self.voice.say(f"study {study.name}: runs a program, as allowed:\n{shown}")
        return study.allow_commands()

    def setting(self, name: str) -> Any:
        """The value of a setting."""
        return self.settings[name].value

    @property
    def workers(self) -> int:
        """How many runs at a time."""
        import os

        return self.setting("jobs") or os.cpu_count() or 1


def reference(study: Study) -> StudyRef:
    """A study as events name it."""
    return StudyRef(study.name, study.digest)


GATE = "superseded"


def standing(state: State, event: Event) -> Trust:
    """The verdicts an event carries, and one for each superseded event among it and all it comes from.

    Whether something is superseded is always asked again: it may have been withdrawn since the event was made.
    """
    own = (verdict for verdict in _own(event) if verdict.gate != GATE)
    return (*own, *superseded(state, event))


def superseded(state: State, event: Event) -> Trust:
    """A failed verdict for each event, of this one and all it comes from, that is superseded.

    What was accepted when the event was made stays accepted.
    """
    under = state.stands_on(event.id)
    if event.id not in state.superseded and not under:
        return ()
    accepted = {verdict.source for verdict in _own(event) if verdict.gate == GATE and verdict.accepted}
    verdicts = [Verdict(GATE, False, f"{event.kind} {_why(state, event.id)}")] if event.id in state.superseded else []
    for id in under:
        sentence = f"{state.events[id].kind}, on which it stands, {_why(state, id)}"
        verdicts.append(Verdict(GATE, False, sentence, accepted=id in accepted, source=id))
    return tuple(verdicts)


def inherit(state: State, events: Iterable[Event], about: Collection[str] | None = None) -> Trust:
    """What a result made from these events inherits, each verdict once."""
    verdicts = (v for event in events for v in inherited(event.id, standing(state, event), about))
    return tuple(dict.fromkeys(verdicts))


def judged(
    state: State,
    draft: Draft,
    accepted: Collection[str],
    own: Iterable[Verdict] = (),
    about: Collection[str] | None = None,
) -> tuple[Draft, Trust]:
    """A draft with its verdicts: its own and those it inherits from all it is made from; some gates are accepted.

    `about`: what it uses of that; verdicts that concern nothing of it stay behind.
    """
    made_from = [source for _, source in draft.inputs if isinstance(source, Event)]
    trust = accept((*inherit(state, made_from, about), *own), accepted)
    assert isinstance(draft.body, Result)
    return replace(draft, body=replace(draft.body, trust=trust)), trust


def _why(state: State, id: str) -> str:
    withdrawal = EventSuperseded.of(state.superseded[id])
    by = f" by {withdrawal.new}" if withdrawal.new else ""
    reason = f": {withdrawal.reason}" if withdrawal.reason else ""
    return f"is superseded{by}{reason}"


def _own(event: Event) -> Trust:
    return event.content.trust if isinstance(event.content, Result) else ()
