"""Documents say what is so: every path they name exists, every command they show works."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.warm import Warm
from typer.exceptions import TyperException

from percuss.cli.app import COMMANDS, prepare
from percuss.errors import InputError

ROOT = Path(__file__).parent.parent.parent
STUDIES = sorted(ROOT.glob("studies/*/README.md"))
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *STUDIES])
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

    Blocks marked `sh no-run` are for the eye, or take minutes: another test reads them. Pages are read in the
    repository; readers of the README and of tutorials have an empty folder and an installed percuss. The README starts
    the programs themselves, the pages their warm ones.
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


def _command(name: str) -> Any:
    command = typer.main.get_command(importlib.import_module(f"percuss.cli.{COMMANDS[name].module}").app)
    prepare(command)
    return command


def _calls(script: str) -> list[list[str]]:
    """The words of every command in a script; what another command prints stands as one word, `PRINTED`."""
    text = re.sub(r"\$\([^()]*\)", "PRINTED", script.replace("\\\n", " "))
    calls: list[list[str]] = []
    for line in text.splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        calls.append([])
        for word in lexer:
            if re.fullmatch(r"[|&;]+", word):
                calls.append([])
            else:
                calls[-1].append(word)
    return [call[: call.index(">")] if ">" in call else call for call in calls]


def _read(command: Any, name: str, words: list[str]) -> dict[str, Any]:
    """What a command makes of its words, without being run; unknown options and values of another type raise."""
    parts = getattr(command, "commands", None)
    if parts is None:
        return dict(command.make_context(name, list(words)).params)
    if words[0] not in parts:
        raise InputError(f"no {words[0]}")
    return _read(parts[words[0]], f"{name} {words[0]}", words[1:])


def _faults(script: str) -> list[str]:
    """What is wrong with the commands of a script that is not run: command, option, file or study."""
    faults = []
    for call in _calls(script):
        missing = [word for word in call if word.startswith(TOPS) and not (ROOT / word).exists()]
        faults += [f"no {word}" for word in missing]
        if call[:1] != ["percuss"]:
            continue
        name, *words = call[1:]
        if name not in COMMANDS:
            faults.append(f"no command {name}")
            continue
        command = _command(name)
        try:
            values = _read(command, name, words)
        except (TyperException, InputError) as error:
            faults.append(f"percuss {name}: {error}")
            continue
        for argument in command.params:
            study = values.get(argument.name)
            if (argument.metavar or "").startswith("STUDY") and isinstance(study, str) and study[0] not in "-@":
                there = study == "PRINTED" or (ROOT / study).exists() or (ROOT / "studies" / study).exists()
                faults += [] if there else [f"no study {study}"]
    return faults


UNRUN = [d for d in DOCUMENTS if any(info.strip() == "sh no-run" for info, _ in FENCE.findall(d.read_text()))]


@pytest.mark.parametrize("document", UNRUN, ids=lambda p: str(p.relative_to(ROOT)))
def test_what_is_not_run_can_be_read(document: Path) -> None:
    for info, body in FENCE.findall(document.read_text()):
        if info.strip() == "sh no-run":
            assert not _faults(body)


@pytest.mark.parametrize(
    ("script", "fault"),
    [
        ("percuss desing studies/ishigami", "no command desing"),
        ("percuss design studies/ishigami --points 8", "No such option: --points"),
        ("percuss design studies/ishigami --n many", "valid integer"),
        ("percuss design studies/ishigammi --n 8 --skip 1 \\\n  | percuss run -", "no studies/ishigammi"),
        ("percuss design ishigammi --n 8 > design", "no study ishigammi"),
        ("percuss fclib solv FOLDER", "solv"),
        ("python studies/rockfall-wall/figure.py LEDGER", "no studies/rockfall-wall/figure.py"),
        ('percuss design ishigami --n 8 | percuss run - > c\npercuss export cvs "$(cat c)" --to c.csv', "cvs"),
    ],
)
def test_a_command_gone_wrong_is_seen(script: str, fault: str) -> None:
    faults = _faults(script)
    assert any(fault in found for found in faults), faults


def test_documents_name_only_commands_and_options_there_are() -> None:
    for document in DOCUMENTS:
        for words in re.findall(r"`percuss ([^`]+)`", _prose(document)):
            name = words.split()[0]
            assert name in COMMANDS or name.startswith("-"), f"{document.name}: percuss {words}"
            known = _options(_command(name)) if name in COMMANDS else set()
            for option in re.findall(r"(?<!\S)--[a-z][\w-]*", words) if known else ():
                assert option in known, f"{document.name}: percuss {words}: {option}"


def _options(command: Any) -> set[str]:
    own = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    return own.union({"--help"}, *(_options(part) for part in getattr(command, "commands", {}).values()))
