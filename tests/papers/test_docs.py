"""The pages of the papers show what the code asks for."""

import json

import pytest

from mercer.papers import ITEMS
from tests.conftest import ROOT

FOLDER = ROOT / "docs" / "papers"


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.key)
def test_each_item_is_on_its_page(item):
    page = (FOLDER / f"{item.paper}.md").read_text(encoding="utf-8")
    assert f"<!-- item: {item.key} -->" in page
    record = json.loads((FOLDER / item.paper / f"{item.name}.json").read_text(encoding="utf-8"))
    assert record["run"] == "full"
    assert record["stands_in"] == ""
    assert record["title"] == item.title
    assert (record["verdict"] == "reproduced") == all(c["holds"] == "yes" for c in record["checks"])
    assert (FOLDER / item.paper / f"{item.name}.png").stat().st_size < 250_000


def test_nothing_else_lies_there():
    files = {p.relative_to(FOLDER).with_suffix("").as_posix() for p in FOLDER.glob("*/*")}
    assert files == {item.key for item in ITEMS}
