"""Text is parsed once, by whichever parser; both read the same numbers and say the same faults."""

import sys

import numpy as np
import pytest

import mercer as package
from mercer import GenerativeKernelPCA, KernelPCA
from mercer.cli import main
from mercer.exceptions import DataError
from mercer.io import Choice, open_rows, open_table
from mercer.io.delimited import CsvRows
from tests.io.test_files import FAULTY


@pytest.fixture(params=["pyarrow", "ours"])
def parser(request, monkeypatch):
    """Either parser: without pyarrow, ours reads everything."""
    if request.param == "ours":
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    else:
        pytest.importorskip("pyarrow")
    return request.param


@pytest.fixture
def parsed(monkeypatch):
    """How many rows each call of the parsers gave, and by which of them."""
    counts = {"all": 0, "ours": 0}
    every, ours = CsvRows._parse_rows, CsvRows._parse

    def count(self, start, stop):
        for block in every(self, start, stop):
            counts["all"] += len(block)
            yield block

    def parse(self, batch):
        counts["ours"] += len(batch)
        return ours(self, batch)

    monkeypatch.setattr(CsvRows, "_parse_rows", count)
    monkeypatch.setattr(CsvRows, "_parse", parse)
    return counts


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("csv") / "x.csv"
    X = np.random.default_rng(0).standard_normal((15_000, 30))
    names = ",".join(f"c{j}" for j in range(30))
    np.savetxt(path, X, delimiter=",", fmt="%.17g", header=names, comments="")
    return path, X


def test_a_fit_by_the_command_line_parses_once(table, parser, parsed, tmp_path):
    """15,000 x 30: each row is made numbers once, whoever does it."""
    target = tmp_path / "m.mercer"
    assert main(["fit", str(table[0]), "--components", "3", "-o", str(target), "-q"]) == 0
    assert parsed == {"all": 15_000, "ours": 15_000 if parser == "ours" else 0}
    expected = KernelPCA(3, random_state=0).fit(table[1])
    np.testing.assert_array_equal(package.load(target).eigenvalues_, expected.eigenvalues_)


@pytest.mark.parametrize("model", [KernelPCA(3), GenerativeKernelPCA(3)])
def test_a_file_that_is_loaded_is_parsed_once(tmp_path, parsed, model):
    X = np.random.default_rng(0).standard_normal((700, 3))
    np.savetxt(tmp_path / "x.csv", X, delimiter=",")
    model.fit(tmp_path / "x.csv")
    assert parsed["all"] == 700


def test_labels_come_with_the_count_of_the_rows(tmp_path, parsed):
    path = tmp_path / "x.csv"
    path.write_text("a;kind;b\n" + '1;red;2\n3;"deep; blue";4\n')
    table = open_table(path, Choice(label="kind"))
    assert table.label.tolist() == ["red", "deep; blue"]
    assert parsed["all"] == 0
    np.testing.assert_array_equal(table.rows[:], [[1, 2], [3, 4]])


@pytest.mark.parametrize("fault", FAULTY)
def test_faults_are_the_same_with_either_parser(fault, tmp_path, parser):
    content, message = FAULTY[fault]
    (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(DataError, match=message):
        open_rows(tmp_path / "x.csv")[:]


HARD = {
    "blank lines": b"\n\na,b\n\n1,2\n\r\n3,4\n\n",
    "spaces in a blank line": b"a,b\n1,2\n  \n3,4\n",
    "carriage returns": b"a,b\r\n1,2\r\n3,4\r\n",
    "no end of line": b"a,b\n1,2\n3,4",
    "spaces and signs": b"a,b\n 1,+2 \n3 ,4.\n",
    "byte order mark without names": b"\xef\xbb\xbf1,2\n3,4\n",
    "quotes": b'a,b\n"1",2\n3,"4"\n',
}


@pytest.mark.parametrize("content", HARD.values(), ids=HARD)
def test_hard_but_right(tmp_path, parser, content):
    (tmp_path / "x.csv").write_bytes(content)
    np.testing.assert_array_equal(open_rows(tmp_path / "x.csv")[:], [[1, 2], [3, 4]])


def test_an_underscore_makes_a_code(tmp_path, parser):
    """2024_01 is a month, and Python's 202401 another number."""
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,2024_01\n")
    with pytest.raises(DataError, match="line 3 .*'2024_01' is not a number"):
        open_rows(tmp_path / "x.csv")[:]


def test_every_number_to_the_last_bit(tmp_path, parser):
    bits = np.random.default_rng(0).integers(0, 2**63, 6000).view(np.float64)
    X = bits[np.isfinite(bits)][:5000].reshape(-1, 2)
    (tmp_path / "x.csv").write_text("".join(f"{a!r},{b!r}\n" for a, b in X.tolist()))
    np.testing.assert_array_equal(open_rows(tmp_path / "x.csv")[:], X)


def test_any_part_of_a_file(table, parser):
    path, X = table
    rows = open_rows(path, columns=["c7", "c2"])
    for start, stop in [(0, 1), (1, 1), (1023, 1025), (5000, 5001), (14_999, 15_000)]:
        np.testing.assert_array_equal(rows[start:stop], X[start:stop, [7, 2]])
    index = np.array([0, 5, 1024, 14_999])
    np.testing.assert_array_equal(rows[index], X[index][:, [7, 2]])


@pytest.mark.parametrize("quote", ["", '"'])
def test_all_columns_in_another_order(tmp_path, parser, quote):
    """Read by our own parser they came in the order of the file, under the names of the other."""
    (tmp_path / "x.csv").write_text(f"a,b\n{quote}1{quote},2\n3,4\n")
    np.testing.assert_array_equal(
        open_rows(tmp_path / "x.csv", columns=["b", "a"])[:], [[2, 1], [4, 3]]
    )
    table = open_table(tmp_path / "x.csv", Choice(like=["b", "a"]))
    np.testing.assert_array_equal(table.rows[:], [[2, 1], [4, 3]])


@pytest.mark.parametrize("word", ["", "NA", "nan", "NaN", "?", " n/a ", "Null", "nOnE"])
def test_missing_values(tmp_path, parser, word):
    (tmp_path / "x.csv").write_text(f"a,b\n1,2\n3,{word}\n")
    found = open_rows(tmp_path / "x.csv", allow_nan=True)[:]
    np.testing.assert_array_equal(found, [[1, 2], [3, np.nan]])
    with pytest.raises(DataError, match="line 3"):
        open_rows(tmp_path / "x.csv")[:]


def test_a_fault_far_down_is_named_after_pyarrow_has_read_the_rest(tmp_path, parser):
    lines = [f"{i},{i}" for i in range(300_000)]
    lines[250_000] = "1,x"
    (tmp_path / "x.csv").write_text("\n".join(lines))
    rows = open_rows(tmp_path / "x.csv")
    with pytest.raises(DataError, match="line 250001 .*'x' is not a number"):
        rows[:]
    np.testing.assert_array_equal(rows[100_000:100_002], [[100_000] * 2, [100_001] * 2])


def test_threads_that_read_ahead_need_no_interpreter(tmp_path, monkeypatch):
    """A Python file in their hands at the end of the process aborted one run in fifteen."""
    arrow, csv = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.csv")
    given, opened = [], csv.open_csv
    monkeypatch.setattr(
        csv, "open_csv", lambda file, **kw: given.append(file) or opened(file, **kw)
    )
    (tmp_path / "x.csv").write_text("a,b\n" + "1,2\n" * 50)
    assert CsvRows(tmp_path / "x.csv")[:].shape == (50, 2)
    assert given
    assert all(isinstance(file, arrow.OSFile) for file in given)
