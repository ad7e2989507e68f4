"""What mkdocs calls while it builds: generated pages, what is where, and links as the repository writes them.

Pages link to each other and to files of the repository by paths that are right in the repository. In the site `docs/`
is the root, studies and the project's own documents lie beside it, and source files are named without a link. Every
path must exist: one that does not is a warning, and warnings fail the build.
"""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path
from typing import Any

import api
import commands
import events
import gallery
import models
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PROJECT = ("CHANGELOG.md", "CONTRIBUTING.md")
GENERATED = {
    "Model kinds": "reference/models",
    "Commands": "reference/commands",
    "Python API": "reference/python",
}
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
log = logging.getLogger("mkdocs.hooks")


def _made() -> dict[str, str]:
    made: dict[str, str] = {}
    for part in (models, commands, api, events, gallery):
        made |= part.pages()
    return made


_PAGES = _made()


def on_config(config: Any) -> Any:
    """Read the navigation from docs/index.md: its headings are sections, its links pages."""
    navigation: list[dict[str, Any]] = []
    for line in (DOCS / "index.md").read_text().splitlines():
        if line.startswith("## "):
            navigation.append({line.removeprefix("## "): []})
        for title, page in re.findall(r"^- \[([^\]]+)\]\(([^)]+\.md)\)", line):
            pages = next(iter(navigation[-1].values()))
            pages.append({title: _site_path((DOCS / page).resolve()) or page})
    for section in navigation:
        if "Reference" in section:
            section["Reference"] += [{title: _listing(folder)} for title, folder in GENERATED.items()]
            section["Reference"].append({"Kinds of events": "reference/events.md"})
    studies = [{path.parent.name: str(path.relative_to(ROOT))} for path in gallery.readmes()]
    config.nav = [{"Start": "index.md"}, *navigation, {"Gallery": ["gallery.md", *studies]}]
    return config


def _listing(folder: str) -> list[Any]:
    """The pages of a folder, its index first."""
    return [page for page in _PAGES if page.startswith(f"{folder}/")]


def on_files(files: Files, config: Any) -> Files:
    """Add what is generated and what lies outside of docs/."""
    for path, text in _PAGES.items():
        files.append(File.generated(config, path, content=text))
    for source in (*gallery.readmes(), *gallery.pictures(), *(ROOT / name for name in PROJECT)):
        files.append(File.generated(config, str(source.relative_to(ROOT)), abs_src_path=str(source)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn paths of the repository into paths of the site, and drop what fences say to the tests."""
    source = page.file.src_uri
    if source == "gallery.md":
        folder: Path | None = ROOT
    elif source in _PAGES:
        folder = None
    elif source.startswith("studies/") or source in PROJECT:
        folder = (ROOT / source).parent
    else:
        folder = (DOCS / source).parent

    def mended(match: re.Match[str]) -> str:
        picture, words, target, anchor = match.groups()
        if folder is None or "://" in target:
            return match.group()
        path = (folder / target).resolve()
        place = _site_path(path)
        if place is not None:
            relative = os.path.relpath(place, os.path.dirname(source) or ".")  # noqa: PTH120 (a path of the site)
            return f"{picture}[{words}]({relative}{anchor or ''})"
        if not path.exists():
            log.warning("%s links to %s, which does not exist", source, target)
        return f"{words}"

    parts, last = [], 0
    for fence in FENCE.finditer(markdown):
        parts += [
            LINK.sub(mended, markdown[last : fence.start()]),
            re.sub(r"^```(\w+) no-run", r"```\1", fence.group()),
        ]
        last = fence.end()
    return "".join([*parts, LINK.sub(mended, markdown[last:])])


def _site_path(path: Path) -> str | None:
    """Where a file of the repository is in the site; None if it is not there."""
    if path.is_relative_to(DOCS):
        inside = str(path.relative_to(DOCS))
        return inside if path.is_file() or inside in _PAGES else None
    name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else ""
    return name if name in PROJECT or path in (*gallery.readmes(), *gallery.pictures()) else None
