"""The whole ledger as a static site, or served to this machine while it grows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from percuss.session import Session
from percuss.site.build import Site, build_site
from percuss.site.serve import Watched, server
from percuss.work.log import summary


def make_site(session: Session, folder: Path, *, live: bool = False) -> Site:
    """Write a ledger's site, or bring it up to date; nothing is appended."""
    return build_site(session, folder, summary, live=live)


def serve_site(session: Session, folder: Path, port: int, ready: Callable[[str], None]) -> None:
    """Serve the site at 127.0.0.1 until interrupted, writing what is new whenever a page asks for it."""

    def build() -> None:
        session.refresh()
        build_site(session, folder, summary, live=True, audit=False)

    def head() -> str:
        session.ledger.refresh()
        return str(session.ledger.head().hash)

    watched = Watched(head, build)
    watched.current()
    with server(folder, port, watched) as listening:
        ready(f"http://127.0.0.1:{listening.server_address[1]}/index.html")
        try:
            listening.serve_forever()
        except KeyboardInterrupt:
            listening.shutdown()
