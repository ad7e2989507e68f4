"""What differs between two events of a kind: study, data, settings, what they are made from, code, results.

When and by whom they were made, and what they cost, is always another and is not compared. Superseded events are
compared like any other.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from percuss.errors import InputError, PercussError
from percuss.kinds.flat import flat
from percuss.kinds.table import kind_of
from percuss.ledger.event import FILE_ROLE, Event, arguments_of
from percuss.session import Session
from percuss.spelling import counted
from percuss.study.differences import resolved_keys
from percuss.study.load import STUDY_FILE
from percuss.work.table_rows import TableDifference, compare_tables, in_errors

STUDY, DATA, SETTINGS, MADE_FROM, CODE, ENVIRONMENT, RESULTS = GROUPS = (
    "study",
    "data",
    "settings",
    "made from",
    "code",
    "environment",
    "results",
)
# Larger files, and files that are no text, are compared by their digest alone.
LARGEST_TEXT = 4_000_000


class _Absent:
    def __repr__(self) -> str:
        return "nothing"


# What stands for a value that one of the two does not have; JSON shows it as null.
ABSENT: Any = _Absent()


@dataclass(frozen=True)
class Difference:
    """One value that is another one, by its key; in SI. `in_errors`: how far apart, in their uncertainty."""

    key: str
    a: Any
    b: Any
    in_errors: float | None = None


@dataclass
class Group:
    """What differs in one respect: values, and tables row by row."""

    values: list[Difference] = field(default_factory=list)
    tables: dict[str, TableDifference] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.values or self.tables)


@dataclass(frozen=True, repr=False)
class Diff:
    """What differs between two events, by `GROUPS`; and what could not be compared here, in sentences."""

    a: Event
    b: Event
    groups: Mapping[str, Group]
    notes: list[str]

    @property
    def same(self) -> bool:
        """Whether nothing differs and everything could be compared."""
        return not self.notes and not any(self.groups.values())

    def __repr__(self) -> str:
        words = [name for name, group in self.groups.items() if group]
        verdict = f"differ in {', '.join(words)}" if words else "do not differ"
        missing = f"; not compared: {'; '.join(self.notes)}" if self.notes else ""
        return f"<{self.a.kind} {self.a.id} and {self.b.id} {verdict}{missing}>"


def diff(session: Session, a: Event, b: Event, rows: int = 10) -> Diff:
    """Compare two events of a kind; of a table the first so many rows that differ are given with every value."""
    if a.kind != b.kind:
        raise InputError(f"event {a.id} is of the kind {a.kind} and {b.id} of {b.kind}: give two of a kind")
    done = Diff(a, b, {name: Group() for name in GROUPS}, [])
    _compare_studies(session, done)
    _compare_bodies(done)
    _compare_sources(session, done, rows)
    for name, pair in {"version": "percuss", "commit": "commit", "core": "core", "lock": "Cargo.lock"}.items():
        _compare(done.groups[CODE], pair, getattr(a.software, name), getattr(b.software, name))
    _compare_environments(session, done)
    _compare_payloads(session, done, a, b, RESULTS, rows)
    return done


def _compare_environments(session: Session, done: Diff) -> None:
    try:
        records = [session.ledger.environment(event) for event in (done.a, done.b)]
    except PercussError as fault:
        done.notes.append(f"environment: {fault}")
        return
    # An event of format 1 says nothing of it, which is no difference.
    if records[0] is not None and records[1] is not None:
        _compare_flat(done.groups[ENVIRONMENT], flat(records[0]), flat(records[1]))


def _arguments(event: Event) -> dict[str, Any]:
    """What a call was given beside events, a study and a seed, which are compared by themselves."""
    listed = arguments_of(event.call) if event.call else []
    return {
        name: value
        for name, value in listed
        if name.startswith("--") and name not in ("--seed", "--study", "--observations", "--to")
    }


def _compare(group: Group, key: str, a: Any, b: Any) -> None:
    if a != b and not (a != a and b != b):
        group.values.append(Difference(key, a, b))


def _compare_flat(group: Group, a: Mapping[str, Any], b: Mapping[str, Any], *, uncertain: bool = False) -> None:
    """Compare values by their keys; `uncertain`: numbers may have their uncertainty beside them."""
    for key in dict.fromkeys((*a, *b)):
        x, y = a.get(key, ABSENT), b.get(key, ABSENT)
        if x != y and not (x != x and y != y):
            apart = in_errors(*_beside(key, a, b)) if uncertain else None
            group.values.append(Difference(key, x, y, apart))


def _beside(key: str, *all_values: Mapping[str, Any]) -> tuple[Any, ...]:
    """The name of a number, and of each of the two the number with what may be its uncertainty."""
    parts = key.split(".")
    # An end of an interval has its uncertainty in the list beside the interval.
    end = parts.pop() if parts[-1].isdigit() and len(parts) > 1 else ""
    before, name = "".join(f"{part}." for part in parts[:-1]), parts[-1]
    after = f".{end}" if end else ""
    names = (name, f"{name}_error", f"{name}_std", f"{name.removesuffix('_value')}_error", "error", "std")
    return name, *({item: values.get(f"{before}{item}{after}") for item in names} for values in all_values)


def _study_event(session: Session, event: Event) -> Event | None:
    if event.kind == "study.registered":
        return event
    ids = [item.id for item in event.inputs_as("study")]
    return session.state.events.get(ids[0]) if len(ids) == 1 else None


def _compare_studies(session: Session, done: Diff) -> None:
    """Priors, settings of the model, sections, key by key; data files line by line."""
    a, b = _study_event(session, done.a), _study_event(session, done.b)
    if a is None or b is None or a.id == b.id:
        return
    recorded = [flat(event.data) for event in (a, b)]
    about = [{k.removeprefix("study."): v for k, v in keys.items() if k.startswith("study.")} for keys in recorded]
    _compare_flat(done.groups[STUDY], about[0], about[1])
    try:
        keys = [resolved_keys(session.study(event)) for event in (a, b)]
    except PercussError:
        # A model of a plugin that is not here: as it was recorded.
        keys = [{k: v for k, v in values.items() if k.split(".")[0] not in ("study", "files")} for values in recorded]
    one, other = ({k: v for k, v in values.items() if not k.startswith("file ")} for values in keys)
    _compare_flat(done.groups[STUDY], one, other)
    for role in dict.fromkeys(blob.role for event in (a, b) for blob in event.blobs):
        if role != FILE_ROLE + STUDY_FILE:  # its keys were compared
            _compare_files(session, done, a, b, role)


def _compare_files(session: Session, done: Diff, a: Event, b: Event, role: str) -> None:
    one, other = a.blob(role), b.blob(role)
    if one and other and one.sha256 == other.sha256:
        return
    name, group = role.removeprefix(FILE_ROLE), done.groups[DATA]
    if one and other and max(one.bytes, other.bytes) <= LARGEST_TEXT:
        try:
            texts = [session.ledger.files(event)[name].decode() for event in (a, b)]
        except UnicodeDecodeError:
            pass
        except PercussError as fault:
            done.notes.append(f"file {name}: {fault}")
        else:
            group.values += [Difference(f"{name} line {n}", x, y) for n, x, y in _other_lines(*texts)]
            return
    digests = [f"sha256 {blob.sha256[:16]}, {blob.bytes} bytes" if blob else ABSENT for blob in (one, other)]
    group.values.append(Difference(name, digests[0], digests[1]))


def _other_lines(a: str, b: str) -> Iterator[tuple[int, Any, Any]]:
    """Lines that differ, each with its number in the first text (that of the line before it where it is not there)."""
    one, other = a.splitlines(), b.splitlines()
    for what, i, i_end, j, j_end in difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if what == "equal":
            continue
        for step in range(max(i_end - i, j_end - j)):
            x = one[i + step] if i + step < i_end else ABSENT
            y = other[j + step] if j + step < j_end else ABSENT
            yield min(i + step + 1, max(i_end, i + 1)), x, y


def _compare_bodies(done: Diff) -> None:
    a, b = done.a, done.b
    if a.kind != "study.registered":  # its body is the study
        kind = kind_of(a.kind)
        asked = kind.asked if kind else ()
        values = [flat(event.data) for event in (a, b)]
        for name, chosen in ((SETTINGS, True), (RESULTS, False)):
            one, other = ({k: v for k, v in of.items() if (k.split(".")[0] in asked) is chosen} for of in values)
            _compare_flat(done.groups[name], one, other, uncertain=not chosen)
    if a.call and b.call and a.call.operation == b.call.operation:
        one, other = _arguments(a), _arguments(b)
        _compare_flat(done.groups[SETTINGS], one, other)
    _compare(done.groups[SETTINGS], "seed", a.seed, b.seed)
    _compare(done.groups[RESULTS], "outcome", a.outcome, b.outcome)
    _compare(done.groups[RESULTS], "reason", a.reason, b.reason)


def _compare_sources(session: Session, done: Diff, rows: int) -> None:
    """What the two are made from, by role; measured data row by row."""
    a, b = done.a, done.b
    for role in dict.fromkeys(item.role for event in (a, b) for item in event.inputs if item.role != "study"):
        ids = [[item.id for item in event.inputs_as(role)] for event in (a, b)]
        if ids[0] == ids[1]:
            continue
        listed = [" ".join(some) or ABSENT for some in ids]
        done.groups[MADE_FROM].values.append(Difference(role, listed[0], listed[1]))
        events = [[session.state.events[id] for id in some if id in session.state.events] for some in ids]
        if [len(some) for some in events] == [1, 1] and events[0][0].kind == "observations.imported":
            _compare_payloads(session, done, events[0][0], events[1][0], DATA, rows)


def _compare_payloads(session: Session, done: Diff, a: Event, b: Event, name: str, rows: int) -> None:
    group = done.groups[name]
    for role in dict.fromkeys(blob.role for event in (a, b) for blob in event.blobs):
        one, other = a.blob(role), b.blob(role)
        if role.startswith(FILE_ROLE):
            if a.kind != "study.registered":
                _compare(group, role, *(f"sha256 {x.sha256[:16]}" if x else ABSENT for x in (one, other)))
        elif one is None or other is None:
            heights = [counted(blob.rows, "row") if blob else ABSENT for blob in (one, other)]
            group.values.append(Difference(role, heights[0], heights[1]))
        elif one.digest != other.digest:
            try:
                rows_apart = compare_tables(session.table(a, role), session.table(b, role), rows)
            except PercussError as fault:
                done.notes.append(f"table {role}: {fault}")
                continue
            if rows_apart:
                group.tables[role] = rows_apart
