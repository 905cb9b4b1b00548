"""Messages count rows as the person does: lines of a file, indices of a table in memory."""

import json

import numpy as np
import pandas as pd
import pytest

from mercer import KernelPCA, TableModel
from mercer.exceptions import DataError
from mercer.tables import read_table
from tests.tables.test_files import write_xlsx

ROWS = 30


def make_columns():
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, ROWS), "D")
    return {
        "x": rng.standard_normal(ROWS).round(3).tolist(),
        "y": rng.standard_normal(ROWS).round(3).tolist(),
        "kind": rng.choice(["a", "b"], ROWS).tolist(),
        "day": days.strftime("%Y-%m-%d").tolist(),
    }


@pytest.fixture(scope="module")
def model():
    return TableModel(KernelPCA(2)).fit(make_columns())


def write(path, columns):
    if path.suffix == ".jsonl":
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        path.write_text(
            "".join(f"{json.dumps(row)}\n" for row in rows).replace("Infinity", "1e999")
        )
    else:
        # A blank line is no row, and counts as a line.
        text = pd.DataFrame(columns).to_csv(index=False).replace("inf", "1e999")
        head, _, rest = text.partition("\n")
        path.write_text(f"{head}\n\n{rest}")
    return path


WRONG = {"x": (float("inf"), "'x' contains infinity"), "day": ("soon", "'day' has 'soon'")}
FIRST = {"table.csv": 3, "table.jsonl": 1}


@pytest.mark.parametrize("name", FIRST)
@pytest.mark.parametrize("column", WRONG)
def test_a_wrong_value_of_a_file_is_named_by_its_line(model, tmp_path, name, column):
    columns = make_columns()
    columns[column][7], what = WRONG[column]
    path = write(tmp_path / name, columns)
    with pytest.raises(DataError, match=rf"{what} in line {FIRST[name] + 7}\b"):
        model.transform(read_table(path))


@pytest.mark.parametrize("column", WRONG)
def test_a_wrong_value_in_memory_is_named_by_its_index(model, column):
    columns = make_columns()
    columns[column][7], what = WRONG[column]
    with pytest.raises(DataError, match=rf"{what} in row 7\b"):
        model.transform(columns)


def test_an_infinity_is_named_in_fit_too(tmp_path):
    columns = make_columns()
    columns["x"][7] = float("inf")
    with pytest.raises(DataError, match="'x' contains infinity in row 7"):
        TableModel(KernelPCA(2)).fit(columns)
    with pytest.raises(DataError, match="'x' contains infinity in line 10"):
        TableModel(KernelPCA(2)).fit(write(tmp_path / "table.csv", columns))


def test_rows_of_a_sheet_are_counted_as_the_sheet_does(model, tmp_path):
    pytest.importorskip("python_calamine")
    columns = make_columns()
    columns["day"][7] = "soon"
    first, *rest = zip(*columns.values(), strict=True)
    write_xlsx(tmp_path / "x.xlsx", [[*columns], first, [], *rest])
    table = read_table(tmp_path / "x.xlsx")
    assert list(table.lines) == [2, *range(4, ROWS + 3)]
    with pytest.raises(DataError, match=r"'day' has 'soon' in line 10\b"):
        model.transform(table)


def test_missing_values_are_named_by_the_line_where_they_are_refused(tmp_path):
    columns = make_columns()
    columns["kind"][7] = None
    refusing = TableModel(KernelPCA(2), missing="refuse")
    with pytest.raises(DataError, match="missing in column 'kind', the first in line 10"):
        refusing.fit(write(tmp_path / "table.csv", columns))
    with pytest.raises(DataError, match="missing in column 'kind', the first in row 7"):
        refusing.fit(columns)


def test_rows_of_which_nothing_is_known_are_named_by_their_line(tmp_path):
    columns = {name: values for name, values in make_columns().items() if name != "day"}
    for values in columns.values():
        values[7] = None
    with pytest.raises(DataError, match="without any value, the first in line 10"):
        TableModel(KernelPCA(2), missing="fill").fit(write(tmp_path / "table.csv", columns))
