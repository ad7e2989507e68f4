"""The commands of percuss as data, from their own help; pages for the site are made here, man pages in `man.py`."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import cells as md
import typer

from percuss.cli.app import COMMANDS, Entry, prepare


@dataclass(frozen=True)
class Item:
    """An argument or an option: how it is written, its default, what it does."""

    spelling: str
    default: str
    meaning: str


@dataclass(frozen=True)
class Command:
    """One command or subcommand."""

    name: str
    usage: str
    description: str
    arguments: tuple[Item, ...]
    options: tuple[Item, ...]
    example: str
    parts: tuple[Command, ...] = ()

    @property
    def paragraphs(self) -> list[str]:
        """Its description."""
        return [" ".join(part.split()) for part in self.description.split("\n\n")]


def all_commands() -> Iterator[tuple[str, Entry, Command]]:
    """Every command in the order of the table."""
    for name, entry in COMMANDS.items():
        module = importlib.import_module(f"percuss.cli.{entry.module}")
        command = typer.main.get_command(module.app)
        prepare(command)
        yield name, entry, _command(command, f"percuss {name}", entry.summary)


def _command(command: Any, name: str, summary: str = "") -> Command:
    context = command.context_class(command, info_name=name)
    arguments, options = [], []
    for parameter in command.get_params(context):
        if getattr(parameter, "hidden", False):
            continue
        record = parameter.get_help_record(context)
        if parameter.param_type_name == "argument":
            name_shown = record[0].split()[0] if record else parameter.human_readable_name
            arguments.append(Item(name_shown, *_default(record[1] if record else "")))
        elif record:
            options.append(Item(record[0], *_default(record[1])))
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    inner = getattr(command, "commands", {})
    return Command(
        name,
        usage,
        inspect.cleandoc(command.help or summary),
        tuple(arguments),
        tuple(options),
        (command.epilog or "").removeprefix("Example: "),
        tuple(_command(part, f"{name} {key}") for key, part in inner.items()),
    )


def _default(help_text: str) -> tuple[str, str]:
    """The default in brackets at the end of a help text, and the text without it."""
    words, mark, rest = (help_text or "").rpartition("  [")
    if not mark:
        return "", help_text or ""
    facts = [fact.strip() for fact in rest.rstrip("]").split(";")]
    defaults = [fact.removeprefix("default:").strip() for fact in facts if fact.startswith("default:")]
    others = [fact for fact in facts if not fact.startswith("default:")]
    return "".join(defaults).strip("()"), words.strip() + (f" ({', '.join(others)})" if others else "")


def pages() -> dict[str, str]:
    """Pages by their path, the list of commands by heading first."""
    head = "# Commands\n\nIn the order of work, as `percuss --help` lists them."
    headings: dict[str, list[tuple[str, str]]] = {}
    made = {}
    for name, entry, command in all_commands():
        headings.setdefault(entry.heading, []).append((f"[percuss {name}]({name}.md)", md.text(entry.summary)))
        made[f"reference/commands/{name}.md"] = "\n\n".join(_sections(command, "#")) + "\n"
    lists = [f"## {heading}\n\n" + md.table(("command", "what it does"), rows) for heading, rows in headings.items()]
    return {"reference/commands/index.md": "\n\n".join([head, *lists]) + "\n"} | made


def _sections(command: Command, level: str) -> Iterator[str]:
    yield f"{level} {command.name}"
    yield from map(md.text, command.paragraphs)
    if not command.parts:
        yield f"```text\n{command.usage}\n```"
    if command.example:
        yield f"```sh no-run\n{command.example}\n```"
    if command.arguments:
        yield md.table(("argument", "default", "meaning"), map(_row, command.arguments))
    options = [item for item in command.options if not item.spelling.endswith("--help")]
    if options:
        yield md.table(("option", "default", "meaning"), map(_row, options))
    for part in command.parts:
        yield from _sections(part, "##")


def _row(item: Item) -> tuple[str, str, str]:
    return md.code(item.spelling), md.code(item.default.replace("`", "")), md.text(item.meaning)
