"""Man pages and shell completions, from the commands' own help: `python docs/generate/man.py FOLDER`.

They go where the package managers of Linux and macOS look: `man/man1`, `bash-completion/completions`,
`zsh/site-functions`, `fish/vendor_completions.d`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from commands import Command, Item, all_commands
from typer.completion import get_completion_script

from percuss.maker import version

COMPLETIONS = {
    "bash": "bash-completion/completions/percuss",
    "zsh": "zsh/site-functions/_percuss",
    "fish": "fish/vendor_completions.d/percuss.fish",
}


def write(folder: Path) -> list[Path]:
    """Write every file, and say which."""
    pages = {f"man/man1/percuss-{name}.1": command_page(command) for name, _, command in all_commands()}
    pages["man/man1/percuss.1"] = program_page()
    for shell, place in COMPLETIONS.items():
        pages[place] = get_completion_script(prog_name="percuss", complete_var="_PERCUSS_COMPLETE", shell=shell) + "\n"
    for place, text in pages.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text)
    return [folder / place for place in pages]


def program_page() -> str:
    """The page of the program: its commands by heading, and its exit codes."""
    lines = [_title("percuss"), ".SH NAME", "percuss \\- simulate contact and impact, calibrate, and record every step"]
    lines += [".SH SYNOPSIS", ".B percuss\n.I COMMAND\n[OPTIONS]"]
    heading = ""
    for name, entry, _ in all_commands():
        if entry.heading != heading:
            heading = entry.heading
            lines.append(f".SH {_roff(heading.upper())}")
        lines.append(f".TP\n.BR percuss\\-{_roff(name)} (1)\n{_roff(entry.summary)}")
    codes = {
        0: "done",
        1: "the answer is no: an audit failed, a regression moved, runs failed, a result failed a gate",
        2: "wrong input",
        3: "a fault of percuss",
        4: "the ledger is busy or unreadable",
        130: "interrupted",
    }
    lines += [".SH EXIT STATUS", *(f".TP\n.B {code}\n{meaning}" for code, meaning in codes.items())]
    return "\n".join(lines) + "\n"


def command_page(command: Command) -> str:
    """The page of a command with all its subcommands."""
    first, *rest = command.paragraphs
    lines = [_title(command.name.replace(" ", "-")), ".SH NAME"]
    lines.append(f"{_roff(command.name.replace(' ', '-'))} \\- {_roff(first[:1].lower() + first[1:].rstrip('.'))}")
    lines += [".SH SYNOPSIS", *(f".B {_roff(part.usage)}\n.br" for part in command.parts or (command,))]
    if rest:
        lines += [".SH DESCRIPTION", *(f".PP\n{_roff(part)}" for part in rest)]
    lines += list(_items(command))
    for part in command.parts:
        lines += [
            f".SH {_roff(part.name.upper())}",
            *(f".PP\n{_roff(words)}" for words in part.paragraphs),
            *_items(part),
        ]
    return "\n".join([*lines, ".SH SEE ALSO", ".BR percuss (1)"]) + "\n"


def _items(command: Command) -> Iterator[str]:
    for item in (*command.arguments, *command.options):
        yield f".TP\n.B {_roff(item.spelling)}\n{_roff(_meaning(item))}"
    if command.example:
        yield f".PP\nExample:\n.PP\n.nf\n{_roff(command.example)}\n.fi"


def _meaning(item: Item) -> str:
    return f"{item.meaning} Default: {item.default}." if item.default else item.meaning


def _title(name: str) -> str:
    return f'.TH {_roff(name.upper())} 1 "" "percuss {version()}" "percuss"'


def _roff(words: str) -> str:
    """Words as roff reads them: no line begins with a control character."""
    words = words.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(f"\\&{line}" if line[:1] in (".", "'") else line for line in words.split("\n"))


if __name__ == "__main__":
    for made in write(Path(sys.argv[1])):
        print(made)
