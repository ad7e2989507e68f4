"""Small Parquet files that stand for large tables, as a stranger may send them.

Written by hand, from the specification of Parquet and of the compact protocol of Thrift: one column, a dictionary of
one value, and pages that say "as many of it as follows".
"""

from __future__ import annotations

from percuss.ledger.canonical import sha256_hex
from percuss.ledger.files import BLANK, MARK, check_bytes

INT64, TEXT = 2, 6
I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _number(step: int, kind: int, value: int) -> bytes:
    return bytes([step << 4 | kind]) + _varint(value << 1)


def _text(value: bytes) -> bytes:
    return _varint(len(value)) + value


def _list(step: int, kind: int, *items: bytes) -> bytes:
    assert len(items) < 15
    return bytes([step << 4 | LIST, len(items) << 4 | kind]) + b"".join(items)


def _struct(step: int, body: bytes) -> bytes:
    return bytes([step << 4 | STRUCT]) + body + b"\0"


def _page(kind: int, body: bytes, step: int, values: int, encoding: int) -> bytes:
    head = _number(1, I32, values) + _number(1, I32, encoding)
    head += _number(1, I32, 3) + _number(1, I32, 3) if kind == 0 else b""
    size = _number(1, I32, kind) + _number(1, I32, len(body)) + _number(1, I32, len(body))
    return size + _struct(step, head) + b"\0" + body


def parquet_bomb(rows: int, text: str | None = None, pages: int = 1, named: int | None = None) -> bytes:
    """A file of `rows` equal rows in each of so many pages: zeros, or this text. `named`: rows the footer speaks of."""
    value = bytes(8) if text is None else len(text.encode()).to_bytes(4, "little") + text.encode()
    dictionary = _page(2, value, 4, 1, 0)
    data = _page(0, b"\x01" + _varint(rows << 1) + b"\0", 2, rows, 8) * pages
    total = rows * pages if named is None else named
    kind = INT64 if text is None else TEXT
    root = b"\x48" + _text(b"root") + _number(1, I32, 1) + b"\0"
    leaf = _number(1, I32, kind) + _number(2, I32, 0) + b"\x18" + _text(b"x")
    leaf += (_number(2, I32, 0) if text is not None else b"") + b"\0"
    length = len(dictionary + data)
    column = _number(1, I32, kind) + _list(1, I32, _varint(0), _varint(16)) + _list(1, BINARY, _text(b"x"))
    column += _number(1, I32, 0) + _number(1, I64, total) + _number(1, I64, length) * 2
    column += _number(2, I64, 4 + len(dictionary)) + _number(2, I64, 4)
    chunk = _number(2, I64, 4) + _struct(1, column) + b"\0"
    group = _list(1, STRUCT, chunk) + _number(1, I64, length) + _number(1, I64, total) + b"\0"
    footer = _number(1, I32, 1) + _list(1, STRUCT, root, leaf) + _number(1, I64, total) + _list(1, STRUCT, group)
    footer += _list(1, STRUCT, b"\x18" + _text(MARK) + b"\x18" + _text(BLANK) + b"\0") + b"\0"
    file = b"PAR1" + dictionary + data + footer + len(footer).to_bytes(4, "little") + b"PAR1"
    return resealed(file)


def resealed(data: bytes) -> bytes:
    """Changed bytes with a digest that fits them again, as somebody makes them who knows how."""
    place = data.rfind(MARK) + len(MARK) + 2
    blank = data[:place] + BLANK + data[place + 64 :]
    fitting = blank[:place] + sha256_hex(blank).encode() + blank[place + 64 :]
    return fitting if check_bytes(fitting) else data
