"""`percuss fclib`: contact problems of the FCLIB collection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from percuss.cli.options import JsonOption

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from percuss.fclib import Comparison

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.callback()
def fclib() -> None:
    """Solve contact problems of the FCLIB collection."""


@app.command(
    short_help="Solve the contact problems of FCLIB files.",
    epilog="Example: percuss fclib solve BoxesStack-48.hdf5 --solver all --tol 1e-8",
)
def solve(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="FCLIB files, or folders of them.")],
    solver: Annotated[str, typer.Option(help="Name of a solver, several with commas, or all.")] = "auto",
    tol: Annotated[float, typer.Option(help="Bound of the residual.")] = 1e-8,
    norm: Annotated[str, typer.Option(help="Norm of the residual: energy, plain or velocity.")] = "energy",
    max_iterations: Annotated[int, typer.Option(min=1, help="Most sweeps or gradient steps.")] = 50_000,
    max_factorisations: Annotated[int, typer.Option(min=0, help="Most factorisations.")] = 4_000,
    repeat: Annotated[int, typer.Option(min=1, help="Solve this many times, and print the shortest time.")] = 1,
    json: JsonOption = False,
) -> None:
    """Solve the frictional contact problems of FCLIB files: residuals, iterations and time of each solver.

    The exit code is 1 if for some file no solver met the tolerance. In a folder, files without a solvable problem are
    skipped, with the reason; if all are, the exit code is 2. With --json each problem is one line, written when it is
    solved.
    """
    from percuss.cli.output import say, table_text
    from percuss.contact import NORMS
    from percuss.errors import AnswerIsNo, InputError
    from percuss.fclib import compare, read
    from percuss.spelling import did_you_mean

    names = _solvers(solver)
    if norm not in NORMS:
        raise InputError(f"--norm {norm}: {did_you_mean(norm, NORMS)}")
    if not 0 < tol < float("inf"):
        raise InputError(f"--tol {tol}: must be positive and finite")
    settings = {"tol": tol, "norm": norm, "max_iterations": max_iterations, "max_factorisations": max_factorisations}
    comparisons = list(_each(files, lambda path: compare(read(path), names, repeat=repeat, **settings), json))
    if not json:
        print(table_text(HEADS, [row for comparison in comparisons for row in _rows(comparison)]))
    unsolved = [comparison for comparison in comparisons if not comparison.solved]
    for comparison in unsolved:
        say(f"{comparison.problem.name}: {comparison.stand(norm)}")
    if unsolved:
        raise AnswerIsNo(f"not solved to {tol:g}: {', '.join(comparison.problem.name for comparison in unsolved)}")


def _each(files: list[Path], solved: Callable[[Path], Comparison], json: bool) -> Iterator[Comparison]:
    """Each problem as it is solved; what cannot be solved is said, and left out if it comes from a folder."""
    from percuss.cli.output import give_line, say
    from percuss.errors import InputError
    from percuss.fclib import find

    some = False
    for path in find(files):
        try:
            comparison = solved(path)
        except InputError as fault:
            if path in files or fault.hint:
                raise
            say(f"skipped: {fault}")
            if json:
                give_line({"problem": path.stem, "fault": str(fault)})
            continue
        if json:
            give_line(comparison.facts())
        some = True
        yield comparison
    if not some:
        raise InputError("no file holds a problem that can be solved: the reason for each is above")


def _solvers(text: str) -> list[str]:
    """The solvers that are asked for, by name or `all`."""
    from percuss.contact import solvers
    from percuss.errors import InputError
    from percuss.spelling import did_you_mean

    known = solvers()
    names = list(known) if text == "all" else [name.strip() for name in text.split(",")]
    for name in names:
        if name not in known:
            raise InputError(f"--solver {name}: {did_you_mean(name, [*known, 'all'])}")
    return names


HEADS = ("problem", "contacts", "solver", "met", "iterations", "newton", "ms", "energy", "plain", "velocity", "siconos")


def _rows(comparison: Comparison) -> list[tuple[object, ...]]:
    problem = comparison.problem
    return [
        (
            problem.name,
            problem.contacts,
            solution.solver,
            "yes" if solution.converged else "no",
            solution.iterations,
            solution.factorisations,
            round(1e3 * solution.seconds, 3),
            *(f"{size:.1e}" for size in vars(solution.residuals).values()),
        )
        for solution in comparison.solutions
    ]
