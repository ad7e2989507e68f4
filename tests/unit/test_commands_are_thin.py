"""Commands parse, call and tell; what they do is in percuss.work."""

from __future__ import annotations

import ast
from pathlib import Path

import percuss

COMMANDS = Path(percuss.__file__).parent / "cli"
# Lines of the body of a command, its docstring not counted.
LONGEST = 40


def _is_command(node: ast.FunctionDef) -> bool:
    return any(ast.unparse(item).startswith("app.command") for item in node.decorator_list)


def test_bodies_of_commands_are_short() -> None:
    seen = 0
    for path in COMMANDS.glob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and _is_command(node):
                seen += 1
                body = node.body[1:] if ast.get_docstring(node) else node.body
                lines = (body[-1].end_lineno or 0) - body[0].lineno + 1
                assert lines <= LONGEST, f"{path.name}: {node.name} has {lines} lines"
    assert seen > 30


def test_commands_know_neither_folds_nor_drafts() -> None:
    for path in COMMANDS.glob("*.py"):
        text = path.read_text()
        for word in ("fold(", "Draft(", "session.append(", "ledger.append(", "put_table("):
            assert word not in text, f"{path.name} has {word}"
