"""The program `percuss`: the table of commands, loaded one by one when called, and the way out.

Help and completion of the program itself come from the table alone, so that `percuss --help` costs little more
than an empty Typer program.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import typer
import typer.core

BEGIN = "Begin a study"
SIMULATE = "Simulate"
INFER = "Learn from runs and measurements"
RISK = "Judge the risk"
LOOK = "Look at it"
LEDGER = "Ask the ledger"
KEEP = "Keep the ledger"
PROJECT = "Project"
PLUGINS = "Plugins"


@dataclass(frozen=True)
class Entry:
    """One command: where it is, what it does in one line, under which heading."""

    module: str
    summary: str
    heading: str


COMMANDS: dict[str, Entry] = {
    "study": Entry("study", "Begin, copy, list, show and check study files.", BEGIN),
    "models": Entry("models", "List the kinds of models, or print the reference of one.", BEGIN),
    "simulate": Entry("simulate", "Run a study's model once, with given values.", SIMULATE),
    "design": Entry("design", "Choose the sample points of a study.", SIMULATE),
    "run": Entry("run", "Run every point of a design; run again to do what is missing.", SIMULATE),
    "import": Entry("import_", "Import runs made elsewhere, or a crate of another ledger.", SIMULATE),
    "converge": Entry("converge", "Find out which outputs depend on the numerical step.", SIMULATE),
    "check": Entry("check", "Run a regression study and compare with the expected values.", SIMULATE),
    "fclib": Entry("fclib", "Solve contact problems of the FCLIB collection.", SIMULATE),
    "surrogate": Entry("surrogate", "Fit surrogates of the model to the runs of a design.", INFER),
    "sensitivity": Entry("sensitivity", "Find out which parameters matter.", INFER),
    "region": Entry("region", "Compute confidence regions of time histories.", INFER),
    "observe": Entry("observe", "Assign measured values to the outputs of a study.", INFER),
    "calibrate": Entry("calibrate", "Infer parameters from observations.", INFER),
    "filter": Entry("filter", "Weight an ensemble of runs by observations, step by step.", INFER),
    "predict": Entry("predict", "Predict from prior and posterior; verify with the simulator.", INFER),
    "compare": Entry("compare", "Compare calibrations.", INFER),
    "trust": Entry("trust", "Test a calibration on twin data, whose truth is known.", INFER),
    "advise": Entry("advise", "Predict which of several tests would give most information.", INFER),
    "validate": Entry("validate", "Let parameters drift: may the model be extrapolated?", INFER),
    "reliability": Entry("reliability", "Estimate how likely failure is, or which design meets a target.", RISK),
    "fragility": Entry("fragility", "Estimate how likely damage is at an intensity, and per year.", RISK),
    "plot": Entry("plot", "Draw an event: curves of runs, or the figure for its kind.", LOOK),
    "view": Entry("view", "Write a page that plays a run as a film.", LOOK),
    "report": Entry("report", "Write a page on an event and everything it was made from.", LOOK),
    "site": Entry("site", "Write the whole ledger as a site to browse.", LOOK),
    "export": Entry("export", "Write tables, runs for ParaView, or an event as an RO-Crate.", LOOK),
    "log": Entry("log", "List events.", LEDGER),
    "show": Entry("show", "Show one event in full.", LEDGER),
    "lineage": Entry("lineage", "Show what an event was made from, or what was made from it.", LEDGER),
    "diff": Entry("diff", "Show the differences between two events of a kind.", LEDGER),
    "restore": Entry("restore", "Write a study as it was when an event was made.", LEDGER),
    "replay": Entry("replay", "Rebuild every table from the events alone.", LEDGER),
    "reproduce": Entry("reproduce", "Compute an event and everything it was made from again.", LEDGER),
    "audit": Entry("audit", "Prove that the ledger is intact, or report where it is not.", LEDGER),
    "anchor": Entry("anchor", "Write a hash to keep elsewhere, signed and time-stamped.", LEDGER),
    "note": Entry("note", "Add a note to an event.", KEEP),
    "supersede": Entry("supersede", "Mark an event as no longer to be used.", KEEP),
    "redact": Entry("redact", "Delete the text of a private note, and record the deletion.", KEEP),
    "prune": Entry("prune", "Delete payloads by age and kind, and record the deletion.", KEEP),
    "seal": Entry("seal", "Pack old commits into one file.", KEEP),
    "adopt": Entry("adopt", "Take the stream of a shard into main.", KEEP),
    "ledger": Entry("ledger", "Copy a ledger to another place, or pull what is new in a copy.", KEEP),
    "doctor": Entry("doctor", "Print what an issue report needs, and list leftover files.", PROJECT),
    "config": Entry("config", "Show the settings and where each comes from.", PROJECT),
}


def commands() -> dict[str, Entry]:
    """The table with the commands that plugins add."""
    from percuss.plugins import extend

    extend(COMMANDS, "percuss.commands", lambda p: Entry(p.module, f"Of {p.package} {p.version}.", PLUGINS))
    return COMMANDS


@cache
def _load(name: str, place: str) -> Any:
    """A command, built once however often a process calls it."""
    module = importlib.import_module(place if "." in place else f"percuss.cli.{place}")
    command = typer.main.get_command(module.app)
    command.name = name
    prepare(command)
    return command


class LazyGroup(typer.core.TyperGroup):
    """The top-level group: knows its commands from the table, loads the one that is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of the commands, in the order of the table."""
        return list(commands())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A placeholder that carries name and summary, for completion and for looking whether there is one."""
        entry = COMMANDS.get(cmd_name) or commands().get(cmd_name)
        if entry is None:
            return None
        return typer.core.TyperCommand(name=cmd_name, help=entry.summary)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command itself."""
        if args[0] not in COMMANDS and args[0] not in commands() and not ctx.resilient_parsing:
            from percuss.errors import InputError
            from percuss.spelling import did_you_mean

            raise InputError(f"there is no command {args[0][:40]!r}: {did_you_mean(args[0], COMMANDS)}")
        name, _, rest = super().resolve_command(ctx, args)
        return name, _load(str(name), COMMANDS[str(name)].module), rest

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands of each heading."""
        for heading in dict.fromkeys(entry.heading for entry in commands().values()):
            with formatter.section(heading):
                formatter.write_dl([(name, e.summary) for name, e in COMMANDS.items() if e.heading == heading])

    def invoke(self, ctx: Any) -> Any:
        """Run a command; turn errors into one sentence and the exit code of their kind."""
        from percuss.errors import PercussError

        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # Whoever read our output has seen enough: say nothing, not even at exit when Python flushes.
            _drop_stdout()
            raise typer.Exit(0) from None
        except PercussError as fault:
            from percuss.cli.output import tell_error

            tell_error(fault)
            raise typer.Exit(fault.exit_code) from None
        except (typer.Exit, typer.Abort, KeyboardInterrupt):
            raise
        except Exception as fault:
            # Typer's own usage errors know their exit code and how to print themselves; `main` tells of stdout.
            if hasattr(fault, "exit_code") or isinstance(fault, StdoutError) or os.environ.get("PERCUSS_TRACEBACK"):
                raise
            from percuss.cli.output import tell_fault

            tell_fault(fault)
            raise typer.Exit(3) from None
        return result


class StdoutError(OSError):
    """Stdout could not be written: no other error of the system may be taken for it."""


class Stdout:
    """Stdout, whose errors say that they are its own."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """As a stream does."""
        with _as_stdout_error():
            return int(self._stream.write(text))

    def flush(self) -> None:
        """As a stream does."""
        with _as_stdout_error():
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def _as_stdout_error() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as fault:
        raise StdoutError(fault.errno, fault.strerror) from fault


def _drop_stdout() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def prepare(command: Any) -> None:
    """Help and usage errors as plain text: reads well in a log, and spares half the start-up time. Calls are noted."""
    command.rich_markup_mode = None
    for parameter in command.params:
        _name_value(parameter)
    inner = getattr(command, "commands", {})
    for part in inner.values():
        prepare(part)
    if not inner:
        command.invoke = partial(_noted, command.invoke)


def _name_value(parameter: Any) -> None:
    """Let help name a value by what it is, and not by a type of Python, where this Typer shows types."""
    if parameter.param_type_name == "argument":
        name = parameter.metavar or parameter.name.upper()
        shown = name if parameter.required or name.startswith("[") else f"[{name}]"
        parameter.metavar = name
        parameter.get_usage_pieces = lambda ctx: [shown]
        parameter.display_type_rich = lambda ctx: None
    elif not parameter.metavar and hasattr(parameter, "display_type"):
        of_type, option = parameter.display_type, parameter.name.strip("_").replace("_", "-").upper()
        parameter.display_type = lambda ctx: _value_name(of_type(ctx), option)


def _value_name(of_type: str, option: str) -> str:
    """`N` for a whole number, `X` for any number, the choices, else the name of the option in capitals.

    >>> [_value_name(of_type, "SEED") for of_type in ("<int range>", "<float>", "<tree|json>", "<list[str]>")]
    ['N', 'X', 'tree|json', 'SEED']
    """
    inner = of_type.strip("<>").removeprefix("list[").removesuffix("]")
    if "|" in inner:
        return inner
    return {"int": "N", "float": "X"}.get(inner.split()[0], option)


def _noted(invoke: Callable[[Any], Any], context: Any) -> Any:
    """Run a command, after its name and arguments were noted for the events it may append."""
    from percuss.cli.options import begin_call

    begin_call(context)
    return invoke(context)


app = typer.Typer(
    cls=LazyGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _open_closed() -> None:
    """Put nothing in the place of a stdin, stdout or stderr that is closed, before a file of ours gets its number.

    Names of files need not be Unicode: what cannot be printed of them is escaped.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:
            try:
                os.fstat(number)
            except OSError:
                while os.open(os.devnull, os.O_RDWR) < number:
                    pass
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115, PTH123
        elif name == "stdout" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _print_version(value: bool) -> None:
    if value:
        from percuss.maker import software

        facts = software()
        typer.echo(f"percuss {facts.version}")
        typer.echo(f"commit {facts.commit}\ncore {facts.core}\nlock {facts.lock}")
        raise typer.Exit


@app.callback(epilog="Example: percuss design studies/ishigami --n 300 | percuss run - | percuss export csv -")
def percuss(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print version and build, and exit."
    ),
) -> None:
    """Simulate contact and impact, calibrate against measurements, and record every step."""


def main() -> None:
    """The entry point of the installed program."""
    # One thread in BLAS: with more, sums are taken in another order and give other bits, and the matrices are small.
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    _open_closed()
    sys.stdout = Stdout(sys.stdout)
    try:
        app(prog_name="percuss")
    except StdoutError as fault:
        if os.environ.get("PERCUSS_TRACEBACK"):
            raise
        from percuss.cli.output import say

        _drop_stdout()
        say(f"error: stdout: cannot be written ({fault.strerror}); what was appended before is in the ledger")
        raise SystemExit(3) from None
