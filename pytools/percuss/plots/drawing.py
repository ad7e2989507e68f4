"""How a picture is begun and finished, in the style of where it goes: a page, a screen, print."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from percuss.errors import InputError
from percuss.plots.figure import Figure
from percuss.plots.style import BLUE, PRINTED, Style, settings
from percuss.plots.svg import inline_svg

MOST_PLACES = 500

_STYLE: ContextVar[Style] = ContextVar("style", default="page")
# Whether pictures are wanted, or only the words that stand for them.
_WANTED: ContextVar[bool] = ContextVar("wanted", default=True)


def load_matplotlib() -> Any:
    """Matplotlib, drawing into files; an InputError that says how to get it where it is missing."""
    try:
        import matplotlib
    except ImportError:
        raise InputError("plots need matplotlib, which is not installed", hint="pip install matplotlib") from None
    matplotlib.use("Agg")
    return matplotlib


@contextmanager
def drawing(pictures: bool = True, style: Style = "page") -> Iterator[None]:
    """Within this, figures are drawn in one style, whatever the settings of the machine."""
    matplotlib = load_matplotlib()
    before = _WANTED.set(pictures), _STYLE.set(style)
    try:
        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(settings(style))
            yield
    finally:
        _WANTED.reset(before[0])
        _STYLE.reset(before[1])


def canvas(rows: int, columns: int, width: float, height: float, **options: Any) -> tuple[Any, Any]:
    """A figure of so many inches on a page, smaller in print, and its axes, always as an array (rows, columns)."""
    from matplotlib.figure import Figure as Canvas

    part = PRINTED if _STYLE.get() == "paper" else 1.0
    figure = Canvas(figsize=(width * part, height * part), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def picture(figure: Any, alt: str, caption: str = "") -> Figure:
    """A drawn figure: inline SVG for a page, else matplotlib's for a file."""
    width = round(float(figure.get_figwidth()) * 72, 2)
    if not _WANTED.get():
        return Figure("", alt, caption, width)
    if _STYLE.get() != "page":
        return Figure("", alt, caption, width, figure)
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return Figure(inline_svg(stream.getvalue()), alt, caption, width)


def dots(
    axis: Any, x: Any, y: Any, colour: str = BLUE, size: float = 3.0, marker: str = "o", alpha: float = 0.7
) -> Any:
    """A cloud of points."""
    width = 0.0 if marker == "o" else 1.1
    return axis.plot(
        x, y, linestyle="none", marker=marker, markersize=size, color=colour, alpha=alpha, markeredgewidth=width
    )[0]


def key(figure: Any, axis: Any, columns: int = 6) -> None:
    """The key of a figure, above all its axes."""
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=min(columns, max(len(labels), 1)), borderaxespad=0)


def thinned(count: int) -> list[int]:
    """Places along a curve of so many points: as many as a picture can show."""
    return chosen(range(count), MOST_PLACES)


def height_for(rows: int, each: float, more: float = 0.7) -> float:
    """Height in inches for so many rows."""
    return rows * each + more


def chosen(items: Sequence[Any], most: int) -> list[Any]:
    """At most so many of the items, evenly spaced, first and last among them."""
    if len(items) <= most:
        return list(items)
    return [items[round(i * (len(items) - 1) / (most - 1))] for i in range(most)]
