"""A real browser for tests of pages: Debian's `chromium` (or another of its names) on PATH, without network."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars",
    "--enable-logging=stderr",
]  # fmt: skip
DARK = "--blink-settings=preferredColorScheme=0"


def browse(page: str, profile: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Start the browser once on a page; it must not complain."""
    done = subprocess.run(
        [str(BROWSER), *FLAGS, f"--user-data-dir={profile}", *words, page], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert not re.findall(r".*CONSOLE.*", done.stderr), done.stderr
    return done


def probe(page: Path, script: str, query: str, profile: Path, *words: str) -> Any:
    """What a script finds on a page of a site, as it is seen by whoever opens the file: put into a copy of the page.

    The script is the body of an async function that returns plain data; it runs when the page is ready. The policy of
    the copy allows it, and nothing else that the page's own does not.
    """
    text = page.read_text()
    text = text.replace("script-src 'self' file:", "script-src 'self' file: 'unsafe-inline'")
    run = """<script>(async () => {
      const until = async test => { for (let i = 0; i < 400 && !test(); i++)
        await new Promise(r => setTimeout(r, 10)); };
      const scripted = document.querySelector("script[src]");
      if (scripted) await until(() => document.documentElement.dataset.ready);
      const answer = document.createElement("pre");
      answer.id = "probe";
      try { answer.textContent = JSON.stringify(await (async () => { BODY })()); }
      catch (fault) { answer.textContent = JSON.stringify({ fault: String(fault) }); }
      document.body.append(answer);
    })();</script></body>"""
    copy = page.with_name(f"probe-{page.name}")
    copy.write_text(text.replace("</body>", run.replace("BODY", script)))
    try:
        said = browse(f"{copy.as_uri()}{query}", profile, "--dump-dom", "--virtual-time-budget=20000", *words)
    finally:
        copy.unlink()
    found = re.search(r'<pre id="probe">(.*?)</pre>', said.stdout, re.DOTALL)
    assert found, said.stdout[:2000]
    return json.loads(found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
