"""A report in a real browser: nothing overflows, nothing is illegible, nothing complains; in light, dark and print.

Needs Debian's `chromium` (or another of its names) on PATH. Screenshots and the printed page are kept in the folder
ARTEFACTS names, `build/artefacts` by default.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli import browser
from tests.cli.browser import BROWSER, DARK

pytest.importorskip("matplotlib", reason="reports need the extra `report`")

ROOT = Path(__file__).parent.parent.parent
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no chromium on PATH")

# Put into a copy of the page (the page itself allows no scripts); what it finds is read from the DOM.
PROBE = """<script>
const shade = colour => {
  const [r, g, b] = colour.match(/[0-9.]+/g).map(Number).map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const paper = shade(getComputedStyle(document.documentElement).backgroundColor);
const contrast = colour => {
  const s = shade(colour);
  return (Math.max(s, paper) + 0.05) / (Math.min(s, paper) + 0.05);
};
const pictures = [...document.querySelectorAll("svg")];
const found = {
  overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  width: document.documentElement.clientWidth,
  paper: paper,
  pictures: pictures.length,
  small: pictures.filter(p => p.getBoundingClientRect().width < 150 || p.getBoundingClientRect().height < 60).length,
  outside: pictures.filter(p => [...p.querySelectorAll("text")].some(t => {
    const a = t.getBoundingClientRect(), b = p.getBoundingClientRect();
    return a.left < b.left - 12 || a.right > b.right + 12 || a.top < b.top - 6 || a.bottom > b.bottom + 6;
  })).map(p => p.getAttribute("aria-label")),
  contrast: Math.min(...[...document.querySelectorAll("p, h1, h2, td, th, a, dt, dd, li, figcaption, svg text")].map(
    e => contrast(e instanceof SVGElement ? getComputedStyle(e).fill : getComputedStyle(e).color))),
  lines: Math.min(...[...document.querySelectorAll("svg path")].map(e => getComputedStyle(e))
    .filter(s => s.stroke.startsWith("rgb") && s.strokeOpacity == 1 && s.opacity == 1).map(s => contrast(s.stroke))),
};
const answer = document.createElement("pre");
answer.id = "probe";
answer.textContent = JSON.stringify(found);
document.body.append(answer);
</script>"""


@pytest.fixture
def page(percuss, folder: Path, once) -> Path:  # type: ignore[no-untyped-def]
    """The report of a whole chain."""

    def make() -> None:
        shutil.copytree(ROOT / "studies" / "linear-gaussian", folder / "studies" / "linear-gaussian")
        campaign = percuss("run", percuss("design", "linear-gaussian", "--n", 64, "--skip", 1).id).id
        surrogate = percuss("surrogate", campaign, "--search", "early").id
        percuss("sensitivity", surrogate)
        percuss("calibrate", surrogate)
        percuss("report", "@last:posterior", "--to", "report.html")

    once("report-browser", make)
    return folder / "report.html"


@pytest.fixture
def browse(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Start the browser once on a page; it must not complain."""

    def call(page: Path, *words: str) -> subprocess.CompletedProcess[str]:
        return browser.browse(page.as_uri(), tmp_path / "browser", *words)

    return call


@pytest.fixture
def artefacts() -> Path:
    """Where pictures are kept for people to look at."""
    path = Path(os.environ.get("ARTEFACTS", ROOT / "build" / "artefacts"))
    path.mkdir(parents=True, exist_ok=True)
    return path


@pytest.mark.parametrize(("width", "dark"), [(1300, False), (500, True)])
def test_rendered_page(page: Path, browse, width: int, dark: bool) -> None:  # type: ignore[no-untyped-def]
    text = page.read_text()
    copy = page.with_name("probe.html")
    copy.write_text(re.sub(r"<meta http-equiv[^>]*>", "", text).replace("</body>", f"{PROBE}</body>"))
    done = browse(copy, "--dump-dom", f"--window-size={width},900", *([DARK] if dark else []))
    found = json.loads(re.search(r'<pre id="probe">(.*?)</pre>', done.stdout)[1])  # type: ignore[index]
    assert found["width"] == width
    assert found["overflow"] == 0
    assert (found["paper"] < 0.05) == dark
    assert found["pictures"] == text.count("<svg ") > 5
    assert found["small"] == 0
    assert found["outside"] == []
    # WCAG: 4.5 for text, 3 for lines.
    assert found["contrast"] >= 4.5
    assert found["lines"] >= 3


def test_page_as_it_is_shown_and_printed(page: Path, browse, artefacts: Path) -> None:  # type: ignore[no-untyped-def]
    from matplotlib.image import imread

    shades = {}
    for name, words in {"light": ["--window-size=1300,4000"], "dark": ["--window-size=500,2500", DARK]}.items():
        target = artefacts / f"report-{name}.png"
        target.unlink(missing_ok=True)
        browse(page, f"--screenshot={target}", *words)
        pixels = imread(target)[:, :, :3]
        assert pixels.std() > 0.02, "an empty page"
        shades[name] = pixels.mean()
    assert shades["dark"] < 0.35 < 0.8 < shades["light"]
    target = artefacts / "report.pdf"
    target.unlink(missing_ok=True)
    browse(page, f"--print-to-pdf={target}", "--no-pdf-header-footer")
    assert target.read_bytes().startswith(b"%PDF-")
