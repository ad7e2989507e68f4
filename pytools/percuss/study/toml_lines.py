"""Find the line of each key of a TOML text: tomllib reads values but forgets where they stood.

The text has already been accepted by tomllib, so the scanner only has to follow TOML's outline (headers,
keys, strings, arrays, inline tables) and never to judge it.
"""

from __future__ import annotations

import re

from percuss.settings import KeyPath

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_SCALAR = re.compile(r"[^,\]}#\n]*")
_STRINGS = (
    re.compile(r'"""(?:[^\\"]++|\\.|"{1,2}(?!"))*+"{3,5}', re.DOTALL),
    re.compile(r"'''(?:[^']++|'{1,2}(?!'))*+'{3,5}", re.DOTALL),
    re.compile(r'"(?:[^"\\\n]++|\\.)*+"'),
    re.compile(r"'[^'\n]*'"),
)


def key_lines(text: str) -> dict[KeyPath, int]:
    """Map the path of every key, table and array element to the line (from 1) where it is first named."""
    return _Scanner(text).scan()


class _Scanner:
    def __init__(self, text: str) -> None:
        # tomllib reads \r\n as \n as well; both end a line.
        self.text, self.at = text, 0
        self.lines: dict[KeyPath, int] = {}
        self.counts: dict[KeyPath, int] = {}
        self._line, self._counted = 1, 0

    def scan(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        while self.skip(_BLANK) < len(self.text):
            if self.text.startswith("[[", self.at):
                table = self.element(self.header(2))
            elif self.text[self.at] == "[":
                table = self.through_arrays(self.header(1))
                self.note(table)
            else:
                self.pair(table)
        return self.lines

    def line(self) -> int:
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        return self._line

    def note(self, path: KeyPath) -> None:
        line = self.line()
        for depth in range(1, len(path) + 1):
            self.lines.setdefault(path[:depth], line)

    def skip(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.at

    def header(self, brackets: int) -> KeyPath:
        self.at += brackets
        key = self.key()
        self.at += brackets
        return key

    def element(self, key: KeyPath) -> KeyPath:
        parent = (*self.through_arrays(key[:-1]), key[-1])
        index = self.counts.get(parent, 0)
        self.counts[parent] = index + 1
        self.note((*parent, index))
        return (*parent, index)

    def through_arrays(self, key: KeyPath) -> KeyPath:
        """A header that passes through an array of tables means its latest element."""
        path: KeyPath = ()
        for part in key:
            path = (*path, part)
            if path in self.counts:
                path = (*path, self.counts[path] - 1)
        return path

    def key(self) -> KeyPath:
        parts: list[str | int] = []
        while True:
            self.skip(_SPACE)
            parts.append(self.part())
            self.skip(_SPACE)
            if not self.text.startswith(".", self.at):
                return tuple(parts)
            self.at += 1

    def part(self) -> str:
        if self.text[self.at] in "\"'":
            raw = self.string()
            return _unquoted(raw)
        start = self.at
        self.skip(_BARE)
        return self.text[start : self.at]

    def string(self) -> str:
        start = self.at
        for pattern in _STRINGS:
            if self.skip(pattern) > start:
                break
        return self.text[start : self.at]

    def pair(self, table: KeyPath) -> None:
        path = (*table, *self.key())
        self.note(path)
        self.at += 1  # the equals sign
        self.value(path)

    def value(self, path: KeyPath) -> None:
        self.skip(_SPACE)
        opening = self.text[self.at]
        if opening in "\"'":
            self.string()
        elif opening == "[":
            self.at += 1
            index = 0
            while not self.closed("]"):
                self.note((*path, index))
                self.value((*path, index))
                index += 1
        elif opening == "{":
            self.at += 1
            while not self.closed("}"):
                self.pair(path)
        else:
            self.skip(_SCALAR)

    def closed(self, bracket: str) -> bool:
        """Skip blanks and a comma; tell whether the bracket closes here, and step over it."""
        self.skip(_BLANK)
        if self.text.startswith(",", self.at):
            self.at += 1
            self.skip(_BLANK)
        if self.text.startswith(bracket, self.at):
            self.at += 1
            return True
        return False


def _unquoted(raw: str) -> str:
    if raw.startswith("'"):
        return raw[1:-1]
    import tomllib

    # An escaped key is rare: let the real parser unescape it.
    return next(iter(tomllib.loads(f"{raw} = 0"))) if "\\" in raw else raw[1:-1]
