"""A film as VTK files for ParaView: one .vtp of bodies and one of contacts a frame, and a .pvd that lists each series.

The XML formats of VTK 1.0 (PolyData, Collection) with binary numbers in base64; nothing of VTK is needed to write them.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy import ndarray

    from percuss.scene.film import Film

_TYPES = {"<f8": "Float64", "<f4": "Float32", "<i8": "Int64", "<i4": "Int32"}


def write_vtk(film: Film, folder: Path, name: str) -> list[Path]:
    """Write the series; returns the two .pvd files, of bodies and of contacts."""
    import numpy as np

    folder.mkdir(parents=True, exist_ok=True)
    series: dict[str, list[str]] = {f"{name}-bodies": [], f"{name}-contacts": []}
    bodies, contacts = series
    speeds = film.speeds_m_per_s
    for frame in range(len(film.times_s)):
        there = [s for s in film.surfaces if not np.isnan(film.positions_m[frame, s.body, 0])]
        loops = [loop for surface in there for loop in surface.loops]
        corners = [film.corners_m(frame, surface) for surface in there]
        starts = np.cumsum([0, *(len(part) for part in corners)])
        owner = np.repeat([s.body for s in there], [len(s.loops) for s in there]).astype("<i4")
        connectivity = [
            start + corner
            for start, surface in zip(starts, there, strict=False)
            for loop in surface.loops
            for corner in loop
        ]
        piece = _piece(
            np.concatenate(corners) if corners else np.empty((0, 3)),
            {"Polys": (connectivity, np.cumsum([len(loop) for loop in loops]))},
            cells={
                "body": owner,
                "speed_m_per_s": speeds[frame, owner].astype("<f4"),
                "velocity_m_per_s": film.velocities_m_per_s[frame, owner].astype("<f4"),
            },
        )
        series[bodies].append(_write(folder, f"{bodies}-{frame:05d}.vtp", piece))
        touching = film.contacts[frame]
        count = np.arange(len(touching.gaps_m))
        piece = _piece(
            touching.places_m,
            {"Verts": (count, count + 1)},
            points={"force_n": touching.forces_n, "gap_m": touching.gaps_m},
        )
        series[contacts].append(_write(folder, f"{contacts}-{frame:05d}.vtp", piece))
    return [_collection(folder / f"{key}.pvd", film.times_s.tolist(), files) for key, files in series.items()]


def _array(name: str, values: Any, kind: str) -> str:
    import numpy as np

    data = np.ascontiguousarray(values, dtype=kind)
    shape = f' NumberOfComponents="{data.shape[1]}"' if data.ndim > 1 else ""
    # One stream: the number of bytes, then the bytes.
    text = base64.b64encode(np.uint64(data.nbytes).tobytes() + data.tobytes()).decode()
    return f'<DataArray type="{_TYPES[kind]}" Name="{name}"{shape} format="binary">{text}</DataArray>'


def _piece(
    places: ndarray,
    cells_of: Mapping[str, tuple[Any, Any]],
    *,
    points: Mapping[str, ndarray] | None = None,
    cells: Mapping[str, ndarray] | None = None,
) -> Iterable[str]:
    counts = {key: len(offsets) for key, (_, offsets) in cells_of.items()}
    yield f'<Piece NumberOfPoints="{len(places)}" NumberOfVerts="{counts.get("Verts", 0)}" NumberOfLines="0" '
    yield f'NumberOfStrips="0" NumberOfPolys="{counts.get("Polys", 0)}">\n'
    for tag, data in (("PointData", points), ("CellData", cells)):
        yield f"<{tag}>"
        yield from (_array(name, values, values.dtype.str) for name, values in (data or {}).items())
        yield f"</{tag}>\n"
    yield f"<Points>{_array('Points', places, '<f8')}</Points>\n"
    for tag, (connectivity, offsets) in cells_of.items():
        yield f"<{tag}>{_array('connectivity', connectivity, '<i8')}{_array('offsets', offsets, '<i8')}</{tag}>\n"
    yield "</Piece>\n"


def _write(folder: Path, name: str, piece: Iterable[str]) -> str:
    head = '<VTKFile type="PolyData" version="1.0" byte_order="LittleEndian" header_type="UInt64">\n<PolyData>\n'
    text = '<?xml version="1.0"?>\n' + head + "".join(piece) + "</PolyData>\n</VTKFile>\n"
    (folder / name).write_text(text)
    return name


def _collection(path: Path, times_s: list[float], files: list[str]) -> Path:
    sets = "".join(
        f'<DataSet timestep="{time!r}" group="" part="0" file="{file}"/>\n'
        for time, file in zip(times_s, files, strict=True)
    )
    path.write_text(
        '<?xml version="1.0"?>\n<VTKFile type="Collection" version="1.0" byte_order="LittleEndian">\n'
        f"<Collection>\n{sets}</Collection>\n</VTKFile>\n"
    )
    return path
