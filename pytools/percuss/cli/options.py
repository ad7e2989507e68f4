"""Options and arguments that many commands share, what they turn into, and the call that a command is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from percuss.errors import InputError
from percuss.ledger.event import OpenCall
from percuss.trust import GATES

if TYPE_CHECKING:
    from percuss.ledger.event import Event
    from percuss.ledger.ledger import Ledger
    from percuss.session import Session


def complete_events(incomplete: str) -> list[str]:
    """Ids (and @last) for shell completion. Never fails: completion has nowhere to complain."""
    from percuss.errors import PercussError

    try:
        ids = open_ledger(None).frame(["id"])["id"].to_list()
    except (PercussError, OSError):
        return []
    return [name for name in ["@last", *reversed(ids)] if name.startswith(incomplete)][:200]


def complete_studies(incomplete: str) -> list[str]:
    """Names of studies for shell completion."""
    from percuss.errors import PercussError
    from percuss.study.load import find_studies

    try:
        return [name for name in find_studies(studies_folder()) if name.startswith(incomplete)]
    except (PercussError, OSError):
        return []


LedgerOption = Annotated[
    str | None,
    typer.Option("--ledger", help="Folder of the ledger.", show_default="setting `ledger`", metavar="FOLDER"),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print a JSON document on stdout.")]
AllowCommandOption = Annotated[
    bool, typer.Option("--allow-command", help="Let a study of the kind `command` run its program.")
]
AcceptOption = Annotated[
    list[str] | None,
    typer.Option(
        "--accept",
        metavar="GATE",
        help="Accept a result that fails this gate, such as `fit`; it stays marked. docs/trust.md explains the gates.",
        autocompletion=lambda: list(GATES),
    ),
]
EventArgument = Annotated[
    str,
    typer.Argument(
        metavar="EVENT",
        help="Id, unique prefix, @last, @last:KIND, or - to read it from stdin.",
        autocompletion=complete_events,
    ),
]
EventsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="EVENT...",
        help="Ids, unique prefixes, @last, @last:KIND, or - to read one from stdin.",
        autocompletion=complete_events,
    ),
]
StudyArgument = Annotated[
    str,
    typer.Argument(metavar="STUDY", help="Name, folder or file of a study.", autocompletion=complete_studies),
]

SampleOption = Annotated[int | None, typer.Option(min=0, help="Which run of the event.", show_default="the first")]
IntervalOption = Annotated[
    str | None,
    typer.Option(help="Time between frames.", show_default="240 frames in all", metavar="TIME"),
]


def open_ledger(flag: str | None, *, create: bool = False) -> Ledger:
    """The ledger of this call, ready for reading and appending."""
    from percuss.config import WHO, find_settings
    from percuss.ledger.ledger import Ledger
    from percuss.maker import this_maker

    settings = find_settings({"ledger": flag})
    maker = this_maker(sys.argv[1:], this_call(), *(settings[key].value for key in WHO))
    return Ledger.open(Path(settings["ledger"].value), maker, create=create)


def open_session(
    flag: str | None,
    *,
    create: bool = False,
    accept: list[str] | None = None,
    allow_command: bool = False,
    jobs: int | None = None,
) -> Session:
    """The ledger of this call with all that belongs to the call, for the operations of `percuss.work`.

    With `create` a ledger that is not there is begun, but only when something is to be put into it: a call that is
    refused leaves no folder behind.
    """
    from percuss.cli.output import Terminal
    from percuss.config import find_settings
    from percuss.session import Session

    gates = accepted_gates(accept)
    settings = find_settings({"ledger": flag, "jobs": jobs})
    ledger = (lambda: open_ledger(flag, create=True)) if create else open_ledger(flag)
    return Session(ledger, settings=settings, allow_command=allow_command, accept=gates, voice=Terminal())


def studies_folder() -> Path:
    """Where studies are found by name."""
    from percuss.config import find_settings

    return Path(find_settings()["studies"].value)


def study_path(text: str) -> Path:
    """A study given by path or by name."""
    from percuss.study.load import study_path

    return study_path(text, studies_folder())


def reference(text: str) -> str:
    """An event reference; `-` reads it from stdin, as an id or as the document that --json gives."""
    if text != "-":
        return text
    text_read = sys.stdin.read(1_000_000).strip()
    if text_read.startswith("{"):
        import json

        try:
            text_read = str(json.loads(text_read)["id"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise InputError("stdin: a JSON document without an `id`") from None
    if not text_read:
        raise InputError("stdin: is empty, so the command before this one gave no id")

    id = text_read.split()[-1]
    this_call().note(text, id)
    return id


def open_at(flag: str | None, text: str) -> tuple[Ledger, Event]:
    """The ledger and the event a command was given.

    Stdin is read first: in a chain, the command before this one may be about to start the ledger.
    """
    event_id = reference(text)
    ledger = open_ledger(flag)
    return ledger, ledger.event(event_id)


def accepted_gates(names: list[str] | None) -> frozenset[str]:
    """The gates that `--accept` names."""
    from percuss.spelling import did_you_mean

    for name in names or []:
        if name not in GATES:
            raise InputError(f"--accept {name}: is no gate: {did_you_mean(name, GATES)}")
    return frozenset(names or [])


def assignments(texts: list[str] | None, option: str) -> dict[str, str]:
    """NAME=VALUE pairs of an option that can be given several times."""
    values: dict[str, str] = {}
    for text in texts or []:
        name, sign, value = text.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise InputError(f"{option} {text}: must be NAME=VALUE")
        if name.strip() in values:
            raise InputError(f"{option} {name.strip()}: is given twice")
        values[name.strip()] = value.strip()
    return values


# Where the ledger is, how results are told and how many runs there are at a time change no result.
LEFT_OUT = ("ledger", "json", "jobs", "help")
# Arguments that are words, never references to events.
WORDS = ("text", "--reason")
_current: OpenCall | None = None


def begin_call(context: Any) -> None:
    """A command begins: its name and arguments are known, of events only by the references that were given."""
    global _current
    _current = OpenCall("command", _operation(context), [*_arguments(context)], WORDS)


def this_call() -> OpenCall:
    """The call of this process: the same one however often the ledger is opened."""
    return _current or OpenCall("command", "", [])


def _operation(context: Any) -> str:
    """The words that name the command, as `export csv`."""
    names: list[str] = []
    while context.parent is not None:
        names.insert(0, context.info_name)
        context = context.parent
    return " ".join(names)


def _arguments(context: Any) -> Iterator[tuple[str, object]]:
    """Every argument and option with its value, given or default; one that was switched off by its other name."""
    for parameter in context.command.params:
        if parameter.name in LEFT_OUT or not parameter.expose_value:
            continue
        value = context.params.get(parameter.name)
        if parameter.param_type_name == "argument":
            yield parameter.name.strip("_"), value
        elif value is False and parameter.secondary_opts:
            yield parameter.secondary_opts[0], True
        else:
            yield max(parameter.opts, key=len), value
