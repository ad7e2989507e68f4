"""What a command says: ids and data on stdout, words on stderr, JSON on request."""

from __future__ import annotations

import json
import math
import os
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from percuss.errors import PercussError
from percuss.trust import Trust, Verdict, failures
from percuss.units import dimension, from_si, parse_unit, quantity_unit

if TYPE_CHECKING:
    from percuss.models.model import Value
    from percuss.study.study import Study


def give_json(data: object) -> None:
    """One JSON document on stdout."""
    indent = 2 if sys.stdout.isatty() else None
    text = json.dumps(_finite(data), ensure_ascii=False, indent=indent, default=str, allow_nan=False)
    # JSON escapes the control characters of ASCII only, and a terminal obeys others too.
    print("\n".join(line if line.isprintable() else _escaped(line) for line in text.split("\n")))


def _escaped(text: str) -> str:
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def give_line(data: object) -> None:
    """One JSON document on a line of its own, at once: for results that come one after the other."""
    print(json.dumps(_finite(data), ensure_ascii=False, default=str, allow_nan=False), flush=True)


def _finite(data: object) -> object:
    """JSON knows no NaN: null stands for it."""
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, Mapping):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return data


def give_id(id: str, data: Mapping[str, object], as_json: bool) -> None:
    """The id of what was appended, alone on stdout; with --json, a document that has it among its facts."""
    if as_json:
        give_json({"id": id, **data})
    else:
        print(id)


def say(text: str) -> None:
    """Words for a person, on stderr: what a stranger wrote among them cannot steer the terminal."""
    _print_words("\n".join(map(plain, text.split("\n"))))


def _print_words(text: str) -> None:
    print(text, file=sys.stderr)


def hint(text: str) -> None:
    """What to do next."""
    _print_words(f"{_styled('hint', '36')}: {plain(text)}")


def tell_no_limit(study: Study) -> None:
    """Say which outputs depend on the step of the model, however small it is."""
    for name, why in study.without_limit().items():
        say(f"note: output {plain(name)} has no limit as the step shrinks: {why}")


def tell_error(fault: PercussError) -> None:
    """One sentence, and what to do about it."""
    _print_words(f"{_styled('error', '1;31')}: " + "\n".join(map(plain, str(fault).split("\n"))))
    if fault.hint:
        hint(fault.hint)


def tell_fault(fault: BaseException) -> None:
    """A fault of ours, not of the input."""
    _print_words(f"{_styled('fault', '1;31')}: {type(fault).__name__}: {plain(str(fault))}")
    hint("this is a fault of percuss; PERCUSS_TRACEBACK=1 shows where, percuss doctor what a report needs")


def tell_trust(trust: Iterable[Verdict]) -> None:
    """Say what a result failed: before anything else is said of it."""
    for verdict in failures(trust):
        text = plain(verdict.line())
        _print_words(_styled(text, "1;31") if verdict.stops else text)


def leave_untrusted(trust: Trust) -> None:
    """End a command with exit code 1 if its result failed a gate that was not accepted: after all else is done."""
    stopping = list(dict.fromkeys(v.gate for v in failures(trust) if v.stops))
    if stopping:
        flags = " ".join(f"--accept {gate}" for gate in stopping)
        hint(f"what it failed is explained in docs/trust.md; {flags} takes it as it is, and it stays marked")
        raise SystemExit(1)


def leave_interrupted(stuck: bool) -> NoReturn:
    """End the program after Ctrl-C.

    Threads that are still computing cannot be stopped from here; what they give would not be kept anyway.
    """
    if stuck:
        from percuss.models.command.process import kill_running

        kill_running()
        sys.stderr.flush()
        os._exit(130)
    raise SystemExit(130)


@contextmanager
def unkept_on_interrupt() -> Iterator[None]:
    """End the program at once on Ctrl-C: nothing was appended, and threads that compute cannot be stopped from here."""
    try:
        yield
    except KeyboardInterrupt:
        say("interrupted: nothing was appended")
        sys.stderr.flush()
        os._exit(130)


def _styled(word: str, code: str) -> str:
    return styled(word, code, sys.stderr)


def styled(word: str, code: str, stream: TextIO) -> str:
    """A word in a style, where the stream is a terminal that wants colours."""
    if stream.isatty() and not os.environ.get("NO_COLOR"):
        return f"\x1b[{code}m{word}\x1b[0m"
    return word


def text_width(stream: TextIO | None = None) -> int:
    """Columns that a stream (None: stdout) has; 0 where it is no terminal and does not say, and nothing is wrapped."""
    shown = sys.stdout if stream is None else stream
    if os.environ.get("COLUMNS", "").isdecimal():
        return int(os.environ["COLUMNS"])
    try:
        return os.get_terminal_size(shown.fileno()).columns if shown.isatty() else 0
    except OSError:
        return 0


def say_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table for a person, on stderr, as wide as that is: stdout has the id, and may lead elsewhere."""
    say(table_text(heads, rows, text_width(sys.stderr)))


def table_text(
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    width: int | None = None,
    styles: Sequence[str] = (),
    whole: Sequence[str] = (),
    keys: int = 0,
) -> str:
    """Aligned columns: numbers to the right, no borders, so that it reads well and greps well.

    What is wider than `width` (None: that of the terminal, 0: as wide as it is) is wrapped between words, in the widest
    columns of text, but not in those whose head is in `whole`. Where that does not do and the first `keys` columns say
    what a row is, the others follow in tables of their own. `styles` are codes of colours, one for each row, empty for
    none.
    """
    width = text_width() if width is None else width
    listed = [list(row) for row in rows]
    cells = [[_cell(value) for value in row] for row in listed]
    right = [bool(listed) and all(isinstance(row[i], int | float) for row in listed) for i in range(len(heads))]
    widths = [max([len(head), *(len(row[i]) for row in cells)]) for i, head in enumerate(heads)]
    # No column gets narrower than its longest word.
    floors = [
        w if r or heads[i] in whole else max(len(word) for row in [heads, *cells] for word in (row[i].split() or [""]))
        for i, (w, r) in enumerate(zip(widths, right, strict=True))
    ]
    if keys and width and len(heads) > keys + 1 and _breadth(floors) > width:
        most = max((n for n in range(keys + 1, len(heads)) if _breadth(floors[:n]) <= width), default=keys + 1)
        rest = [*range(keys), *range(most, len(heads))]
        halves = (range(most), rest)
        return "\n\n".join(
            table_text([heads[i] for i in half], [[row[i] for i in half] for row in listed], width, styles, whole, keys)
            for half in halves
        )
    while width and (excess := _breadth(widths) - width) > 0:
        i = max(range(len(widths)), key=lambda i: (widths[i] > floors[i]) * widths[i], default=0)
        if widths[i] <= floors[i]:
            break
        widths[i] = max(floors[i], widths[i] - excess)
    lines = []
    for line, style in zip([list(heads), *cells], ["", *styles, *[""] * (len(cells) - len(styles))], strict=True):
        parts = [_wrapped(c, w) if width else [c] for c, w in zip(line, widths, strict=True)]
        for k in range(max(map(len, parts), default=0)):
            texts = [part[k] if k < len(part) else "" for part in parts]
            padded = [c.rjust(w) if r else c.ljust(w) for c, w, r in zip(texts, widths, right, strict=True)]
            text = "  ".join(padded).rstrip()
            lines.append(styled(text, style, sys.stdout) if style else text)
    return "\n".join(lines)


def _breadth(widths: Sequence[int]) -> int:
    return sum(widths) + 2 * (len(widths) - 1)


def hanging(head: str, text: str, width: int | None = None) -> str:
    """A sentence behind its head, wrapped to the terminal below where it began.

    >>> print(hanging("note: ", "one two three four", width=15))
    note: one two
          three
          four
    """
    width = text_width() if width is None else width
    lines = _wrapped(text, width - len(head)) if width > 2 * len(head) else [text]
    return ("\n" + " " * len(head)).join([head + lines[0], *lines[1:]])


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of whole words; one that is longer stays whole."""
    if len(text) <= width:
        return [text]
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return plain(str(value))


def plain(text: str) -> str:
    """Text in one line: what a stranger wrote into a ledger can neither break the line nor steer the terminal.

    >>> plain("a\\x1b[2J")
    'a\\\\x1b[2J'
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


# Of more measured outputs than this the first are echoed, the others counted.
MOST_TOLD = 12
# How often a log that is no terminal gets a line.
LINE_EVERY_S = 30.0


class Terminal:
    """How operations speak on a terminal, or in a log: words on stderr, and a bar or lines."""

    def say(self, text: str) -> None:
        """Words for a person."""
        say(text)

    def progress(self, label: str, total: int | None) -> AbstractContextManager[Callable[[int, str], None]]:
        """How far a long job has come."""
        return progress(label, total)


@contextmanager
def progress(label: str, total: int | None) -> Iterator[Callable[[int, str], None]]:
    """A bar on stderr if that is a terminal, a line every half minute otherwise. Yields `advance(count, note)`.

    Without a total there is only a count.
    """
    if not sys.stderr.isatty():
        from percuss.session import Lines

        with Lines(say, LINE_EVERY_S).progress(label, total) as advance:
            yield advance
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns: list[Any] = [
        TextColumn(label),
        *((BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()) if total else (TextColumn("{task.completed}"),)),
        TextColumn("{task.fields[note]}"),
    ]
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(label, total=total, note="")
        yield lambda count, note: bar.update(task, advance=count, note=note)


def unit_of(study: Study, name: str) -> str | None:
    """The unit in which a study writes an input; None for a choice."""
    return study.parameters[name].unit if name in study.parameters else study.model().inputs[name].unit


def tell_values(texts: Mapping[str, str], understood: Mapping[str, Value], units: Mapping[str, str | None]) -> None:
    """Echo values by name: `given` as they were written, `understood` in SI, `units` as the study writes them.

    A bare number where the study does not write SI is told in a note: the same number means another thing elsewhere.
    """
    if texts:
        say(plain(", ".join(f"{name} = {_spoken(understood[name], units[name])}" for name in texts)))
    for name, text in texts.items():
        unit = units[name]
        if unit is not None and parse_unit(unit).scale != 1 and quantity_unit(text, "") == "":
            way = f'"{text} {unit}" says it'
            say(plain(f"note: {name}={text} is a bare number, taken in {unit}, the unit of this study; {way}"))


def tell_columns(units: Mapping[str, tuple[str, bool]]) -> None:
    """Echo how the columns of a table were read: unit, and whether the header said it."""
    say(plain("read " + ", ".join(_column(name, unit) for name, (unit, _) in units.items())))
    bare = [name for name, (unit, in_header) in units.items() if not in_header and parse_unit(unit).scale != 1]
    if bare:
        first = f"{bare[0]} [{units[bare[0]][0]}]"
        say(plain(f"note: no unit in the header of {_listed(bare)}: taken in that of the study; `{first}` says it"))


def tell_measured(study: Study, names: Sequence[str], values: Sequence[float]) -> None:
    """Echo measured values of outputs or quantities, in SI: the range of each, in the unit of the study."""
    values_of: dict[str, list[float]] = {}
    for name, value in zip(names, values, strict=True):
        values_of.setdefault(name, []).append(value)
    parts = []
    for name, numbers in values_of.items():
        unit = study.outputs[name].unit if name in study.outputs else study.model().quantities[name].unit
        low, high = (f"{from_si(end, unit):.6g}" for end in (min(numbers), max(numbers)))
        parts.append(f"{name} = {low if low == high else f'{low} to {high}'}" + ("" if unit == "1" else f" {unit}"))
    more = f" and {len(parts) - MOST_TOLD} more" if len(parts) > MOST_TOLD else ""
    say(plain(", ".join(parts[:MOST_TOLD]) + more))


def _column(name: str, unit: str) -> str:
    return name if dimension(unit) == "1" and parse_unit(unit).scale == 1 else f"{name} in {unit}"


def _listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _spoken(value: Value, unit: str | None) -> str:
    """A value in SI as a person writes it."""
    if unit is None or isinstance(value, str):
        number, _, rest = str(value).partition(" ")
        # An input of several dimensions carries its SI unit with it.
        return f"{float(number):.10g} {rest}" if unit is not None and rest else str(value)
    return f"{from_si(value, unit):.10g}" + ("" if unit == "1" else f" {unit}")
