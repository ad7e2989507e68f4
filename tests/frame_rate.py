"""`python -m tests.frame_rate PAGE...`: how fast pages of `percuss view` play without a graphics card.

Frames a second and processor time a frame, at 1280 x 800 in chromium's software GL, over nine seconds of play. On a
busy machine the second is the figure to compare.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.cli.browser import BROWSER, FLAGS

LOOKS, EVERY_MS = 4, 3000
COUNT = """<script>window.drawn = 0; const clear = WebGL2RenderingContext.prototype.clear;
WebGL2RenderingContext.prototype.clear = function (bits) {
  if (bits & 16384) window.drawn++;
  return clear.call(this, bits);
};
</script>"""
PLAY = f"""<script>addEventListener("load", () => setTimeout(() => {{
  const rate = document.getElementById("rate");
  rate.selectedIndex = 0;
  document.getElementById("play").click();
  setInterval(() => console.log(`LOOK ${{window.drawn}} ${{performance.now()}}`), {EVERY_MS});
}}, 1500));</script>"""


def main(pages: list[str]) -> None:
    """Print a line for each page."""
    for page in pages:
        text = Path(page).read_text().replace("<head>", "<head>" + COUNT, 1).replace("</body>", PLAY + "</body>")
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            copy = Path(folder) / "page.html"
            copy.write_text(text)
            first, last = _looks(copy, Path(folder) / "profile")
        frames, seconds = last[0] - first[0], (last[1] - first[1]) / 1000
        size, load = Path(page).stat().st_size / 1e6, os.getloadavg()[0]
        cost = 1000 * (last[2] - first[2]) / max(frames, 1)
        print(f"{page}: {size:.2f} MB, {frames / seconds:.1f} frames/s, {cost:.0f} ms a frame, load {load:.1f}")


def _looks(page: Path, profile: Path) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Frames, time (ms) and processor time (s) at the first and the last look."""
    flags = [flag for flag in FLAGS if flag != "--disable-gpu"]
    flags += ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--window-size=1280,800"]
    command = [str(BROWSER), *flags, f"--user-data-dir={profile}", "--remote-debugging-port=0", page.as_uri()]
    browser = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    seen: list[tuple[float, float, float]] = []
    assert browser.stderr is not None
    try:
        for line in browser.stderr:
            if '"LOOK ' in line:
                frames, when = line.split('"LOOK ')[1].split('"')[0].split()
                seen.append((float(frames), float(when), _processor_s(browser.pid)))
                if len(seen) == LOOKS:
                    break
    finally:
        os.killpg(browser.pid, signal.SIGKILL)
        browser.wait()
    return seen[0], seen[-1]


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
