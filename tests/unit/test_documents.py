"""Documents say what is so: every path they name exists, every command they show works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.warm import Warm

ROOT = Path(__file__).parent.parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# What begins with one of these is meant from the root of the repository.
TOPS = ("rust/", "pytools/", "studies/", "tests/", "docs/", ".ci/")
ROOT_FILES = re.compile(r"(?:[A-Z][A-Za-z]+(?:\.md)?|[a-z]+\.toml|Makefile|Cargo\.lock)")


def _prose(document: Path) -> str:
    return FENCE.sub("", document.read_text())


def _paths(document: Path) -> set[str]:
    """Paths in backticks and links."""
    text = _prose(document)
    named = set(re.findall(r"`([^`\s]+)`", text)) | set(re.findall(r"\]\(([^)\s#]+)(?:#[^)]*)?\)", text))
    return {
        name
        for name in named
        if not re.search(r"[<>*{}…$]|\.\.\.|://|\bNAME\b|\bFOLDER\b", name)
        and (name.startswith(TOPS) or (ROOT_FILES.fullmatch(name) and (name.endswith(".md") or name == "Makefile")))
    }


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_path_named_exists(document: Path) -> None:
    for name in sorted(_paths(document)):
        beside, below = document.parent / name, ROOT / name
        assert beside.exists() or below.exists(), f"{document.name} names {name}"


def test_the_index_names_every_page() -> None:
    index = (ROOT / "docs/index.md").read_text()
    pages = {str(page.relative_to(ROOT / "docs")) for page in ROOT.glob("docs/**/*.md")} - {"index.md"}
    assert set(re.findall(r"(?m)^- \[[^\]]+\]\((?!\.\.)([\w/-]+\.md)\)", index)) == pages


def test_documents_are_found() -> None:
    assert ROOT / "README.md" in DOCUMENTS
    assert any(_paths(document) for document in DOCUMENTS)


def _scripts(document: Path) -> list[str]:
    return [body for info, body in FENCE.findall(document.read_text()) if info.strip() == "sh"]


def _programs(document: Path) -> list[str]:
    return [body for info, body in FENCE.findall(document.read_text()) if info.strip() == "python"]


SHOWN = [d for d in DOCUMENTS if _programs(d) or any("percuss " in script for script in _scripts(d))]


@pytest.mark.slow
@pytest.mark.parametrize("document", SHOWN, ids=lambda p: str(p.relative_to(ROOT)))
def test_everything_shown_works(document: Path, tmp_path: Path, warm: Warm) -> None:
    """The fenced `sh` blocks of a document, in order, as one script; then its `python` blocks as one program.

    Blocks marked `sh no-run` are for the eye. Pages are read in the repository; readers of the README and of tutorials
    have an empty folder and an installed percuss. The README starts the programs themselves, the pages their warm ones.
    """
    programs = Path(sys.executable).parent if document == ROOT / "README.md" else warm.bin
    if document != ROOT / "README.md" and document.parent.name != "tutorials":
        shutil.copytree(ROOT / "studies", tmp_path / "studies", ignore=shutil.ignore_patterns("ledger"))
    blocks = [script for script in _scripts(document) if re.search(r"(?m)^[^#\n]*\bpercuss ", script)]
    if blocks:
        _run(["bash", "-c", "\n".join(["set -euo pipefail", *blocks])], tmp_path, programs)
    if _programs(document):
        (tmp_path / "shown.py").write_text("\n".join(_programs(document)))
        runner = sys.executable if document == ROOT / "README.md" else str(warm.bin / "run-file")
        _run([runner, "shown.py"], tmp_path, programs)


def _run(command: list[str], folder: Path, programs: Path) -> None:
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, f"{command[-1]}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def test_documents_name_only_commands_there_are() -> None:
    from percuss.cli.app import COMMANDS

    for document in DOCUMENTS:
        for words in re.findall(r"`percuss ([^`]+)`", document.read_text()):
            name = words.split()[0]
            assert name in COMMANDS or name.startswith("-"), f"{document.name}: percuss {words}"
