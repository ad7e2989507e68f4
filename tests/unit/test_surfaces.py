"""Surfaces from files: every format against closed forms, and every bad file in one sentence."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from percuss.errors import InputError
from percuss.scene import Body, Contactor, HeightField, Law, Mesh, PointProbe, Polyhedron, Scene, Settings, Sphere
from percuss.scene.surfaces import closed_volume, read_heights, read_mesh, solid_of

# A box 1 x 2 x 3, faces outwards, as quads; corner k has bit i of k for its side of axis i.
QUADS = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]]
CORNERS = np.array([[k & 1, 2 * (k >> 1 & 1), 3 * (k >> 2)] for k in range(8)], dtype=float)
TRIANGLES = np.array([t for a, b, c, d in QUADS for t in ([a, b, c], [a, c, d])])


def text_stl() -> bytes:
    lines = ["solid box"]
    for t in TRIANGLES:
        lines += ["facet normal 0 0 0", " outer loop"]
        lines += [f"  vertex {x:g} {y:g} {z:g}" for x, y, z in CORNERS[t]]
        lines += [" endloop", "endfacet"]
    return "\n".join([*lines, "endsolid box"]).encode()


def binary_stl(normal: tuple[float, float, float] = (0, 0, 0), head: bytes = b"solid but binary") -> bytes:
    facets = [struct.pack("<12fH", *normal, *CORNERS[t].ravel(), 0) for t in TRIANGLES]
    return head.ljust(80) + struct.pack("<I", len(facets)) + b"".join(facets)


def obj() -> bytes:
    lines = [f"v {x:g} {y:g} {z:g}" for x, y, z in CORNERS]
    lines += ["vn 0 0 1", "g box"] + ["f " + " ".join(f"{k + 1}//1" for k in quad) for quad in QUADS[:3]]
    return "\n".join(lines + ["f " + " ".join(str(k - 8) for k in quad) for quad in QUADS[3:]]).encode()


def ply(form: str, faces: list[list[int]] | None = None) -> bytes:
    faces = QUADS if faces is None else faces
    head = (
        f"ply\nformat {form} 1.0\ncomment by hand\nelement vertex 8\nproperty float x\nproperty double y\n"
        f"property float z\nproperty uchar red\n"
        f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    ).encode()
    if form == "ascii":
        rows = [f"{x:g} {y:g} {z:g} 255" for x, y, z in CORNERS] + [" ".join(map(str, [len(f), *f])) for f in faces]
        return head + "\n".join(rows).encode()
    order = "<" if "little" in form else ">"
    vertices = b"".join(struct.pack(order + "fdfB", *corner, 255) for corner in CORNERS)
    return head + vertices + b"".join(struct.pack(f"{order}B{len(f)}i", len(f), *f) for f in faces)


FILES = {
    "text.stl": text_stl(),
    "binary.STL": binary_stl(),
    "box.obj": obj(),
    "comments.obj": obj().replace(b"\n", b" # by hand\n"),
    "line end.ply": ply("binary_little_endian") + b"\r\n",
    "text.ply": ply("ascii"),
    "quads.ply": ply("binary_little_endian"),
    "triangles.ply": ply("binary_big_endian", TRIANGLES.tolist()),
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_box(name: str) -> None:
    vertices, triangles = read_mesh(name, FILES[name], "cm")
    assert len(vertices) == 8 and len(triangles) == 12
    assert closed_volume(vertices, triangles) == pytest.approx(6e-6, rel=1e-14)
    mass, centre, inertia = solid_of(vertices, triangles, 2000.0)
    assert mass == pytest.approx(12e-3, rel=1e-14)
    assert centre == pytest.approx([0.005, 0.01, 0.015], rel=1e-13)
    expected = np.diag([4 + 9, 1 + 9, 1 + 4]) * 1e-4 * mass / 12
    assert inertia == pytest.approx(expected, rel=1e-12, abs=1e-18)


def test_a_solid_that_is_not_convex_has_its_own_inertia() -> None:
    # A cube of side 2 with a cube of side 1 taken out of its middle: a shell of two surfaces.
    cube = np.array([[k & 1, k >> 1 & 1, k >> 2] for k in range(8)], dtype=float) - 0.5
    vertices = np.concatenate([2 * cube, cube]) + np.array([3.0, -1.0, 0.5])
    triangles = np.concatenate([TRIANGLES, TRIANGLES[:, ::-1] + 8])
    mass, centre, inertia = solid_of(vertices, triangles, 3.0)
    assert mass == pytest.approx(21.0) and centre == pytest.approx([3.0, -1.0, 0.5])
    assert inertia == pytest.approx(np.eye(3) * 3.0 * (8 * 4 - 1 * 1) / 6, abs=1e-12)


def test_the_hull_of_a_file_is_a_body_with_its_mass(tmp_path: Any) -> None:
    (tmp_path / "rock.ply").write_bytes(FILES["quads.ply"])
    rock = Polyhedron.from_file(tmp_path / "rock.ply", "m")
    mesh = Mesh.from_file(tmp_path / "rock.ply")
    assert mesh.solid(2.0)["mass_kg"] == pytest.approx(12.0)
    ground = Body("ground", [Contactor(HeightField((10, 10), [[0, 0], [0, 0]]), "g", (-5, -5, 0))], fixed=True)
    body = Body("rock", [Contactor(rock, "r")], density_kg_per_m3=2.0, position_m=(0, 0, 0.0))
    scene = Scene([ground, body], [Law(("g", "r"), friction=0.5)], probes=[PointProbe("rock", "rock")])
    result = scene.run(0.05, Settings(dt_s=1e-3))
    assert abs(float(result.probes["rock"]["z_m"][-1])) < 1e-6


def asc(heights: Any, cellsize: float = 2.0, nodata: float = -9999) -> bytes:
    rows = np.asarray(heights)[::-1]
    head = (
        f"ncols {rows.shape[1]}\nnrows {rows.shape[0]}\nxllcorner 2600000\nyllcorner 1200000\ncellsize {cellsize:g}\n"
    )
    return (head + f"NODATA_value {nodata:g}\n" + "\n".join(" ".join(map(repr, r)) for r in rows.tolist())).encode()


def npy(table: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, table)
    return stream.getvalue()


HEIGHTS = np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize(
    ("name", "data", "spacing"),
    [
        ("slope.asc", asc(HEIGHTS), None),
        ("slope.npy", npy(HEIGHTS), (0.002, 0.002)),
        ("fortran.npy", npy(np.asfortranarray(HEIGHTS.astype("<f4"))), (0.002, 0.002)),
        ("slope.csv", "\n".join(",".join(map(str, r)) for r in HEIGHTS.tolist()).encode(), (0.002, 0.002)),
        ("semicolons.csv", "\n".join(";".join(map(str, r)) for r in HEIGHTS.tolist()).encode(), (0.002, 0.002)),
    ],
)
def test_every_grid_gives_the_same_ground(name: str, data: bytes, spacing: Any) -> None:
    found = read_heights(name, data, "mm", spacing)
    assert found.spacing_m == pytest.approx((0.002, 0.002), rel=1e-15)
    assert np.array_equal(found.heights_m, HEIGHTS / 1000)


def rolled(shape: Any) -> tuple[float, float]:
    """How far a ball without slip rolls down 20 degrees in 0.4 s, and how far it should."""
    angle, radius = np.radians(20.0), 0.1
    start = (2.0 + radius * np.sin(angle), 1.0, 4.0 - 2.0 * np.tan(angle) + radius * np.cos(angle))
    ground = Body("ground", [Contactor(shape, "ground")], fixed=True)
    ball = Body("ball", [Contactor(Sphere(radius), "ball")], density_kg_per_m3=2000.0, position_m=start)
    scene = Scene([ground, ball], [Law(("ground", "ball"), friction=0.6)], probes=[PointProbe("ball", "ball")])
    probe = scene.run(0.4, Settings(dt_s=5e-4)).probes["ball"]
    way = float(probe["x_m"][-1] - start[0]) / np.cos(angle)
    return way, 0.5 * (5 / 7) * 9.80665 * np.sin(angle) * 0.4**2


def test_a_ball_rolls_down_a_grid_as_down_a_plane(tmp_path: Any) -> None:
    x = np.arange(0.0, 8.01, 0.25)
    slope = np.tile(4.0 - x * np.tan(np.radians(20.0)), (9, 1))
    (tmp_path / "slope.asc").write_bytes(asc(slope, 0.25))
    way, exact = rolled(HeightField.from_file(tmp_path / "slope.asc"))
    # First order in the step: 0.4 s in 800 steps.
    assert way == pytest.approx(exact, rel=3e-3)
    # With a hole far from the ball the ground is a mesh, and the ball does the same.
    slope[8, 30] = np.nan
    (tmp_path / "hole.npy").write_bytes(npy(slope))
    holed = HeightField.from_file(tmp_path / "hole.npy", spacing_m=(0.25, 0.25), nodata="hole")
    assert isinstance(holed, Mesh)
    assert rolled(holed)[0] == pytest.approx(way, rel=1e-12)


def turned(k: int) -> list[list[int]]:
    return [t if i != k else t[::-1] for i, t in enumerate(TRIANGLES.tolist())]


def soup(triangles: list[list[int]], moved_m: float = 0.0, first: int = 0) -> bytes:
    """As OBJ, each triangle with vertices of its own."""
    corners = [CORNERS[k] + (moved_m, 0, 0) for t in triangles for k in t]
    lines = [f"v {x:g} {y:g} {z:g}" for x, y, z in corners]
    return "\n".join(
        [*lines, *(f"f {k} {k + 1} {k + 2}" for k in range(first + 1, first + len(lines), 3)), ""]
    ).encode()


OUTWARDS = TRIANGLES.tolist()
INWARDS = [t[::-1] for t in OUTWARDS]
# The ground that two triangles make is open.
GROUND = b"v -9 -9 0\nv 9 -9 0\nv 9 9 0\nv -9 9 0\nf 1 2 3\nf 1 3 4\n"

BAD: dict[str, tuple[Callable[[], object], str]] = {
    "ending": (lambda: read_mesh("a.3ds", b""), "`a.3ds`: ends in `.3ds`: must be one of .stl, .obj, .ply"),
    "unit": (lambda: read_mesh("a.obj", obj(), "kg"), "`a.obj`: unit = 'kg' is no unit of length"),
    "short stl": (
        lambda: read_mesh("a.stl", binary_stl()[:-1]),
        "says 12 triangles, which take 684 bytes, and has 683",
    ),
    "no stl": (lambda: read_mesh("a.stl", b"GIF89a"), "has 6 bytes: a binary STL file has at least 84"),
    "stl word": (
        lambda: read_mesh("a.stl", text_stl().replace(b"vertex 1 0 0", b"vertex 1 O 0")),
        "vertex: `O` is no number",
    ),
    "stl vertices": (
        lambda: read_mesh("a.stl", text_stl().replace(b"vertex 1 0 0", b"", 1)),
        "has 35 vertices for 12 facets",
    ),
    "stl facet": (
        lambda: read_mesh(
            "a.stl",
            b"solid\nfacet normal 0 0 0\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nvertex 1 1 0\n"
            b"facet normal 0 0 0\nvertex 5 0 0\nvertex 6 0 0\nendsolid",
        ),
        "triangle 1 has not three vertices",
    ),
    "stl end": (
        lambda: read_mesh("a.stl", text_stl().replace(b"endsolid box", b"")),
        "does not end with `endsolid`: its end is missing",
    ),
    "ply corners": (
        lambda: read_mesh("a.ply", ply("ascii").replace(b"4 0 4 6 2", b"0")),
        "face 0 has 0 corners: a face needs three or more",
    ),
    "obj not convex": (
        lambda: read_mesh("a.obj", b"v 3 0 0\nv 1 1 0\nv 0 3 0\nv 0 0 0\nv 9 9 9\nf 2 1 5\nf 1 2 3 4"),
        "face 1 with 4 corners cannot be cut into triangles from its first corner, as it is not convex",
    ),
    "stl normal": (
        lambda: read_mesh("a.stl", binary_stl((1.0, 0.0, 0.0))),
        "triangle 0: its normal points to the side from which its corners run clockwise (2 of 12",
    ),
    "turned": (
        lambda: read_mesh("a.ply", ply("ascii", turned(5))),
        "`a.ply`: triangles 0 and 5 face opposite sides",
    ),
    "inwards": (
        lambda: read_mesh("a.ply", ply("ascii", [t[::-1] for t in TRIANGLES.tolist()])),
        "`a.ply`: its triangles face inwards: turn them, by `reverse`",
    ),
    "turned soup": (lambda: read_mesh("a.obj", soup(turned(5))), "`a.obj`: triangles 0 and 5 face opposite sides"),
    "inwards soup": (lambda: read_mesh("a.obj", soup(INWARDS)), "`a.obj`: its triangles face inwards"),
    "inwards piece": (
        lambda: read_mesh("a.obj", soup(OUTWARDS) + soup(INWARDS, 9.0, 36)),
        "the closed piece with triangle 12 faces inwards and lies in no other",
    ),
    "inwards on ground": (
        lambda: read_mesh("a.obj", GROUND + soup(INWARDS, 1.0, 4)),
        "the closed piece with triangle 2 faces inwards and lies in no other",
    ),
    "flat": (
        lambda: read_mesh("a.ply", ply("ascii", [*TRIANGLES.tolist(), [0, 1, 1]])),
        "`a.ply`: triangle 12 has no area (1 of 13 have none)",
    ),
    "vertex": (
        lambda: read_mesh("a.ply", ply("ascii", [[0, 1, 8]])),
        "`a.ply`: triangle 0 names a vertex that does not exist: there are 8",
    ),
    "no triangle": (lambda: read_mesh("a.ply", ply("ascii", [])), "has no triangle"),
    "obj zero": (lambda: read_mesh("a.obj", b"v 0 0 0\nf 0 1 2"), "line 2: vertex 0; OBJ counts from 1"),
    "obj number": (
        lambda: read_mesh("a.obj", b"v 0 0 0\nf 1 1 99999999999999999999"),
        "face 0 names a vertex that does not exist: there are 1",
    ),
    "obj line": (lambda: read_mesh("a.obj", b"v 0 0"), "line 1: `v` needs three coordinates"),
    "obj far": (
        lambda: read_mesh("a.obj", b"v 0 0 1e300\nv 1 0 0\nv 0 1 0\nf 1 2 3"),
        "vertex 0 lies 1e+300 m away, at most 1e+09 m are allowed: is the unit right?",
    ),
    "obj nan": (lambda: read_mesh("a.obj", b"v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3"), "vertex 0 is not finite"),
    "ply head": (lambda: read_mesh("a.ply", b"ply\nformat ascii 1.0\nelement vertex"), "is no PLY file"),
    "ply property": (
        lambda: read_mesh("a.ply", ply("ascii").replace(b"uchar red", b"colour red")),
        "header line `property colour red` is not understood",
    ),
    "ply twice": (
        lambda: read_mesh("a.ply", ply("binary_little_endian").replace(b"double y", b"double x")),
        "its header names x twice",
    ),
    "ply part": (
        lambda: read_mesh("a.ply", ply("ascii").replace(b"4 0 4 6 2", b"4 0 4 6 2.5")),
        "face 0: `4 0 4 6 2.5`",
    ),
    "ply short": (
        lambda: read_mesh("a.ply", ply("binary_little_endian")[:-3]),
        "ends before its 6 elements `face` do",
    ),
    "ply text": (lambda: read_mesh("a.ply", ply("ascii").replace(b"4 0 4 6 2", b"4 0 4 6")), "face 0: `4 0 4 6`"),
    "ply long text": (lambda: read_mesh("a.ply", ply("ascii") + b"\n3 0 1 2"), "has 1 lines more than its header says"),
    "ply long line": (
        lambda: read_mesh("a.ply", ply("ascii").replace(b"4 0 4 6 2", b"4 0 4 6 2 1")),
        "face 0: `4 0 4 6 2 1`",
    ),
    "ply long": (
        lambda: read_mesh("a.ply", ply("binary_big_endian") + b"more"),
        "has 4 bytes more than its header says",
    ),
    "ply minus": (
        lambda: read_mesh("a.ply", ply("binary_big_endian").replace(b"list uchar", b"list char")[:-17] + b"\xff" * 17),
        "a list vertex_indices of its elements `face` has -1 values",
    ),
    "ply float corners": (
        lambda: read_mesh("a.ply", ply("binary_big_endian").replace(b"uchar int", b"uchar float")),
        "its list vertex_indices holds float: must hold whole numbers",
    ),
    "binary obj": (lambda: read_mesh("a.obj", b"\xff\xfe\x00"), "is not UTF-8 text"),
    "asc head": (lambda: read_heights("a.asc", b"1 2 3"), "its header gives no whole number `ncols`"),
    "asc count": (lambda: read_heights("a.asc", asc(HEIGHTS) + b" 7"), "has 13 heights for 4 x 3 cells"),
    "asc spacing": (
        lambda: read_heights("a.asc", asc(HEIGHTS), "m", (1.0, 1.0)),
        "has a spacing of its own, 2 and 2 m: leave out `spacing`",
    ),
    "no spacing": (
        lambda: read_heights("a.npy", npy(HEIGHTS)),
        "`a.npy`: states no grid spacing: give it with `spacing`",
    ),
    "nodata": (
        lambda: read_heights("a.asc", asc([[1.0, -9999], [1.0, 1.0]])),
        "1 of 4 points have no height, the first at row 0, column 1 from y = 0 and x = 0",
    ),
    "nodata rounded": (
        lambda: read_heights("a.asc", asc([[1.0, -9999.0001], [1.0, 1.0]])),
        "1 of 4 points have no height, the first at row 0, column 1 from y = 0 and x = 0",
    ),
    "far": (
        lambda: read_heights("a.asc", asc([[1.0, -1e38], [1.0, 1.0]])),
        "the height at row 0, column 1 from y = 0 and x = 0 is -1e+38 m, at most 1e+09 m are allowed",
    ),
    "spacing": (
        lambda: read_heights("a.npy", npy(HEIGHTS), "m", (1.0, -1.0)),
        "its points are 1 and -1 m apart: must be above 0",
    ),
    "csv points": (
        lambda: read_heights("a.csv", b"0,0,1\n1,0,2\n0,1,3\n1,1,4\n", "m", (1.0, 1.0)),
        "is a list of points x, y, z",
    ),
    "nothing left": (
        lambda: read_heights("a.asc", asc([[1.0, -9999], [-9999, 1.0]]), nodata="hole"),
        "no ground is left",
    ),
    "objects": (
        lambda: read_heights("a.npy", npy(np.array([[None, 1]], dtype=object)), "m", (1.0, 1.0)),
        "holds 2 dimensions of object",
    ),
    "huge": (
        lambda: read_heights("a.npy", npy(HEIGHTS).replace(b"(3, 4)", b"(3000000000, 4)"), "m", (1.0, 1.0)),
        "is no NPY file|numbers take others",
    ),
    "csv rows": (lambda: read_heights("a.csv", b"1,2\n3", "m", (1.0, 1.0)), "row 2 has 1 fields, the first 2"),
    "csv head": (lambda: read_heights("a.csv", b"x,y\n1,2\n3,4", "m", (1.0, 1.0)), "`x` is no number"),
    "one row": (lambda: read_heights("a.csv", b"1,2", "m", (1.0, 1.0)), "2 columns and 1 rows"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_in_one_sentence(name: str) -> None:
    call, words = BAD[name]
    with pytest.raises(InputError) as refused:
        call()
    said = str(refused.value)
    assert any(part in said for part in words.split("|")) and "\n" not in said and said.startswith("`a.")


def test_a_cavity_faces_inwards() -> None:
    around = b"".join(b"v %d %d %d\n" % (20 * (k & 1) - 9, 20 * (k >> 1 & 1) - 9, 20 * (k >> 2) - 9) for k in range(8))
    around += b"".join(b"f %d %d %d\n" % tuple(k + 1 for k in t) for t in OUTWARDS)
    hollow = read_mesh("a.obj", around + soup(INWARDS, 1.0, 8))
    assert closed_volume(*hollow) == pytest.approx(8000.0 - 6.0)
    assert len(hollow[0]) == 16  # those of each corner are one


def test_what_faces_inwards_can_be_turned() -> None:
    inwards = ply("ascii", [t[::-1] for t in TRIANGLES.tolist()])
    assert closed_volume(*read_mesh("a.ply", inwards, reverse=True)) == pytest.approx(6.0)
