"""Sinks: formats that agree, formulas that are tamed, and files that are whole or not there."""

import numpy as np
import pytest

from mercer.exceptions import DataError, OutputError
from mercer.io import CHUNK, MemoryRows, Table, atomic_file, check_sink, open_table, write_table

NAMES = ["a", "b", "c"]


def rows_of(n=60):
    return np.random.default_rng(0).standard_normal((n, 3))


def test_a_bare_carriage_return_is_quoted(tmp_path):
    """A spreadsheet begins a line there, in which =1+1 stands first."""
    rows = MemoryRows(np.ones((2, 1)), ["x\ry"])
    path = write_table(tmp_path / "x.csv", Table(rows, {"label": np.array(["a\r=1+1", "\r=2"])}))
    assert path.read_bytes() == b'"x\ry",label\n1,"a\r=1+1"\n1,"\'\r=2"\n'


def test_formulas_get_an_apostrophe(tmp_path):
    labels = np.array(["=1+1", "+a", "-b", "@c", "plain", "-5", ""])
    table = Table(MemoryRows(np.arange(7.0)[:, None], ["=x"]), {"kind": labels})
    lines = write_table(tmp_path / "x.csv", table).read_text().splitlines()
    assert lines[0] == "'=x,kind"
    ends = [line.split(",")[1] for line in lines[1:]]
    assert ends == ["'=1+1", "'+a", "'-b", "'@c", "plain", "-5", ""]


@pytest.mark.parametrize("ending", ["csv", "tsv", "txt", "npy", "npz", "parquet", "zarr"])
def test_blocks_are_joined(tmp_path, ending):
    X = rows_of(2 * CHUNK + 5)
    path = write_table(tmp_path / f"x.{ending}", X, columns=NAMES)
    np.testing.assert_array_equal(open_table(path).rows[:], X)
    assert write_table(path, X[:9]) == path  # replaced
    assert len(open_table(path).rows) == 9
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_names_and_labels_come_back(tmp_path, ending):
    from mercer.io import Choice

    kinds = np.array(["red", "blue"] * 30)
    table = Table(MemoryRows(rows_of(), NAMES), {"kind": kinds})
    path = write_table(tmp_path / f"x.{ending}", table)
    found = open_table(path, Choice(label="kind"))
    assert found.rows.columns == ("a", "b", "c")
    np.testing.assert_array_equal(found.label, kinds)
    turned = open_table(path, Choice(drop=["kind"], like=["c", "a"]))
    np.testing.assert_array_equal(turned.rows[:], rows_of()[:, [2, 0]])
    assert turned.unused == ["b"]


def test_a_file_is_written_from_another_in_blocks(tmp_path):
    source = write_table(tmp_path / "x.npy", rows_of())
    path = write_table(tmp_path / "y.parquet", source)
    np.testing.assert_array_equal(open_table(path).rows[:], rows_of())


def test_dask_collections_are_written(tmp_path):
    array = pytest.importorskip("dask.array")
    path = write_table(tmp_path / "x.csv", array.from_array(rows_of(), chunks=(7, 3)))
    np.testing.assert_array_equal(open_table(path).rows[:], rows_of())


def test_what_a_function_makes_is_written_in_its_own_type(tmp_path):
    table = open_table(write_table(tmp_path / "x.csv", rows_of(CHUNK + 9), columns=NAMES))
    seen = []

    def double(block):
        seen.append(block.columns)
        return (2 * block.X[:, :2]).astype(np.float32)

    made = table.map(double, 2, ["d", "e"])
    assert made.rows.shape == (CHUNK + 9, 2)
    path = write_table(tmp_path / "y.npy", made)
    assert np.load(path).dtype == np.float32
    np.testing.assert_array_equal(np.load(path), (2 * rows_of(CHUNK + 9)[:, :2]).astype(np.float32))
    assert seen == [("a", "b", "c")] * 2
    np.testing.assert_array_equal(made.rows[3:5], np.load(path)[3:5])


def test_an_error_in_the_middle_leaves_nothing(tmp_path):
    class Broken(MemoryRows):
        def stream(self, chunks):
            yield chunks[0], self.X
            raise RuntimeError("in the middle")

    target = tmp_path / "x.csv"
    target.write_text("old")
    with pytest.raises(RuntimeError, match="in the middle"):
        write_table(target, Table(Broken(rows_of(), NAMES)))
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


def test_links_and_rights_stay(tmp_path):
    target, link = tmp_path / "x.csv", tmp_path / "link.csv"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    with atomic_file(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640


def test_an_error_names_the_file_that_was_asked_for(tmp_path):
    with pytest.raises(FileNotFoundError, match="z.csv"):
        write_table(tmp_path / "none" / "z.csv", rows_of())
    with pytest.raises(OSError, match="other.txt"), atomic_file(tmp_path / "x.csv"):
        (tmp_path / "other.txt").open()


@pytest.mark.parametrize(
    ("name", "columns", "labelled", "words"),
    [
        ("x.xls", NAMES, False, "'.xls' is not known"),
        ("x", NAMES, False, "not images"),
        ("x.npy", NAMES, True, "no labels"),
        ("x.zarr", NAMES, True, "no labels"),
    ],
)
def test_sinks_that_do_not_suit(tmp_path, name, columns, labelled, words):
    with pytest.raises(OutputError, match=words):
        check_sink(tmp_path / name, columns, labelled=labelled)


def test_folders_of_others_are_not_replaced(tmp_path):
    pytest.importorskip("zarr")
    target = tmp_path / "mine.zarr"
    target.mkdir()
    (target / "letter.txt").write_text("dear")
    with pytest.raises(OutputError, match="not a Zarr store"):
        write_table(target, rows_of())
    assert (target / "letter.txt").read_text() == "dear"


def test_data_frames_keep_their_names(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = write_table(tmp_path / "x.csv", pandas.DataFrame(rows_of(), columns=NAMES))
    assert open_table(path).rows.columns == ("a", "b", "c")


@pytest.mark.parametrize(
    ("table", "columns", "words"),
    [
        (np.zeros(3), None, r"shape \(3,\)"),
        (np.full((2, 2), "a"), None, "<U1"),
        (np.zeros((2, 2)), ["a"], "1 names"),
        (Table(MemoryRows(np.zeros((2, 2)))), ["a", "b"], "its own names"),
        (np.zeros((0, 2)), None, "no rows"),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "npy", "zarr"])
def test_what_is_no_table(tmp_path, table, columns, words, ending):
    with pytest.raises(OutputError, match=words):
        write_table(tmp_path / f"x.{ending}", table, columns=columns)
    assert not list(tmp_path.iterdir())


def test_the_name_of_an_array_is_not_ignored(tmp_path):
    path = write_table(tmp_path / "x.csv", rows_of())
    with pytest.raises(DataError, match="array='y' means nothing"):
        open_table(path, array="y")
