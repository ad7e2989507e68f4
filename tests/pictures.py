"""`python -m tests.pictures FOLDER PAGE...`: pages as pictures, light, dark, on a phone and in print, to be looked at.

Each picture is PAGE-SORT.png (PAGE-print.pdf) in FOLDER; pages are files, with a fragment if they take one.
Needs Debian's `chromium` on PATH; draws WebGL in software.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.cli.browser import BROWSER, DARK, FLAGS

SOFTWARE_GL = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--virtual-time-budget=8000"]
SORTS = {
    "light": ["--window-size=1280,900"],
    "dark": ["--window-size=1280,900", DARK],
    "phone": ["--window-size=500,900"],
}


def main(folder: Path, pages: list[str]) -> int:
    """Take the pictures; exit code 1 if a page complains."""
    folder.mkdir(parents=True, exist_ok=True)
    complaints = []
    for page in pages:
        path, _, fragment = page.partition("#")
        address = Path(path).resolve().as_uri() + (f"#{fragment}" if fragment else "")
        name = "-".join(Path(path).with_suffix("").parts[-2:])
        for sort, flags in SORTS.items():
            complaints += _take(address, [*flags, f"--screenshot={folder / f'{name}-{sort}.png'}"])
        complaints += _take(address, ["--no-pdf-header-footer", f"--print-to-pdf={folder / f'{name}-print.pdf'}"])
        print(f"{page}: {len(SORTS) + 1} pictures in {folder}", flush=True)
    for line in complaints:
        print(line, file=sys.stderr)
    return 1 if complaints else 0


def _take(address: str, words: list[str]) -> list[str]:
    with tempfile.TemporaryDirectory() as profile:
        flags = [flag for flag in FLAGS if flag != "--disable-gpu"]
        command = [str(BROWSER), *flags, *SOFTWARE_GL, f"--user-data-dir={profile}", *words, address]
        said = subprocess.run(command, capture_output=True, text=True, timeout=120).stderr
    return [line for line in re.findall(r".*CONSOLE.*", said) if "GL Driver Message" not in line]


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), sys.argv[2:]))
