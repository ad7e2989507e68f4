"""A report as Markdown: everything but the pictures, of which the words that stand for them are kept."""

from __future__ import annotations

from urllib.parse import quote

from percuss.plots.figure import Figure
from percuss.report.blocks import (
    Block,
    Code,
    Gallery,
    Link,
    Notice,
    Page,
    Table,
    Text,
    cell_text,
    filled,
    in_short,
    right_columns,
)


def markdown(page: Page) -> str:
    """The whole report, ending with a line break."""
    lines = [*map(_block, page.first), f"# {page.title}", page.subtitle]
    lines.append("\n".join(f"- {name}: {value}" for name, value in page.facts))
    short = in_short(page)
    if short:
        lines += ["## In short", "\n".join(_entry(item) for item in short)]
    for section in page.sections:
        lines += [f"## {section.title}", *(_block(block) for block in section.blocks)]
    return "\n\n".join([*lines, page.footer]) + "\n"


def _line(item: str | Notice) -> str:
    return item if isinstance(item, str) else f"**{item.tone}:** {item.text}"


def _entry(item: str | Notice) -> str:
    """One entry of a list, and below it what it is about."""
    return "\n  - ".join([f"- {_line(item)}", *([] if isinstance(item, str) else item.items)])


def _block(block: Block) -> str:
    match block:
        case Text(text):
            return text
        case Notice(items=items):
            return "\n> - ".join([f"> {_line(block)}", *items])
        case Table():
            return _table(block)
        case Code(text):
            return f"```sh\n{text}\n```"
        case Link(text, address):
            return f"[{text}]({quote(address)})"
        case Figure(alt=alt):
            return f"*Figure: {alt}*"
        case Gallery(figures, caption):
            return "\n".join([f"*Figures: {caption}*", "", *(f"- {figure.alt}" for figure in figures)])


def _table(table: Table) -> str:
    table = filled(table)
    right = right_columns(table)
    cells = [[cell_text(value).replace("|", "\\|") for value in row] for row in table.rows]
    widths = [max([3, len(head), *(len(row[i]) for row in cells)]) for i, head in enumerate(table.heads)]

    def line(row: list[str]) -> str:
        padded = [c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right, strict=True)]
        return f"| {' | '.join(padded)} |"

    rule = ["-" * (w - 1) + ":" if r else "-" * w for w, r in zip(widths, right, strict=True)]
    return "\n".join([f"{table.caption}:", "", line(list(table.heads)), line(rule), *map(line, cells)])
