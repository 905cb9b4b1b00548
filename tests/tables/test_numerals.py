"""Numbers as people write them are read in one way for a column, or not at all."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.exceptions import DataError, MercerWarning
from mercer.tables import Category, Date, LeftOut, TableEncoder, read_table
from mercer.tables.numerals import decimal_mark, read_numerals, units_of

READ = {
    "units": (["62.9 kg", "70 kg"], ",", [62.9, 70], "{} kg"),
    "percent": (["45 %", "-3 %"], ",", [45, -3], "{} %"),
    "joined": (["4.5%", "3%"], ",", [4.5, 3], "{}%"),
    "euro": (["€ 1.234,50", "€ 7,25"], ";", [1234.5, 7.25], "€ {}"),
    "dollar": (["$2,236.38", "-$14.00"], ",", [2236.38, -14], "${}"),
    "Swiss": (["1'234'567", "12"], ";", [1234567, 12], "int"),
    "typographic": (["1’234.50", "12"], ",", [1234.5, 12], "short"),
    "French": (["223\u202f637,67", "5"], ";", [223637.67, 5], "short"),
    "no break": (["1\u00a0439\u00a0171", "5"], ";", [1439171, 5], "int"),
    "thin": (["1\u2009439", "5"], ";", [1439, 5], "int"),
    "plain blanks": (["1 439 171", "5"], ";", [1439171, 5], "int"),
    "English": (["2,236", "14,391"], ",", [2236, 14391], "int"),
    "quoted decimals": (["1,5", "2,25"], ",", [1.5, 2.25], ""),
    "minus sign": (["\u22125.5", "3"], ",", [-5.5, 3], "short"),
    "a word": (["5 rooms", "3 rooms"], ",", [5, 3], "{} rooms"),
    "holes": (["5 m", "NA", "3 m", ""], ",", [5, np.nan, 3, np.nan], "{} m"),
}


@pytest.mark.parametrize("name", READ)
def test_a_column_is_read(name):
    texts, delimiter, values, form = READ[name]
    found = read_numerals(texts, delimiter)
    np.testing.assert_array_equal(found.values, values)
    assert found.form == form


@pytest.mark.parametrize(
    "texts",
    [
        ["K001", "K002"],
        ["01067", "10115"],  # post codes
        ["2024-01-10"],
        ["12 kg", "5 g"],
        ["1st", "2nd"],
        ["2D", "3D"],
        ["10:30"],
        ["(12)", "3"],
        ["1 2", "3 4"],
        ["18-25", "26-40"],
        ["10 Jan 2024"],
        ["3 Main Street", "4 Main Street"],
        ["1,23,456.5", "7"],
        ["", "NA"],
    ],
    ids=str,
)
def test_what_is_no_number_stays_a_text(texts):
    assert read_numerals(texts) is None


@given(
    st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=8),
    st.sampled_from([",", "'", "’", " ", "\u00a0", "\u202f", "\u2009"]),
    st.sampled_from(["{}", "{} kg", "$ {}", "{} %"]),
)
def test_thousands_marks_lose_nothing(numbers, mark, form):
    texts = [form.format(f"{number:,}".replace(",", mark)) for number in numbers]
    found = read_numerals(texts, ",")
    np.testing.assert_array_equal(found.values, np.array(numbers, dtype=float))


def test_what_one_column_shows_holds_for_the_others(tmp_path):
    """1.234 beside 7,25 is more than a thousand, and beside 7.25 it is not."""
    path = tmp_path / "x.csv"
    path.write_text("price;count\n7,25;1.234\n1.200,50;987\n8,5;12.500\n")
    assert read_table(path).columns["count"].tolist() == [1234, 987, 12500]
    path.write_text("price;count\n7.25;1.234\n1200.5;987\n")
    assert read_table(path).columns["count"].tolist() == [1.234, 987]
    path.write_text("price;count\n7.25;1,234\n1200.5;987\n$1,000.5;1\n".replace("$", ""))
    assert read_table(path).columns["count"].tolist() == [1234, 987, 1]
    assert decimal_mark([["1.5"], ["2,5"]]) == ""


def test_what_nothing_tells_is_said(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a;b\n1,234;x\n12,500;y\n")
    with pytest.warns(MercerWarning, match=r"'1,234' is read as 1.234; write thousands without"):
        assert read_table(path).columns["a"].tolist() == [1.234, 12.5]


def test_several_units_are_said(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,w\n1,12 kg\n2,500 g\n3,7 kg\n")
    with pytest.warns(MercerWarning, match=r"'w' .* several units \('kg', 'g'\)"):
        assert read_table(path).columns["w"].dtype == object
    assert units_of(["12 kg", "some"]) == []


def test_dashes_are_missing_among_numbers_and_dates_and_a_class_among_words(tmp_path):
    path = tmp_path / "x.csv"
    rows = "".join(f"{i},2024-01-{i:02d},{'+-'[i % 2]}\n" for i in range(1, 9))
    path.write_text("n,day,sign\n-,–,+\n" + rows)
    columns = read_table(path).columns
    assert np.isnan(columns["n"][0])
    assert columns["day"][0] is None
    assert set(columns["sign"]) == {"+", "-"}


def test_comments_and_bars(tmp_path):
    path = tmp_path / "x.csv"
    for head in ("# made by X\n\n# on Monday, at noon\n", "", "#\n"):
        path.write_text(head + "a|b\n1|2\n3|4\n")
        assert read_table(path).columns["b"].tolist() == [2, 4]
    path.write_text("## v1\n#id\tage\n1\t2\n")
    assert list(read_table(path).columns) == ["#id", "age"]
    path.write_text("# one\na,b\n1,2\n3\n")
    with pytest.raises(DataError, match=r"line 4 .* has 1 fields"):
        read_table(path)


def test_a_sum_in_the_last_row_is_said(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("shop,sales\nA,1\nB,2\nTotal,3\n")
    with pytest.warns(MercerWarning, match="the last, looks like a sum .'Total, 3'"):
        read_table(path)


def test_dates_as_people_write_them():
    days = pd.date_range("2023-01-05", periods=40, freq="31h")
    for form in ("%d-%b-%Y", "%B %d, %Y", "%m/%d/%Y %I:%M %p", "%Y-%m-%dT%H:%M:%SZ", "%H:%M"):
        table = pd.DataFrame({"at": days.strftime(form), "x": np.arange(40.0) % 7})
        encoder = TableEncoder().fit(table)
        assert isinstance(encoder.columns_["at"], Date), form
        back = encoder.inverse_transform(encoder.transform(table))
        assert back["at"].tolist() == table["at"].tolist()
    assert "time of day as %H:%M, in hours" in "".join(encoder.describe())


def test_texts_that_are_numbers_or_dates_of_several_forms_are_named():
    n = 30
    table = pd.DataFrame(
        {
            "weight": [f"{i % 9}.5 kg" for i in range(n)],
            "since": [
                f"2024-01-{i + 1:02d}" if i % 2 else f"{i + 1:02d}.01.2024" for i in range(n)
            ],
            "x": np.arange(n) % 7,
        }
    )
    left = TableEncoder().fit(table).left_out_
    assert left["weight"] == "texts such as '0.5 kg'; give numbers, or call it a category"
    assert left["since"].startswith("dates in several forms, ")
    assert left["since"].endswith("write all as 2024-12-31")
    asked = TableEncoder(weight="category").fit(table).columns_["weight"]
    assert isinstance(asked, Category)


def test_spellings_and_codes_for_missing_values_are_said():
    city = ["Oslo", "oslo", "Rome", "Rome"] * 10
    with pytest.warns(MercerWarning, match="'city' .* spelling only .'Oslo', 'oslo'"):
        TableEncoder().fit(pd.DataFrame({"city": city}))
    age = [float(20 + i % 50) for i in range(60)]
    for code in (-999, -1 * 99, 9999):
        with pytest.warns(MercerWarning, match=f"'age' has {code} in 2 rows, far from all"):
            TableEncoder().fit(pd.DataFrame({"age": [*age, code, code]}))


def test_ordinary_tables_are_not_warned_about(recwarn):
    rng = np.random.default_rng(0)
    columns = {
        "a": rng.normal(size=90),
        "b": rng.integers(-1, 5, 90),
        "c": rng.integers(0, 1000, 90),
    }
    TableEncoder().fit(pd.DataFrame({**columns, "c2": rng.choice(["x", "y"], 90)}))
    assert not recwarn.list


def test_a_unit_comes_back(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("share,w\n" + "".join(f"{i % 50} %,{i}.5 kg\n" for i in range(60)))
    table = read_table(path)
    encoder = TableEncoder().fit(table)
    assert encoder.describe()[0].endswith("whole, from 0 to 100, in %")
    back = encoder.inverse_transform(encoder.transform(table))
    assert back["share"][7] == "7 %"
    assert back["w"][7] == "7.5 kg"
    assert not any(isinstance(column, LeftOut) for column in encoder.columns_.values())


def test_columns_of_different_units_are_scaled(tmp_path):
    """Kilograms beside years were said to have one unit, since both are below a hundred."""
    path = tmp_path / "x.csv"
    path.write_text(
        "mass,age\n" + "".join(f"{30 + i % 7}.5 kg,{20 + i * 7 % 50}\n" for i in range(40))
    )
    assert TableEncoder().fit(read_table(path)).scale_ == "robust"
