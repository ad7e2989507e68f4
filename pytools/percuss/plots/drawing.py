"""How a picture is begun and finished, in the style of where it goes: a page, a screen, print.

Matplotlib's SVG made to live inside HTML.

Every colour is one of COLOURS and turns into a variable of the page's style sheet, ink into the colour of the text, so
that a picture is legible on light and dark paper. Text stays text. What matplotlib adds that a page cannot use (header,
metadata, ids nobody refers to, a style for all elements) is taken out; what is left is the same bytes for the same
figure.

One style for every picture: colours, lines, markers, type.

The six colours of series keep their distance under the common forms of colour blindness, and nothing is told by colour
alone: each comes with a dash and a marker of its own. On a page colours are variables of its style sheet; `paper` is
for print: the width of two columns, smaller type, fonts as fonts.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, Literal

from percuss.errors import InputError
from percuss.plots.figure import Figure

Style = Literal["page", "screen", "paper"]
STYLES: tuple[Style, ...] = ("screen", "paper")

INK, PAPER = "#1a222c", "#fefefe"
BLUE, ORANGE, GREEN, PURPLE, GOLD, TEAL = "#1f6fb4", "#c8570b", "#1b8a5a", "#8a4fa8", "#9a7400", "#0f8390"
RED, GREY = "#b3261e", "#7b8794"
COLOURS = {
    INK: "currentColor", PAPER: "var(--paper)", BLUE: "var(--blue)", ORANGE: "var(--orange)", GREEN: "var(--green)",
    PURPLE: "var(--purple)", GOLD: "var(--gold)", TEAL: "var(--teal)", RED: "var(--red)", GREY: "var(--grey)",
}  # fmt: skip
SERIES = (BLUE, ORANGE, GREEN, PURPLE, GOLD, TEAL)
# Lines and points are told apart without their colour, too.
DASHES = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)), (0, (3, 1, 1, 1, 1, 1)), (0, (8, 3)))
MARKERS = ("o", "s", "^", "D", "v", "P")

# Widths in inches: the whole column, and pictures of which two or three stand side by side.
WIDE, HALF, THIRD = 9.4, 4.6, 3.0
# Two columns of a journal, over the width of a page: pictures are drawn that much smaller for print.
PRINTED = 6.9 / WIDE
DOTS_PER_INCH = {"page": 110, "screen": 130, "paper": 300}

SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "percuss",
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 8.5,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": INK,
    "grid.alpha": 0.13,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.linewidth": 0.7,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "xtick.minor.visible": False,
    "ytick.minor.visible": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.limits": (-4, 5),
    "axes.formatter.useoffset": False,
    "lines.linewidth": 1.3,
    "hatch.linewidth": 0.6,
    "path.simplify": True,
    "path.simplify_threshold": 0.25,
}
_ON_WHITE: dict[str, Any] = {"figure.facecolor": "white", "savefig.facecolor": "white"}
_PRINT: dict[str, Any] = {
    **_ON_WHITE,
    "pdf.fonttype": 42,
    "font.size": 7,
    "axes.titlesize": 7.5,
    "axes.titleweight": "normal",
    "axes.labelsize": 7,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "legend.fontsize": 6.5,
    "lines.linewidth": 1.1,
}


def settings(style: Style) -> dict[str, Any]:
    """Settings of matplotlib for a style."""
    own: dict[Style, dict[str, Any]] = {"page": {}, "screen": _ON_WHITE, "paper": _PRINT}
    return SETTINGS | own[style]


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
    part = PRINTED if _STYLE.get() == "paper" else 1.0
    figure = _drawn_once()(figsize=(width * part, height * part), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


@cache
def _drawn_once() -> type[Any]:
    """Figures that are drawn once to be saved: matplotlib draws all twice, the first time for the layout alone, and
    works out the ticks of an axis a dozen times on the way.
    """
    from matplotlib.figure import Figure as Canvas
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    class DrawnOnce(Canvas):
        def draw(self, renderer: Any) -> None:
            engine = self.get_layout_engine()
            if isinstance(engine, ConstrainedLayoutEngine):
                for axes in self.axes:
                    for axis in (axes.xaxis, axes.yaxis):
                        _remember_ticks(axis)
                engine.execute(self)
            else:
                super().draw(renderer)

    return DrawnOnce


def _remember_ticks(axis: Any) -> None:
    """Let an axis that changes no more keep its ticks, and where their labels stand, while it stays in its place."""
    ticks_at, boxes_at = axis._update_ticks, axis._get_ticklabel_bboxes
    ticks: dict[Any, Any] = {}
    boxes: dict[Any, Any] = {}

    def place() -> tuple[float, ...]:
        return (*axis.axes.bbox.bounds, *axis.get_view_interval())

    def update_ticks() -> Any:
        if (at := place()) not in ticks:
            ticks.clear()
            boxes.clear()
            ticks[at] = ticks_at()
        return ticks[at]

    def ticklabel_bboxes(drawn: Any, renderer: Any) -> Any:
        update_ticks()
        if id(renderer) not in boxes:
            boxes[id(renderer)] = boxes_at(drawn, renderer)
        return boxes[id(renderer)]

    axis._update_ticks, axis._get_ticklabel_bboxes = update_ticks, ticklabel_bboxes


def picture(figure: Any, alt: str, caption: str = "") -> Figure:
    """A drawn figure: inline SVG for a page, else matplotlib's for a file."""
    width = round(float(figure.get_figwidth()) * 72, 2)
    for axes in figure.axes:
        _name_decades(axes.xaxis, axes.get_xlim())
        _name_decades(axes.yaxis, axes.get_ylim())
    if not _WANTED.get():
        return Figure("", alt, caption, width)
    if _STYLE.get() != "page":
        return Figure("", alt, caption, width, figure)
    stream = io.StringIO()
    figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return Figure(inline_svg(stream.getvalue()), alt, caption, width)


def _name_decades(axis: Any, limits: tuple[float, float]) -> None:
    """Ticks of a logarithmic axis over two decades or less as numbers: 0.5 and 2, not 5x10^-1 and 2x10^0."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    low, high = sorted(limits)
    if axis.get_scale() != "log" or high > 200 * low or isinstance(axis.get_major_locator(), FixedLocator):
        return
    narrow = LogLocator(subs=(1, 2, 3, 5)) if high < 20 * low else LogLocator(subs=(1, 2, 5))
    axis.set_major_locator(narrow if high > 3 * low else MaxNLocator(4))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


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
