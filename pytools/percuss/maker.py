"""Who makes events on this machine: part of every event, information only."""

from __future__ import annotations

import getpass
import socket
from collections.abc import Sequence

from percuss.ledger.calls import OpenCall
from percuss.ledger.event import Maker
from percuss.software import software


def this_maker(
    arguments: Sequence[str], call: OpenCall | None = None, identity: str = "", host: str = "", private: bool = False
) -> Maker:
    """Who makes events by this call, and where: `identity` and `host` if set, else the user and the machine."""
    try:
        actor = identity or getpass.getuser()
    except (KeyError, OSError):  # a container without an entry for this user
        actor = "unknown"
    call = call or OpenCall("python", "", [])
    # A file name may hold bytes that are no text; events are text throughout.
    argv = (text.encode(errors="surrogateescape").decode(errors="replace") for text in arguments)
    return Maker(("percuss", *argv), actor, host or socket.gethostname(), software(), call, _environment, private)


def _environment() -> bytes:
    """The record of the environment: looked up when something is appended, for that loads numpy."""
    from percuss.environment import environment_record

    return environment_record()
