"""What can be reproduced: a plain table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mercer.exceptions import MercerError
from mercer.papers import baran2018, mika1999, mika1999_digits, schreurs2018, tipping2001
from mercer.papers.item import Item

#: Key → authors, title and place.
PAPERS: Mapping[str, str] = {
    "mika1999": "S. Mika, B. Schölkopf, A. Smola, K.-R. Müller, M. Scholz & G. Rätsch, “Kernel PCA "
    "and de-noising in feature spaces”, NIPS 11, 1999",
    "tipping2001": "M. E. Tipping, “Sparse kernel principal component analysis”, NIPS 13, 2001",
    "schreurs2018": "J. Schreurs & J. A. K. Suykens, “Generative kernel PCA”, ESANN 2018",
    "baran2018": "I. Baran & H. Pylieva, “Kernel principal component analysis and its "
    "applications”, project report, Ukrainian Catholic University, 2018",
}

ITEMS: Sequence[Item] = (
    Item("mika1999", "table1", "Gaussians in ten dimensions, denoised", mika1999.run_table1),
    Item("mika1999", "figure1", "A half circle and a square, denoised", mika1999.run_figure1),
    Item("mika1999", "figure2", "Components of USPS digits as images", mika1999_digits.run_figure2),
    Item("mika1999", "figure3", "USPS digits from their components", mika1999_digits.run_figure3),
    Item("mika1999", "figure4", "USPS digits, denoised", mika1999_digits.run_figure4),
    Item("tipping2001", "figure1", "Three clusters: nine components", tipping2001.run_figure1),
    Item("tipping2001", "figure2", "The same from few kernels", tipping2001.run_figure2),
    Item("tipping2001", "figure3", "Points that represent the data", tipping2001.run_figure3),
    Item("tipping2001", "figure4", "Pima: 40 kernels against 200", tipping2001.run_figure4),
    Item("schreurs2018", "figure1", "Circle and lines, denoised", schreurs2018.run_figure1),
    Item("schreurs2018", "figure2", "New digits", schreurs2018.run_figure2),
    Item("baran2018", "figure1", "Principal components", baran2018.run_figure1),
    Item("baran2018", "figure2", "PCA on a parabola", baran2018.run_figure2),
    Item("baran2018", "figure3", "Pancakes", baran2018.run_figure3),
    Item("baran2018", "figure4", "Directions that are not orthogonal", baran2018.run_figure4),
    Item("baran2018", "figure5", "The idea of kernel PCA", baran2018.run_figure5),
    Item("baran2018", "figure6", "Concentric clouds in 2-D and 3-D", baran2018.run_figure6),
    Item("baran2018", "figure7", "PCA against kernel PCA", baran2018.run_figure7),
)


def select(*names: str) -> list[Item]:
    """The items that names mean: ``"all"``, a paper, or ``paper/item``; each once, in order.

    Examples
    --------
    >>> from mercer.papers import select
    >>> [item.key for item in select("mika1999/table1")]
    ['mika1999/table1']
    >>> len(select("mika1999"))
    5
    """
    meant = {item.key for name in names for item in _meant(name)}
    return [item for item in ITEMS if item.key in meant]


def _meant(what: str) -> list[Item]:
    found = [item for item in ITEMS if what in ("all", item.paper, item.key)]
    if found:
        return found
    paper = what.split("/")[0]
    if paper in PAPERS:
        names = ", ".join(item.name for item in ITEMS if item.paper == paper)
        raise MercerError(f"'{what}' is not there; {paper} has {names}.")
    raise MercerError(f"there is no paper '{paper}'; give 'all' or one of {', '.join(PAPERS)}.")
