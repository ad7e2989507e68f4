"""Hares and lynx after Lotka and Volterra, by the classical Runge-Kutta method on logarithms: they stay above zero.

d log(hare) / dt = birth - predation lynx,   d log(lynx) / dt = feeding hare - death
"""

import math
import sys
from pathlib import Path

YEARS, STEPS = 20, 20
birth, predation, death, feeding, hare, lynx = (float(text) for text in sys.argv[1:])


def slope(x, y):
    return birth - predation * math.exp(y), feeding * math.exp(x) - death


x, y = math.log(hare), math.log(lynx)
h = 1 / STEPS
rows = [(0, x, y)]
for year in range(1, YEARS + 1):
    for _ in range(STEPS):
        a, b = slope(x, y)
        c, d = slope(x + h / 2 * a, y + h / 2 * b)
        e, f = slope(x + h / 2 * c, y + h / 2 * d)
        g, k = slope(x + h * e, y + h * f)
        x += h / 6 * (a + 2 * c + 2 * e + g)
        y += h / 6 * (b + 2 * d + 2 * f + k)
    rows.append((year, x, y))
lines = ["year,log_hare,log_lynx", *(f"{year},{x!r},{y!r}" for year, x, y in rows)]
Path("populations.csv").write_text("\n".join(lines) + "\n")
