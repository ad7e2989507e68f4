"""One style for every picture: colours, lines, markers, type.

The six colours of series keep their distance under the common forms of colour blindness, and nothing is told by colour
alone: each comes with a dash and a marker of its own. On a page colours are variables of its style sheet; `paper` is
for print: the width of two columns, smaller type, fonts as fonts.
"""

from __future__ import annotations

from typing import Any, Literal

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
