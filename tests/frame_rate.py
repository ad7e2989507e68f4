"""`python -m tests.frame_rate PAGE...`: how fast pages of `percuss view` play without a graphics card.

Frames a second and processor time a frame, at 1280 x 800 in chromium's software GL, over forty frames after the effort
has settled. On a busy machine the processor time is the figure to compare, in one call: it grows with the load, too.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from tests.devtools import Browser

FRAMES, SETTLING = 40, 12
READY = "document.readyState === 'complete' && document.body.dataset.drawn"
DRAWS = "Number(document.getElementById('view').dataset.draws)"
PLAY = "document.getElementById('rate').selectedIndex = 0; document.getElementById('play').click()"


def main(pages: list[str]) -> None:
    """Print a line for each page."""
    for page in pages:
        with Browser(1280, 800) as browser:
            browser.resize(1280, 800)
            browser.open(Path(page).resolve().as_uri(), READY)
            browser.run(PLAY)
            first = _reached(browser, SETTLING)
            last = _reached(browser, int(first[0]) + FRAMES)
            canvas = browser.run("[view.width, view.height].join(' x ')")
        frames, seconds, processor_s = (b - a for a, b in zip(first, last, strict=True))
        size, load = Path(page).stat().st_size / 1e6, os.getloadavg()[0]
        rate, cost = frames / seconds, 1000 * processor_s / frames
        print(f"{page}: {size:.2f} MB, {rate:.1f} frames/s, {cost:.0f} ms a frame, {canvas} pixels, load {load:.1f}")


def _reached(browser: Browser, frames: int) -> tuple[float, float, float]:
    """Frames, time and processor time (s) when so many frames were drawn."""
    while (drawn := int(browser.run(DRAWS))) < frames:
        time.sleep(0.2)
    return drawn, time.monotonic(), _processor_s(browser.process.pid)


def _processor_s(group: int) -> float:
    """Processor time of all processes of a group so far."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(words[2]) == group:
            ticks += int(words[11]) + int(words[12])
    return ticks / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main(sys.argv[1:])
