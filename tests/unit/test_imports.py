"""Imports point one way: who may know whom, held by walking the sources."""

from __future__ import annotations

import ast
from pathlib import Path

import percuss

SOURCES = Path(percuss.__file__).parent

# A part may import itself, these, and nothing else of ours. A part that is not listed may import anything but the
# command line: a new part gets its line when its place is known.
ALLOWED = {
    "errors": set(),
    "spelling": set(),
    "config": {"errors"},
    "software": {"ledger"},
    "trust": set(),
    "ledger": {"errors", "trust"},
    "units": {"errors", "spelling"},
    "scene": {"errors", "spelling", "units"},
    "models": {"errors", "spelling", "units", "ledger", "scene"},
    "study": {"errors", "spelling", "units", "models", "ledger"},
    "designs": {"errors", "spelling", "units", "models", "study", "ledger"},
    "execution": {"errors", "trust", "spelling", "units", "models", "study", "designs", "ledger", "scene", "software"},
    "surrogates": {"errors", "trust", "spelling", "units", "models", "study", "designs", "ledger", "execution"},
    "inference": {"errors", "trust", "spelling", "study", "surrogates"},
    "calibration": {"errors", "trust", "spelling", "units", "study", "ledger", "execution", "surrogates", "inference"},
    "sensitivity": {"errors", "trust", "spelling", "study", "designs", "ledger", "surrogates"},
    "regions": {"errors", "trust", "designs", "ledger", "surrogates", "sensitivity"},
    "filtering": {"errors", "trust", "spelling", "units", "study", "designs", "ledger", "execution", "surrogates"},
    "report": {
        "errors",
        "trust",
        "spelling",
        "validation",
        "units",
        "study",
        "ledger",
        "execution",
        "surrogates",
        "sensitivity",
        "calibration",
    },
    "export": {"errors", "units", "models", "study", "designs", "ledger", "scene"},
}


def _parts(path: Path) -> str:
    """The part of percuss a file belongs to."""
    inside = path.relative_to(SOURCES).parts
    return inside[0].removesuffix(".py")


def _imports(path: Path) -> set[str]:
    """The parts of percuss a file imports, at the top or inside functions, for types only or not."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            if node.module == "percuss":
                found |= {f"percuss.{alias.name}" for alias in node.names}
            else:
                found.add(str(node.module))
    return {name.split(".")[1] for name in found if name.startswith("percuss.")} - {"_core"}


def _graph() -> dict[str, set[str]]:
    graph: dict[str, set[str]] = {}
    for path in sorted(SOURCES.rglob("*.py")):
        part = _parts(path)
        graph.setdefault(part, set()).update(_imports(path) - {part})
    return graph


def test_the_walk_sees_imports() -> None:
    graph = _graph()
    assert {"ledger", "cli", "execution", "study"} <= set(graph)
    assert "ledger" in graph["execution"]
    assert "execution" in graph["cli"]


def test_each_part_imports_what_it_may() -> None:
    graph = _graph()
    for part, allowed in ALLOWED.items():
        assert graph[part] <= allowed, f"{part} imports {sorted(graph[part] - allowed)}"


def test_only_the_program_itself_imports_the_command_line() -> None:
    assert {part for part, imported in _graph().items() if "cli" in imported} == {"__main__"}


def test_no_circles() -> None:
    graph = _graph()
    done: set[str] = set()
    while len(done) < len(graph):
        free = {part for part, imported in graph.items() if part not in done and imported <= done}
        assert free, f"a circle among {sorted(set(graph) - done)}"
        done |= free


def test_only_the_binding_is_reached_through_core() -> None:
    """`percuss._core` is the extension; who uses it says so at the top of a function or file, never by star."""
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert all(alias.name != "*" for alias in node.names), path
