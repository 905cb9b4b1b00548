"""Live models on the pages of the documentation."""

import importlib.util
import re

import pytest

from tests.conftest import ROOT

PAGES = [page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts]


@pytest.fixture(scope="module")
def extension():
    path = ROOT / "docs" / "_extensions" / "live_models.py"
    spec = importlib.util.spec_from_file_location("live_models", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_at_least_three_pages_carry_one(extension):
    carried = {page: extension.MARK.findall(page.read_text(encoding="utf-8")) for page in PAGES}
    names = {name for marks in carried.values() for name, _ in marks}
    assert sum(map(bool, carried.values())) >= 3
    assert names == set(extension.MODELS), "each model is used, and no other is named"


def test_a_mark_becomes_a_frame(extension):
    match = re.search(extension.MARK, "<!-- live: moons#tab=denoise -->")
    assert 'src="../_live/moons.html#tab=denoise"' in extension.frame(match, 1)
    with pytest.raises(KeyError, match="stars"):
        extension.frame(re.search(extension.MARK, "<!-- live: stars -->"), 0)


@pytest.mark.parametrize("name", ["moons", "threes"])
def test_models_can_be_written(name, extension, tmp_path):
    extension.MODELS[name](tmp_path / "m.html")
    assert (tmp_path / "m.html").stat().st_size < 2_000_000
