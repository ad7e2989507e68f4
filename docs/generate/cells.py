"""Markdown as the generators write it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def text(words: object) -> str:
    """Words as they are: what Markdown or HTML would read as markup outside of backticks is escaped."""
    parts = re.split(r"(`[^`]*`)", "" if words is None else str(words))
    return "".join(part if part.startswith("`") else _escaped(part) for part in parts).replace("\n", " ")


def _escaped(words: str) -> str:
    words = words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([*_\[\]|])", r"\\\1", words)


def code(words: object) -> str:
    """In backticks, if there is anything."""
    return f"`{words}`" if words not in (None, "") else ""


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already; columns that are empty throughout are left out."""
    rows = [[cell.replace("\n", " ") for cell in row] for row in rows]
    used = [index for index in range(len(heads)) if any(row[index] for row in rows)]
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line[index] for index in used) + " |" for line in lines)
