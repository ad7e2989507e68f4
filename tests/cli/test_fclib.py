"""`percuss fclib`: what it prints, and what it refuses."""

from __future__ import annotations

import json
import sys


def test_every_solver_in_a_table_and_as_json(percuss, write_fclib) -> None:
    from percuss import contact

    path = write_fclib("block.hdf5")
    said = percuss("fclib", "solve", path, "--solver", "all", "--tol", "1e-10")
    assert said.code == 0, said.err
    head, *lines = said.out.splitlines()
    assert head.split()[:4] == ["problem", "contacts", "solver", "met"]
    assert [line.split()[:4] for line in lines] == [["block", "1", name, "yes"] for name in contact.solvers()]
    found = json.loads(percuss("fclib", "solve", path, "--solver", "newton, nsgs", "--json").out)
    assert (found["problem"], found["title"], found["contacts"], found["solved"]) == (
        "block",
        "a sliding block",
        1,
        True,
    )
    assert [each["solver"] for each in found["solvers"]] == ["newton", "nsgs"]
    for each in found["solvers"]:
        assert each["residuals"]["energy"] <= 1e-8
        assert set(each["residuals"]) == {"energy", "plain", "velocity", "siconos"}
        assert each["seconds"] > 0


def test_another_norm_decides_and_the_fastest_of_several_is_told(percuss, write_fclib) -> None:
    path = write_fclib("block.hdf5")
    for norm in ("plain", "velocity"):
        said = percuss("fclib", "solve", path, "--norm", norm, "--repeat", 3, "--tol", "1e-10", "--json")
        found = json.loads(said.out)
        assert found["solved"]
        assert found["solvers"][0]["residuals"][norm] <= 1e-10


def test_a_folder_passes_over_what_is_no_problem(percuss, folder, write_fclib) -> None:
    many = folder / "many"
    many.mkdir()
    write_fclib("many/b.hdf5")
    write_fclib("many/a.hdf5")
    write_fclib("many/four.hdf5", dimension=4)
    write_fclib("many/glue.hdf5", mu=-1.0)
    (many / "text.hdf5").write_text("no HDF5")
    said = percuss("fclib", "solve", many)
    assert [line.split()[0] for line in said.out.splitlines()] == ["problem", "a", "b"]
    assert said.code == 0
    assert "four.hdf5: spacedim is 4" in said.err
    assert "glue: friction coefficient of contact 0 is -1" in said.err
    assert "text.hdf5: cannot be read as HDF5" in said.err
    lines = [json.loads(line) for line in percuss("fclib", "solve", many, "--json").out.splitlines()]
    assert [line["problem"] for line in lines] == ["a", "b", "four", "glue", "text"]
    assert ["fault" in line for line in lines] == [False, False, True, True, True]


def test_a_folder_of_which_all_is_skipped_is_no_success(percuss, folder) -> None:
    (folder / "bad.hdf5").write_text("no HDF5")
    (folder / "inside.hdf5").mkdir()
    found = percuss("fclib", "solve", folder)
    assert found.code == 2
    assert "inside.hdf5: is a folder, not a file" in found.err
    assert "no file holds a problem that can be solved" in found.err


def test_planar_and_rolling_problems_are_solved(percuss, write_fclib) -> None:
    for name, dimension in (("plane", 2), ("rolling", 5)):
        said = percuss("fclib", "solve", write_fclib(f"{name}.hdf5", dimension=dimension), "--solver", "all", "--json")
        assert said.code == 0, said.err
        found = json.loads(said.out)
        assert found["dimension"] == dimension
        assert all(each["converged"] for each in found["solvers"])


def test_an_unmet_tolerance_is_no_success(percuss, write_fclib) -> None:
    path = write_fclib("block.hdf5")
    said = percuss("fclib", "solve", path, "--solver", "apgd", "--tol", "1e-12", "--max-iterations", 1)
    said.refused(1, "not solved to 1e-12: block")
    assert "no" in said.out.splitlines()[1].split()


def test_refusals(percuss, folder, write_fclib, monkeypatch) -> None:
    path = write_fclib("block.hdf5")
    percuss("fclib", "solve", path, "--solver", "newtom").refused(2, "did you mean `newton`")
    percuss("fclib", "solve", path, "--norm", "plane").refused(2, "--norm plane: did you mean `plain`")
    percuss("fclib", "solve", path, "--tol", 0).refused(2, "--tol 0.0: must be positive")
    percuss("fclib", "solve", folder / "none.hdf5").refused(2, "none.hdf5: no such file or folder")
    percuss("fclib", "solve", folder / "studies").refused(2, "studies: holds no .hdf5 file")
    percuss("fclib", "solve", write_fclib("four.hdf5", dimension=4)).refused(
        2, "spacedim is 4; in fclib_local it is 2 or 3"
    )
    percuss("fclib", "solve", write_fclib("mu.hdf5", mu=-1.0)).refused(2, "mu: friction coefficient of contact 0 is -1")
    monkeypatch.setitem(sys.modules, "h5py", None)
    said = percuss("fclib", "solve", path)
    said.refused(2, "reading FCLIB files needs h5py")
    assert 'pip install "percuss[fclib]"' in said.err
