"""PLY, text and binary of both byte orders: elements `vertex` (x, y, z) and `face` (vertex_indices)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from percuss.errors import InputError
from percuss.scene.surfaces.numbers import Array, fans, floats

_TYPES = {
    **dict.fromkeys(("char", "int8"), "i1"),
    **dict.fromkeys(("uchar", "uint8"), "u1"),
    **dict.fromkeys(("short", "int16"), "i2"),
    **dict.fromkeys(("ushort", "uint16"), "u2"),
    **dict.fromkeys(("int", "int32"), "i4"),
    **dict.fromkeys(("uint", "uint32"), "u4"),
    **dict.fromkeys(("float", "float32"), "f4"),
    **dict.fromkeys(("double", "float64"), "f8"),
}
_ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_CORNERS = ("vertex_indices", "vertex_index")


@dataclass
class _Element:
    """An element of the header: how many, and its properties as (name, type of the count or "", type)."""

    name: str
    count: int
    properties: list[tuple[str, str, str]] = field(default_factory=list)


def read(data: bytes) -> tuple[Array, Array]:
    """Vertices and triangles; faces of more corners are cut into triangles."""
    order, elements, start = _header(data)
    body = data[start:]
    tables = _text(body, elements) if order == "" else _binary(body, elements, order)
    if not {"vertex", "face"} <= set(tables):
        raise InputError("has no element `vertex` or no element `face`")
    vertices = tables["vertex"]
    if not {"x", "y", "z"} <= set(vertices):
        raise InputError("element `vertex` has no properties x, y and z")
    corners = next((tables["face"][name] for name in _CORNERS if name in tables["face"]), None)
    if corners is None:
        raise InputError("element `face` has no list vertex_indices")
    places = np.column_stack([np.asarray(vertices[k], np.float64) for k in "xyz"])
    return places, corners if isinstance(corners, np.ndarray) else fans(corners, places)


def _header(data: bytes) -> tuple[str, list[_Element], int]:
    end = data.find(b"end_header")
    stop = data.find(b"\n", end)
    if not data.startswith(b"ply") or end < 0 or stop < 0:
        raise InputError("is no PLY file: it must begin with `ply` and have a line `end_header`")
    order, elements = None, []
    for line in data[:end].decode("ascii", "replace").splitlines()[1:]:
        match line.split():
            case ["format", name, _] if name in _ORDERS:
                order = _ORDERS[name]
            case ["element", name, count] if count.isdigit():
                elements.append(_Element(name, int(count)))
            case ["property", "list", count, kind, name] if elements and {count, kind} <= set(_TYPES):
                if name in _CORNERS and _TYPES[kind].startswith("f"):
                    raise InputError(f"its list {name} holds {kind}: must hold whole numbers")
                elements[-1].properties.append((name, _TYPES[count], _TYPES[kind]))
            case ["property", kind, name] if elements and kind in _TYPES:
                elements[-1].properties.append((name, "", _TYPES[kind]))
            case [] | ["comment" | "obj_info", *_]:
                pass
            case _:
                raise InputError(f"header line `{line.strip()[:60]}` is not understood")
    for names in ([element.name for element in elements], *([p[0] for p in e.properties] for e in elements)):
        if len(set(names)) < len(names):
            raise InputError(f"its header names {next(name for name in names if names.count(name) > 1)} twice")
    if order is None:
        raise InputError(f"its header names no format of {', '.join(_ORDERS)}")
    return order, elements, stop + 1


def _short(element: _Element) -> InputError:
    return InputError(f"ends before its {element.count} elements `{element.name}` do")


def _more(what: str) -> InputError:
    return InputError(f"{what} than its header says")


def _text(body: bytes, elements: list[_Element]) -> dict[str, dict[str, Any]]:
    lines = [line for line in body.splitlines() if line.strip()]
    tables: dict[str, dict[str, Any]] = {}
    for element in elements:
        own, lines = lines[: element.count], lines[element.count :]
        if len(own) < element.count:
            raise _short(element)
        if any(count for _, count, _ in element.properties):
            tables[element.name] = _text_lists(own, element)
            continue
        words = b" ".join(own).split()
        if len(words) != element.count * len(element.properties):
            raise InputError(f"its lines of `{element.name}` do not have {len(element.properties)} numbers each")
        table = floats(words, element.name).reshape(element.count, -1)
        tables[element.name] = {name: table[:, k] for k, (name, _, _) in enumerate(element.properties)}
    if lines:
        raise _more(f"has {len(lines)} lines more")
    return tables


def _text_lists(lines: list[bytes], element: _Element) -> dict[str, Any]:
    columns: dict[str, list[Any]] = {name: [] for name, _, _ in element.properties}
    for number, line in enumerate(lines):
        try:
            words = [float(word) for word in line.split()]
            at = 0
            for name, count, _ in element.properties:
                size = int(words[at]) if count else 1
                at += 1 if count else 0
                values = words[at : at + size]
                if size < 0 or len(values) < size:
                    raise ValueError
                if count and not all(value.is_integer() for value in values):
                    raise ValueError
                columns[name].append([int(v) for v in values] if count else values[0])
                at += size
            if at < len(words):
                raise ValueError
        except (ValueError, IndexError, OverflowError):
            raise InputError(
                f"{element.name} {number}: `{line.decode(errors='replace')[:60]}` is not understood"
            ) from None
    return columns


def _binary(body: bytes, elements: list[_Element], order: str) -> dict[str, dict[str, Any]]:
    tables: dict[str, dict[str, Any]] = {}
    at = 0
    for element in elements:
        lists = [p for p in element.properties if p[1]]
        # In one look where no list comes, or all lists have three values: they do in most files.
        kind = np.dtype(
            [
                field
                for name, count, type_ in element.properties
                for field in (
                    [(f"{name} count", order + count), (name, order + type_, 3)] if count else [(name, order + type_)]
                )
            ]
        )
        size = kind.itemsize * element.count
        if size <= len(body) - at:
            table = np.frombuffer(body, kind, element.count, at)
            if all((table[f"{name} count"] == 3).all() for name, _, _ in lists):
                tables[element.name] = {name: _whole(table[name]) for name, _, _ in element.properties}
                at += size
                continue
        if not lists:
            raise _short(element)
        tables[element.name], at = _binary_lists(body, at, element, order)
    # A line end at the end of the file is none of its data.
    if body[at:].strip():
        raise _more(f"has {len(body) - at} bytes more")
    return tables


def _whole(column: Array) -> Array:
    return column.astype(np.int64) if column.dtype.kind in "iu" else column


def _binary_lists(body: bytes, at: int, element: _Element, order: str) -> tuple[dict[str, Any], int]:
    columns: dict[str, list[Any]] = {name: [] for name, _, _ in element.properties}
    try:
        for _ in range(element.count):
            for name, count, type_ in element.properties:
                size = 1
                if count:
                    size = int(np.frombuffer(body, order + count, 1, at)[0])
                    if size < 0:
                        raise InputError(f"a list {name} of its elements `{element.name}` has {size} values")
                    at += np.dtype(count).itemsize
                values = np.frombuffer(body, order + type_, size, at).tolist()
                at += size * np.dtype(type_).itemsize
                columns[name].append(values if count else values[0])
    except InputError:
        raise
    except (ValueError, IndexError):
        raise _short(element) from None
    return columns, at
