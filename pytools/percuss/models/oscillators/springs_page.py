"""The page on spring laws, from the table of the core: `python -m percuss.models.oscillators.springs_page`."""

from __future__ import annotations

from percuss.models.oscillators.springs import SPRING_LAWS

HEAD = """\
# Spring laws

Give a spring of the model kind [oscillators](oscillators.md) a `law` if it yields, opens or slides. e is its
elongation (displacement of the second node minus that of the first), F its force, positive in tension. `stiffness` is
the initial stiffness; stiffness-proportional damping uses it throughout. Each number of a law is an input named after
the spring (`yield_force_A1`), for priors, cases and the command line.

| law | force | takes | source |
| --- | --- | --- | --- |
"""

NOTES = """
Dampers take an `exponent` a: `F = c v0 |v/v0|^a sign(v)` with `v0 = 1 m/s`, so that the coefficient c keeps the unit
N.s/m and is the factor of `F = c |v|^a` in SI units (Constantinou and Symans, 1993, Struct. Des. Tall Build. 2,
93-132).

## Equations

- `bilinear`, `friction`, `pendulum`, `lead-rubber`: a linear spring in parallel with an elastic spring and a slider in
  series. The slider's elongation p is constant while `|e - p|` is below the yield elongation and follows e beyond.
- `bouc-wen`: `F = a k e + (1 - a) F_y z` with `x = e/e_y`, `e_y = F_y/k`, `dz/dx = (1 - nu |z|^n (gamma + beta
  sign(dx z))) / eta`, `nu = 1 + strength_loss w`, `eta = 1 + stiffness_loss w`, `dw/dx = (1 - a) z`: w is the
  absorbed energy divided by `F_y e_y` (Bouc 1967; Wen 1976; Baber and Wen 1981).
- `menegotto-pinto`: from the reversal `(x_r, f_r)` to the point `(x_0, f_0)` where the elastic line through it meets
  the hardening line, `f* = b x* + (1 - b) x* / (1 + |x*|^R)^(1/R)`, `R = R_0 - a_1 xi/(a_2 + xi)`, xi the distance of
  `x_0` from the farthest reversal on that side, in yield elongations (Menegotto and Pinto 1973; Filippou, Popov and
  Bertero 1983, without isotropic hardening). Small cycles may overshoot the curve they left, as in every program that
  keeps one reversal only.
- `gap` acts in compression, `hook` in tension, once the slack is used up; they have no memory.

The friction coefficient is constant. If it depends on the speed, use another model.

## What a run reports

For each spring with a law:

| quantity | |
| --- | --- |
| `drift_<spring>`, `spring_force_<spring>` | curves; `law = "linear"` gives them for a spring that never yields |
| `peak_drift_<spring>` | |
| `residual_drift_<spring>` | drift if the spring were unloaded along its initial stiffness at the end of the run |
| `hysteretic_energy_<spring>` | |
| `ductility_<spring>` | if it yields: peak drift over drift at yield |
| `damage_<spring>` | with an `ultimate_drift`: the index of Park and Ang (1985, J. Struct. Eng. 111, \
722-739), `d/d_u + b E/(F_y d_u)` with the peak drift d, the hysteretic energy E and b the `damage_factor` |

Drift ratios of storeys are requested with `storeys`.

## How they are integrated

- `event`: springs whose law is piecewise linear are integrated in closed form from kink to kink. Yielding, unloading,
  closing and opening are roots located to rounding. With `bouc-wen`, `menegotto-pinto` or a nonlinear damper every
  step uses the eighth-order method, and reversals are located. A damper with a small exponent in slow motion is stiff:
  use `newmark` there.
- `newmark` and `moreau-jean` solve for the forces at the end of the step; `central-difference` and `rk4` are explicit.
  In all of them the elongation is linear from one step to the next. A reversal within a step is therefore detected one
  step late, and the order across it is two at best.

The energy balance has a separate term for the work of yielding and friction, `energy_hysteretic`: the work done on a
spring minus what unloading would return (for `bouc-wen` `(1 - a) k e_y^2 z^2 / 2`, for `menegotto-pinto` `F^2/2k`).
The filter of [validation](validation.md) takes `linear`, `gap` and `hook` springs; laws with memory are refused there.
"""


def page() -> str:
    """The page as Markdown."""
    lines = []
    for name, facts in SPRING_LAWS.items():
        numbers = ", ".join(f"`{number}`" for number in facts.numbers)
        summary = facts.summary.replace("|", "\\|")
        lines.append(f"| `{name}` | {summary} | {numbers} | {facts.source} |")
    return HEAD + "\n".join(lines) + "\n" + NOTES


if __name__ == "__main__":
    print(page(), end="")
