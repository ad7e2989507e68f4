"""`percuss models`: the kinds of models, and the reference of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import JsonOption

if TYPE_CHECKING:
    from collections.abc import Iterable

    from percuss.models.model import Input, Quantity
    from percuss.models.reference import KindReference

app = typer.Typer(add_completion=False)


def _complete_kinds(incomplete: str) -> list[str]:
    from percuss.models.model import all_models

    return [kind for kind in all_models() if kind.startswith(incomplete)]


@app.command(epilog="Example: percuss models oscillators")
def models(
    kind: Annotated[
        str | None, typer.Argument(metavar="[KIND]", help="A kind of model.", autocompletion=_complete_kinds)
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the kinds of models, or print the reference of one.

    The reference lists every setting with unit, default, bounds and meaning, the inputs, quantities and curves, and the
    sign conventions. `percuss study show` does the same for the model of one study.
    """
    from percuss.cli.output import give_json, table_text
    from percuss.models.model import all_models
    from percuss.models.reference import kind_reference

    if kind is None:
        if json:
            give_json([{"kind": name, "summary": entry.summary} for name, entry in all_models().items()])
        else:
            print(table_text(("kind", ""), [(name, entry.summary) for name, entry in all_models().items()]))
        return
    kind_facts = kind_reference(kind)
    if json:
        give_json(kind_facts.to_json())
    else:
        _print_reference(kind_facts)


def _print_reference(kind_facts: KindReference) -> None:
    from percuss.cli.output import hanging, hint, table_text
    from percuss.models.reference import setting_lines

    print(f"{kind_facts.kind}: {kind_facts.summary}\n")
    rows = [
        (line.key, line.unit(), line.default(), "; ".join(filter(None, (line.doc(), line.setting.allowed()))))
        for line in setting_lines(kind_facts.settings)
    ]
    print(table_text(("setting", "unit", "default", "what it is; what it takes"), rows))
    general = kind_facts.general
    if general.inputs:
        print("\n" + inputs_text(general.inputs, {}))
    print_quantities(general.quantities)
    if general.conventions:
        print("\nconventions\n" + "\n".join(hanging("  ", sentence) for sentence in general.conventions))
    if not general.inputs or not general.quantities:
        hint("inputs and quantities that depend on the study: percuss study show STUDY")


def inputs_text(inputs: Iterable[Input], values: dict[str, float | str]) -> str:
    """A table of inputs; `values` are those that a study fixes."""
    from percuss.cli.output import table_text

    rows = []
    for item in inputs:
        unit = " or ".join(filter(None, (item.unit, *item.other_units)))
        rows.append((item.name, unit, values.get(item.name, item.default), f"{item.doc}; {item.allowed()}"))
    return table_text(("input", "unit", "value (SI)", "what it is; what is allowed"), rows)


def print_quantities(quantities: Iterable[Quantity]) -> None:
    """Tables of the numbers and the curves of a run."""
    from percuss.cli.output import table_text

    listed = list(quantities)
    numbers = [(item.name, item.unit, item.says()) for item in listed if not item.curve]
    curves = [(item.name, item.unit, item.axis or "", item.says()) for item in listed if item.curve]
    if numbers:
        print("\n" + table_text(("quantity", "unit", ""), numbers))
    if curves:
        print("\n" + table_text(("curve", "unit", "over", ""), curves))
