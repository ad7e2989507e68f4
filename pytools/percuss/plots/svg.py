"""Matplotlib's SVG made to live inside HTML.

Every colour is one of COLOURS and turns into a variable of the page's style sheet, ink into the colour of the text, so
that a picture is legible on light and dark paper. Text stays text. What matplotlib adds that a page cannot use (header,
metadata, ids nobody refers to, a style for all elements) is taken out; what is left is the same bytes for the same
figure.
"""

from __future__ import annotations

import re

from percuss.plots.style import COLOURS


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
