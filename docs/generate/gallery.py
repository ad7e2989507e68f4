"""The gallery: every study that comes with percuss, from its README, with the first picture that shows it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import cells as md

ROOT = Path(__file__).resolve().parents[2]
STUDIES = ROOT / "studies"
PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")


def readmes() -> list[Path]:
    """READMEs of the studies."""
    return sorted(STUDIES.glob("*/README.md"))


def pictures() -> list[Path]:
    """Pictures that the studies' own commands made."""
    return sorted(path for path in STUDIES.glob("*/*/*") if path.suffix in (".svg", ".png"))


def pages() -> dict[str, str]:
    """The page of cards; its paths are those of the repository."""
    cards, lines = [], []
    for readme in readmes():
        name, text = readme.parent.name, readme.read_text()
        with (readme.parent / "study.toml").open("rb") as file:
            title = tomllib.load(file)["study"]["title"]
        own = [path for path in pictures() if path.parent.parent == readme.parent]
        shown = PICTURE.search(text)
        picture = shown.group(2) if shown else str(own[0].relative_to(readme.parent)) if own else None
        link = f"[{title}](studies/{name}/README.md)"
        if picture:
            cards.append(f"<div markdown>\n![{md.text(title)}](studies/{name}/{picture})\n\n**{link}**\n</div>")
        else:
            lines.append(f"| {link} | `{name}` |")
    head = (
        "# Gallery\n\nStudies that come with percuss. Each page says what was computed, with the commands that made its"
        " figures. `percuss study copy NAME` brings one into your folder."
    )
    rest = "## Without a picture\n\n| study | name |\n| --- | --- |\n" + "\n".join(lines)
    return {"gallery.md": "\n\n".join([head, '<div class="gallery" markdown>', *cards, "</div>", rest]) + "\n"}
