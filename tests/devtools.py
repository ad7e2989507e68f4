"""A browser that is driven: Debian's `chromium` by the DevTools protocol, over a pipe, without network.

One browser serves many pages. What a page complains of is kept in `complaints`.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Self

from tests.cli.browser import BROWSER, FLAGS

SOFTWARE_GL = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
PATIENCE_S = 90.0
# Pixels of a picture; software rendering repeats what is beyond its largest texture.
TALLEST = 8000


class Browser:
    """A tab in a browser of its own; a context manager."""

    def __init__(self, width: int = 1280, height: int = 900) -> None:
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.complaints: list[str] = []
        self.asked = 0
        from_us, to_browser = os.pipe()
        from_browser, to_us = os.pipe()

        def inherit() -> None:
            # The browser reads from 3 and writes to 4; first out of the way of each other.
            read, write = os.dup(from_us), os.dup(to_us)
            os.dup2(read, 3)
            os.dup2(write, 4)

        flags = [flag for flag in FLAGS if flag not in ("--disable-gpu", "--enable-logging=stderr")] + SOFTWARE_GL
        command = [str(BROWSER), *flags, f"--user-data-dir={self.folder.name}/profile", "--remote-debugging-pipe"]
        self.process = subprocess.Popen(
            [*command, "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=(3, 4), preexec_fn=inherit, start_new_session=True,
        )  # fmt: skip
        os.close(from_us)
        os.close(to_us)
        self.to_browser, self.from_browser, self.rest = to_browser, from_browser, b""
        self.session: str | None = None
        pages = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        self.session = self.call("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.to_browser)
        os.close(self.from_browser)
        self.folder.cleanup()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask for something, and wait for the answer."""
        self.asked += 1
        message: dict[str, Any] = {"id": self.asked, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        while True:
            said = self.message()
            if said.get("id") == self.asked:
                if "error" in said:
                    raise RuntimeError(f"{method}: {said['error']['message']}")
                return dict(said["result"])

    def message(self) -> dict[str, Any]:
        """The next thing the browser says."""
        while b"\0" not in self.rest:
            more = os.read(self.from_browser, 1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self.rest += more
        line, self.rest = self.rest.split(b"\0", 1)
        said: dict[str, Any] = json.loads(line)
        self._note(said.get("method", ""), said.get("params", {}))
        return said

    def _note(self, method: str, said: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.complaints.append(said["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        elif method == "Log.entryAdded" and said["entry"]["level"] in ("error", "warning"):
            if "GL Driver Message" not in said["entry"]["text"]:
                self.complaints.append(said["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(a.get("value", a.get("description"))) for a in said["args"]))

    def resize(self, width: int, height: int, scale: float = 1.0, phone: bool = False) -> None:
        """The window of the page."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=phone
        )

    def dark(self, on: bool) -> None:
        """Whether the reader has asked for dark pages."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if on else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, address: str, ready: str = "document.readyState === 'complete'") -> None:
        """Open a page and wait until it is ready."""
        self.call("Page.navigate", url="about:blank")
        self.until("location.href === 'about:blank'")
        self.call("Page.navigate", url=address)
        self.until(f"location.href !== 'about:blank' && ({ready})")

    def run(self, script: str) -> Any:
        """The value of an expression on the page, awaited if it is a promise."""
        done = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in done:
            raise RuntimeError(done["exceptionDetails"].get("exception", {}).get("description", "it threw"))
        return done["result"].get("value")

    def until(self, test: str) -> None:
        """Wait until an expression holds."""
        start = time.monotonic()
        while not self.run(f"Boolean({test})"):
            if time.monotonic() - start > PATIENCE_S:
                raise TimeoutError(test)
            time.sleep(0.02)

    def click(self, selector: str, x: float = 0.5, y: float = 0.5) -> None:
        """Press and release the mouse on an element, at a share of its width and height."""
        place = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            " e.scrollIntoView({block: 'nearest'});"
            " const r = e.getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })()"
        )
        at = {"x": place[0] + x * place[2], "y": place[1] + y * place[3], "button": "left", "clickCount": 1}
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, **at)

    def press(self, key: str) -> None:
        """Press and release a key."""
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                **({"text": key} if len(key) == 1 and kind == "keyDown" else {}),
            )

    def picture(self, path: Path, whole: bool = True) -> None:
        """The page as PNG: as long as it is, in parts if that is longer than `TALLEST`, or what is seen of it."""
        wide, tall, scale = self.run("[innerWidth, document.documentElement.scrollHeight, devicePixelRatio]")
        each = int(TALLEST / scale)
        if not whole or tall <= each:
            shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
            path.write_bytes(base64.b64decode(shot["data"]))
            return
        for number, top in enumerate(range(0, tall, each), 1):
            clip = {"x": 0, "y": top, "width": wide, "height": min(each, tall - top), "scale": 1}
            shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
            part = path if number == 1 else path.with_stem(f"{path.stem}-{number}")
            part.write_bytes(base64.b64decode(shot["data"]))

    def print(self, path: Path) -> None:
        """The page as it is printed."""
        path.write_bytes(
            base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=False)["data"])
        )

    def downloads(self, folder: Path) -> None:
        """Keep what pages hand out in a folder."""
        session, self.session = self.session, None
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder), eventsEnabled=False)
        self.session = session
