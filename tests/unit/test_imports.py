"""The shape of the sources, held by walking them: imports point one way, and names say what they hold."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import percuss

SOURCES = Path(percuss.__file__).parent
ROOT = Path(__file__).parents[2]

# The parts of percuss in layers: a part may import those of the layers above it, and nothing else of ours. A new part
# gets its place here.
LAYERS = (
    ("errors", "spelling", "trust"),
    ("contact", "plugins", "units"),
    ("kinds", "scene", "settings", "text_tables"),
    ("config", "ledger"),
    ("fclib", "maker", "measured", "models"),
    ("anchors", "study"),
    ("export", "first_passage", "session"),
    ("designs",),
    ("execution",),
    ("surrogates",),
    ("filtering", "fragility", "inference", "reliability", "sensitivity"),
    ("calibration", "regions", "testing"),
    ("validation",),
    ("plots",),
    ("report",),
    ("site",),
    ("work",),
    ("api", "cli"),
    ("__init__", "__main__"),
)


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def _parts(path: Path) -> str:
    """The part of percuss a file belongs to."""
    inside = path.relative_to(SOURCES).parts
    return inside[0].removesuffix(".py")


def _imports(path: Path) -> set[str]:
    """The parts of percuss a file imports, at the top or inside functions, for types only or not."""
    found: set[str] = set()
    for node in ast.walk(_tree(path)):
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


def test_each_part_imports_from_the_layers_above_it_alone() -> None:
    graph = _graph()
    assert {part for layer in LAYERS for part in layer} == set(graph)
    above: set[str] = set()
    for layer in LAYERS:
        for part in layer:
            assert graph[part] <= above, f"{part} imports {sorted(graph[part] - above)}"
        above |= set(layer)


def test_the_page_on_how_percuss_is_built_has_a_row_for_every_part() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    rows = set(re.findall(r"^\| `(pytools/percuss/\w+|rust/\w+)(?:\.py)?` \|", page, re.MULTILINE))
    parts = {f"pytools/percuss/{part}" for part in _graph() if not part.startswith("__")}
    assert rows == parts | {f"rust/{path.parent.name}" for path in (ROOT / "rust").glob("*/Cargo.toml")}


def test_only_the_program_itself_imports_the_command_line() -> None:
    assert {part for part, imported in _graph().items() if "cli" in imported} == {"__main__"}


def _modules() -> dict[str, Path]:
    """Every module of percuss by its name within it; a package is its `__init__`."""
    return {
        ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__"): path
        for path in sorted(SOURCES.rglob("*.py"))
        if path != SOURCES / "__init__.py"
    }


def _at_the_top(body: list[ast.stmt]) -> list[ast.stmt]:
    """Imports that are done when a module is: not those for types, nor those inside functions."""
    found: list[ast.stmt] = []
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.append(node)
        elif isinstance(node, ast.If):
            found += [] if "TYPE_CHECKING" in ast.unparse(node.test) else _at_the_top(node.body)
            found += _at_the_top(node.orelse)
        elif isinstance(node, ast.Try):
            found += _at_the_top(
                [*node.body, *node.orelse, *node.finalbody, *(s for h in node.handlers for s in h.body)]
            )
    return found


def _module_graph(modules: dict[str, Path], *, all_imports: bool) -> dict[str, set[str]]:
    graph: dict[str, set[str]] = {}
    for name, path in modules.items():
        tree = _tree(path)
        imported: set[str] = set()
        for node in ast.walk(tree) if all_imports else _at_the_top(tree.body):
            if isinstance(node, ast.Import):
                imported |= {alias.name.removeprefix("percuss.") for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    # `from percuss.a import b` is of the module `a.b` where there is one, else of `a`.
                    inner = f"{node.module}.{alias.name}".removeprefix("percuss.")
                    imported.add(inner if inner in modules else str(node.module).removeprefix("percuss."))
        graph[name] = (imported & modules.keys()) - {name}
    return graph


def _circles(graph: dict[str, set[str]]) -> set[frozenset[str]]:
    """Sets of modules that reach each other."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        pending = [start]
        while pending:
            new = graph[pending.pop()] - seen
            seen |= new
            pending += new
        return seen

    reach = {name: reached(name) for name in graph}
    return {
        frozenset(other for other in graph if other in reach[name] and name in reach[other])
        for name in graph
        if name in reach[name]
    }


def test_circles_are_seen() -> None:
    assert _circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == {frozenset("abc")}
    graph = _module_graph(_modules(), all_imports=False)
    assert "study.sections" in graph["study.schema"] and "settings" in graph["study.schema"]
    assert "models.scene.tables" in graph["models.scene.reader"]


def test_no_circles_of_modules() -> None:
    """Neither when modules are loaded, nor by imports for types or inside functions."""
    assert _circles(_module_graph(_modules(), all_imports=True)) == set()


def test_only_the_binding_is_reached_through_core() -> None:
    """`percuss._core` is the extension; who uses it says so at the top of a function or file, never by star."""
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.ImportFrom):
                assert all(alias.name != "*" for alias in node.names), path


# Names that say nothing of what they hold: the noun of the thing says more (`posterior`, `columns`, `sentence`).
EMPTY_NAMES = {"found", "given", "told", "said", "wanted"}


def _bound(node: ast.AST) -> set[str]:
    """The names that a node binds: variables, arguments, functions, attributes of objects."""
    if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
        return {node.id if isinstance(node, ast.Name) else node.attr}
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name.strip("_").lower()}
    return {node.arg} if isinstance(node, ast.arg) else set()


def test_names_say_what_they_hold() -> None:
    empty = [
        f"{path.relative_to(SOURCES)}:{node.lineno}: `{name}` says little; name the thing"
        for path in SOURCES.rglob("*.py")
        # Fields of events are stored under their names, and keep them.
        if path.parent.name != "kinds"
        for node in ast.walk(_tree(path))
        for name in sorted(_bound(node) & EMPTY_NAMES)
    ]
    assert not empty, "\n".join(empty)


def test_every_file_of_rust_tests_is_part_of_their_program() -> None:
    """Where the tests of a crate are one program (`tests/main.rs`), a file that it does not name would never run."""
    programs = sorted((ROOT / "rust").glob("*/tests/main.rs"))
    assert programs
    for program in programs:
        named = set(re.findall(r"(?m)^mod (\w+);$", program.read_text()))
        there = {path.stem for path in program.parent.iterdir() if path.suffix == ".rs" or path.is_dir()} - {"main"}
        assert named == there, program
    for crate in (ROOT / "rust").glob("*/Cargo.toml"):
        assert ("autotests = false" in crate.read_text()) == (crate.parent / "tests" / "main.rs").exists()
