"""A study from a stranger: no path leaves its folder, nothing hangs, nothing floods."""

import os
from pathlib import Path

import pytest

from percuss.study import load
from percuss.study.load import check_study, load_study

MODEL = '[model]\nkind = "benchmark"\nfunction = "ishigami"\nx1 = 0\nx2 = 0\nx3 = 0\n'


def attached(folder: Path, path: str) -> Path:
    (folder / "study.toml").write_text(MODEL + f"[observations]\nfile = '{path}'\n")
    return folder


def test_a_file_inside_is_attached_under_its_normal_path(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_bytes(b"x\n1\n")
    study = load_study(attached(tmp_path, "./data//a.csv"))
    assert study.files == {"data/a.csv": b"x\n1\n"}
    assert study.sections["observations"] == {"file": "data/a.csv"}


def test_a_link_inside_the_folder_is_followed(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"1")
    (tmp_path / "b.csv").symlink_to("a.csv")
    assert load_study(attached(tmp_path, "b.csv")).files == {"b.csv": b"1"}


@pytest.mark.parametrize(
    "path", ["../secret", "data/../../secret", "/etc/hostname", "", " ", ".", "a\tb", "..", "missing"]
)
def test_paths_that_lead_elsewhere(tmp_path, path):
    folder = tmp_path / "study"
    folder.mkdir()
    (tmp_path / "secret").write_text("secret")
    (fault,) = check_study(attached(folder, path))
    assert fault.key == "observations.file"
    assert fault.line == 8


def test_links_out_of_the_folder(tmp_path):
    folder = tmp_path / "study"
    folder.mkdir()
    (tmp_path / "secret").write_text("secret")
    (folder / "file").symlink_to(tmp_path / "secret")
    (folder / "folder").symlink_to(tmp_path)
    (folder / "loop").symlink_to("loop")
    for path in ("file", "folder/secret"):
        (fault,) = check_study(attached(folder, path))
        assert "link out of the study's folder" in fault.message
    assert "cannot be read" in check_study(attached(folder, "loop"))[0].message
    (folder / "study.toml").unlink()
    (folder / "study.toml").symlink_to(tmp_path / "secret")
    assert "link out of the study's folder" in check_study(folder)[0].message


def test_pipes_devices_and_folders(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    assert "not a regular file" in check_study(attached(tmp_path, "pipe"))[0].message
    assert "link out" in check_study(attached(tmp_path, "zero"))[0].message
    assert "not a regular file" in check_study(attached(tmp_path, "folder"))[0].message
    (tmp_path / "study.toml").unlink()
    os.mkfifo(tmp_path / "study.toml")
    assert "not a regular file" in check_study(tmp_path)[0].message
    assert check_study(Path("/dev/zero")), "a device is no study"


def test_size_is_checked_before_reading(tmp_path):
    # Sparse, and larger than any memory: reading it could not go unnoticed.
    with (tmp_path / "big").open("wb") as file:
        file.truncate(2**40)
    (fault,) = check_study(attached(tmp_path, "big"))
    assert "at most 268435456 are read" in fault.message
    with (tmp_path / "study.toml").open("wb") as file:
        file.truncate(2**40)
    assert "at most 1000000 are read" in check_study(tmp_path)[0].message


def test_files_together_are_no_larger_than_one_may_be(tmp_path):
    with (tmp_path / "big").open("wb") as file:
        file.truncate(200 * 1024**2)
    text = "".join(f"[observations.o{i}]\nfile = '{'./' * i}link{i}'\n" for i in range(2))
    for i in range(2):
        (tmp_path / f"link{i}").symlink_to("big")
    (tmp_path / "study.toml").write_text(MODEL + text)
    (fault,) = check_study(tmp_path)
    assert fault.key == "observations.o1.file"
    assert "at most 58720256 are read" in fault.message


def test_messages_fit_a_line(tmp_path):
    """A name in the file may be as long as the file; what is said of it is not."""
    (tmp_path / "study.toml").write_text(MODEL + f"[observations]\nfile = '{'x' * 100_000}'\n")
    (fault,) = check_study(tmp_path)
    assert len(str(fault)) < 1000


def test_a_wall_beyond_reason_is_refused(tmp_path):
    """Counts are bounded before anything is built of them."""
    (tmp_path / "study.toml").write_text("[model]\nkind = 'rockfall-wall'\nrows = 9007199254740993\naxes = 1000000\n")
    assert [fault.key for fault in check_study(tmp_path)] == ["model.rows", "model.axes"]
    assert "outside [1, 40]" in check_study(tmp_path)[0].message


HALF = 400_000
HOSTILE = {
    "arrays": "a = " + "[" * HALF,
    "closed arrays": "a = " + "[" * 5000 + "]" * 5000,
    "nested just below the parser's limit": "a = " + "[" * 200 + "]" * 200,
    "tables": "a = " + "{a=" * 100_000,
    "dotted key": ".".join("a" * HALF) + " = 1",
    "dotted header": "[" + ".".join("a" * HALF) + "]",
    "quoted dotted key": ".".join(['"!"'] * 100_000) + " = 1",
    "spaced dotted key": " . ".join(["'!'"] * 100_000) + " = 1",
    "dotted key inline": "a = {" + ".".join("a" * HALF) + " = 1}",
    "many unknown keys": "\n".join(f"k{i} = 1" for i in range(60_000)),
    "many unknown parameters": MODEL + "\n".join(f"[parameters.p{i}]" for i in range(30_000)),
    "long key": "k" * HALF + " = 1",
    "long value": MODEL.replace("x1 = 0", f"x1 = '{'9' * HALF}'"),
    "long function": MODEL.replace("ishigami", "i" * HALF),
    "long number": "a = " + "9" * HALF,
    "long float": MODEL.replace("x1 = 0", f"x1 = {'9' * 100_000}.0"),
    "long string": 'a = """' + '\\"' * HALF + '"""\nb = 1',
    "quotes": "a = '''" + "''x" * 200_000 + "'''\nb = 1",
    "comments": "#\n" * HALF + "b = 1",
    "null bytes": "a = '\0'",
    "surrogate": 'a = "\\ud800"',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_refused_shortly(tmp_path, name):
    (tmp_path / "study.toml").write_text(HOSTILE[name])
    faults = check_study(tmp_path)
    assert 0 < len(faults) <= load.MAX_FAULTS + 1
    assert all(len(str(fault)) < 700 for fault in faults)


def test_nothing_in_a_study_is_executed(tmp_path):
    marker = tmp_path / "executed"
    text = MODEL.replace('"benchmark"', "\"os.system('touch executed')\"")
    (tmp_path / "study.toml").write_text(text + f"[parameters.\"__import__('os').mknod('{marker}')\"]\n")
    assert check_study(tmp_path)
    assert not marker.exists()
