"""The page on impact laws, from the table of the core: `python -m percuss.models.oscillators.laws_page`."""

from __future__ import annotations

from percuss import _core
from percuss.models.oscillators.inputs import LAWS

ASKED = (0.1, 0.35, 0.5, 0.75, 0.9)

HEAD = """\
# Impact laws

These are the contact laws of the model kind [oscillators](oscillators.md). Every law takes the coefficient of
restitution `e` (rebound speed over approach speed of two free masses) as a direct input. The damping formulas in the
literature often give a restitution other than the one asked for, so each law has two dampings: `damping = "exact"` (the
default) solves for the damping that gives `e`, `damping = "nominal"` uses the published formula.

d is the indentation, d' its rate, v the approach speed at first contact. Stiffness is in N/m, and in N/m^1.5 for laws
with d^1.5 (`500 N/mm^1.5`); a stiffness of the wrong kind is refused. The law `rigid` has no stiffness.

| law | force | source |
| --- | --- | --- |
"""

ACHIEVED = """
## Achieved against nominal

Restitution of a free collision with the published damping, by integration of the motion. With `exact` every law gives
the restitution asked for within 1e-8.

"""

NOTES = """
Exact relations:

- a Kelvin-Voigt contact of damping ratio z, without tension: `e = exp(-2 z acos(z) / sqrt(1 - z^2))`;
- a force `k d^n (1 + D d'/v)`, for any n: `D (1 + e) = ln((1 + D) / (1 - D e))`;
- Jankowski's law, damped on approach only: solved in one dimension.

The formula of Hertz-damp is far off below e = 0.8. Use it as published only to repeat old results.
"""


def page() -> str:
    """The page as Markdown."""
    lines = [f"| `{name}` | {facts.summary} | {facts.source} |" for name, facts in LAWS.items()]
    text = HEAD + "\n".join(lines) + "\n" + ACHIEVED
    text += "| law | " + " | ".join(f"e = {e:g}" for e in ASKED) + " |\n" + "| --- " * (len(ASKED) + 1) + "|\n"
    for name in LAWS:
        achieved = [f"{_core.achieved_restitution(name, 'nominal', e):.3f}" for e in ASKED]
        text += f"| `{name}` | " + " | ".join(achieved) + " |\n"
    return text + NOTES


if __name__ == "__main__":
    print(page(), end="")
