"""The model: what a study says about a program, made into runs."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from percuss.errors import InputError
from percuss.ledger.canonical import sha256_hex
from percuss.models.command.held import held
from percuss.models.command.process import Ended, run_program
from percuss.models.command.results import ResultError, Source, read_results
from percuss.models.command.tables import SEED, is_inside, read_environment, read_inputs, read_quantities, read_texts
from percuss.models.command.template import check_template, render
from percuss.models.model import Done, Failed, Input, Outcome, Quantity, Value
from percuss.settings import SettingsError
from percuss.spelling import shown
from percuss.units import from_si

VERSION_TIMEOUT_S = 60.0
# One thread each: runs are what is done side by side, and sums in another order give other bits.
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Command:
    """A program, described."""

    inputs: Mapping[str, Input]
    quantities: Mapping[str, Quantity]
    units: Mapping[str, str]
    sources: Mapping[str, Source]
    command: tuple[str, ...]
    version: tuple[str, ...]
    files: Mapping[str, bytes]
    templates: Mapping[str, str]
    environment: Mapping[str, str]
    passed: tuple[str, ...]
    writable: tuple[str, ...]
    timeout_s: float
    retries: int
    exit_codes: tuple[int, ...]
    largest_print: int
    largest_file: int
    most_processes: int
    batch: int
    network: bool = False
    consent: bool = False
    kind: str = "command"

    def calls(self) -> list[str]:
        """What would be executed: the call, what it finds in its folder and its environment."""
        lines = [f"command      {shlex.join(self.command)}", f"program      {self._program() or 'not found here'}"]
        if self.version:
            lines.append(f"version      {shlex.join(self.version)}")
        for name, data in [*self.files.items(), *self.templates.items()]:
            lines.append(f"file         {name} ({len(data)} bytes)")
        lines += [f"environment  {name}={value}" for name, value in self.environment.items()]
        lines += [f"environment  {name} as it is here" for name in self.passed]
        words = held().words()
        lines.append(f"writes       {', '.join(['its scratch folder', *self.writable])}")
        lines.append(f"network      {'as it is here' if self.network else 'none'}")
        lines.append(f"held to that by {words['by']}: {words['held']}")
        lines.append(f"not held     {words['not held']}")
        return [*lines, f"limits       {self.timeout_s:g} s, {1 + self.retries} tries"]

    def allowed(self) -> Command:
        """The same, with the consent of the user."""
        return replace(self, consent=True)

    def program(self) -> dict[str, str]:
        """Path, digest and version of the program, as they are on this machine."""
        self._check_consent()
        path = self._path()
        facts = {"path": path, "sha256": _digest(path, *_stamp(path)), "command": shlex.join(self.command)}
        return facts | ({"version": _version(self, path, *_stamp(path))} if self.version else {})

    def run(self, points: Sequence[Mapping[str, Value]], seeds: Sequence[int]) -> list[Outcome]:
        """Run each point in a scratch folder of its own."""
        self._check_consent()
        self._path()
        return [self._one(point, seed) for point, seed in zip(points, seeds, strict=True)]

    def _check_consent(self) -> None:
        if not self.consent:
            raise InputError(
                f"the study wants to run `{shlex.join(self.command)}`, which was not allowed",
                hint="percuss run and percuss simulate show all of it; --allow-command allows it",
            )

    def _one(self, point: Mapping[str, Value], seed: int) -> Outcome:
        values = {name: self._in_unit(name, value) for name, value in point.items()} | {SEED: seed}
        outcome = self._try(values)
        for _ in range(self.retries):
            if isinstance(outcome, Done):
                break
            outcome = self._try(values)
        if isinstance(outcome, Failed) and self.retries:
            head, colon, rest = outcome.reason.partition(":")
            return replace(outcome, reason=f"{head} ({1 + self.retries} tries){colon}{rest}")
        return outcome

    def _in_unit(self, name: str, value: Value) -> Value:
        return value if isinstance(value, str) else from_si(value, self.units[name])

    def _try(self, values: Mapping[str, float | int | str]) -> Outcome:
        with tempfile.TemporaryDirectory(prefix="percuss-run-", ignore_cleanup_errors=True) as name:
            scratch = Path(name)
            texts = {path: render(text, values).encode() for path, text in self.templates.items()}
            _fill(scratch, {**self.files, **texts})
            environment = {key: render(text, values) for key, text in self.environment.items()}
            try:
                ended = self._call([render(item, values) for item in self.command], scratch, environment)
            except OSError as fault:
                return Failed(f"cannot be started: {fault.strerror}")
            printed = {"stdout": ended.stdout, "stderr": ended.stderr}
            if ended.reason:
                return Failed(ended.reason, printed)
            try:
                numbers, curves = read_results(scratch, self.sources, self.largest_file)
            except ResultError as fault:
                return Failed(str(fault), printed)
            return Done(numbers, curves or None, printed=printed)

    def _call(
        self, argv: Sequence[str], scratch: Path, environment: Mapping[str, str], timeout_s: float | None = None
    ) -> Ended:
        folder = str(scratch)
        passed = {name: os.environ[name] for name in self.passed if name in os.environ}
        own = {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "HOME": folder, "TMPDIR": folder}
        return run_program(
            [self._path(), *argv[1:]] if argv[0] == self.command[0] else argv,
            scratch,
            {**own, **THREADS, **passed, **environment},
            timeout_s=timeout_s or self.timeout_s,
            most_printed=self.largest_print,
            largest_file=self.largest_file,
            most_processes=self.most_processes,
            writable=self.writable,
            good_codes=self.exit_codes,
            network=self.network,
            namespaces=held().namespaces,
        )

    def _program(self) -> str | None:
        """Where the program is: a file of the study, or what the search path has under its name."""
        name = self.command[0]
        if name.removeprefix("./") in self.files:
            return f"./{name.removeprefix('./')}"
        if "/" in name and not name.startswith("/"):
            return None
        program = shutil.which(name)
        return program and str(Path(program).absolute())

    def _path(self) -> str:
        path = self._program()
        if path is None:
            raise InputError(f"command: the program `{self.command[0]}` is neither a file of the study nor on the PATH")
        return path


def configure(settings: Mapping[str, Any], files: Mapping[str, bytes]) -> Command:
    """Build the model that cleaned settings describe; every template is checked here, before anything runs."""
    inputs, units = read_inputs(settings["inputs"])
    quantities, sources = read_quantities(settings["quantities"])
    command = read_texts("command", settings["command"], least=1)
    environment = read_environment("environment", settings["environment"])
    passed = read_texts("pass_environment", settings["pass_environment"])
    read_environment("pass_environment", dict.fromkeys(passed, ""))
    writable = read_texts("writable", settings["writable"])
    if not all(path.startswith("/") for path in writable):
        raise SettingsError([("writable", "must be a list of absolute paths")])
    codes = settings["exit_codes"]
    if not codes or not all(type(code) is int and 0 <= code <= 255 for code in codes):
        raise SettingsError([("exit_codes", "must be a list of whole numbers from 0 to 255")])
    if "{{" in command[0]:
        raise SettingsError([("command", "the program itself must not depend on values")])
    for key in ("files", "templates"):
        for path in settings[key]:
            if not is_inside(path):
                raise SettingsError([(key, f"{shown(path)}: must be a path inside the study's folder")])
    templates: dict[str, str] = {}
    for path in settings["templates"]:
        try:
            templates[path] = files[path].decode()
        except UnicodeDecodeError:
            raise SettingsError([("templates", f"{path}: is not UTF-8 text")]) from None
    places = [("command", item) for item in command] + [("environment", text) for text in environment.values()]
    for key, text in [*places, *(("templates", text) for text in templates.values())]:
        try:
            check_template(text, [*inputs, SEED])
        except InputError as fault:
            raise SettingsError([(key, str(fault))]) from None
    return Command(
        inputs,
        quantities,
        units,
        sources,
        command,
        read_texts("version", settings["version"]),
        {path: files[path] for path in settings["files"]},
        templates,
        environment,
        passed,
        writable,
        settings["timeout"],
        settings["retries"],
        tuple(codes),
        settings["largest_print"],
        settings["largest_file"],
        settings["most_processes"],
        settings["batch"],
        settings.get("network", False),
    )


def _fill(scratch: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        path = scratch / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o700)


def _stamp(path: str) -> tuple[int, int]:
    facts = Path(path).stat() if not path.startswith("./") else None
    return (facts.st_mtime_ns, facts.st_size) if facts else (0, 0)


@lru_cache(maxsize=64)
def _digest(path: str, changed: int, size: int) -> str:
    """SHA-256 of a program, read once for as long as it does not change; a file of the study is in its digest."""
    return "" if path.startswith("./") else sha256_hex(Path(path).read_bytes())


_VERSIONS: dict[tuple[object, ...], str] = {}


def _version(model: Command, *key: object) -> str:
    """The first line the version call prints, asked once for as long as the program does not change."""
    known = (model.version, *key)
    if known not in _VERSIONS:
        with tempfile.TemporaryDirectory(prefix="percuss-run-", ignore_cleanup_errors=True) as name:
            _fill(Path(name), model.files)
            try:
                ended = model._call(model.version, Path(name), {}, VERSION_TIMEOUT_S)
                lines = (ended.stdout.strip() or ended.stderr.strip()).splitlines()
                _VERSIONS[known] = ended.reason or (lines[0][:200] if lines else "")
            except OSError as fault:
                _VERSIONS[known] = f"cannot be started: {fault.strerror}"
    return _VERSIONS[known]
