"""The contact problem from Python: closed forms, the forms W may come in, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from percuss import contact
from percuss.errors import InputError


def _two_blocks() -> tuple[np.ndarray, np.ndarray]:
    """M and H of two mass points, 2 kg on 1 kg on the ground: normals are vertical."""
    mass = np.diag([1.0] * 3 + [2.0] * 3)
    vertical_first = np.eye(3)[[2, 0, 1]]
    directions = np.zeros((6, 6))
    directions[:3, :3] = vertical_first.T  # the ground against the lower
    directions[:3, 3:] = -vertical_first.T  # the lower against the upper
    directions[3:, 3:] = vertical_first.T
    return mass, directions


@pytest.mark.parametrize("solver", contact.solvers())
def test_a_block_that_slides(solver: str) -> None:
    for angle in np.linspace(0.0, 2.0 * np.pi, 9):
        way = np.array([np.cos(angle), np.sin(angle)])
        found = contact.solve(np.eye(3) / 2.0, [-1.0, *(3.0 * way)], 0.4, solver=solver, tol=1e-13)
        assert found.converged
        np.testing.assert_allclose(found.r, [[2.0, *(-0.8 * way)]], atol=1e-12)
        np.testing.assert_allclose(found.u, [[0.0, *(2.6 * way)]], atol=1e-12)


def test_the_lower_contact_carries_both() -> None:
    mass, directions = _two_blocks()
    falling = directions.T @ np.array([0.0, 0.0, -1.0, 0.0, 0.0, -1.0])
    found = contact.solve((mass, directions), falling, 0.3)
    np.testing.assert_allclose(found.r[:, 0], [3.0, 2.0], atol=1e-6)
    np.testing.assert_allclose(found.u, 0.0, atol=1e-7)


def test_dense_sparse_and_factored_matrices_are_one() -> None:
    mass, directions = _two_blocks()
    w = directions.T @ np.linalg.inv(mass) @ directions
    q = directions.T @ np.array([1.0, 0.2, -1.0, -0.5, 0.0, -2.0])
    forms = [w, sparse.csr_array(w), sparse.coo_array(w), (mass, directions), (sparse.csr_array(mass), directions)]
    answers = [contact.solve(form, q, [0.3, 0.4]) for form in forms]
    for answer in answers:
        np.testing.assert_allclose(answer.u, answers[0].u, atol=1e-12)
        np.testing.assert_allclose(answer.u.ravel(), w @ answer.r.ravel() + q, atol=1e-12)


def test_start_at_the_answer() -> None:
    first = contact.solve(np.eye(3), [-1.0, 0.1, 0.0], 0.3)
    again = contact.solve(np.eye(3), [-1.0, 0.1, 0.0], 0.3, start=first.r)
    assert (again.iterations, again.factorisations) == (0, 0)
    assert np.array_equal(again.r, first.r)


def test_no_contact_at_all() -> None:
    found = contact.solve(np.zeros((0, 0)), [], [])
    assert found.converged
    assert found.r.shape == found.u.shape == (0, 3)


def test_an_unmet_tolerance_is_told() -> None:
    # An unequal pair of contacts on one body needs several sweeps.
    directions = np.array(
        [[1.0, 0, 0, 1.0, 0, 0], [0, 1.0, 0, 0, 1.0, 0], [0, 0, 1.0, 0, 0, 1.0], [0.5, 0, 0, -0.9, 0, 0]]
    )
    found = contact.solve(
        (np.eye(4), directions), directions.T @ [-1.0, 2.0, 0.5, 0.3], 0.5, solver="nsgs", tol=1e-14, max_iterations=2
    )
    assert not found.converged
    assert found.iterations == 2
    assert found.seconds > 0.0
    assert found.residuals.energy > 1e-14
    # Not because there were none.
    assert found.existence is not None
    assert found.existence.verdict == "proven"
    assert str(found.existence) == "a solution exists, and the method did not find it"


@pytest.mark.parametrize(
    ("off", "verdict", "words"),
    [
        (0.0, "proven", "a solution exists, and the method did not find it"),
        (1e-12, "proven", "a solution exists, and the method did not find it"),
        (
            1e-3,
            "nearby",
            "W differs from its transpose by 0.001 of its largest entry; made symmetric it has a solution",
        ),
    ],
)
def test_of_a_matrix_that_is_not_symmetric_only_its_symmetric_part_is_judged(
    off: float, verdict: str, words: str
) -> None:
    w = np.kron(np.array([[2.0, 1.0], [1.0, 2.0]]), np.eye(3))
    w[0, 4] += 2.0 * off
    found = contact.solve(w, [-1.0, 0.3, 0, -1.0, 0, 0], 0.5, solver="nsgs", tol=1e-14, max_iterations=2)
    assert found.existence is not None
    assert found.existence.verdict == verdict
    assert found.existence.asymmetry == pytest.approx(off if verdict == "nearby" else 0.0, rel=1e-9)
    assert words in str(found.existence)


@pytest.mark.parametrize(("off", "verdict"), [(0.0, "refuted"), (1e-12, "refuted"), (1e-3, "open")])
def test_what_rounding_cannot_explain_is_not_refuted(off: float, verdict: str) -> None:
    # With `off` a push along the tangent moves the walls apart: impulses large enough do stop them.
    turned = np.diag([-1.0, -1.0, 1.0])
    w = np.block([[np.eye(3), turned], [turned, np.eye(3)]])
    w[0, 1] += off
    found = contact.solve(w, [-1.0, 0, 0, -1.0, 0, 0], 0.5)
    assert found.existence is not None
    assert found.existence.verdict == verdict


def test_where_no_solution_exists_a_bound_says_so() -> None:
    # Walls close in on a block from both sides.
    turned = np.diag([-1.0, -1.0, 1.0])
    w = np.block([[np.eye(3), turned], [turned, np.eye(3)]])
    found = contact.solve(w, [-1.0, 0, 0, -1.0, 0, 0], 0.5)
    assert found.existence is not None
    assert found.existence.verdict == "refuted"
    assert found.existence.size == pytest.approx(1.0 / np.sqrt(1.0 + 0.5**2), rel=1e-6)
    assert found.residuals.energy >= found.existence.size * (1.0 - 1e-6)
    assert "no solution exists" in str(found.existence)
    # One wall that gives way is enough.
    assert contact.solve(w, [-1.0, 0, 0, 1.0, 0, 0], 0.5).existence is None


@pytest.mark.parametrize(("dimension", "mu_r"), [(2, 0.0), (3, 0.0), (5, 0.0), (5, 0.2)])
def test_what_is_not_solved_solves_a_problem_with_other_free_velocities(dimension: int, mu_r: float) -> None:
    # Three contacts on two bodies, one sweep: far from a solution.
    rng = np.random.default_rng(dimension)
    directions = rng.normal(size=(12, 3 * dimension))
    w, q, mu = directions.T @ directions, rng.normal(size=3 * dimension), 0.6
    q[::dimension] = -1.0
    found = contact.solve(w, q, mu, solver="nsgs", max_iterations=1, dimension=dimension, mu_r=mu_r)
    assert found.backward is not None
    r = found.backward.r
    u = (w @ r.ravel()).reshape(r.shape) + found.backward.q

    # The law itself, of every contact: no pull, no approach, friction in its cone and against the slip.
    def holds(impulse: np.ndarray, velocity: np.ndarray, limit: np.ndarray) -> None:
        size, speed = np.linalg.norm(impulse, axis=1), np.linalg.norm(velocity, axis=1)
        assert np.all(size <= limit + 1e-12)
        assert np.abs((impulse * velocity).sum(axis=1) + limit * speed) == pytest.approx(0.0, abs=1e-10)

    assert r[:, 0].min() >= 0.0
    assert u[:, 0].min() >= -1e-12
    assert r[:, 0] * u[:, 0] == pytest.approx(0.0, abs=1e-10)
    holds(r[:, 1:3], u[:, 1:3], mu * r[:, 0])
    if dimension == 5:
        holds(r[:, 3:], u[:, 3:], mu_r * r[:, 0])
        if mu_r == 0.0:
            assert np.array_equal(found.backward.q[:, 3:], q.reshape(3, 5)[:, 3:])
    # As large a change as is told.
    change = found.backward.q - q.reshape(3, dimension)
    change[:, 3:] *= mu_r
    blocks = [change[:, :3], change[:, 3:]]
    assert max(np.linalg.norm(block, axis=1).max(initial=0.0) for block in blocks) == pytest.approx(
        found.backward.largest
    )
    assert f"at most {found.backward.largest:.2g} m/s" in str(found.backward)
    # What is solved needs none.
    assert contact.solve(np.eye(3), [-1.0, 0, 0], 0.5).backward is None


@pytest.mark.parametrize("norm", contact.NORMS)
def test_sweeps_end_where_the_norm_asked_for_is_met(norm: str) -> None:
    # Two pairs of contacts, one on heavy and one on light bodies, so that norms differ.
    pair = np.array([[2.0, 1.9], [1.9, 2.0]])
    w = np.kron(np.diag([1e-4, 1.0]), np.kron(pair, np.eye(3)))
    q = np.tile([-1.0, 0.3, 0.0], 4)
    found = contact.solve(w, q, 0.5, solver="nsgs", tol=1e-6, norm=norm)
    assert found.converged
    assert getattr(found.residuals, norm) <= 1e-6
    before = contact.solve(w, q, 0.5, solver="nsgs", tol=1e-6, norm=norm, max_iterations=found.iterations - 1)
    assert not before.converged
    assert getattr(before.residuals, norm) > 1e-6


def test_an_unknown_norm_is_refused() -> None:
    with pytest.raises(InputError, match="norm = 'energi' is unknown: did you mean `energy`"):
        contact.solve(np.eye(3), [-1.0, 0.0, 0.0], 0.5, norm="energi")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (((np.eye(4),), [0.0] * 4, 0.1), "W has shape (4, 4); it must be square with three rows per contact"),
        (((np.eye(3),), [0.0] * 4, 0.1), "q has shape (4,); W has 1 contacts"),
        (((np.eye(3),), [0.0] * 3, [0.1, 0.2]), "mu has shape (2,); W has 1 contacts"),
        (((np.eye(3),), [0.0] * 3, -0.1), "friction coefficient of contact 0 is -0.1"),
        (((np.eye(3),), [0.0, np.nan, 0.0], 0.1), "q of contact 0 is NaN"),
        (((np.zeros((3, 3)),), [0.0] * 3, 0.1), "trace 0e0; it must be positive"),
        (((np.eye(3) + np.eye(3, k=1),), [0.0] * 3, 0.1), "W differs from its transpose by up to 1, 100% of"),
        (((np.full((3, 3), np.nan),), [0.0] * 3, 0.1), "W of contact 0 is NaN"),
        ((((np.zeros((3, 3)), np.eye(3)),), [0.0] * 3, 0.1), "M is singular"),
        ((((np.eye(2), np.eye(3)),), [0.0] * 3, 0.1), "H have as many rows as M"),
        ((([1.0, 2.0, 3.0],), [0.0] * 3, 0.1), "W must be a matrix of real numbers"),
        ((("text",), [0.0] * 3, 0.1), "W must be a matrix of real numbers"),
        ((((np.eye(3),) * 3,), [0.0] * 3, 0.1), "W must be a matrix of real numbers"),
        (((1j * np.eye(3),), [0.0] * 3, 0.1), "W must be a matrix of real numbers"),
        (((np.eye(3),), [1j, 0.0, 0.0], 0.1), "q must hold real numbers, not complex128"),
        (((np.eye(3),), [-1e200, 0.0, 0.0], 0.1), "the largest entry of q is 1e+200: must be from 1e-60 to 1e+60"),
        (((np.eye(3),), [-1e-200, 0.0, 0.0], 0.1), "the largest entry of q is 1e-200: must be"),
        (((1e200 * np.eye(3),), [-1.0, 0.0, 0.0], 0.1), "the largest entry of W is 1e+200: must be"),
        (((np.eye(3),), [-1.0, 3.0, 0.0], 1e10), "mu = 1e+10 with tol = 1e-08: a contact that slides could close"),
    ],
)
def test_bad_input_gets_one_sentence(arguments: tuple, words: str) -> None:  # type: ignore[type-arg]
    (problem,), q, mu = arguments
    with pytest.raises(InputError) as refusal:
        contact.solve(problem, q, mu)
    assert words in str(refusal.value)


def test_bad_settings_get_one_sentence() -> None:
    with pytest.raises(InputError, match="did you mean `newton`"):
        contact.solve(np.eye(3), [0.0] * 3, 0.1, solver="newtom")
    with pytest.raises(InputError, match="tolerance is 0; it must be positive"):
        contact.solve(np.eye(3), [0.0] * 3, 0.1, tol=0.0)
    with pytest.raises(InputError, match="max_iterations = -1: must be a whole number from 0"):
        contact.solve(np.eye(3), [0.0] * 3, 0.1, max_iterations=-1)
    with pytest.raises(InputError, match=r"max_factorisations = 1\.5: must be a whole number"):
        contact.solve(np.eye(3), [0.0] * 3, 0.1, max_factorisations=1.5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"dimension = 3\.0: must be a whole number"):
        contact.solve(np.eye(3), [0.0] * 3, 0.1, dimension=3.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("solver", contact.solvers())
@pytest.mark.parametrize("scale", [1e-50, 1e-12, 1e12, 1e50])
def test_units_change_nothing(scale: float, solver: str) -> None:
    """Impulses go with q and with the inverse of W, residuals with neither."""
    for factor, speed in ((scale, 1.0), (1.0, scale), (scale, scale)):
        found = contact.solve(factor * np.eye(3) / 2.0, speed * np.array([-1.0, 3.0, 0.0]), 0.4, solver=solver)
        assert found.converged
        np.testing.assert_allclose(found.r * factor / speed, [[2.0, -0.8, 0.0]], atol=1e-7)
