"""The Python API from its docstrings: what each public module exports, with signatures."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

import cells as md

# Public modules, and what each is for.
MODULES = {
    "percuss": "Ledgers, studies and results",
    "percuss.scene": "Scenes of rigid bodies",
    "percuss.contact": "Contact problems of one step",
    "percuss.testing": "Contracts for parts of your own",
    "percuss.errors": "Errors",
}


def pages() -> dict[str, str]:
    """Pages by their path."""
    rows = [(f"[{name}]({_file(name)})", summary) for name, summary in MODULES.items()]
    head = "# Python API\n\nWhat may be relied on. [python.md](../../python.md) shows how it is used.\n\n"
    made = {"reference/python/index.md": head + md.table(("module", "what it is for"), rows) + "\n"}
    return made | {f"reference/python/{_file(name)}": "\n\n".join(_module(name)) + "\n" for name in MODULES}


def _file(name: str) -> str:
    return f"{name.replace('.', '-')}.md"


def _module(name: str) -> Iterator[str]:
    module = importlib.import_module(name)
    yield f"# {name}"
    yield docstring(module)
    names = sorted(_exports(module), key=str.lower)
    public = [getattr(module, key) for key in names]
    for key, part in zip(names, public, strict=True):
        yield from _member(key, part, public)


def _exports(module: Any) -> list[str]:
    names = getattr(module, "__all__", None) or [
        key for key, part in vars(module).items() if getattr(part, "__module__", None) == module.__name__
    ]
    return [key for key in names if not key.startswith("_")]


def _member(name: str, part: Any, public: list[Any]) -> Iterator[str]:
    if not callable(part):
        return
    yield f"## {name} {{: #{name} }}"
    # Results are made by a ledger, never by their class; faults and warnings are raised, not made.
    raised = inspect.isclass(part) and issubclass(part, BaseException)
    if not raised and "session" not in inspect.signature(part).parameters:
        yield f"```python no-run\n{_signature(name, part)}\n```"
    yield docstring(part)
    if not inspect.isclass(part):
        return
    if part.__base__ in public:
        yield f"Has all that [{part.__base__.__name__}](#{part.__base__.__name__}) has, and:"
    for key, inner in inspect.getmembers_static(part):
        if (key.startswith("_") and key not in ("__getitem__", "__call__")) or not _own(part, key, public):
            continue
        unwrapped = inner.__func__ if isinstance(inner, (staticmethod, classmethod)) else inner
        if isinstance(inner, property):
            yield f"### {name}.{key}\n\n{docstring(inner)}"
        elif inspect.isfunction(unwrapped):
            signature = _signature(key, unwrapped)
            yield f"### {name}.{key.strip('_')}\n\n```python no-run\n{signature}\n```\n\n{docstring(unwrapped)}"


def _own(part: type, key: str, public: list[Any]) -> bool:
    """Whether it is to be told here: not what an exception inherits, nor what is told of a public base."""
    bases = [base for base in part.__mro__ if base.__module__.startswith("percuss")]
    return any(key in vars(base) for base in bases) and not any(key in vars(b) for b in bases[1:] if b in public)


def _signature(name: str, part: Any) -> str:
    try:
        signature = inspect.signature(part)
    except (TypeError, ValueError):
        return name
    kept = [one for key, one in signature.parameters.items() if key not in ("self", "cls")]
    line = f"{name}{signature.replace(parameters=kept)}".replace("'", "")
    if len(line) <= 100:
        return line
    inner = ",\n    ".join(str(one).replace("'", "") for one in _with_stars(kept))
    result = "" if signature.return_annotation is signature.empty else f" -> {signature.return_annotation}"
    return f"{name}(\n    {inner},\n){result}".replace("'", "")


def _with_stars(parameters: list[inspect.Parameter]) -> Iterator[inspect.Parameter | str]:
    """Parameters with the star that keyword-only ones stand behind."""
    before: Any = None
    for one in parameters:
        if one.kind is one.KEYWORD_ONLY and before not in (one.KEYWORD_ONLY, one.VAR_POSITIONAL):
            yield "*"
        before = one.kind
        yield one


def docstring(part: Any) -> str:
    """A docstring as Markdown: examples and indented blocks become code, all else is text."""
    blocks = []
    for block in re.split(r"\n\s*\n", inspect.getdoc(part) or ""):
        lines = block.split("\n")
        if lines[0].lstrip().startswith(">>>") or all(line.startswith("    ") for line in lines):
            blocks.append("```python no-run\n" + inspect.cleandoc(block) + "\n```")
        elif all(re.match(r"\s*- |\s{2}", line) for line in lines):
            blocks.append("\n".join(md.text(line) for line in lines))
        else:
            blocks.append(md.text(block))
    return "\n\n".join(blocks).replace("\n```\n\n```python no-run\n", "\n\n")
