"""Sphinx configuration. The build contacts no other machine and treats warnings as errors."""

import importlib
import inspect
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

# Examples are timed one after the other; one BLAS thread keeps their numbers repeatable.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

from sphinx_gallery.sorting import ExplicitOrder

import mercer

project = "mercer"
author = "The mercer developers"
copyright = "2026, The mercer developers"
version = release = mercer.__version__

extensions = [
    "capabilities",
    "catalogue",
    "live_models",
    "mathml",
    "myst_parser",
    "numpydoc",
    "paper_items",
    "pictures",
    "results",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
    "thumbnails",
    "whole",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = [
    "_build",
    "_extensions",
    "_templates",
    "auto_examples/*.ipynb",
    "auto_examples/*.py",
    "learn/*.ipynb",
    "learn/*.py",
    "learn/sg_execution_times.rst",
    "tutorial",
]
templates_path = ["_templates"]

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3

# The reference lists what each package names in its __all__, nothing else.
autosummary_generate = True
autosummary_imported_members = True
autosummary_ignore_module_all = False
# A class that is also named at the top (mercer.Subspace) has one page, there.
autosummary_context = {
    "at_top": [
        f"{package}.{name}"
        for name in mercer.__all__
        for package in (
            "mercer.model",
            "mercer.solvers",
            "mercer.preimage",
            "mercer.kernels",
            "mercer.tables",
        )
        if getattr(mercer, name) is getattr(importlib.import_module(package), name, None)
    ]
}
# The sections of the gallery, in the order of a reader's questions.
SECTIONS = (
    "first_look",
    "preimages",
    "choose",
    "novelty",
    "generate",
    "variables",
    "large",
    "others",
)
autodoc_typehints = "none"  # types are written in the numpydoc sections
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
toc_object_entries_show_parents = "hide"  # fit(), not KernelPCA.fit(), in a narrow column
smartquotes_action = "De"  # dashes and dots; quotes are Python's in default="gaussian"

sphinx_gallery_conf = {
    "examples_dirs": ["../examples", "tutorial"],
    "gallery_dirs": ["auto_examples", "learn"],
    "filename_pattern": r"/plot_|/tutorial/\d",
    "within_subsection_order": "FileNameSortKey",  # chapters are numbered
    # Each class page shows what uses it, see _templates/autosummary/class.rst.
    "backreferences_dir": "reference/backreferences",
    "doc_module": ("mercer",),
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,  # that page loads scripts from elsewhere
    "subsection_order": ExplicitOrder([*(f"../examples/{name}" for name in SECTIONS), "*"]),
}

html_theme = "pydata_sphinx_theme"
html_title = f"mercer {version}"
html_static_path = ["_static"]
html_css_files = ["mercer.css"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "mercer"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": False,
}
html_sidebars = {"index": []}


def skip_inherited(_app: Any, _what: str, name: str, obj: Any, *_: Any) -> bool | None:
    """Methods of scikit-learn and of Python's texts are described in their own manuals."""
    from_sklearn = str(getattr(obj, "__module__", "")).startswith("sklearn.")
    from_str = not inspect.isfunction(obj) and hasattr(str, name) and inspect.isroutine(obj)
    return True if from_sklearn or from_str else None


def link_examples(app: Any, what: str, name: str, *rest: Any) -> None:
    """The examples stand behind all methods of a class; its first sentence leads to them."""
    if what != "class":
        return
    lines: list[str] = rest[-1]
    folder = Path(app.srcdir, sphinx_gallery_conf["backreferences_dir"])
    found = [folder / f"{used}.examples" for used in (name, f"{name}.from_estimator")]
    cards = "".join(path.read_text(encoding="utf-8") for path in found if path.exists())
    if count := cards.count("sphx-glr-thumbcontainer"):
        more = "examples use it" if count > 1 else "example uses it"
        first = next(i for i, line in enumerate(lines) if line)
        end = lines.index("", first) if "" in lines[first:] else len(lines)
        lines[end:end] = ["", f"`{count} {more} <#examples-that-use-it>`__."]


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", link_examples, priority=900)
    app.connect("autodoc-skip-member", skip_inherited)
