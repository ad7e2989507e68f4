"""What a report is made of: sections of blocks, plain data. `html` and `markdown` know how each block is written.

Texts are plain; words in backticks are code. Numbers in tables stay numbers until they are written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from percuss.plots.figure import Figure
from percuss.spelling import number_text

Cell = str | int | float | None
Tone = Literal["note", "warning", "good"]


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Notice:
    """What must not be overlooked, and a line for each thing it is about; the tone is said in words, too."""

    text: str
    tone: Tone = "warning"
    items: Sequence[str] = ()


@dataclass(frozen=True)
class Table:
    """Rows under heads. Columns of numbers stand to the right."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class Code:
    """Lines to be copied as they are."""

    text: str


@dataclass(frozen=True)
class Link:
    """A page beside this one, by its address relative to it."""

    text: str
    address: str


@dataclass(frozen=True)
class Gallery:
    """Small pictures side by side, as many in a row as fit, under one caption."""

    figures: Sequence[Figure]
    caption: str


Block = Text | Notice | Table | Code | Link | Figure | Gallery


@dataclass(frozen=True)
class Section:
    """A part of the report under its own heading. `short` stands at the top of the page, last sections first. What is
    `folded` is on the way to the result: there, and closed until somebody opens it.
    """

    title: str
    blocks: Sequence[Block]
    short: Sequence[str | Notice] = field(default_factory=tuple)
    folded: bool = False


@dataclass(frozen=True)
class Page:
    """The whole report; `first` is what must be read before anything else."""

    title: str
    subtitle: str
    facts: Sequence[tuple[str, str]]
    sections: Sequence[Section]
    footer: str
    first: Sequence[Notice] = ()


def in_short(page: Page) -> list[str | Notice]:
    """What stands at the top: of the results asked for, then of the way to them from its end to its beginning."""
    results = [section for section in page.sections if not section.folded]
    way = [section for section in page.sections if section.folded]
    # Sections that warn of the same are heard once.
    lines: list[str | Notice] = []
    for section in [*results, *reversed(way)]:
        lines += [item for item in section.short if item not in lines]
    return lines


def cell_text(value: Cell) -> str:
    """A cell as text."""
    if value is None:
        return ""
    return number_text(value) if isinstance(value, float) else str(value)


def filled(table: Table) -> Table:
    """The table without the columns in which nothing stands."""
    kept = [i for i in range(len(table.heads)) if any(row[i] not in (None, "") for row in table.rows)]
    if not table.rows or len(kept) == len(table.heads):
        return table
    return Table(table.caption, [table.heads[i] for i in kept], [[row[i] for i in kept] for row in table.rows])


def right_columns(table: Table) -> list[bool]:
    """Which columns stand to the right: those that hold nothing but numbers and gaps."""
    return [
        any(isinstance(row[i], int | float) for row in table.rows)
        and all(row[i] is None or isinstance(row[i], int | float) for row in table.rows)
        for i in range(len(table.heads))
    ]
