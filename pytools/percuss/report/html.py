"""A report as one HTML file that stands alone: style and pictures inside, no scripts, nothing fetched."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from urllib.parse import quote

from percuss.plots.figure import Figure
from percuss.report.blocks import (
    Block,
    Code,
    Gallery,
    Link,
    Notice,
    Page,
    Section,
    Table,
    Text,
    cell_text,
    filled,
    in_short,
    right_columns,
)

TONES = {"note": "Note", "warning": "Warning", "good": "Passed"}
# Cells with more characters than this may be broken into lines.
LONG = 40
# Heads of columns that are longer than this may take several lines.
WIDE_HEAD = 12
# Nothing may be fetched or run, even if a browser is shown a file that someone has tampered with.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_FOLDED = ' class="folded"'


def html(page: Page) -> str:
    """The whole file; the same page gives the same bytes."""
    style = f"<style>\n{style_sheet()}</style>"
    return document(page.title, [style], [*body_parts(page)], POLICY)


def style_sheet() -> str:
    """How pages look."""
    return files("percuss.report").joinpath("style.css").read_text(encoding="utf-8")


def document(title: str, head: Iterable[str], body: Iterable[str], policy: str, classes: str = "") -> str:
    """A file of HTML around what is on the page."""
    parts = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="generator" content="percuss">',
        f"<title>{escape(clean(title))}</title>",
        *head,
        "</head>",
        f'<body class="{classes}">' if classes else "<body>",
        '<a class="skip" href="#content">Skip to the content</a>',
        *body,
        "</body>",
        "</html>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def body_parts(page: Page) -> Iterable[str]:
    """What is on the page: head, sections by name, what matters in short, the sections, the way to them folded."""
    anchors = section_anchors(page.sections)
    pairs = list(zip(page.sections, anchors, strict=True))
    links = "".join(f'<li><a href="#{a}"{_FOLDED if s.folded else ""}>{inline(s.title)}</a></li>' for s, a in pairs)
    facts = "".join(f"<div><dt>{inline(name)}</dt><dd>{inline(value)}</dd></div>" for name, value in page.facts)
    yield f"<header>{''.join(block_html(notice, '') for notice in page.first)}"
    yield f'<p class="kicker">{inline(page.subtitle)}</p><h1>{inline(page.title)}</h1>'
    yield f'<dl class="facts">{facts}</dl></header>'
    yield f'<nav aria-label="Sections"><ol>{links}</ol></nav>'
    yield '<main id="content">'
    yield _short(page)
    for section, anchor in pairs:
        if not section.folded:
            yield _section(section, anchor)
    if any(section.folded for section in page.sections):
        yield '<h2 class="way">How it came about</h2>'
    for section, anchor in pairs:
        if section.folded:
            yield _section(section, anchor)
    yield "</main>"
    yield f"<footer><p>{inline(page.footer)}</p></footer>"


def section_anchors(sections: Iterable[Section]) -> list[str]:
    """A fragment name for every section, from its title, each once."""
    anchors: list[str] = []
    for section in sections:
        word = re.sub("[^a-z0-9]+", "-", section.title.lower()).strip("-") or "section"
        number = sum(name == word or re.fullmatch(re.escape(word) + r"-\d+", name) is not None for name in anchors)
        anchors.append(f"{word}-{number + 1}" if number else word)
    return anchors


def _short(page: Page) -> str:
    items = in_short(page)
    if not items:
        return ""
    lines = [
        f"<li>{inline(item)}</li>"
        if isinstance(item, str)
        else f'<li class="{item.tone}"><strong>{TONES[item.tone]}:</strong> {inline(item.text)}{_items(item)}</li>'
        for item in items
    ]
    return f'<section class="short" aria-label="In short"><h2>In short</h2><ul>{"".join(lines)}</ul></section>'


def _items(notice: Notice) -> str:
    """What a notice is about, line by line."""
    lines = "".join(f"<li>{inline(item)}</li>" for item in notice.items)
    return f"<ul>{lines}</ul>" if lines else ""


def _section(section: Section, anchor: str) -> str:
    blocks = "\n".join(block_html(block, f"{anchor}-{i}") for i, block in enumerate(section.blocks, 1))
    if section.folded:
        opening = f'<details id="{anchor}"><summary><h3>{inline(section.title)}</h3></summary>'
        return f"{opening}\n{blocks}\n</details>"
    return f'<section id="{anchor}"><h2>{inline(section.title)}</h2>\n{blocks}\n</section>'


def block_html(block: Block, name: str) -> str:
    match block:
        case Text(text):
            return f"<p>{inline(text)}</p>"
        case Notice(text, tone):
            paragraph = f"<p><strong>{TONES[tone]}:</strong> {inline(text)}</p>"
            return f'<div class="notice {tone}" role="note">{paragraph}{_items(block)}</div>'
        case Table():
            return _table(block)
        case Code(text):
            return f'<pre tabindex="0"><code>{escape(clean(text, keep_lines=True))}</code></pre>'
        case Link(text, address):
            return f'<p><a href="{escape(quote(address), quote=True)}">{inline(text)}</a></p>'
        case Figure():
            return f"<figure>{_picture(block, name)}<figcaption>{inline(block.caption)}</figcaption></figure>"
        case Gallery(figures, caption):
            pictures = "".join(_picture(figure, f"{name}-{i}") for i, figure in enumerate(figures, 1))
            return f'<figure class="gallery"><div>{pictures}</div><figcaption>{inline(caption)}</figcaption></figure>'


def _picture(figure: Figure, name: str) -> str:
    """The SVG with ids that no other picture of the page has, and the words that stand for it."""
    body = re.sub(r'(\bid="|href="#|url\(#)', rf"\1{name}-", figure.svg)
    label = escape(clean(figure.alt), quote=True)
    opening = f'<svg role="img" aria-label="{label}" style="width:{figure.width:g}pt"'
    return f'<div class="picture">{body.replace("<svg", opening, 1)}</div>'


def _table(table: Table) -> str:
    table = filled(table)
    to_right = right_columns(table)
    right = [' class="n"' if r else "" for r in to_right]
    heads = "".join(_head(head, r) for head, r in zip(table.heads, to_right, strict=True))
    rows = "\n".join(
        f"<tr>{''.join(_cell(cell_text(value), r) for value, r in zip(row, right, strict=True))}</tr>"
        for row in table.rows
    )
    label = escape(clean(table.caption), quote=True)
    caption = f"<caption>{inline(table.caption)}</caption>" if table.caption else ""
    opening = f'<div class="table" tabindex="0" role="region" aria-label="{label}">'
    return f"{opening}<table>{caption}<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>"


def _head(text: str, right: bool) -> str:
    """A head; one of several words may take several lines."""
    classes = " ".join(name for name, on in (("n", right), ("wide", len(text) > WIDE_HEAD)) if on)
    named = f' class="{classes}"' if classes else ""
    return f'<th scope="col"{named}>{inline(text)}</th>'


def _cell(text: str, side: str) -> str:
    long = ' class="long"' if len(text) > LONG else ""
    return f"<td{side or long}>{inline(text)}</td>"


def inline(text: str) -> str:
    """Text with its code words, safe to stand in a page."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(clean(text)))


def clean(text: str, keep_lines: bool = False) -> str:
    """Without characters that no page may hold: what a stranger wrote into a ledger stays harmless."""
    return "".join(c if c.isprintable() or (keep_lines and c == "\n") else "\N{REPLACEMENT CHARACTER}" for c in text)
