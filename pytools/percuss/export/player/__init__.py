"""A film as one HTML page that plays it: WebGL 2, no file beside it, nothing fetched.

What bodies look like is stored once for all that look the same, and numbers as `packing` says; the scripts beside this
file draw them. A second film is drawn through the first, to compare two runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from percuss.export.player.contents import film_contents
from percuss.export.player.packing import Packing
from percuss.ledger.place import check_outside

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from percuss.scene.film import Film

    Array = NDArray[np.float64]

# In the order in which they build on each other.
SCRIPTS = ("vectors", "film", "meshes", "camera", "painter", "colours", "overlay", "plot", "keeping", "player")


@dataclass(frozen=True)
class Curve:
    """A curve beside the film, over its clock, in the units it is shown in."""

    label: str
    times: Array
    values: Array


@dataclass(frozen=True)
class Shown:
    """A film and what is said beside it: `facts` are names with values and units."""

    film: Film
    title: str
    facts: Mapping[str, str] = field(default_factory=dict)
    curves: Sequence[Curve] = ()


def player_page(shown: Sequence[Shown]) -> str:
    """The page of one run, or of two drawn through each other."""
    packing = Packing()
    films = []
    for number, item in enumerate(shown):
        contents = film_contents(item.film, packing, f"{number}.")
        contents["title"] = item.title
        contents["facts"] = dict(item.facts)
        contents["curves"] = [
            {
                "label": curve.label,
                "times": packing.add(f"{number}.curve{k}.times", curve.times, "<f4"),
                "values": packing.add(f"{number}.curve{k}.values", curve.values, "<f4"),
            }
            for k, curve in enumerate(item.curves)
        ]
        films.append(contents)
    title = " and ".join(item.title for item in shown)
    page = _asset("page.html")
    scripts = "\n".join(_asset(f"{name}.js") for name in SCRIPTS)
    for mark, text in (
        ("title", _escaped(title)),
        ("style", _asset("style.css")),
        ("scripts", scripts),
        ("film", packing.text({"films": films})),
    ):
        page = page.replace("{{" + mark + "}}", text)
    return page


def write_page(shown: Sequence[Shown], path: Path) -> None:
    """Write the page."""
    check_outside(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(player_page(shown))


def _asset(name: str) -> str:
    return resources.files("percuss.export.player").joinpath(name).read_text()


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
