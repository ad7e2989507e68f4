"""The reference of a model kind as Markdown: `python -m percuss.models.reference_page oscillators`."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from percuss.models.reference import kind_reference, setting_lines

# What stands above the generated part of a page.
MARK = "<!-- from here on: python -m percuss.models.reference_page {} -->"


def reference_page(kind: str) -> str:
    """Tables of settings, inputs, quantities and curves, and the sign conventions."""
    facts = kind_reference(kind)
    general = facts.general
    settings = (
        (f"`{line.key}`", line.unit(), line.default(), line.doc(), line.setting.allowed())
        for line in setting_lines(facts.settings)
    )
    inputs = (
        (f"`{i.name}`", " or ".join(filter(None, (i.unit, *i.other_units))), i.default, i.doc, i.allowed())
        for i in general.inputs
    )
    numbers = ((f"`{q.name}`", q.unit, q.says()) for q in general.quantities if not q.curve)
    curves = ((f"`{q.name}`", q.unit, f"`{q.axis}`" if q.axis else "", q.says()) for q in general.quantities if q.curve)
    parts = [
        MARK.format(kind),
        "## Sign conventions\n\n" + "\n".join(f"- {sentence}" for sentence in general.conventions),
        "## Settings\n\n" + _table(("setting", "unit", "default", "", "takes"), settings),
        "## Inputs\n\n" + _table(("input", "unit", "default", "", "allowed"), inputs),
        "## Quantities\n\n" + _table(("quantity", "unit", ""), numbers),
        "## Curves\n\n" + _table(("curve", "unit", "over", ""), curves),
    ]
    return "\n\n".join(parts) + "\n"


def _table(heads: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join("| " + " | ".join("" if cell is None else str(cell) for cell in line) + " |" for line in lines)


if __name__ == "__main__":
    print(reference_page(sys.argv[1]), end="")
