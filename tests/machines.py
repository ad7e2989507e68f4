"""Machines to test the ledger on: one whose calls fail, and one whose writers race and whose power is cut.

Both stand in for `percuss.ledger.files.system`, through which every call of the ledger goes.
"""

from __future__ import annotations

import errno
import os
import random
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from percuss.ledger import files, streams

CALLS = (
    "open", "close", "stat", "lstat", "read", "write", "sync", "link", "rename", "unlink", "mkdir", "touch", "names",
)  # fmt: skip
CHANGES = ("link", "rename", "unlink", "mkdir", "write", "close", "sync")


class Quick(files.System):
    """A machine that does not wait for its disk."""

    def sync(self, handle: int) -> None:
        pass


class Failing(Quick):
    """A machine on which one call fails, before it has had its effect or after it."""

    def __init__(self, at: int, fault: int = errno.EIO, *, after: bool = False) -> None:
        super().__init__()
        self.at, self.fault, self.after = at, fault, after
        self.made = 0
        self.failed = ""

    def __getattribute__(self, name: str) -> Any:
        real = super().__getattribute__(name)
        return self._guarded(name, real) if name in CALLS else real

    def _guarded(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            self.made += 1
            if self.made != self.at:
                return real(*args)
            self.failed = f"{name} {args[0]}"
            if self.after and name in CHANGES:
                real(*args)
            elif name == "close":
                real(*args)  # a descriptor is let go of even if closing fails
            raise OSError(self.fault, os.strerror(self.fault))

        return call

    def together(self, paths: Sequence[str]) -> bytes:
        """Not here: call by call, each may fail."""
        raise ValueError


class PowerCut(BaseException):
    """The power went while a writer was at work."""


@dataclass
class _File:
    """A file as the disk would have it: what was synced, and what was only written."""

    synced: bytes = b""
    written: bytes = b""


@dataclass
class Machine:
    """A folder whose writers take turns call by call, as a seed says, and whose disk forgets what was not synced.

    Calls go to a real folder. Beside it is kept what would be left of it after a power cut: of a file what was synced,
    or any beginning of what was written since; of a folder the names at its last sync, and of what happened to each
    name since, any part: one name may come through that was given after another that does not.
    """

    root: Path
    seed: int
    names: dict[Path, dict[str, int | None]] = field(default_factory=dict)  # by folder: file, None for a folder
    pending: list[tuple[Path, str, int | None, bool]] = field(default_factory=list)  # folder, name, file, is there
    files: dict[int, _File] = field(default_factory=dict)
    handles: dict[int, tuple[int | None, Path]] = field(default_factory=dict)
    numbers: dict[int, int] = field(default_factory=dict)  # ours by the inode: the disk gives those out again
    calls: int = 0

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.root.mkdir(parents=True)
        self.names[self.root] = {}
        self.turn = threading.Condition()
        self.waiting: set[int] = set()
        self.running: set[int] = set()
        self.chosen: int | None = None
        self.cut_at: int | None = None
        self.dead = False

    # Taking turns -----------------------------------------------------------------------------------------------------

    def run(
        self, *writers: Callable[[], None], cut_at: int | None = None, kills: Mapping[int, int] | None = None
    ) -> list[BaseException]:
        """Let writers work at once, until all are done or the power is cut; what went wrong with them.

        `kills`: which writer is killed after how many changes of names, before it could sync the last of them.
        """
        self.cut_at, self.dead, self.calls = cut_at, False, 0
        left = dict(kills or {})
        wrong: list[BaseException] = []
        self.running = set(range(len(writers)))
        self.waiting.clear()
        self.chosen = None

        def work(me: int, writer: Callable[[], None]) -> None:
            _SEAT.me, _SEAT.lasting, _SEAT.left = me, set(), left.get(me)
            try:
                self._wait()
                writer()
            except PowerCut:
                pass
            except BaseException as fault:
                wrong.append(fault)
            finally:
                _SEAT.me = None
                with self.turn:
                    self.running.discard(me)
                    self.waiting.discard(me)
                    if self.chosen == me:
                        self.chosen = None
                    self._choose()

        threads = [threading.Thread(target=work, args=item) for item in enumerate(writers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
            assert not thread.is_alive(), f"seed {self.seed}: stuck"
        return wrong

    def _choose(self) -> None:
        """Say whose turn it is, as soon as everybody waits: so that the seed alone decides."""
        if self.chosen is None and self.waiting and self.waiting == self.running:
            self.chosen = self.chance.choice(sorted(self.waiting))
            self.turn.notify_all()

    def _wait(self) -> None:
        me = _SEAT.me
        with self.turn:
            if self.chosen == me:
                self.chosen = None
            self.waiting.add(me)
            self._choose()
            self.turn.wait_for(lambda: self.chosen == me)
            self.waiting.discard(me)
            self.calls += 1
            if _SEAT.left is not None and _SEAT.left <= 0:
                raise PowerCut
            if self.dead or (self.cut_at is not None and self.calls >= self.cut_at):
                self.dead = True
                raise PowerCut

    def step(self) -> None:
        """Before a call: wait for the turn."""
        if getattr(_SEAT, "me", None) is not None:
            self._wait()

    # What the disk has -----------------------------------------------------------------------------------------------

    def change(self, path: Path, inode: int | None, is_there: bool) -> None:
        """Remember that a name was given or taken away and not synced."""
        if getattr(_SEAT, "left", None) is not None:
            _SEAT.left -= 1
        self.pending.append((path.parent, path.name, inode, is_there))

    def sync_folder(self, folder: Path) -> None:
        """All changes of names in a folder so far last."""
        for item in [item for item in self.pending if item[0] == folder]:
            self._keep(item)
            self.pending.remove(item)

    def _keep(self, item: tuple[Path, str, int | None, bool]) -> None:
        folder, name, inode, is_there = item
        held = self.names.setdefault(folder, {})
        if is_there:
            held[name] = inode
            if inode is None:
                self.names.setdefault(folder / name, {})
        else:
            held.pop(name, None)

    def new_file(self, path: Path, data: bytes = b"") -> int:
        """A number for a file that was made."""
        number = len(self.files)
        self.files[number] = _File(data, data)
        self.numbers[path.stat().st_ino] = number
        return number

    def number(self, path: Path) -> int:
        """Our number of a file."""
        return self.numbers[path.stat().st_ino]

    def cut(self, *, lose_all: bool = False) -> None:
        """The power is gone and back: the real folder becomes what the disk has, at worst only what was synced."""
        by_name: dict[tuple[Path, str], list[tuple[Path, str, int | None, bool]]] = {}
        for item in self.pending:
            by_name.setdefault(item[:2], []).append(item)
        for items in () if lose_all else by_name.values():
            for item in items[: self.chance.randrange(len(items) + 1)]:
                self._keep(item)
        shutil.rmtree(self.root)
        held, self.names = self.names, {}
        self.pending.clear()
        self._build(self.root, held)

    def _build(self, folder: Path, held: dict[Path, dict[str, int | None]]) -> None:
        folder.mkdir()
        self.names[folder] = {}
        for name, number in held.get(folder, {}).items():
            path = folder / name
            if number is None:
                self._build(path, held)
                self.names[folder][name] = None
                continue
            file = self.files[number]
            data = file.synced
            if file.written != file.synced:
                data = file.written[: self.chance.randrange(len(file.written) + 1)]
            path.write_bytes(data)
            self.names[folder][name] = self.new_file(path, data)


_SEAT = threading.local()


class Simulated(files.System):
    """The calls of a `Machine`."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    @property
    def lasting(self) -> set[str]:  # type: ignore[override]
        """What this writer has synced: each is a process of its own."""
        if not hasattr(_SEAT, "lasting"):
            _SEAT.lasting = set()
        found: set[str] = _SEAT.lasting
        return found

    def open(self, path: Path, flags: int) -> int:
        self.machine.step()
        handle = super().open(path, flags)
        number = None
        if flags & os.O_CREAT:
            number = self.machine.new_file(path)
            self.machine.change(path, number, True)
        self.machine.handles[handle] = (number, path)
        return handle

    def write(self, handle: int, data: memoryview) -> int:
        self.machine.step()
        # Some of it: the rest takes another call.
        done = super().write(handle, data[: max(1, len(data) // 2)] if len(data) > 2000 else data)
        number, _ = self.machine.handles[handle]
        assert number is not None
        self.machine.files[number].written += bytes(data[:done])
        return done

    def sync(self, handle: int) -> None:
        self.machine.step()
        number, path = self.machine.handles[handle]
        if number is None:
            self.machine.sync_folder(path)
        else:
            self.machine.files[number].synced = self.machine.files[number].written

    def link(self, old: Path, new: Path) -> None:
        self.machine.step()
        super().link(old, new)
        self.machine.change(new, self.machine.number(new), True)

    def rename(self, old: Path, new: Path) -> None:
        self.machine.step()
        super().rename(old, new)
        self.machine.change(new, self.machine.number(new), True)
        self.machine.change(old, None, False)

    def unlink(self, path: Path) -> None:
        self.machine.step()
        super().unlink(path)
        self.machine.change(path, None, False)

    def mkdir(self, path: Path) -> None:
        self.machine.step()
        super().mkdir(path)
        self.machine.change(path, None, True)

    def names(self, folder: Path) -> list[str]:
        self.machine.step()
        return sorted(super().names(folder))

    def read(self, handle: int, size: int) -> bytes:
        self.machine.step()
        return super().read(handle, size)

    def together(self, paths: Sequence[str]) -> bytes:
        """Not here: writers take turns call by call."""
        raise ValueError


@contextmanager
def running(machine: Machine, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """The ledger on this machine. Without the courtesy lock: the link alone must keep the chain right."""

    @contextmanager
    def no_lock(folder: Path) -> Iterator[None]:
        yield

    with patch.context() as inner:
        inner.setattr(files, "system", Simulated(machine))
        inner.setattr(streams, "_courtesy_lock", no_lock)
        yield
