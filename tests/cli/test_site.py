"""The ledger as a site: complete, incremental, the same bytes again, and harmless whatever a ledger says."""

from __future__ import annotations

import json
import re
import sys
import threading
import urllib.error
import urllib.request
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="sites need the extra `report`")

from percuss.ledger.event import NO_COST, Event, Software
from percuss.ledger.projections import fold
from percuss.site.graph import Graph, graph_of
from percuss.site.lineage import HEIGHT, WIDTH, Box, depths, draw, without_crowds
from percuss.site.pages import _around
from percuss.site.scripts import call
from percuss.site.serve import Watched, server
from percuss.site.table import PART, rows_of, table_parts

ROOT = Path(__file__).parent.parent.parent
NASTY = "</script><script>alert(1)</script><img src=x onerror=alert(2)> \"' `a` \x1b[2J"


@pytest.fixture
def site(percuss, folder: Path, once) -> Path:  # type: ignore[no-untyped-def]
    """The site of a small ledger with a campaign of two batches, a note that bites, and a superseded event."""

    def make() -> None:
        campaign = percuss("run", percuss("design", "ishigami", "--n", 70).id).id
        percuss("note", campaign, NASTY)
        old = percuss("design", "ishigami", "--n", 8).id
        percuss("supersede", old, "--reason", f"too few {NASTY}")
        said = percuss("site", "--to", "site", "--json")
        assert said.code == 0, said.err
        assert json.loads(said.out)["file"] == "site/index.html"

    once("site", make)
    return folder / "site"


def _bytes(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def _rows(site: Path) -> dict[str, list]:
    text = (site / "data/events-0.js").read_text()
    return json.loads(text.removeprefix("percuss.rows(").removesuffix(");\n"))["columns"]


def test_every_event_has_its_page(site: Path, percuss) -> None:  # type: ignore[no-untyped-def]
    events = json.loads(percuss("log", "--limit", 0, "--json").out)
    ids = {event["id"] for event in events}
    behind = {
        id
        for path in (site / "data").glob("behind-*.js")
        for id in json.loads(path.read_text().removeprefix("percuss.behind(").removesuffix(");\n"))["columns"]["id"]
    }
    pages = {path.stem for path in (site / "events").glob("*.html")}
    assert pages | behind == ids and not pages & behind
    rows = _rows(site)
    assert set(rows["id"]) == pages
    campaign = rows["kind"].index("campaign.completed")
    assert rows["behind"][campaign] == len(behind) > 1 and rows["notes"][campaign] == 1
    assert "superseded" in rows["mark"]
    # Every link of every page leads to a file of the site.
    for path in site.rglob("*.html"):
        for target in re.findall(r'(?:href|src)="([^"#?:]+)"', path.read_text()):
            assert (path.parent / target).is_file(), (path, target)


def test_the_same_bytes_and_only_what_is_new(site: Path, percuss, folder: Path) -> None:  # type: ignore[no-untyped-def]
    before = _bytes(site)
    facts = json.loads(percuss("site", "--to", "site", "--json").out)
    assert facts["written"] == 0 and _bytes(site) == before
    percuss("site", "--to", "again")
    assert _bytes(folder / "again") == before
    note = percuss("note", "@last:campaign", "one more").id
    said = json.loads(percuss("site", "--to", "site", "--json").out)
    after = _bytes(site)
    changed = {name for name in after if after[name] != before.get(name)}
    pages = {name for name in changed if name.startswith("events/")}
    (campaign,) = [id for id, kind in zip(*(_rows(site)[k] for k in ("id", "kind")), strict=True) if "campaign" in kind]
    assert pages == {f"events/{note}.html", f"events/{campaign}.html"}
    assert said["written"] == len(changed)
    assert "one more" in (site / f"events/{campaign}.html").read_text()


def test_a_site_that_was_cut_off_is_gone_on_with(
    site: Path, percuss, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    from percuss.site import build

    made: list[str] = []
    real = build.event_page

    def cut_off(*arguments: object) -> str:
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(real(*arguments))  # type: ignore[arg-type]
        return made[-1]

    monkeypatch.setattr(build, "event_page", cut_off)
    assert percuss("site", "--to", "cut").code != 0
    assert len(list((folder / "cut/events").iterdir())) == 2
    monkeypatch.setattr(build, "event_page", lambda *arguments: made.append("") or real(*arguments))  # type: ignore[func-returns-value]
    facts = json.loads(percuss("site", "--to", "cut", "--json").out)
    assert _bytes(folder / "cut") == _bytes(site)
    assert len(made) == len(list((site / "events").iterdir())) and facts["kept"] >= 2


def test_nested_facts_are_words(percuss, folder: Path, site: Path) -> None:  # type: ignore[no-untyped-def]
    percuss("audit", "--rerun", 0, "--record")
    percuss("site", "--to", "audited")
    pages = [path.read_text() for path in (folder / "audited/events").iterdir()]
    (page,) = [text for text in pages if "<title>audit.made" in text]
    text = re.sub(r"\s*<[^>]+>\s*", " ", page)
    assert "<h1>Audit: holds" in page and "{" not in text
    assert "all proofs hold for" in text and "chain none" in " ".join(text.split())


def test_what_a_result_ran_for_itself_stands_behind_it(percuss, folder: Path) -> None:  # type: ignore[no-untyped-def]
    """Two estimates that share runs, each point a design of its own: neither comes from the other."""
    for _ in range(2):
        percuss("reliability", ROOT / "studies" / "four-branch", "--limit", "any", "--method", "form")
    log = percuss("log", "--limit", 0).out.splitlines()
    assert len(log) == 5 and "runs that a result asked for as it went" in log[2]
    assert len(percuss("log", "--limit", 0, "--unfold").out.splitlines()) > 20
    percuss("site", "--to", "estimated")
    rows = _rows(folder / "estimated")
    assert rows["kind"] == ["reliability.estimated", "reliability.estimated", "study.registered"]
    assert rows["behind"][1] > 10 and rows["behind"][2] == 0
    text = (folder / "estimated/lineage.html").read_text()
    assert text.count("reliability.estimated</text>") == 2 and text.count("<path") == 2


def test_of_many_sources_the_newest_are_drawn() -> None:
    """As of an estimate of reliability, which hundreds of designs and runs were made for."""
    events = [_note(i) for i in range(42)]
    first, *middle, last = [event.id for event in events]
    parents = {first: (), **dict.fromkeys(middle, (first,)), last: tuple(middle)}
    order = {event.id: i for i, event in enumerate(events)}
    page = _around(fold(events), Graph({}, {}, parents, {}, {}, order), events[-1], dict.fromkeys(order, "words"))
    assert page.count("<rect") == 14 and middle[-1] in page and middle[0] not in page
    assert "28 older sources of the same kinds are not drawn" in page


class _Attributes(HTMLParser):
    """The attributes of all elements of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names += [name for name, _ in attrs]


def test_what_strangers_write_stays_text(site: Path) -> None:
    for path in site.rglob("*"):
        if path.suffix in (".html", ".js"):
            text = path.read_text()
            assert "<script>alert" not in text and "<img" not in text and "\x1b" not in text, path
    for path in site.rglob("*.html"):
        (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', path.read_text())
        assert policy.startswith("default-src 'none'") and "'unsafe-inline'" not in policy.split("style-src")[0]
        reader = _Attributes()
        reader.feed(path.read_text())
        assert not [name for name in reader.names if name.startswith("on")], path
    assert "</script" not in call("rows", {"a": ["</script>"]})


def test_ids_are_no_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from percuss.errors import LedgerError
    from percuss.ledger.ledger import Ledger
    from percuss.session import Session
    from percuss.site.build import build_site

    session = Session(Ledger.open(tmp_path / "ledger", create=True))
    session.begin_from([replace(_note(1), id="../../outside")])
    with pytest.raises(LedgerError, match="no name of a page"):
        build_site(session, tmp_path / "site", lambda event: "")
    assert not (tmp_path / "outside.html").exists()


def _note(number: int) -> Event:
    software = Software("0", "0", "0", "0")
    return Event(
        "main", number, f"{number:08x}", "note.added", 1, 0, (), "a", "h", None, (), (), software, None, "ok", None,
        NO_COST, "{}", "", f"{number:064x}",
    )  # fmt: skip


def test_folders_of_others_are_left_alone(site: Path, percuss, folder: Path) -> None:  # type: ignore[no-untyped-def]
    (folder / "mine").mkdir()
    (folder / "mine" / "letter.txt").write_text("dear")
    percuss("site", "--to", "mine").refused(2, "mine", "other files")
    assert [path.name for path in (folder / "mine").iterdir()] == ["letter.txt"]
    (site / "data/manifest.json").write_text("[]")
    percuss("site", "--to", "site").refused(2, "manifest.json")


def test_layers_go_down_and_nothing_is_drawn_twice() -> None:
    parents = {"a": (), "b": ("a",), "c": ("a", "b"), "d": ("c", "a"), "e": ()}
    layers = depths(list(parents), parents)
    assert all(layers[id] > layers[parent] for id, own in parents.items() for parent in own)
    assert set(layers.values()) == set(range(max(layers.values()) + 1))
    picture = draw(list(parents), parents, lambda id: Box(id, f"<{id}>", f"{id}.html"), "all")
    assert picture.count("<path") == 3, "a to c and a to d go without saying"
    assert "&lt;a&gt;" in picture and "<a>" not in picture
    assert draw(["a"], parents, lambda id: Box(id, id, ""), "one") == ""


def test_lines_pass_between_boxes() -> None:
    # Two chains side by side, joined late: what is used late passes all layers between.
    parents = {
        "s": (),
        "o": ("s",),
        "a": ("s",),
        "b": ("a",),
        "c": ("b",),
        "d": ("c", "o"),
        "e": ("b",),
        "f": ("d", "e"),
    }
    picture = draw(list(parents), parents, lambda id: Box(id, id, f"{id}.html"), "all")
    boxes = [tuple(map(float, found)) for found in re.findall(r'<rect x="([\d.]+)" y="([\d.]+)"', picture)]
    assert len(set(boxes)) == len(parents)
    for path in re.findall(r'<path d="([^"]+)"', picture):
        steps = [(step[0], [float(v) for v in step[1:].split()]) for step in re.findall(r"[MCV][^MCV]*", path)]
        x, y = steps[0][1]
        for sort, to in steps[1:]:
            ends = (x, to[0]) if sort == "V" else (to[-2], to[-1])
            # A straight line stays in its column; a curve stays between its ends, which lie in a gap between layers.
            low, high = sorted((y, ends[1]))
            left, right = sorted((x, ends[0]))
            assert not any(bx < right and left < bx + WIDTH and by < high and low < by + HEIGHT for bx, by in boxes), (
                path,
                sort,
                to,
            )
            x, y = ends


def test_a_crowd_of_equals_is_drawn_in_part() -> None:
    designs = {f"d{i:02}": ("s",) for i in range(30)}
    parents = {"s": (), **designs, **{f"c{id}": (id, "s") for id in designs}, "p": ("cd00", "cd29")}
    shown = without_crowds(list(parents), parents, lambda id: id[0])
    assert sorted(set(parents) - set(shown)) == sorted(id for i in range(18) for id in (f"d{i:02}", f"cd{i:02}"))
    assert without_crowds(shown, parents, lambda id: id[0]) == shown


def test_many_events_come_in_parts() -> None:
    events = [_note(i) for i in range(2 * PART + 5)]
    state = fold(events)
    files = table_parts(rows_of(state, graph_of(state), lambda event: "words"))
    assert list(files) == [f"data/events-{i}.js" for i in range(3)]
    first = json.loads(files["data/events-0.js"].removeprefix("percuss.rows(").removesuffix(");\n"))
    assert first["total"] == len(events) and first["columns"]["id"][0] == events[-1].id, "the newest first"


def test_it_is_served_to_this_machine_alone_and_grows(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("one")
    heads = ["1"]
    watched = Watched(lambda: heads[-1], lambda: (tmp_path / "index.html").write_text(heads[-1]))
    with server(tmp_path, 0, watched) as listening:
        address = f"http://127.0.0.1:{listening.server_address[1]}"
        assert listening.server_address[0] == "127.0.0.1"
        thread = threading.Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        try:
            assert urllib.request.urlopen(f"{address}/head").read() == b"1"
            heads.append("2")
            assert urllib.request.urlopen(f"{address}/head").read() == b"2"
            assert urllib.request.urlopen(f"{address}/index.html").read() == b"2"
            for path, host in (("/index.html", "evil.example"), ("/../", None), ("/", "evil.example:80")):
                request = urllib.request.Request(f"{address}{path}", headers={"Host": host} if host else {})
                with pytest.raises(urllib.error.HTTPError):
                    (tmp_path / "index.html").unlink(missing_ok=True)
                    urllib.request.urlopen(request)
        finally:
            listening.shutdown()


@pytest.mark.parametrize("words", [("site", "--to", "pages"), ("report", "@last"), ("plot", "@last", "--to", "a.svg")])
def test_without_matplotlib_one_sentence_says_what_to_add(percuss, folder, monkeypatch, words) -> None:  # type: ignore[no-untyped-def]
    from percuss.site import build

    percuss("design", "ishigami", "--n", 2)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    build._code.cache_clear()
    said = percuss(*words).refused(2, "plots need matplotlib, which is not installed")
    assert "hint: pip install matplotlib" in said.err
