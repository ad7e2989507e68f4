"""`python -m tests.pictures FOLDER PAGE...`: pages as pictures, light, dark, on a phone and in print, to be looked at.

Each picture is PAGE-SORT.png (PAGE-print.pdf) in FOLDER, as long as the page; pages are files, with a fragment if they
take one. Of a folder with a site it is the pages of the ledger, and of each kind of event the last. A page that
complains, or that is wider than a phone, makes the exit code 1. Needs `chromium` on PATH; draws WebGL in software.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tests.devtools import Browser

WIDTH, HEIGHT = 1280, 900
PHONE = (390, 844)
SORTS = ("light", "dark", "phone", "print")
# Scripts have filled the page, and a film has drawn its first frame.
READY = """document.readyState === "complete"
  && (!document.querySelector("script[src]") || document.documentElement.dataset.ready)
  && (!document.getElementById("film") || document.body.dataset.drawn)"""


def main(folder: Path, pages: list[str]) -> int:
    """Take the pictures; exit code 1 if a page complains."""
    folder.mkdir(parents=True, exist_ok=True)
    faults: list[str] = []
    with Browser(WIDTH, HEIGHT) as browser:
        for page in [one for name in pages for one in (_of_site(Path(name)) if Path(name).is_dir() else [name])]:
            path, _, fragment = page.partition("#")
            address = Path(path).resolve().as_uri() + (f"#{fragment}" if fragment else "")
            name = _name(Path(path))
            for sort in SORTS:
                faults += [f"{page}, {sort}: {fault}" for fault in _take(browser, address, folder / name, sort)]
            print(f"{page}: {len(SORTS)} pictures", flush=True)
    for line in faults:
        print(line, file=sys.stderr)
    return 1 if faults else 0


def _of_site(site: Path) -> list[str]:
    """The pages of a site, and of each kind of event the page of the last; files are named after ids, in time order."""
    by_kind: dict[str, Path] = {}
    for path in sorted((site / "events").glob("*.html")):
        if kind := re.search(r"<title>([a-z]+\.[a-z]+)", path.read_text()):
            by_kind[kind[1]] = path
    return [str(path) for path in (*sorted(site.glob("*.html")), *by_kind.values())]


def _name(path: Path) -> str:
    kind = re.search(r"<title>([a-z]+\.[a-z]+)", path.read_text()) if path.parent.name == "events" else None
    return f"event-{kind[1].replace('.', '-')}" if kind else "-".join(path.with_suffix("").parts[-2:])


def _take(browser: Browser, address: str, to: Path, sort: str) -> list[str]:
    """One picture; what speaks against the page."""
    browser.complaints.clear()
    browser.dark(sort == "dark")
    if sort == "phone":
        browser.resize(*PHONE, scale=2, phone=True)
    else:
        browser.resize(WIDTH, HEIGHT)
    browser.open(address, READY)
    if sort == "print":
        browser.print(to.with_name(f"{to.name}-print.pdf"))
    else:
        browser.picture(to.with_name(f"{to.name}-{sort}.png"))
    faults = list(browser.complaints)
    wide = int(browser.run("document.documentElement.scrollWidth"))
    if sort == "phone" and wide > PHONE[0]:
        faults.append(f"{wide} pixels wide, a phone has {PHONE[0]}")
    return faults


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), sys.argv[2:]))
