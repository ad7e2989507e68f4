"""A site in a real browser, opened as files: filtered, followed, compared, by keyboard, on a phone, in the dark.

Screenshots are kept in the folder ARTEFACTS names, `build/artefacts` by default.
"""

from __future__ import annotations

import os
import shutil
from importlib import resources
from pathlib import Path

import pytest
from tests.cli.browser import BROWSER, DARK, browse, probe
from tests.devtools import Browser

pytest.importorskip("matplotlib", reason="sites need the extra `report`")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no chromium on PATH")
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def site(percuss, folder: Path, once) -> Path:  # type: ignore[no-untyped-def]
    """The site of a chain with two posteriors, a note and a superseded design."""

    def make() -> None:
        shutil.copytree(ROOT / "studies" / "linear-gaussian", folder / "studies" / "linear-gaussian")
        campaign = percuss("run", percuss("design", "linear-gaussian", "--n", 16, "--skip", 1).id).id
        surrogate = percuss("surrogate", campaign, "--degree", "1..2", "--bootstrap", 0).id
        percuss("calibrate", surrogate)
        percuss("calibrate", surrogate, "--seed", 2)
        percuss("note", "@last:posterior", "looked at <b>twice</b>")
        percuss("supersede", percuss("design", "linear-gaussian", "--n", 4, "--skip", 1).id, "--reason", "too few")
        assert percuss("site", "--to", "site").code == 0

    once("site-browser", make)
    return folder / "site"


@pytest.fixture
def artefacts() -> Path:
    """Where pictures are kept for people to look at."""
    path = Path(os.environ.get("ARTEFACTS", ROOT / "build" / "artefacts"))
    path.mkdir(parents=True, exist_ok=True)
    return path


def test_the_table_is_filtered_folded_and_walked_by_keyboard(site: Path, tmp_path: Path) -> None:
    script = """
      const rows = () => [...document.querySelectorAll(".events .row")].map(r => r.querySelector(".kind").textContent);
      const all = rows();
      const type = text => { search.value = text; search.dispatchEvent(new Event("input")); };
      type("posterior"); await new Promise(r => setTimeout(r, 200));
      const found = rows(), flags = document.querySelector(".events").textContent;
      type(""); await new Promise(r => setTimeout(r, 200));
      const fold = document.querySelector(".fold"); fold.click();
      await until(() => document.querySelector(".behind"));
      const behind = document.querySelectorAll(".behind").length;
      const events = document.getElementById("events"); events.focus();
      const press = key => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      press("ArrowDown"); press("ArrowDown");
      const place = document.activeElement.dataset.place;
      gone.checked = true; gone.dispatchEvent(new Event("change"));
      const bold = document.querySelectorAll(".events b").length;
      return { all, found, flags, behind, place, standing: rows(), bold };
    """
    seen = probe(site / "index.html", script, "", tmp_path)
    assert "fault" not in seen, seen
    assert {"study.registered", "posterior.sampled", "note.added"} <= set(seen["all"])
    assert "runs.completed" not in seen["all"], "runs stand behind their campaign"
    assert seen["found"].count("posterior.sampled") == 2 and len(seen["found"]) < len(seen["all"])
    assert "1 note" in seen["flags"] and seen["behind"] >= 1 and seen["place"] == "1" and seen["bold"] == 0
    assert len(seen["standing"]) < len(seen["all"]) + seen["behind"]


def test_a_lineage_is_followed(site: Path, tmp_path: Path) -> None:
    script = """
      const boxes = [...document.querySelectorAll(".graph a")];
      const target = boxes.find(b => b.textContent.includes("posterior.sampled"));
      const edges = document.querySelectorAll(".edges path").length;
      return { href: target.getAttribute("href"), count: boxes.length, edges };
    """
    seen = probe(site / "lineage.html", script, "", tmp_path)
    assert "fault" not in seen, seen
    assert seen["count"] >= 7 and seen["edges"] >= 5
    page = site / seen["href"]
    script = """
      const here = document.querySelector(".graph .here").textContent;
      const up = [...document.querySelectorAll(".graph a")].find(b => b.textContent.includes("surrogate.fitted"));
      return { here, up: up.getAttribute("href"), title: document.querySelector("h1").textContent };
    """
    seen = probe(page, script, "", tmp_path)
    assert "posterior.sampled" in seen["here"]
    assert (page.parent / seen["up"]).is_file()


def test_two_posteriors_are_compared(site: Path, tmp_path: Path) -> None:
    script = """
      return { charts: document.querySelectorAll("#compared svg[role=img]").length,
        sides: document.querySelectorAll("#compared .chart .a, #compared .chart .b").length,
        heads: [...document.querySelectorAll("#compared th")].map(t => t.textContent),
        rows: [...document.querySelectorAll("#compared tbody tr")].map(r => [...r.children].map(c => c.textContent)) };
    """
    list_of = (site / "data" / "comparable.js").read_text()
    first = list_of.split('"form":"posterior"')[0].rsplit('"id":"', 1)[1].split('"')[0]
    seen = probe(site / "compare.html", script, f"?first={first}", tmp_path)
    assert "fault" not in seen, seen
    assert seen["heads"] == ["unknown", "first", "std", "second", "std"]
    assert seen["charts"] == len(seen["rows"]) >= 2
    for _, mean, std, other, _ in seen["rows"]:
        assert abs(float(mean) - float(other)) < float(std), "two seeds of one posterior"


def test_campaigns_are_sorted_and_scattered(site: Path, tmp_path: Path) -> None:
    script = """
      const rows = () => [...document.querySelectorAll("#outputs tbody tr")];
      const means = () => rows().map(r => Number(r.children[6].textContent));
      const head = [...document.querySelectorAll("#outputs th button")].find(b => b.textContent === "mean");
      head.click(); const up = means();
      [...document.querySelectorAll("#outputs th button")].find(b => b.textContent === "mean").click();
      return { up, down: means(), dots: document.querySelectorAll("#scatter circle").length };
    """
    seen = probe(site / "campaigns.html", script, "", tmp_path)
    assert "fault" not in seen, seen
    assert seen["up"] == sorted(seen["up"]) and seen["down"] == sorted(seen["up"], reverse=True)
    assert seen["dots"] == 16


def test_a_large_table_is_there_at_once(tmp_path: Path) -> None:
    """The first page of a ledger of many events: first rows first, few of them drawn, the rest while it is read."""
    from percuss.report.html import style_sheet
    from percuss.site.build import ASSETS, MANIFEST
    from percuss.site.pages import Badge, overview
    from percuss.site.table import PART, table_parts

    count = 30_000
    row = {"kind": "note.added", "study": "many", "mark": "", "notes": 0, "behind": 0, "bad": False}
    rows = [
        row | {"id": f"{i:08x}", "at": 1_700_000_000 + count - i, "words": f"displacement of run {i}: {i / 7:.3f} mm"}
        for i in range(count)
    ]
    (tmp_path / MANIFEST).parent.mkdir()
    package = resources.files("percuss.site").joinpath("assets")
    texts = {name: package.joinpath(name).read_text() for name in ASSETS} | table_parts(rows)
    texts["report.css"] = style_sheet()
    texts["index.html"] = overview("index.html", Badge(True, "many events"), live=False)
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    assert sum(len(texts[name]) for name in ("index.html", "table.js", "site.js", "data/events-0.js")) < 600_000
    with Browser() as browser:
        # The page itself says when it was ready, before the rest has come.
        watch = """new MutationObserver((_, seen) => { const { ready, whole } = document.documentElement.dataset;
          const now = [document.querySelectorAll(".events .row").length, document.scripts.length];
          if (ready && !window.first) window.first = now;
          if (whole) { window.last = now; seen.disconnect(); }
        }).observe(document, { attributes: true, subtree: true })"""
        browser.call("Page.addScriptToEvaluateOnNewDocument", source=watch)
        browser.open((tmp_path / "index.html").as_uri(), "window.last")
        (drawn, scripts), (_, all_scripts) = browser.run("[window.first, window.last]")
        assert 10 < drawn < 60 and scripts < all_scripts - count // PART + 4, "one part was enough"
        browser.run("search.value = 'run 29999:'; search.dispatchEvent(new Event('input'))")
        browser.until("document.querySelectorAll('.events .row').length === 1")
        browser.run("search.value = ''; search.dispatchEvent(new Event('input'))")
        browser.until("document.querySelectorAll('.events .row').length > 10")
        browser.run("document.getElementById('events').scrollTop = 1e9")
        browser.until(f"document.querySelector('.events .row[data-place=\"{count - 1}\"]')")
        assert int(browser.run("document.querySelectorAll('.events .row').length")) < 60
        # On paper there is no scrolling: as many rows as anybody prints, and how many more there are.
        browser.call("Emulation.setEmulatedMedia", media="print")
        browser.run("window.dispatchEvent(new Event('beforeprint'))")
        printed, height, more = browser.run(
            "[document.querySelectorAll('.events .row').length, document.getElementById('events').offsetHeight,"
            " document.querySelector('.events .more').textContent]"
        )
        assert printed == 2000 and height > 2000 * 40 and more == f"and {count - 2000} more"
        browser.call("Emulation.setEmulatedMedia", media="")
        browser.run("window.dispatchEvent(new Event('afterprint'))")
        assert int(browser.run("document.querySelectorAll('.events .row').length")) < 60
        assert browser.complaints == []


@pytest.mark.parametrize("name", ["index.html", "lineage.html", "campaigns.html", "compare.html", "event"])
def test_no_page_is_wider_than_a_phone(site: Path, tmp_path: Path, artefacts: Path, name: str) -> None:
    page = site / name
    if name == "event":
        page = max((site / "events").glob("*.html"), key=lambda path: path.stat().st_size)
    script = "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    # The window of a headless browser is never narrower than 500 pixels: a frame of 390 is.
    outer = page.with_name("phone.html")
    outer.write_text(f'<!doctype html><iframe src="{page.name}" width="390" height="1600" id="frame"></iframe>')
    width, room = probe(page, script, "", tmp_path, "--window-size=500,900")
    assert width <= room
    browse(outer.as_uri(), tmp_path, f"--screenshot={artefacts}/site-{name}-phone.png", "--window-size=500,1700", DARK,
           "--virtual-time-budget=8000")  # fmt: skip
    outer.unlink()
