"""The page that an index of packages shows: no link of it needs the repository around it."""

import re
import sys
from pathlib import Path

import pytest

import mercer

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.fixture(scope="module")
def outside():
    pytest.importorskip("hatchling")
    sys.path.insert(0, str(ROOT))
    from hatch_build import outside

    sys.path.remove(str(ROOT))
    return outside


def test_every_link_and_picture_of_the_readme_has_an_address(outside):
    readme = (ROOT / "README.md").read_text()
    links = LINK.findall(outside(readme, "https://host/us/mercer", "v1"))
    assert len(links) == len(LINK.findall(readme)) > 15
    assert all(link.startswith("https://") for link in links)


def test_a_picture_is_raw_and_a_page_is_not(outside):
    text = "![a\nb](docs/x.png) [c](docs/y.md) [d](https://z) [e](#f)"
    wanted = "![a\nb](https://r/raw/v1/docs/x.png) [c](https://r/blob/v1/docs/y.md)"
    assert outside(text, "https://r", "v1") == f"{wanted} [d](https://z) [e](#f)"


def test_what_the_links_point_to_is_there(outside):
    links = LINK.findall(outside((ROOT / "README.md").read_text(), "https://r", "v1"))
    ours = [link.split("/v1/")[1] for link in links if "/v1/" in link]
    assert [path for path in ours if not (ROOT / path.partition("#")[0]).exists()] == []


def test_one_version_everywhere():
    released = re.search(r"^## \[(\d\S*)\] - (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    citation = (ROOT / "CITATION.cff").read_text()
    assert released[1] == mercer.__version__
    assert f"version: {released[1]}\ndate-released: {released[2]}\n" in citation
