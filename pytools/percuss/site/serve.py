"""The site served to this machine alone, and rewritten when the ledger has grown: for watching a campaign."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from percuss.errors import InputError

ADDRESS = "127.0.0.1"


class Watched:
    """A site whose ledger is looked at when somebody asks: at most one at a time writes."""

    def __init__(self, head: Callable[[], str], build: Callable[[], object]) -> None:
        self._head, self._build = head, build
        self._lock = threading.Lock()
        self._known = ""

    def current(self) -> str:
        """The head of the ledger, with the site brought up to it."""
        head = self._head()
        if head != self._known and self._lock.acquire(blocking=False):
            try:
                self._build()
                self._known = head
            finally:
                self._lock.release()
        return self._known


class Handler(SimpleHTTPRequestHandler):
    """Files of the folder, and `/head`: what the pages ask to learn whether there is more."""

    def __init__(self, *arguments: object, watched: Watched, **options: object) -> None:
        self.watched = watched
        super().__init__(*arguments, **options)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """Answer; only names of this machine are answered to, so that no page elsewhere can ask by another name."""
        host = (self.headers.get("Host") or "").rsplit(":", 1)[0]
        if host not in (ADDRESS, "localhost"):
            self.send_error(HTTPStatus.FORBIDDEN)
            return
        if self.path == "/head":
            text = self.watched.current().encode()
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", "text/plain")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)
            return
        super().do_GET()

    def end_headers(self) -> None:
        """Nothing is kept by the browser: the next look may find it changed."""
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def list_directory(self, path: object) -> None:
        """Folders are not listed."""
        self.send_error(HTTPStatus.NOT_FOUND)

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing is said of requests."""


def server(folder: Path, port: int, watched: Watched) -> ThreadingHTTPServer:
    """A server of this machine alone, ready to run; port 0: any that is free."""
    try:
        return ThreadingHTTPServer((ADDRESS, port), partial(Handler, directory=str(folder), watched=watched))
    except (OSError, OverflowError) as fault:
        raise InputError(f"--port {port}: cannot be listened on ({fault})") from fault
