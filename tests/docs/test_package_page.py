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


def test_a_version_has_each_heading_once():
    versions = re.split("^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)[1:]
    assert len(versions) > 1
    for version in versions:
        headings = re.findall("^### .*", version, re.M)
        assert sorted(headings) == sorted({*headings})


def test_the_reference_names_what_users_construct():
    """Of the catalogue it takes whole tables; pictures are listed by hand."""
    reference = (ROOT / "docs" / "reference" / "index.rst").read_text()
    tables = {*re.findall(r"\{(\w+)", reference)}
    assert {"ESTIMATORS", "KERNELS", "PREIMAGES", "SOLVERS", "LANDMARK_RULES"} <= tables
    assert {*re.findall(r"^   (\w+Display)$", reference, re.M)} == {*mercer.plots.__all__}
