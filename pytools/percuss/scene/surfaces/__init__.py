"""Ground and rock from files: meshes (STL, OBJ, PLY) and height fields (ESRI ASCII grid, NPY, CSV).

Read with numpy alone: each format is a page, studies then need no extra, and nothing is repaired on the quiet. A new
format is a file here and a line in `formats`.

    >>> from percuss.scene.surfaces import read_mesh
    >>> wedge = b"v 0 0 0\\nv 1 0 0\\nv 0 1 0\\nv 0 0 1\\nf 1 3 2\\nf 1 2 4\\nf 1 4 3\\nf 2 3 4\\n"
    >>> vertices, triangles = read_mesh("wedge.obj", wedge, unit="dm")
    >>> float(vertices.max()), triangles.tolist()[0]
    (0.1, [0, 2, 1])
"""

from percuss.scene.surfaces.checks import closed_volume, solid_of
from percuss.scene.surfaces.formats import GRIDS, MESHES, Heights, read_heights, read_mesh

__all__ = ["GRIDS", "MESHES", "Heights", "closed_volume", "read_heights", "read_mesh", "solid_of"]
