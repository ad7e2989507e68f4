"""A page per kind of model, from the same tables that check studies and that `percuss models KIND` prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import cells as md

from percuss.models.model import MODELS, Input, Quantity
from percuss.models.reference import KindReference, SettingLine, kind_reference
from percuss.settings import Setting

# Where the guide to a kind is.
GUIDES = {
    "benchmark": "study-format.md",
    "command": "programs.md",
    "function": "python.md",
    "grains": "grains.md",
    "oscillators": "oscillators.md",
    "rockfall-wall": "rockfall-wall.md",
    "scene": "scenes.md",
}
SETTING_HEADS = ("setting", "unit", "default", "meaning", "takes")


def pages() -> dict[str, str]:
    """Pages by their path, the list of kinds first."""
    rows = [(f"[{kind}]({kind}.md)", md.text(entry.summary)) for kind, entry in MODELS.items()]
    head = (
        "# Model kinds\n\nThe `kind` of a study's `[model]`. `percuss models KIND` prints the same on the terminal,"
        " `percuss study new NAME --kind KIND` writes a study to start from, and `percuss study show STUDY` says what"
        " the model of one study takes and gives.\n\n"
    )
    made = {"reference/models/index.md": head + md.table(("kind", "what it is"), rows) + "\n"}
    return made | {f"reference/models/{kind}.md": kind_page(kind_reference(kind)) for kind in MODELS}


def kind_page(facts: KindReference) -> str:
    """Conventions, settings, inputs, quantities and curves of one kind."""
    general = facts.general
    parts = [f"# {facts.kind}", md.text(facts.summary[:1].upper() + facts.summary[1:]) + "."]
    if facts.kind in GUIDES:
        parts.append(f"How to use it, with examples: [{GUIDES[facts.kind]}](../../{GUIDES[facts.kind]}).")
    if general.conventions:
        sentences = "\n".join(f"- {md.text(sentence)}" for sentence in general.conventions)
        parts += ["## Sign and naming conventions", sentences]
    parts += ["## Settings", "Keys of `[model]` beside `kind`.", *_settings("", facts.settings)]
    if general.inputs:
        parts += ["## Inputs", "Numbers that a study fixes, varies by case, or gives a prior.", _inputs(general.inputs)]
    numbers = [item for item in general.quantities if not item.curve]
    curves = [item for item in general.quantities if item.curve]
    if numbers:
        parts += ["## Quantities", "One number per run.", _quantities(numbers)]
    if curves:
        parts += ["## Curves", "Reduced to numbers by `[outputs]`, kept whole with `--curves`.", _curves(curves)]
    if not general.inputs or not numbers:
        parts.append("Inputs and quantities that depend on the study: `percuss study show STUDY`.")
    return "\n\n".join(parts) + "\n"


def _settings(where: str, schema: Mapping[str, Setting]) -> Iterable[str]:
    """The table of a level, then a section for each table or list of tables in it, and for each choice."""
    rows = [_row(where, setting) for setting in schema.values()]
    if rows:
        yield md.table(SETTING_HEADS, rows)
    for name, setting in schema.items():
        if setting.of:
            inner = f"{where}{name}[]." if setting.form == "list" else f"{where}{name}."
            yield f"### `{inner.rstrip('.')}`"
            yield md.text(setting.doc[:1].upper() + setting.doc[1:]) + "."
            yield from _settings(inner, setting.of)
        yield from _choices(where, name, setting)


def _choices(where: str, name: str, setting: Setting) -> Iterable[str]:
    rows = [
        (md.code(choice), *_row(where, inner)) for choice, more in setting.variants.items() for inner in more.values()
    ]
    if rows:
        yield f"What each `{where}{name}` takes besides:"
        yield md.table((name, *SETTING_HEADS), rows)
    for more in setting.variants.values():
        for inner_name, inner in more.items():
            if inner.of:
                inside = f"{where}{inner_name}[]." if inner.form == "list" else f"{where}{inner_name}."
                yield f"### `{inside.rstrip('.')}`"
                yield from _settings(inside, inner.of)


def _row(where: str, setting: Setting) -> tuple[str, ...]:
    line = SettingLine(f"{where}{setting.name}", setting)
    default = line.default()
    shown = default if default == "required" else md.code(default)
    return md.code(line.key), md.text(line.unit()), shown, md.text(line.doc()), md.text(setting.allowed())


def _inputs(inputs: Iterable[Input]) -> str:
    rows = (
        (
            md.code(item.name),
            md.text(" or ".join(filter(None, (item.unit, *item.other_units)))),
            md.code(f"{item.default:g}" if isinstance(item.default, float) else item.default),
            md.text(item.doc),
            md.text(item.allowed()),
        )
        for item in inputs
    )
    return md.table(("input", "unit", "default", "meaning", "allowed"), rows)


def _quantities(quantities: Iterable[Quantity]) -> str:
    rows = ((md.code(item.name), md.text(item.unit), md.text(item.says())) for item in quantities)
    return md.table(("quantity", "unit", "meaning"), rows)


def _curves(quantities: Iterable[Quantity]) -> str:
    rows = ((md.code(item.name), md.text(item.unit), md.code(item.axis), md.text(item.says())) for item in quantities)
    return md.table(("curve", "unit", "over", "meaning"), rows)
