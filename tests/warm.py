"""Programs that start at once: a process in which percuss is loaded forks for each of them.

Most of what a short command costs is loading Python and libraries. Documents call percuss more than two hundred times,
and how it starts is not their subject. In the folder `bin` of a `Warm`, `percuss` is the installed program and
`run-file` runs a Python file; both hand arguments, folder, environment and streams to the server, and end with the exit
code it returns.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import NoReturn

CLIENT = """#!{python} -IS
import json, os, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
call = json.dumps([sys.argv, os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(server, [len(call).to_bytes(4, "big")], [0, 1, 2])
server.sendall(call)
sys.exit(int(server.recv(4) or b"99"))
"""


class Warm:
    """A server, with its programs in `bin`."""

    def __init__(self, folder: Path) -> None:
        address = str(folder / "socket")
        self.bin = folder / "bin"
        self.bin.mkdir()
        for name in ("percuss", "run-file"):
            (self.bin / name).write_text(CLIENT.format(python=sys.executable, address=address))
            (self.bin / name).chmod(0o755)
        self._process = subprocess.Popen(
            [sys.executable, __file__, address], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n"

    def close(self) -> None:
        """End the server."""
        self._process.kill()
        self._process.communicate()


def _load() -> None:
    """What commands load when they are called. Nothing is computed: threads would not come along."""
    import percuss

    ours = [module.name for module in pkgutil.walk_packages(percuss.__path__, "percuss.")]
    left_out = ("percuss.__main__", "percuss.examples", "percuss.study.templates")
    for name in ("matplotlib.pyplot", "scipy.optimize", "scipy.stats", *ours):
        if not name.startswith(left_out):
            importlib.import_module(name)


def _serve(address: str) -> None:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(64)
    _load()
    gc.freeze()  # else the first collection of each fork copies all of it
    print("ready", flush=True)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # those who answer need not be waited for
    parent = os.getppid()
    listener.settimeout(10)
    while os.getppid() == parent:  # a test run that was killed could not end it
        try:
            caller, _ = listener.accept()
        except TimeoutError:
            continue
        if os.fork() == 0:
            listener.close()
            _answer(caller)
        caller.close()


def _answer(caller: socket.socket) -> NoReturn:
    """Run one call in a process of its own, and return its exit code as a shell gives it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size, streams, _, _ = socket.recv_fds(caller, 4, 3)
    call = b""
    while len(call) < int.from_bytes(size, "big"):
        call += caller.recv(1 << 20)
    child = os.fork()
    if child == 0:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.closerange(3, 256)
        _run(*json.loads(call))
    os.closerange(0, 3)
    for stream in streams:
        os.close(stream)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    caller.sendall(str(code if code >= 0 else 128 - code).encode())
    os._exit(0)


def _run(argv: list[str], folder: str, environment: dict[str, str]) -> NoReturn:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    if Path(argv[0]).name == "run-file":
        argv = argv[1:]
        sys.path[0] = folder
    else:
        argv[0] = str(Path(sys.executable).with_name("percuss"))
    sys.argv[:] = argv
    try:
        runpy.run_path(argv[0], run_name="__main__")
        code = 0
    except SystemExit as way_out:
        code = way_out.code if isinstance(way_out.code, int) else int(way_out.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    # What an interpreter does at its end, without taking apart everything that is loaded.
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(code)


if __name__ == "__main__":
    _serve(sys.argv[1])
