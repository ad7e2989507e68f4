"""The documentation as a site: it builds without a warning, needs no network, and its reference is complete."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from percuss.cli.app import COMMANDS
from percuss.models.model import MODELS
from percuss.models.reference import kind_reference, setting_lines

pytest.importorskip("material", reason="mkdocs-material is not installed (extra docs)")
pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site; strict: a broken link or anchor, or a page that docs/index.md does not name, fails the build."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_pages_load_nothing_from_a_network(site: Path) -> None:
    loads = re.compile(r"<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=[\"']?(https?:)?//", re.IGNORECASE)
    pages = list(site.rglob("*.html"))
    assert len(pages) > 100
    for page in pages:
        assert not loads.search(page.read_text()), page.name


def test_search_works_from_a_folder(site: Path) -> None:
    assert (site / "search/search_index.js").stat().st_size > 100_000
    assert "iframe-worker.js" in (site / "index.html").read_text()


@pytest.mark.parametrize("kind", MODELS)
def test_the_page_of_a_kind_has_all_its_tables(site: Path, kind: str) -> None:
    page = (site / f"reference/models/{kind}.html").read_text()
    known = kind_reference(kind)
    for line in setting_lines(known.settings):
        assert f"<code>{line.key}</code>" in page, line.key
    for item in (*known.general.inputs, *known.general.quantities):
        assert f"<code>{item.name.replace('<', '&lt;').replace('>', '&gt;')}</code>" in page, item.name


def test_every_command_has_a_page_and_a_man_page(site: Path, tmp_path: Path) -> None:
    script = ROOT / "docs/generate/man.py"
    subprocess.run([sys.executable, str(script), str(tmp_path)], check=True, capture_output=True, timeout=120)
    for name, entry in COMMANDS.items():
        assert (site / f"reference/commands/{name}.html").is_file()
        manual = (tmp_path / f"man/man1/percuss-{name}.1").read_text()
        assert manual.startswith(".TH ") and "\n.SH SYNOPSIS\n" in manual
        assert entry.summary.replace("-", "\\-") in (tmp_path / "man/man1/percuss.1").read_text()
    for shell in ("bash-completion/completions/percuss", "zsh/site-functions/_percuss"):
        assert "_PERCUSS_COMPLETE" in (tmp_path / shell).read_text()
