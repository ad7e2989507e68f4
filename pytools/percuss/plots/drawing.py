"""How a picture is begun and finished, in the style of where it goes: a page, a screen, print.

Matplotlib's SVG made to live inside HTML.

Every colour is one of COLOURS and turns into a variable of the page's style sheet, ink into the colour of the text, so
that a picture is legible on light and dark paper. Text stays text. What matplotlib adds that a page cannot use (header,
metadata, ids nobody refers to, a style for all elements) is taken out; what is left is the same bytes for the same
figure.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from percuss.errors import InputError
from percuss.plots.figure import Figure
from percuss.plots.style import BLUE, COLOURS, PRINTED, Style, settings

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


def inline_svg(text: str) -> str:
    """The `svg` element alone, in the colours of the page, without what only a file of its own needs."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*|<style.*?</style>\s*|<defs>\s*</defs>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<svg\b[^>]*?(viewBox=\"[^\"]*\")[^>]*>", r"<svg \1>", text, count=1)
    text = text.replace("xlink:href=", "href=")
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', text))
    text = re.sub(r' id="([^"]+)"', lambda match: match[0] if match[1] in used else "", text)
    text = re.sub(r">\s+<", "><", text)
    text = re.sub(r"<[^>]+>", lambda tag: re.sub(r"(?<=\d)(\.\d\d)\d+", r"\1", tag[0]), text)
    text = re.sub(r"<g([^>]*)>((?:<use [^>]*/>){2,})</g>", _styled_once, text)
    for colour, variable in COLOURS.items():
        text = text.replace(colour, variable)
    return text.strip()


def _styled_once(cloud: re.Match[str]) -> str:
    """The dots of a cloud have one style, said once."""
    styles = set(re.findall(r' style="([^"]*)"', cloud[2]))
    if len(styles) != 1 or "style=" in cloud[1]:
        return cloud[0]
    bare = re.sub(r' style="[^"]*"', "", cloud[2])
    return f'<g{cloud[1]} style="{styles.pop()}">{bare}</g>'
