"""The page of `percuss view` in a real browser: drawn in light and dark, every button pressed, files read."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.cli.browser import BROWSER
from tests.cli.test_scene import POINT, SCENE
from tests.devtools import Browser

pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no chromium on PATH")
READY = "document.body && document.body.dataset.drawn"


@pytest.fixture
def page(percuss, folder: Path, make_study) -> Path:
    """Two runs of a ball thrown at a block, drawn through each other."""
    make_study("thrown", text=SCENE)
    first, second = (percuss("simulate", "studies/thrown", "--case", case, *POINT).id for case in ("fast", "slow"))
    percuss("view", first, "--overlay", second, "--to", "run.html")
    return folder / "run.html"


def _seen(browser: Browser, tmp_path: Path) -> Any:
    """What is on the screen now, red, green, blue from 0 to 1."""
    image = pytest.importorskip("matplotlib.image")
    browser.picture(tmp_path / "shot.png", whole=False)
    return image.imread(tmp_path / "shot.png")[..., :3]


def _text(browser: Browser, place: str) -> str:
    return str(browser.run(f"document.getElementById({json.dumps(place)}).textContent"))


def _settled(browser: Browser) -> None:
    """Wait until what was asked for is drawn."""
    browser.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def _handed_out(folder: Path, ending: str) -> bytes:
    """The file that a button wrote, when it is whole."""
    for _ in range(600):
        made = [path for path in folder.glob(f"*.{ending}") if path.stat().st_size]
        if made:
            return made[0].read_bytes()
        time.sleep(0.05)
    raise AssertionError(f"no {ending} file came")


def test_every_control_does_what_it_says(page: Path, tmp_path: Path) -> None:
    with Browser(900, 700) as browser:
        kept = tmp_path / "kept"
        kept.mkdir()
        browser.downloads(kept)
        for dark in (True, False):
            browser.dark(dark)
            browser.open(f"{page.as_uri()}#t=0.05", READY)
            middle = _seen(browser, tmp_path)[60:460, 160:600]
            assert (middle[5, 200].mean() < 0.3) == dark
            # The ball still flies, so that it has the dark red of the fastest; the block is pale, its faces are shaded.
            assert ((middle[..., 0] > 0.3) & (middle[..., 2] < 0.35) & (middle[..., 1] < 0.2)).mean() > 1e-3
            assert ((middle.min(axis=2) > 0.75) & (middle.max(axis=2) < 0.95)).mean() > 1e-3
        assert "Second run, see-through: thrown, slow" in _text(browser, "legend")
        _presets(browser, tmp_path)
        _bodies(browser, tmp_path)
        _keeping(browser, kept)
        assert browser.complaints == []


def _presets(browser: Browser, tmp_path: Path) -> None:
    pictures = []
    for preset in ("front", "side", "top", "corner", "first"):
        browser.run(f"(() => {{ const s = document.getElementById('preset'); s.value = '{preset}';"
                    " s.dispatchEvent(new Event('change')); })()")  # fmt: skip
        _settled(browser)
        pictures.append(_seen(browser, tmp_path))
    assert all(abs(a - b).mean() > 1e-3 for a, b in pairwise(pictures))
    browser.click("#forces")
    _settled(browser)
    assert abs(_seen(browser, tmp_path) - pictures[-1]).max() > 0.1, "forces are gone"
    browser.click("#forces")


def _bodies(browser: Browser, tmp_path: Path) -> None:
    """Pick by the mouse, hide, show all; pick by a key, see through, follow."""
    spots = [(x / 20, y / 20) for x in range(2, 19) for y in range(6, 18)]
    for x, y in spots:
        browser.click("#view", x, y)
        if not browser.run("document.getElementById('picked').hidden"):
            break
    _settled(browser)
    assert any(name in _text(browser, "picked-name") for name in ("ball", "block"))
    assert "speed" in _text(browser, "picked-values")
    _settled(browser)
    whole = _seen(browser, tmp_path)
    browser.click("#hide")
    _settled(browser)
    assert browser.run("document.getElementById('picked').hidden")
    assert abs(_seen(browser, tmp_path)[:, 200:] - whole[:, 200:]).max() > 0.1, "it is gone"
    browser.click("#all")
    assert browser.run("document.getElementById('all').hidden")
    browser.press("n")
    browser.press("n")
    _settled(browser)
    assert _text(browser, "picked-name").startswith("ball")
    for button in ("through", "follow"):
        browser.click(f"#{button}")
        assert browser.run(f"document.getElementById('{button}').getAttribute('aria-pressed')") == "true"

    # Followed, the ball stays where it is on the screen while it flies.
    def there() -> Any:
        picture = _seen(browser, tmp_path)[60:460, 230:880]
        accent = (picture[..., 2] > picture[..., 0] + 0.25) & (picture[..., 2] > 0.4)
        return accent.nonzero()[1].mean()

    browser.click("#through")
    browser.click("#forces")
    _settled(browser)
    before = there()
    for _ in range(12):
        browser.press(".")
    _settled(browser)
    assert abs(there() - before) < 25
    browser.click("#unpick")
    assert browser.run("document.getElementById('picked').hidden")


def _keeping(browser: Browser, kept: Path) -> None:
    """The picture as PNG, the whole film as WebM."""
    browser.click("#png")
    picture = _handed_out(kept, "png")
    assert picture.startswith(b"\x89PNG")
    sizes = browser.run("[view.width, view.height]")
    assert [int.from_bytes(picture[16:20]), int.from_bytes(picture[20:24])] == sizes
    browser.run("document.getElementById('rate').value = 0.5")
    browser.click("#webm")
    assert _text(browser, "webm") == "Stop"
    browser.until("document.getElementById('webm').textContent === 'WebM'")
    film = _handed_out(kept, "webm")
    assert film.startswith(b"\x1a\x45\xdf\xa3") and b"webm" in film[:64]
    assert _text(browser, "play") == "Play" and "0.400" in _text(browser, "clock").split(" of ")[0]
