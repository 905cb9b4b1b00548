"""Files as people have them: several at once, spreadsheets, compressed ones."""

import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mercer.cli import main
from mercer.exceptions import DataError, MercerWarning
from mercer.tables import read_table
from tests.tables.test_tables import people


def test_several_files_are_one_table(tmp_path):
    (tmp_path / "a1.csv").write_text("x,kind,n\n1,u,\n2,v,\n")
    (tmp_path / "a2.csv").write_text("kind,n,x\nw,4,3.5\n")
    for several in (str(tmp_path / "a*.csv"), [tmp_path / "a1.csv", tmp_path / "a2.csv"]):
        frame = read_table(several)
        assert list(frame.columns) == ["x", "kind", "n"]
        assert_array_equal(frame.columns["x"], [1, 2, 3.5])
        assert_array_equal(frame.columns["n"], [np.nan, np.nan, 4])
        assert frame.columns["kind"].tolist() == ["u", "v", "w"]
        assert frame.dtypes["x"] == ""  # whole in one file only
    (tmp_path / "b1.csv").write_text("x,kind\n1,u\n")
    with pytest.raises(DataError, match=r"b1.csv' lacks the columns of .*a1.csv': 'n'"):
        read_table([tmp_path / "a1.csv", tmp_path / "b1.csv"])
    with pytest.raises(DataError, match=r"has one more than.*'n'"):
        read_table([tmp_path / "b1.csv", tmp_path / "a1.csv"])
    (tmp_path / "c1.csv").write_text("x,kind\nten,u\n")
    with pytest.raises(DataError, match=r"'x' holds numbers in .*b1.csv', texts in .*c1.csv"):
        read_table([tmp_path / "b1.csv", tmp_path / "c1.csv"])
    with pytest.raises(DataError, match="no file matches"):
        read_table(str(tmp_path / "z*.csv"))
    with pytest.raises(DataError, match="no files in the list"):
        read_table([])


def test_a_pattern_on_the_command_line(tmp_path, capsys):
    table = people().drop(columns="since")
    table[:50].to_csv(tmp_path / "p1.csv")
    table[50:].to_csv(tmp_path / "p2.csv")
    model, out = str(tmp_path / "m.mercer"), tmp_path / "z.csv"
    assert main(["fit", str(tmp_path / "p*.csv"), "-o", model, "--components", "3"]) == 0
    assert main(["transform", model, str(tmp_path / "p*.csv"), "-o", str(out)]) == 0
    assert len(out.read_text().splitlines()) == 1 + len(table)
    capsys.readouterr()


CELLS = """<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">
<sheetData>{}</sheetData></worksheet>"""


def write_xlsx(path, *sheets):
    """As little of a workbook as there can be; texts are inline."""

    def cell(value):
        if value is None:
            return "<c/>"
        if isinstance(value, bool):
            return f'<c t="b"><v>{int(value)}</v></c>'
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
        style = ' s="1"' if value == 44197 else ""  # 2021-01-01
        return f"<c{style}><v>{value}</v></c>"

    main_ = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    count = range(1, len(sheets) + 1)
    listed = "".join(f'<sheet name="S{i}" sheetId="{i}" r:id="r{i}"/>' for i in count)
    links = "".join(
        f'<Relationship Id="r{i}" Type="{office}/worksheet" Target="worksheets/s{i}.xml"/>'
        for i in count
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
            f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main_}" xmlns:r="{office}"><sheets>{listed}</sheets></workbook>',
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{package}/relationships">{links}<Relationship Id="s" '
            f'Type="{office}/styles" Target="styles.xml"/></Relationships>',
        )
        archive.writestr(
            "xl/styles.xml",
            f'<styleSheet xmlns="{main_}"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
            "</styleSheet>",
        )
        for i, sheet in zip(count, sheets, strict=True):
            rows = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in sheet)
            archive.writestr(f"xl/worksheets/s{i}.xml", CELLS.format(rows))


def test_a_spreadsheet(tmp_path):
    pytest.importorskip("python_calamine")
    path = tmp_path / "x.xlsx"
    rows = [["age", "city", "since", "member", "ratio"], [31, "Oslo", 44197, True, 0.5]]
    write_xlsx(path, [*rows, [52, None, 44197, False, None]])
    frame = read_table(path)
    assert list(frame.columns) == rows[0]
    assert_array_equal(frame.columns["age"], [31, 52])
    assert frame.dtypes["age"] == "int"
    assert frame.columns["city"].tolist() == ["Oslo", None]
    assert frame.columns["since"].astype("M8[D]").tolist()[0].isoformat() == "2021-01-01"
    assert frame.columns["member"].tolist() == [True, False]
    assert_array_equal(frame.columns["ratio"], [0.5, np.nan])


def test_other_sheets_are_named_and_nonsense_is_refused(tmp_path):
    pytest.importorskip("python_calamine")
    path = tmp_path / "x.xlsx"
    write_xlsx(path, [["a", "b"], [1, 2], [3, 4]], [["c"], [1]])
    with pytest.warns(MercerWarning, match="'S1' is read.*'S2'"):
        assert list(read_table(path).columns) == ["a", "b"]
    for sheet, words in {
        (): "empty",
        (("a", "b"),): "no rows",
    }.items():
        write_xlsx(path, list(sheet))
        with pytest.raises(DataError, match=words):
            read_table(path)
    path.write_bytes(b"PK nonsense")
    with pytest.raises(DataError, match=r"x\.xlsx"):
        read_table(path)
