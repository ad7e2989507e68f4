"""Makes fivebody_perturbed.csv: the five-body system in redundant coordinates, integrated by DOP853.

Independent of the suite: quaternions and world angular velocities of all bodies, the full matrix of the index-1
equations solved by LAPACK, no projection. Run in this folder; needs numpy and scipy.
"""

import itertools
import json
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

HERE = Path(__file__).parent


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def rotation(q):
    w, x, y, z = q / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def rotation_vector(r):
    axis = np.array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]]) / 2
    sine = np.linalg.norm(axis)
    return axis if sine < 1e-12 else axis * np.arctan2(sine, (np.trace(r) - 1) / 2) / sine


def pulse(t, amplitude, period, start):
    """amplitude sin^4 and its second derivative."""
    s = t - start
    if s < 0 or s > period:
        return 0.0
    w = np.pi / period
    sine, cosine = np.sin(w * s), np.cos(w * s)
    return amplitude * (12 * sine**2 * cosine**2 - 4 * sine**4) * w * w


def cylinder(mass, radius, height):
    return np.diag([mass * (3 * radius**2 + height**2) / 12] * 2 + [mass * radius**2 / 2])


def simulate(p, end=0.03, rows=300):
    mass = [p["m12"], p["m12"], p["m34"], p["m34"], p["m5"]]
    a, b, c = p["box5"]
    box = p["m5"] / 12 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
    foot, leg = cylinder(p["m12"], p["r"], p["h12"]), cylinder(p["m34"], p["r"], p["h34"])
    inertia = [foot, foot, leg, leg, np.array(p.get("inertia5", box))]
    x = p["x_leg"]
    centre = np.array([[-x, 0, p["z1"]], [x, 0, p["z1"]], [-x, 0, p["z3"]], [x, 0, p["z3"]], p["com5"]])
    kt, kr, ct, cr = (np.array(p[key]) for key in ("kt", "kr", "ct", "cr"))

    def accelerations(t, y):
        place, q = y[:15].reshape(5, 3), y[15:35].reshape(5, 4)
        v, w = y[35:50].reshape(5, 3), y[50:65].reshape(5, 3)
        r = [rotation(one) for one in q]
        m, f = np.zeros((30, 30)), np.zeros(30)
        for i in range(5):
            turned = r[i] @ inertia[i] @ r[i].T
            m[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = mass[i] * np.eye(3)
            m[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = turned
            f[6 * i : 6 * i + 6] = [0, 0, -mass[i] * p["g"], *-np.cross(w[i], turned @ w[i])]
        for i, j in ((0, 2), (1, 3)):
            at = np.array([centre[i][0], 0, p["z_spring"]])
            ri, rj = r[i] @ (at - centre[i]), r[j] @ (at - centre[j])
            d = place[j] + rj - place[i] - ri
            rate = v[j] + np.cross(w[j], rj) - v[i] - np.cross(w[i], ri) - np.cross(w[i], d)
            force = -r[i] @ (kt * (r[i].T @ d) + ct * (r[i].T @ rate))
            torque = -r[i] @ (kr * rotation_vector(r[i].T @ r[j]) + cr * (r[i].T @ (w[j] - w[i])))
            f[6 * j : 6 * j + 3] += force
            f[6 * j + 3 : 6 * j + 6] += np.cross(rj, force) + torque
            f[6 * i : 6 * i + 3] -= force
            f[6 * i + 3 : 6 * i + 6] -= np.cross(ri + d, force) + torque
        jacobian, right = [], []
        for i, free, number in ((0, (), "1"), (1, (0,), "2")):
            lift = pulse(t, p["A" + number], p["T" + number], p["t0" + number])
            for k in range(6):
                if k not in free:
                    jacobian.append(np.eye(30)[6 * i + k])
                    right.append(lift if k == 2 else 0.0)
        for i in (2, 3):
            at = np.array([centre[i][0], 0, p["z_rev"]])
            ri, r5 = r[i] @ (at - centre[i]), r[4] @ (at - centre[4])
            gap = np.cross(w[4], np.cross(w[4], r5)) - np.cross(w[i], np.cross(w[i], ri))
            for k in range(3):
                row = np.zeros(30)
                row[6 * i + k], row[24 + k] = -1, 1
                row[6 * i + 3 : 6 * i + 6], row[27:30] = skew(ri)[k], -skew(r5)[k]
                jacobian.append(row)
                right.append(-gap[k])
            for e in (r[i][:, 0], r[i][:, 2]):
                axis = r[4][:, 1]
                row = np.zeros(30)
                row[6 * i + 3 : 6 * i + 6], row[27:30] = -np.cross(axis, e), np.cross(axis, e)
                jacobian.append(row)
                e1, axis1 = np.cross(w[i], e), np.cross(w[4], axis)
                right.append(-(np.cross(w[i], e1) @ axis + 2 * e1 @ axis1 + e @ np.cross(w[4], axis1)))
        jacobian = np.array(jacobian)
        held = len(jacobian)
        matrix = np.block([[m, jacobian.T], [jacobian, np.zeros((held, held))]])
        return np.linalg.solve(matrix, np.concatenate([f, right]))[:30].reshape(5, 6), r, w, q, v

    def slope(t, y):
        found, _, w, q, v = accelerations(t, y)
        turning = [0.5 * np.array([-w[i] @ q[i][1:], *(q[i][0] * w[i] + np.cross(w[i], q[i][1:]))]) for i in range(5)]
        return np.concatenate([v.ravel(), np.ravel(turning), found[:, :3].ravel(), found[:, 3:].ravel()])

    times = np.linspace(0, end, rows + 1)
    states = np.zeros((rows + 1, 65))
    state = states[0] = np.concatenate([centre.ravel(), np.tile([1.0, 0, 0, 0], 5), np.zeros(30)])
    # Piece by piece between the ends of the pulses, where the fourth derivative jumps.
    ends = {p["t01"], p["t02"], p["t01"] + p["T1"], p["t02"] + p["T2"], 0.0, end}
    ends = sorted(one for one in ends if one <= end)
    for low, high in itertools.pairwise(ends):
        inside = (times > low + 1e-12) & (times <= high + 1e-12)
        found = solve_ivp(slope, (low, high), state, "DOP853", np.minimum(times[inside], high), rtol=1e-12, atol=1e-14)
        states[inside] = found.y.T
        state = found.y[:, -1]
    out = []
    for t, y in zip(times, states, strict=False):
        found, r, w, _, _ = accelerations(t, y)
        arm = r[4] @ (np.array(p["pobs"]) - centre[4])
        turning = found[4, 3:]
        out.append([*found[4, :3] + np.cross(turning, arm) + np.cross(w[4], np.cross(w[4], arm)), *turning])
    return np.column_stack([times, out])


if __name__ == "__main__":
    parameters = json.loads((HERE / "fivebody_parameters.json").read_text())
    changed = json.loads((HERE / "fivebody_perturbed.json").read_text())
    table = simulate(parameters | changed)
    names = "t_s,a1,a2,a3,alpha1,alpha2,alpha3"
    np.savetxt(HERE / "fivebody_perturbed.csv", table, "%.12g", ",", header=names, comments="")
    nominal = np.genfromtxt(HERE / "fivebody_nominal.csv", delimiter=",", skip_header=1)
    print("nominal differs by", np.abs(simulate(parameters) - nominal).max())
