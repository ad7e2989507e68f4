"""Templates: `{{name}}` and `{{name:.6e}}` stand for values, nothing else means anything.

There is no expression, no attribute, no nesting: a template cannot do more than print values. A number without a
format is printed with the fewest digits that read back as the same number. Double braces are rare in the input files of
programs (Tcl, JSON and TOML use single ones); one that names no input is a fault, found when the study is checked.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from percuss.errors import InputError
from percuss.spelling import did_you_mean

_PLACE = re.compile(r"\{\{[ \t]*([A-Za-z_][\w.-]*)[ \t]*(?::([^{}\n]*))?\}\}")
_FORMAT = re.compile(r"[-+ ]?0?\d{0,3}(\.\d{1,3})?[eEfFgGd]?")


def check_template(text: str, names: Collection[str]) -> None:
    """Make sure that every place names an input and has a format for numbers."""
    for name, form in _PLACE.findall(text):
        if name not in names:
            raise InputError(f"{{{{{name}}}}} is no input: {did_you_mean(name, names)}")
        if not _FORMAT.fullmatch(form):
            raise InputError(f"{{{{{name}:{form}}}}}: must be a format for one number, as .6e, 10.3f or d")


def render(text: str, values: Mapping[str, float | int | str]) -> str:
    """Fill in the values.

    >>> render("k = {{k}}, {{ k:.2e}}, {x}, {{n}}", {"k": 0.1, "n": 3})
    'k = 0.1, 1.00e-01, {x}, 3'
    """

    def fill(place: re.Match[str]) -> str:
        value, form = values[place[1]], place[2] or ""
        if not form or isinstance(value, str):
            return value if isinstance(value, str) else repr(value)
        return format(round(value) if form.endswith("d") else value, form)

    return _PLACE.sub(fill, text)
