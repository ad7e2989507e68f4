"""Nested data for people: a line for each value, a table for each list of tables, indented."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from percuss.cli.output import plain, table_text, text_width
from percuss.kinds.flat import name_key

# A list of numbers or texts that is longer is cut, and says so; --json has all of it.
MOST_ITEMS = 24
MOST_ROWS = 60
WIDEST = 110


def nested_lines(data: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """The lines of a table of values, which may hold others."""
    simple = {key: value for key, value in data.items() if _is_short(value)}
    width = min(max((len(plain(str(key))) for key in simple), default=0), 28)
    for key, value in data.items():
        name = plain(str(key))
        if key in simple:
            if value is not None and value != "" and value != [] and value != {}:
                yield from _hanging(f"{indent}{name.ljust(width)}  ", value_text(value))
            continue
        yield f"{indent}{name}"
        yield from _inner(value, indent + "  ")


def _inner(value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from nested_lines(value, indent)
    elif all(isinstance(item, Mapping) for item in value):
        yield from _tables(value, indent)
    elif any(isinstance(item, list) for item in value):
        # A matrix, or lists of lists: a line each.
        for row in value[:MOST_ROWS]:
            yield indent + ("  ".join(map(value_text, row)) if isinstance(row, list) else value_text(row))
        yield from _rest(len(value), indent)
    else:
        yield from _hanging(indent, value_text(value))


def _hanging(start: str, text: str) -> Iterator[str]:
    """A text after a start, wrapped between words to the width of the terminal, under itself."""
    width = text_width()
    if not width or len(start) + len(text) <= width or width - len(start) < 20:
        yield start + text
        return
    lines = textwrap.wrap(text, width - len(start), break_long_words=False, break_on_hyphens=False)
    for number, line in enumerate(lines):
        yield (" " * len(start) if number else start) + line


def _tables(items: Sequence[Mapping[str, Any]], indent: str) -> Iterator[str]:
    """Tables of a list: as one where they are flat and narrow enough, else one after the other."""
    heads = list(dict.fromkeys(key for item in items for key in item))
    heads = [head for head in heads if any(item.get(head) not in (None, "", [], {}) for item in items)]
    if all(_is_short(value) for item in items for value in item.values()):
        rows = [[_cell(item.get(head)) for head in heads] for item in items[:MOST_ROWS]]
        lines = table_text([plain(head) for head in heads], rows, width=0).split("\n")
        if max(map(len, lines)) + len(indent) <= (text_width() or WIDEST):
            yield from (indent + line for line in lines)
            yield from _rest(len(items), indent)
            return
    name = name_key(list(items))
    for place, item in enumerate(items[:MOST_ROWS]):
        yield f"{indent}{value_text(item[name]) if name else f'- {place + 1}'}"
        yield from nested_lines({key: value for key, value in item.items() if key != name}, indent + "  ")
    yield from _rest(len(items), indent)


def _rest(count: int, indent: str) -> Iterator[str]:
    if count > MOST_ROWS:
        yield f"{indent}and {count - MOST_ROWS} more; --json has all"


def _cell(value: Any) -> Any:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else value_text(value)


def _is_short(value: Any) -> bool:
    """Whether a value fits on a line."""
    if isinstance(value, Mapping):
        return not value
    if isinstance(value, list):
        return not any(isinstance(item, list | Mapping) for item in value)
    return True


def value_text(value: Any) -> str:
    """A value in words: no quotes, no brackets, lists with commas."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{plain(str(key))} {value_text(item)}" for key, item in value.items()) or "-"
    if isinstance(value, list | tuple):
        texts = [value_text(item) for item in value[:MOST_ITEMS]]
        more = len(value) - MOST_ITEMS
        return ", ".join(texts) + (f", and {more} more" if more > 0 else "")
    return plain(str(value))
