"""What there is to know of a kind of event."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from percuss.kinds.body import Body

Upcaster = Callable[[dict[str, Any]], dict[str, Any]]
Roles = Mapping[str, tuple[str, ...]]

# What the columns of a table are that its kind cannot name: they have the names, and the units, that the study gives.
PARAMETERS, OUTPUTS, QUANTITIES = "parameters", "outputs", "quantities"


@dataclass(frozen=True)
class Table:
    """A table that events of a kind carry: what a row is, its columns with their SI units ("" for text), and which of
    the study's own columns (`PARAMETERS`, `OUTPUTS`, `QUANTITIES`) stand beside them.
    """

    row: str
    columns: Mapping[str, str] = field(default_factory=dict)
    more: tuple[str, ...] = ()
    always: bool = True


@dataclass(frozen=True)
class Kind:
    """One kind of event.

    `needs` maps each role an event of this kind must have among its inputs to the kinds that can fill it, `one_of`
    those of which it must have at least one: `audit` follows them to prove that nothing stands on air. `upcasters[v]`
    turns a body of version v into one of v + 1. `tables` has the tables by role. `summary` gives a few words for one
    line of the log. `load` and `repeat` name functions, as `module:function`, so that listing events loads no
    mathematics: what gives the event as an object to work with, and what computes it again for `audit`
    (`percuss.work.repetition`). `parts` counts the results in an event, each of which can be computed by itself;
    `unrepeatable` names a function of session and event that says, without computing anything, why it cannot be.
    `asked` names the fields of the body that say what was asked for; the others came out. `batch` is the word for a
    part of an event of which one job appends many: lists and graphs fold these.
    """

    name: str
    body: type[Body]
    says: str
    needs: Roles = field(default_factory=dict)
    one_of: Roles = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    summary: Callable[[Any], str] = lambda body: ""
    version: int = 1
    upcasters: Mapping[int, Upcaster] = field(default_factory=dict)
    seeded: bool = False
    made_by: str = ""
    load: str = ""
    repeat: str = ""
    parts: Callable[[Any], int] = lambda body: 1
    unrepeatable: str = ""
    asked: tuple[str, ...] = ()
    batch: str = ""

    def loader(self) -> Callable[..., Any] | None:
        """What reads an event of this kind back as an object; None where the body says it all."""
        return resolved(self.load)

    def repeater(self) -> Callable[..., Any] | None:
        """What computes an event of this kind again; None where there is nothing to compute."""
        return resolved(self.repeat)


def resolved(place: str) -> Callable[..., Any] | None:
    """The function at `module:function`."""
    if not place:
        return None
    module, _, name = place.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function
