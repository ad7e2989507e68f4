"""`percuss study`: begin, copy, list, show and check study files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import JsonOption, StudyArgument, studies_folder, study_path

if TYPE_CHECKING:
    from percuss.study.output import Output
    from percuss.study.study import Study

app = typer.Typer(no_args_is_help=True, add_completion=False)


def _complete_templates(incomplete: str) -> list[str]:
    from percuss.study.load import find_studies
    from percuss.study.shipped import TEMPLATES

    return [kind for kind in find_studies(TEMPLATES) if kind.startswith(incomplete)]


def _complete_examples(incomplete: str) -> list[str]:
    from percuss.study.load import EXAMPLES, find_studies

    return [name for name in find_studies(EXAMPLES) if name.startswith(incomplete)]


ToOption = Annotated[
    Path | None, typer.Option("--to", help="Folder to put it into.", show_default="setting `studies`", metavar="FOLDER")
]


@app.callback()
def study() -> None:
    """Begin, copy, list, show and check study files."""


@app.command("list", epilog="Example: percuss study list")
def list_studies(
    folder: Annotated[Path | None, typer.Argument(help="Where to look.", show_default="setting `studies`")] = None,
    examples: Annotated[bool, typer.Option("--examples", help="List the studies that come with percuss.")] = False,
    json: JsonOption = False,
) -> None:
    """List the studies of a folder, or those that come with percuss."""
    from percuss.cli.output import give_json, hint, table_text
    from percuss.study.faults import StudyError
    from percuss.study.load import EXAMPLES, find_studies, load_study

    root = EXAMPLES if examples else folder or studies_folder()
    rows = []
    for name in find_studies(root):
        try:
            loaded = load_study(root / name)
            rows.append((name, loaded.model_kind, len(loaded.parameters), len(loaded.cases), loaded.title))
        except StudyError as fault:
            rows.append((name, "", 0, 0, f"faulty: {fault}"))
    heads = ("study", "model", "parameters", "cases", "title")
    if json:
        give_json([dict(zip(heads, row, strict=True)) for row in rows])
    elif rows:
        print(table_text(heads, rows))
    else:
        hint(f"no studies in {root}: percuss study new begins one, percuss study copy brings an example")


@app.command(
    short_help="Write a commented study to make your own.",
    epilog="Example: percuss study new my-frames --kind oscillators",
)
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the study and of its folder.")],
    kind: Annotated[
        str, typer.Option(help="The kind of its model; percuss models lists them.", autocompletion=_complete_templates)
    ],
    to: ToOption = None,
    json: JsonOption = False,
) -> None:
    """Write a commented study to start from. It passes `study check` and runs as it is."""
    from percuss.cli.output import hint
    from percuss.study.shipped import new_study

    path = new_study(name, kind, to or studies_folder())
    _give_paths([path], json)
    hint(f"percuss study check {path}, then percuss design {path} --n 64 | percuss run -")


@app.command(short_help="Copy a study that comes with percuss.", epilog="Example: percuss study copy rockfall-wall")
def copy(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME...", help="Names of the examples.", autocompletion=_complete_examples)
    ],
    to: ToOption = None,
    json: JsonOption = False,
) -> None:
    """Copy studies that come with percuss; `percuss study list --examples` lists them."""
    from percuss.study.shipped import copy_example

    _give_paths([copy_example(name, to or studies_folder()) for name in names], json)


def _give_paths(paths: list[Path], json: bool) -> None:
    from percuss.cli.output import give_json

    if json:
        give_json([str(path) for path in paths])
    else:
        print("\n".join(map(str, paths)))


@app.command(
    short_help="Show parameters, cases and outputs of a study.",
    epilog="Example: percuss study show studies/ishigami",
)
def show(study: StudyArgument, json: JsonOption = False) -> None:
    """Show how a study is understood: parameters, cases, outputs, and all inputs and quantities of its model."""
    from percuss.cli.models import inputs_text, print_quantities
    from percuss.cli.output import give_json, hanging, plain, table_text, tell_no_limit
    from percuss.study.load import load_study

    loaded = load_study(study_path(study))
    if json:
        give_json({"digest": loaded.digest, **loaded.resolved(), **_model_json(loaded)})
        return
    facts = {loaded.name: loaded.title, "source": loaded.source, "model": loaded.model_kind, "digest": loaded.digest}
    for name, text in (facts | ({"notes": loaded.notes} if loaded.notes else {})).items():
        first, *more = map(plain, text.split("\n"))
        print("\n".join([hanging(f"{plain(name)}: ", first), *(hanging("", line) for line in more)]))
    rows = [
        (p.name, p.unit, _prior_words(p.prior.to_json()), float(p.prior.mean()), float(p.prior.std()), p.doc)
        for p in loaded.parameters.values()
    ]
    print("\n" + table_text(("parameter", "unit", "prior (SI)", "mean (SI)", "std (SI)", ""), rows))
    cases = [(name, ", ".join(f"{k} = {v}" for k, v in values.items())) for name, values in loaded.cases.items()]
    print("\n" + table_text(("case", "values (SI)"), cases))
    if records := loaded.records():
        print("\n" + table_text(records[0].HEADS, [record.row() for record in records]))
        for record in records:
            if mismatch := record.mismatch():
                print(plain(mismatch))
    outputs = [(o.name, o.unit, o.quantity, _reduced(o), o.doc) for o in loaded.outputs.values()]
    print("\n" + table_text(("output", "unit", "quantity", "reduced by", ""), outputs))
    tell_no_limit(loaded)
    print("\n" + table_text(("setting", "unit", "value (SI)", ""), _setting_rows(loaded)))
    print("\n" + inputs_text(loaded.model().inputs.values(), loaded.fixed))
    print_quantities(loaded.model().quantities.values())


def _setting_rows(study: Study) -> list[tuple[object, ...]]:
    """Every setting of the model; tables and lists, as written, are in the study file."""
    from percuss.models.model import model_module

    rows: list[tuple[object, ...]] = []
    for name, setting in model_module(study.model_kind).settings(study.settings).items():
        value = study.settings.get(name)
        if isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
            value = f"{len(value)} in the study file"
        elif isinstance(value, dict):
            value = ", ".join(value) or None
        rows.append((name, setting.unit if setting.numeric else "", value, setting.doc))
    return rows


def _model_json(study: Study) -> dict[str, object]:
    """What the model takes and gives."""
    from percuss.models.model import MODELS, Reference, model_module
    from percuss.models.reference import KindReference

    model, settings = study.model(), model_module(study.model_kind).settings(study.settings)
    general = Reference(tuple(model.inputs.values()), tuple(model.quantities.values()))
    facts = KindReference(study.model_kind, MODELS[study.model_kind].summary, settings, general).to_json()
    return {key: facts[key] for key in ("settings", "inputs", "quantities", "curves")}


def _reduced(output: Output) -> str:
    means = "" if output.window is None else f" of means over {output.window:g}"
    return f"{output.reduce or ''}{means}"


def _prior_words(data: dict[str, object]) -> str:
    return f"{data['kind']} " + " ".join(f"{key}={_shown(value)}" for key, value in data.items() if key != "kind")


def _shown(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_shown, value)) + "]"
    return f"{value:.6g}" if isinstance(value, float | int) else str(value)


@app.command(
    short_help="Check a study file: every fault, with its line.",
    epilog="Example: percuss study check studies/ishigami",
)
def check(study: StudyArgument, json: JsonOption = False) -> None:
    """Check a study file: print everything that is wrong with it, with file and line."""
    from percuss.cli.output import give_json, say, tell_no_limit
    from percuss.study.load import check_study, load_study

    path = study_path(study)
    faults = check_study(path)
    if json:
        give_json([{"file": f.file, "line": f.line, "key": f.key, "message": f.message} for f in faults])
    for fault in faults:
        say(str(fault))
    if faults:
        say(f"{len(faults)} fault{'s' if len(faults) > 1 else ''} in {path}")
        raise typer.Exit(2)
    say(f"{path}: no faults")
    tell_no_limit(load_study(path))
