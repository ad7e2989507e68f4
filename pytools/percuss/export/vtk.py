"""A film as VTK files for ParaView and pyvista: a series of .vtp files and a .pvd that lists it for each thing drawn.

    NAME-bodies     surfaces of the bodies; cells have body, fixed, speed, velocity and normals
    NAME-ground     half-spaces, the same way: apart, so that a viewer that shows all of a file shows the bodies
    NAME-balls      centres of grains and other balls, with their radii: glyphs of spheres, scaled by diameter_m
    NAME-contacts   places of contacts, with force, gap and the two bodies
    NAME-chains     contacts of balls as lines between centres, with the size of the force: tubes
    NAME-links      joints, springs and columns as lines

The XML formats of VTK 1.0 (PolyData, Collection), arrays appended raw and compressed by zlib; nothing of VTK is needed
to write them. Names of bodies and links are in the field data; `body` numbers them from 0.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from percuss.export.player.meshes import UNBOUNDED, face_normals
from percuss.ledger.place import check_outside

if TYPE_CHECKING:
    from numpy import ndarray

    from percuss.scene.film import Film, Surface

_TYPES = {"<f4": "Float32", "<i4": "Int32", "|i1": "Int8"}
# Numbers for the eye are kept to these shares of the size of the scene, and of one: fewer bits compress better.
PLACE_SHARE, NORMAL_STEP = 2.0**-22, 1 / 127
NAME_ARRAY = "names"


@dataclass(frozen=True)
class Piece:
    """A polygon set: points, cells of one sort (their corners and where each ends) and arrays on them."""

    points: Any
    sort: str
    corners: Any
    ends: Any
    on_points: Mapping[str, Any] = field(default_factory=dict)
    on_cells: Mapping[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] = ()


def write_vtk(film: Film, folder: Path, name: str) -> list[Path]:
    """Write every series that the film has something for; returns the .pvd files."""
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^\w. -]", "_", name)  # that of a study, which may be a stranger's and lead elsewhere
    step = _place_step(film)
    written = []
    for what, pieces in _series(film, step).items():
        files = []
        for frame, piece in enumerate(pieces):
            files.append(f"{name}-{what}-{frame:05d}.vtp")
            _write(folder / files[-1], _file(piece))
        written.append(_collection(folder / f"{name}-{what}.pvd", film.times_s.tolist(), files))
    return written


def _series(film: Film, step: float) -> dict[str, Iterator[Piece]]:
    import numpy as np

    frames = range(len(film.times_s))
    balls = np.flatnonzero(~np.isnan(film.radii_m))
    series: dict[str, Iterator[Piece]] = {}
    for what, unbounded in (("bodies", False), ("ground", True)):
        faces = [(s, face_normals(s)) for s in film.surfaces if (s.shape == UNBOUNDED) == unbounded]
        if faces:
            series[what] = map(partial(_bodies, film, step, faces), frames)
    if len(balls):
        series["balls"] = (_balls(film, frame, balls) for frame in frames)
    series["contacts"] = (_contacts(film, frame) for frame in frames)
    if len(balls):
        series["chains"] = (_chains(film, frame) for frame in frames)
    if film.connections:
        series["links"] = (_links(film, frame) for frame in frames)
    return series


def _place_step(film: Film) -> float:
    """The power of two that places are rounded to."""
    import numpy as np

    reach = max((float(np.abs(s.corners_m).max()) for s in film.surfaces), default=0.0)
    return float(
        2.0 ** np.floor(np.log2(max(np.nanmax(np.abs(film.positions_m), initial=0.0) + reach, 1e-12) * PLACE_SHARE))
    )


def _bodies(film: Film, step: float, faces: list[tuple[Surface, ndarray]], frame: int) -> Piece:
    import numpy as np

    there = [(s, n) for s, n in faces if not np.isnan(film.positions_m[frame, s.body, 0])]
    corners = [film.corners_m(frame, surface) for surface, _ in there]
    points = np.concatenate(corners) if corners else np.empty((0, 3))
    starts = np.cumsum([0, *(len(part) for part in corners)])
    owner = np.repeat([s.body for s, _ in there], [len(s.loops) for s, _ in there]).astype(int)
    turned = [n @ film.turn(frame, s.body).T for s, n in there]
    facing = np.concatenate(turned) if turned else np.empty((0, 3))
    return Piece(
        np.round(points / step) * step,
        "Polys",
        [start + corner for start, (s, _) in zip(starts, there, strict=False) for loop in s.loops for corner in loop],
        np.cumsum([len(loop) for s, _ in there for loop in s.loops]),
        on_cells={
            "body": owner,
            "fixed": np.array(film.fixed, "|i1")[owner],
            "speed_m_per_s": film.speeds_m_per_s[frame, owner],
            "velocity_m_per_s": film.velocities_m_per_s[frame, owner],
            "Normals": np.round(facing / NORMAL_STEP) * NORMAL_STEP,
        },
        names=film.names,
    )


def _balls(film: Film, frame: int, balls: ndarray) -> Piece:
    import numpy as np

    there = balls[~np.isnan(film.positions_m[frame, balls, 0])]
    count = np.arange(len(there))
    return Piece(
        film.positions_m[frame, there],
        "Verts",
        count,
        count + 1,
        on_points={
            "body": there.astype(int),
            "radius_m": film.radii_m[there],
            "diameter_m": 2 * film.radii_m[there],
            "speed_m_per_s": film.speeds_m_per_s[frame, there],
            "velocity_m_per_s": film.velocities_m_per_s[frame, there],
            "rotation": film.rotations[frame, there],
        },
        names=film.names,
    )


def _contacts(film: Film, frame: int) -> Piece:
    import numpy as np

    touching = film.contacts[frame]
    count = np.arange(len(touching.gaps_m))
    return Piece(
        touching.places_m,
        "Verts",
        count,
        count + 1,
        on_points={"force_n": touching.forces_n, "gap_m": touching.gaps_m, "bodies": touching.bodies.astype(int)},
        names=film.names,
    )


def _chains(film: Film, frame: int) -> Piece:
    """From the centre of the first ball to as far beyond the contact as the second is large."""
    import numpy as np

    touching = film.contacts[frame]
    first, second = touching.bodies.T
    of_balls = (first >= 0) & ~np.isnan(film.radii_m[first])
    first, second, places = first[of_balls], second[of_balls], touching.places_m[of_balls]
    start = film.positions_m[frame, first]
    arm = places - start
    length = np.maximum(np.linalg.norm(arm, axis=1, keepdims=True), 1e-300)
    beyond = np.where(second >= 0, np.nan_to_num(film.radii_m[second]), 0.0)[:, None]
    points = np.stack([start, places + arm / length * beyond], axis=1).reshape(-1, 3)
    size = np.linalg.norm(touching.forces_n[of_balls], axis=1)
    return Piece(
        points,
        "Lines",
        np.arange(len(points)),
        2 + 2 * np.arange(len(first)),
        on_cells={"force_size_n": size, "bodies": touching.bodies[of_balls]},
        names=film.names,
    )


def _links(film: Film, frame: int) -> Piece:
    import numpy as np

    points = []
    for item in film.connections:
        for body, point in zip(item.bodies, item.points_m, strict=True):
            points.append(
                np.array(point, float)
                if body < 0
                else film.turn(frame, body) @ np.array(point) + film.positions_m[frame, body]
            )
    count = np.arange(len(film.connections))
    return Piece(
        np.array(points),
        "Lines",
        np.arange(len(points)),
        2 + 2 * count,
        on_cells={"link": count},
        names=tuple(f"{item.kind} {item.name}" for item in film.connections),
    )


class _Appended:
    """Arrays one after the other: each a head of block count, sizes, and a zlib stream."""

    def __init__(self) -> None:
        self.data = b""

    def array(self, name: str, values: Any) -> str:
        import numpy as np

        array = np.asarray(values)
        kind = "<f4" if array.dtype.kind == "f" else "|i1" if array.dtype == np.int8 else "<i4"
        content = np.ascontiguousarray(array, dtype=kind).tobytes()
        packed = zlib.compress(content, 6)
        head = [1, len(content), 0, len(packed)] if content else [0, 0, 0]
        tag = f'<DataArray type="{_TYPES[kind]}" Name="{name}"'
        if array.ndim > 1:
            tag += f' NumberOfComponents="{array.shape[1]}"'
        tag += f' format="appended" offset="{len(self.data)}"/>'
        self.data += np.array(head, "<u8").tobytes() + (packed if content else b"")
        return tag


def _file(piece: Piece) -> bytes:
    appended = _Appended()
    cells = len(piece.ends)
    sorts = {sort: cells if sort == piece.sort else 0 for sort in ("Verts", "Lines", "Strips", "Polys")}
    numbers = " ".join(f'NumberOf{sort}="{count}"' for sort, count in sorts.items())
    lines = [
        '<?xml version="1.0"?>',
        '<VTKFile type="PolyData" version="1.0" byte_order="LittleEndian" header_type="UInt64" '
        'compressor="vtkZLibDataCompressor">',
        "<PolyData>",
        _names(piece.names),
        f'<Piece NumberOfPoints="{len(piece.points)}" {numbers}>',
    ]
    for tag, arrays in (("PointData", piece.on_points), ("CellData", piece.on_cells)):
        normals = ' Normals="Normals"' if "Normals" in arrays else ""
        inner = "".join(appended.array(name, values) for name, values in arrays.items())
        lines.append(f"<{tag}{normals}>{inner}</{tag}>")
    lines.append(f"<Points>{appended.array('Points', _floats(piece.points))}</Points>")
    corners, ends = appended.array("connectivity", _whole(piece.corners)), appended.array("offsets", _whole(piece.ends))
    lines.append(f"<{piece.sort}>{corners}{ends}</{piece.sort}>")
    lines += ["</Piece>", "</PolyData>", '<AppendedData encoding="raw">']
    return ("\n".join(lines) + "\n_").encode() + appended.data + b"\n</AppendedData>\n</VTKFile>\n"


def _floats(values: Any) -> ndarray:
    import numpy as np

    return np.asarray(values, float).reshape(-1, 3)


def _whole(values: Any) -> ndarray:
    import numpy as np

    return np.asarray(values, np.int64)


def _names(names: tuple[str, ...]) -> str:
    """Texts as VTK has them: the codes of their bytes, each text closed by a zero."""
    codes = " ".join(" ".join(str(byte) for byte in name.encode()) + " 0" for name in names)
    array = f'<Array type="String" Name="{NAME_ARRAY}" NumberOfTuples="{len(names)}" format="ascii">{codes}</Array>'
    return f"<FieldData>{array}</FieldData>"


def _write(path: Path, data: bytes) -> None:
    check_outside(path)  # links in the folder may lead anywhere
    path.write_bytes(data)


def _collection(path: Path, times_s: list[float], files: list[str]) -> Path:
    sets = "".join(
        f'<DataSet timestep="{time!r}" group="" part="0" file="{file}"/>\n'
        for time, file in zip(times_s, files, strict=True)
    )
    text = (
        '<?xml version="1.0"?>\n<VTKFile type="Collection" version="1.0" byte_order="LittleEndian">\n'
        f"<Collection>\n{sets}</Collection>\n</VTKFile>\n"
    )
    _write(path, text.encode())
    return path
