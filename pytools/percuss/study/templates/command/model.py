"""A mass on a spring, let go at 10 mm: reads two numbers, writes response.csv. Put your own program here."""

import math
import sys
from pathlib import Path

stiffness, mass = map(float, sys.argv[1:])
rate = math.sqrt(stiffness / mass)
with Path("response.csv").open("w") as file:
    print("t,u", file=file)
    for step in range(201):
        t = 0.01 * step
        print(f"{t},{0.01 * math.cos(rate * t)}", file=file)
