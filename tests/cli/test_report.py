"""`percuss report`: structure, honesty, determinism of the page; how it looks is for `test_report_in_browser`."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.warm import Warm

pytest.importorskip("matplotlib", reason="reports need the extra `report`")

ROOT = Path(__file__).parent.parent.parent
# Elements that HTML closes by itself.
VOID = {"meta", "link", "br", "img", "input"}
SLIDE = """
[study]
title = "A block that slides"
source = "closed form"
[model]
kind = "benchmark"
function = "impact"
gap = "5 m"
samples = 41
[parameters]
speed = {{ unit = "km/h", prior = {{ kind = "uniform", low = 5, high = 12 }} }}
friction.prior = {{ kind = "uniform", low = 0.2, high = 0.4 }}
[outputs.rest]
quantity = "rest_position"
unit = "cm"
[outputs.half]
quantity = "position"
reduce = "at"
at = "0.5 s"
unit = "cm"
"""


class Page(HTMLParser):
    """A page taken apart; complains about elements that are not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self) -> str:
        return " ".join(self.words)

    @property
    def anchors(self) -> list[str]:
        parts = [attributes for tag, attributes in self.elements if tag in ("section", "details")]
        return [attributes["id"] for attributes in parts if "id" in attributes]

    @property
    def folded(self) -> list[str]:
        return [attributes["id"] for attributes in self.all("details")]


def check_page(text: str) -> Page:
    """What holds for every report."""
    page = Page(text)
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids)), "an id is there twice"
    # Nothing is fetched and nothing runs: references point into the page, styles import nothing.
    assert not {"script", "link", "img", "iframe", "object", "image", "foreignobject"} & {
        tag for tag, _ in page.elements
    }
    for _, attributes in page.elements:
        for name, value in attributes.items():
            assert not name.startswith("on")
            if name in ("href", "src", "xlink:href"):
                assert value.startswith("#") and value[1:] in ids, value
            for reference in re.findall(r"url\(([^)]*)\)", value):
                assert reference.startswith("#") and reference[1:] in ids, reference
    assert "@import" not in text and "http://" not in text and "@font-face" not in text
    pictures = page.all("svg")
    for attributes in pictures:
        assert attributes["role"] == "img"
        assert len(attributes["aria-label"]) > 20
    # Colours of pictures are those of the page: no ink of their own that vanishes on dark paper.
    drawn = "".join(re.findall(r"<svg.*?</svg>", text, re.DOTALL))
    assert not re.search(r"#[0-9a-f]{6}\b|\b(?:black|white)\b", drawn)
    for attributes in page.all("section"):
        assert attributes.get("id") or attributes.get("aria-label")
    assert [a["href"][1:] for a in page.all("a") if a.get("href", "#content") != "#content"] == page.anchors
    return page


@pytest.fixture
def copied(folder: Path) -> Path:
    """The studies of the repository beside that of the tests."""
    for name in ("linear-gaussian", "pounding-frames"):
        shutil.copytree(ROOT / "studies" / name, folder / "studies" / name, dirs_exist_ok=True)
    return folder


@pytest.fixture
def calibrated(copied: Path, percuss, once) -> str:  # type: ignore[no-untyped-def]
    """A chain from a design with failed runs to a prediction and `report.html`; the id of the prediction."""
    study = copied / "studies" / "linear-gaussian" / "study.toml"
    study.write_text(study.read_text().replace("offset =", "fail_above = { x2 = 1.6 }\noffset ="))

    def make() -> None:
        design = percuss("design", "linear-gaussian", "--n", 64, "--skip", 1, "--seed", 5).id
        campaign = percuss("run", design, "--accept", "runs").id
        surrogate = percuss("surrogate", "-", "--search", "early", stdin=campaign).id
        percuss("sensitivity", surrogate)
        percuss("note", surrogate, "fitted for <b>the</b> audit & report")
        posterior = percuss("calibrate", "@last:surrogate").id
        prediction = percuss("predict", posterior, "--verify", 4, "--draws", 500).id
        (copied / "prediction").write_text(prediction)
        assert percuss("report", prediction, "--to", "report.html").out == "report.html\n"

    once("report-calibrated", make)
    return (copied / "prediction").read_text()


def test_every_section_of_a_chain(calibrated: str, percuss: Callable[..., object], folder: Path) -> None:
    text = (folder / "report.html").read_text()
    page = check_page(text)
    # The result asked for and what was checked of it; the way to it folded.
    assert page.anchors == ["prediction", "what-was-checked", *page.folded]
    assert page.folded == [
        "study", "design", "runs", "surrogate-of-y1-y2-y3", "sensitivity-expansion", "observations", "posterior-exact",
        "provenance", "how-to-reproduce",
    ]  # fmt: skip
    assert text.index("Root mean square error") < text.index("calibration exact converged"), (
        "the result asked for first"
    )
    assert "falls (-" in page.text or "rises (+" in page.text, "effects have a direction"
    assert "Coefficient spectra" in text and "Effective sample sizes of" in text
    assert re.search(r"\d ± 0?\.?\d", page.text) and "(SI)" not in page.text
    assert text.startswith("<!doctype html>")
    assert "prefers-color-scheme: dark" in text and "@media print" in text
    # Failed runs, what people said, every event with its full hash.
    assert "rehearsed failure" in page.text
    assert "&lt;b&gt;the&lt;/b&gt; audit &amp; report" in text
    log = percuss("lineage", calibrated, "--json").out  # type: ignore[attr-defined]
    for hash in re.findall(r'"hash": ?"([0-9a-f]{64})"', log):
        assert hash in text


def test_the_same_ledger_gives_the_same_bytes(calibrated: str, percuss, program, folder: Path) -> None:  # type: ignore[no-untyped-def]
    # In another process, on another path, with another locale, style file and order of hashes.
    (folder / "matplotlibrc").write_text("axes.facecolor: pink\nfont.size: 20\n")
    (folder / "sub").mkdir()
    said = program(
        "report", calibrated, "--to", "sub/two.html", env={"PYTHONHASHSEED": "7", "LC_ALL": "C", "TZ": "Asia/Tokyo"}
    )
    assert said.code == 0, said.err
    assert (folder / "report.html").read_bytes() == (folder / "sub" / "two.html").read_bytes()


def test_the_script_makes_the_same_results_again(calibrated: str, percuss, warm: Warm, folder: Path) -> None:  # type: ignore[no-untyped-def]
    text = percuss("report", calibrated, "--format", "markdown").out
    script = text[text.rindex("```sh\n") + 6 : text.rindex("```")]
    assert "seed 5" in script and script.rstrip().endswith('percuss report "$prediction"')
    script = script.rstrip().rpartition("\n")[0]
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env={"PERCUSS_LEDGER": "again", "PATH": f"{warm.bin}:/usr/bin:/bin"},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    digests = [
        sorted(
            set(
                re.findall(
                    r'"digest": ?"[0-9a-f]{64}"', percuss("show", "@last:prediction", "--json", "--ledger", ledger).out
                )
            )
        )
        for ledger in ("ledger", "again")
    ]
    assert digests[0] == digests[1] != []


def test_markdown_has_all_but_the_pictures(calibrated: str, percuss, folder: Path) -> None:  # type: ignore[no-untyped-def]
    said = percuss("report", "-", "--format", "markdown", stdin=calibrated)
    assert said.code == 0
    assert said.out.startswith("# Linear model with Gaussian prior and noise\n")
    assert "<svg" not in said.out and "*Figure: Corner plot of the posterior" in said.out
    heads = re.findall(r"(?m)^## (.*)$", said.out)
    assert heads[0] == "In short" and heads[-1] == "How to reproduce"
    for table in re.findall(r"(?m)(?:^\|.*\n)+", said.out):
        assert len({len(line) for line in table.splitlines()}) == 1, table
    percuss("report", calibrated, "--format", "markdown", "--to", "report.md")
    assert (folder / "report.md").read_text() == said.out


def test_what_is_not_converged_is_marked_and_not_estimated(calibrated: str, percuss, folder: Path) -> None:  # type: ignore[no-untyped-def]
    said = percuss("calibrate", "@last:surrogate", "--evaluations", 6000, "--seed", 3)
    assert said.code == 1
    percuss("report", "@last:posterior", "--to", "report.html")
    text = (folder / "report.html").read_text()
    page = check_page(text)
    assert "UNCONVERGED" in page.text
    assert "no point estimate is given" in page.text
    assert "MAP" not in page.text and "Estimates" not in page.text
    labels = [a["aria-label"] for a in page.all("svg") if a["aria-label"].startswith(("Corner", "Traces"))]
    assert len(labels) == 2 and all("UNCONVERGED" in label for label in labels)
    assert "|| true" in page.text  # in a script that stops at the first error


def test_calibrations_side_by_side(calibrated: str, percuss, folder: Path) -> None:  # type: ignore[no-untyped-def]
    posteriors = [percuss("calibrate", "@last:surrogate", "--seed", seed).id for seed in (8, 9)]
    percuss("report", percuss("compare", *posteriors).id, "--to", "report.html")
    page = check_page((folder / "report.html").read_text())
    assert page.anchors[0] == "comparison"
    # Two posteriors of one block are told apart by their ids.
    assert page.anchors[-2:] == ["provenance", "how-to-reproduce"]
    for anchor, one in zip(page.anchors[-4:-2], posteriors, strict=True):
        assert one.startswith(anchor.removeprefix("posterior-exact-")) and len(anchor) > len("posterior-exact-")
    assert any(a["aria-label"].startswith("x1 in every calibration") for a in page.all("svg"))


def test_superseded_events_are_told_and_marked(calibrated: str, percuss, folder: Path) -> None:  # type: ignore[no-untyped-def]
    percuss("supersede", "@last:surrogate", "--reason", "wrong gap")
    text = percuss("report", calibrated, "--format", "markdown").out
    assert re.search(r"> \*\*warning:\*\* surrogate.fitted `[0-9a-f-]{36}` is superseded", text)
    first = text.splitlines()[0]
    assert first.startswith(
        "> **warning:** NOT TRUSTED: surrogate.fitted, on which it stands, is superseded: wrong gap"
    )
    percuss("report", calibrated, "--to", "marked.html")
    page = check_page((folder / "marked.html").read_text())
    assert 0 <= page.text.find("on which it stands, is superseded") < page.text.find("Report on")


def test_indices_over_time(percuss, make_study, folder: Path) -> None:  # type: ignore[no-untyped-def]
    make_study("slide", text=SLIDE)
    campaign = percuss("run", percuss("design", "slide", "--n", 24, "--curves").id).id
    surrogate = percuss(
        "surrogate", campaign, "--curves", "position", "--family", "chaos", "--search", "early", "--folds", 3
    ).id
    percuss("report", percuss("sensitivity", surrogate).id, "--to", "report.html")
    page = check_page((folder / "report.html").read_text())
    assert "sensitivity-of-the-curve-position" in page.anchors
    assert any(
        a["aria-label"].startswith("Total Sobol indices of speed, friction over t_s [s]") for a in page.all("svg")
    )


def test_a_page_of_nonsense(calibrated: str, percuss, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    """A body that lacks what its kind always has is told as a fault of the ledger, not of percuss."""
    from percuss.ledger.event import Event

    real = Event.data.fget

    def without(event: Event) -> dict[str, object]:
        return {key: value for key, value in real(event).items() if key not in ("scores", "families")}

    monkeypatch.setattr(Event, "data", property(without))
    percuss("report", calibrated, "--to", "report.html").refused(4, "does not fit its kind", "prediction.made")


def test_curves_and_energy_of_one_run(copied: Path, percuss) -> None:  # type: ignore[no-untyped-def]
    single = percuss("simulate", "pounding-frames", "--case", "rigid").id
    percuss("report", single, "--to", "single.html")
    page = check_page((copied / "single.html").read_text())
    assert page.anchors == [
        "runs-rigid", "energy-rigid", "study", "design-rigid", "provenance", "how-to-reproduce",
    ]  # fmt: skip
    assert any("gap" in a["aria-label"] for a in page.all("svg"))
    # Units are those of the study: the gap in mm, never in m.
    assert "gap [mm]" in page.text and "gap [m]" not in page.text


def test_events_without_pictures(percuss, folder: Path) -> None:  # type: ignore[no-untyped-def]
    percuss("design", "ishigami", "--n", 4)
    for kind in ("study", "design"):
        said = percuss("report", f"@last:{kind}", "--to", f"{kind}.html")
        assert said.code == 0, said.err
        check_page((folder / f"{kind}.html").read_text())


def test_bad_input(percuss, folder: Path) -> None:  # type: ignore[no-untyped-def]
    id = percuss("design", "ishigami", "--n", 4).id
    percuss("report", "ffff").refused(2, "ffff")
    percuss("report", id, "--to", "missing/report.html").refused(2, "missing/report.html")
    percuss("report", id, "--to", folder).refused(2, "folder")
    assert not list(folder.glob("*.html"))
    # Named after study and event where no name is given.
    said = percuss("report", id)
    assert said.out == f"ishigami-{id[:13]}.html\n"
    assert (folder / said.out.strip()).exists()


def test_places_of_measured_values_are_called_what_the_axis_of_their_curve_is(percuss) -> None:
    """A strain is not a number of seconds."""
    study = ROOT / "studies" / "toyoura-specimens"
    percuss("observe", study, study / "observations" / "specimens.csv")
    page = percuss("report", "@last", "--format", "markdown").out
    (heads,) = [line for line in page.splitlines() if line.startswith("|") and " measured " in line]
    assert [cell.strip() for cell in heads.split("|")[1:6]] == ["case", "output", "specimen", "point", "axial_strain"]
