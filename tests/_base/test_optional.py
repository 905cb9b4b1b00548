"""What is missing is named with words that can be typed: mercer is on no index."""

import re
import subprocess
import sys
import tomllib

import pytest

from mercer._base.optional import require
from tests.conftest import ROOT

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


@pytest.mark.parametrize("extra", sorted(set(EXTRAS) - {"all"}))
def test_every_package_of_an_extra_is_named(extra, monkeypatch):
    monkeypatch.setitem(sys.modules, "nothing", None)
    with pytest.raises(ImportError) as caught:
        require("nothing.inside", extra)
    text = str(caught.value)
    assert text.startswith("nothing is not installed; pip install ")
    for package in EXTRAS[extra]:
        assert re.split(r"[<>=\[]", package)[0] in text
    assert f"'.[{extra}]'" in text
    assert "\n" not in text


def test_nothing_is_to_be_installed_from_an_index_where_it_is_not():
    """``pip install mercer`` would install somebody else's package, if any."""
    files = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.py")]
    files += [*(ROOT / "src").rglob("*.py"), *(ROOT / "examples").rglob("*.py")]
    files += [*(ROOT / "src").rglob("*.js")]
    lines = {}
    for path in files:
        if "_build" in path.parts:
            continue
        for words in re.findall(r"pip install ([^`#&;()\n]*)", path.read_text()):
            lines[words.strip(" .\"'")] = path
    assert len(lines) >= 10
    wrong = [f"{path}: {words}" for words, path in lines.items() if re.search(r"\bmercer\b", words)]
    assert wrong == []


def test_what_needs_no_extra_is_imported_without_any():
    modules = "matplotlib pyarrow zarr PIL dask distributed onnx onnxruntime tensorly starlette "
    modules += "uvicorn websockets anywidget traitlets python_calamine"
    code = f"import sys\nsys.modules.update(dict.fromkeys({modules.split()!r}))\n"
    papers = sorted(
        f"papers.{path.stem}" for path in (ROOT / "src/mercer/papers").glob("[a-z]*.py")
    )
    for name in ("alternatives", "cli", "compat", "live", *papers, "plots", "testing"):
        code += f"import mercer.{name}\n"
    subprocess.run([sys.executable, "-c", code], check=True)
