"""Who makes events on this machine: part of every event, information only."""

from __future__ import annotations

import getpass
import socket
from collections.abc import Sequence

from percuss.ledger.event import Maker
from percuss.software import software


def this_maker(arguments: Sequence[str]) -> Maker:
    """The user of this process, with the arguments of the call."""
    try:
        actor = getpass.getuser()
    except (KeyError, OSError):  # a container without an entry for this user
        actor = "unknown"
    # A file name may hold bytes that are no text; events are text throughout.
    argv = (text.encode(errors="surrogateescape").decode(errors="replace") for text in arguments)
    return Maker(("percuss", *argv), actor, socket.gethostname(), software())
