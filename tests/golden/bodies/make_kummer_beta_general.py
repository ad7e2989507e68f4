"""The Kummer-Beta law of mean I below diag(g): multipliers and deviations by quadrature over eigenvalues and rotations.

G = S Q diag(u) Q' S with S = diag(g)^(1/2); the rotation Q is uniform, the eigenvalues have the density
prod u^-ll (1 - u)^-lu prod (u_j - u_i), 0 < u_1 < u_2 < u_3 < 1, all times exp(-tr(D Q diag(u) Q')), D = S mu S.
Rotations: Euler angles z, y, z, the first and last by equal steps, the cosine of the second by Gauss's rule.
Eigenvalues: u_3, u_2 / u_3 and u_1 / u_2 by Gauss's rule. D solves E[U] = diag(1/g) by Newton steps.

python make_kummer_beta_general.py > kummer_beta_general.csv
"""

import numpy as np

CASES = (
    ((2.0, 3.0, 5.0), -5.0, -5.0),
    ((1.5, 3.0, 9.0), -5.0, -5.0),
    ((1.3, 2.0, 6.0), -3.0, -2.0),
    ((1.2, 2.0, 8.0), -5.0, -5.0),
)
PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


def unit_rule(count):
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


def eigenvalues(count, lower, upper):
    """Nodes (n, 3) and logs of their weights."""
    x, w = unit_rule(count)
    third, second, first = (part.ravel() for part in np.meshgrid(x, x, x, indexing="ij"))
    weight = np.einsum("i,j,k->ijk", w, w, w).ravel() * third**2 * second
    u = np.stack([third * second * first, third * second, third], axis=1)
    spread = (u[:, 1] - u[:, 0]) * (u[:, 2] - u[:, 0]) * (u[:, 2] - u[:, 1])
    density = -lower * np.log(u).sum(axis=1) - upper * np.log1p(-u).sum(axis=1)
    return u, np.log(weight * spread) + density


def rotations(count):
    """Rotations (n, 3, 3) and weights; half turns about z and the sign of the cosine change no square of U."""
    angle = np.pi * np.arange(count) / count
    cosine, weight = unit_rule(count // 2 + 2)
    a, c, b = (part.ravel() for part in np.meshgrid(angle, angle, np.arccos(cosine), indexing="ij"))
    none, one = np.zeros_like(a), np.ones_like(a)

    def about_z(t):
        return np.stack([np.cos(t), -np.sin(t), none, np.sin(t), np.cos(t), none, none, none, one], axis=1)

    about_y = np.stack([np.cos(b), none, np.sin(b), none, one, none, -np.sin(b), none, np.cos(b)], axis=1)
    first, middle, last = (part.reshape(-1, 3, 3) for part in (about_z(a), about_y, about_z(c)))
    return first @ middle @ last, np.tile(weight, count * count)


def moments(d, rule, turns):
    """E[U_ii], E[U_ii U_jj] and E[U_ij^2] under the tilt D."""
    (u, log), (q, share) = rule, turns
    basis = np.concatenate([np.ones((len(u), 1)), u, *(u[:, [j]] * u for j in range(3))], axis=1)
    total, mean, product, square = 0.0, np.zeros(3), np.zeros((3, 3)), np.zeros(6)
    tilts = np.einsum("i,rij->rj", d, q * q)
    largest = max((log - tilt @ u.T).max() for tilt in tilts)
    for some in np.array_split(np.arange(len(q)), max(len(q) // 128, 1)):
        sums = share[some, None] * (np.exp(log - tilts[some] @ u.T - largest) @ basis)
        outer = np.stack([q[some, i] * q[some, j] for i, j in PAIRS], axis=1)
        total += sums[:, 0].sum()
        mean += np.einsum("rij,rj->i", outer[:, :3], sums[:, 1:4])
        two = sums[:, 4:].reshape(-1, 3, 3)
        product += np.einsum("rij,rkl,rjl->ik", outer[:, :3], outer[:, :3], two)
        square += np.einsum("rpj,rpl,rjl->p", outer, outer, two)
    return mean / total, product / total, square / total


def solved(g, lower, upper, nodes, turns):
    target = 1 / np.array(g)
    rule, turned = eigenvalues(nodes, lower, upper), rotations(turns)
    d = (2 - lower) / target - (2 - upper) / (1 - target)
    for _ in range(30):
        mean, product, square = moments(d, rule, turned)
        step = np.linalg.solve(product - np.outer(mean, mean), target - mean)
        d = d - step
        if np.abs(step).max() < 1e-11 * max(np.abs(d).max(), 1.0):
            break
    i, j = np.array(PAIRS).T
    centre = np.where(i == j, mean[i] ** 2, 0.0)
    return d * target, np.sqrt((square - centre) / (target[i] * target[j]))


# Test runners import what lies beside tests: the quadrature is a minute of work.
if __name__ == "__main__":
    print("g1,g2,g3,lower_exponent,upper_exponent,mu1,mu2,mu3,sd_G11,sd_G22,sd_G33,sd_G12,sd_G13,sd_G23,fewer_nodes_mu")
    for g, lower, upper in CASES:
        coarse, _ = solved(g, lower, upper, 20, 22)
        mu, sd = solved(g, lower, upper, 26, 32)
        print(",".join(f"{x:.9g}" for x in (*g, lower, upper, *mu, *sd, np.abs(mu - coarse).max())), flush=True)
