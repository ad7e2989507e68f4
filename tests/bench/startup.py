"""How fast the program starts, against an empty Typer program."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.measure import Line, best

EMPTY = """
import typer
app = typer.Typer()
@app.callback()
def main() -> None:
    "Nothing."
@app.command()
def one() -> None:
    "One."
app()
"""


def bench() -> list[Line]:
    """`percuss --help`."""
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty.py"
        empty.write_text(EMPTY)

        def run(*call: str) -> None:
            subprocess.run([sys.executable, *call, "--help"], check=True, capture_output=True)

        ours, theirs = best(15, lambda: run("-m", "percuss"), lambda: run(str(empty)))
    return [Line("percuss --help, against empty Typer", f"{ours:.3f} s / {theirs:.3f} s", ours / theirs, 1.3)]
