"""The pictures of real data on the page about relevance.

``python -m benchmarks relevance_pictures [folder]`` draws wine, breast cancer, Pima (from
``MERCER_DATA``) and digits into ``docs/explanation/relevance``, and prints what they say.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.preprocessing import StandardScaler

from benchmarks._data import ROOT, folder
from mercer import KernelPCA
from mercer.plots import BiplotDisplay, RelevanceDisplay, ScreeDisplay


def main() -> None:
    """Draw and print."""
    import matplotlib

    matplotlib.use("Agg")
    target = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "docs/explanation/relevance"
    target.mkdir(parents=True, exist_ok=True)
    for draw in (wine, breast_cancer, pima, digits):
        for name, figure in draw().items():
            figure.savefig(target / f"{name}.png", dpi=90)
            print(f"→ {target / name}.png")


def wine() -> dict[str, Any]:
    data = load_wine(as_frame=True)
    X = StandardScaler().set_output(transform="pandas").fit_transform(data.data)
    X = X.rename(columns={"od280/od315_of_diluted_wines": "od280/od315"})
    model = KernelPCA(6).fit(X)
    sure = model.uncertainty(X)
    tell("wine", model, X, sure)
    y = data.target_names[data.target]
    return {
        "wine_biplot": BiplotDisplay.from_estimator(model, X, y=y).figure_,
        "wine": RelevanceDisplay.from_estimator(model, X, uncertainty=sure).figure_,
        "wine_scree": ScreeDisplay.from_estimator(model, uncertainty=sure).figure_,
    }


def breast_cancer() -> dict[str, Any]:
    data = load_breast_cancer(as_frame=True)
    X = StandardScaler().set_output(transform="pandas").fit_transform(data.data)
    model = KernelPCA(6).fit(X)
    tell("breast cancer", model, X, model.uncertainty(X))
    display = RelevanceDisplay.from_estimator(model, X, kind="heatmap", limit=30)
    return {"breast_cancer": display.figure_}


def pima() -> dict[str, Any]:
    import pandas as pd

    frame = pd.concat([pd.read_csv(folder() / f"Pima.{part}.csv") for part in ("tr", "te")])
    y = frame["type"].to_numpy()
    names = ["npreg", "glu", "bp", "skin", "bmi", "ped", "age"]
    X = StandardScaler().set_output(transform="pandas").fit_transform(frame[names])
    model = KernelPCA(4).fit(X)
    sure = model.uncertainty(X)
    tell("Pima", model, X, sure)
    return {
        "pima": RelevanceDisplay.from_estimator(model, X, uncertainty=sure).figure_,
        "pima_biplot": BiplotDisplay.from_estimator(model, X, y=y).figure_,
    }


def digits() -> dict[str, Any]:
    X = load_digits().data / 16
    model = KernelPCA(9).fit(X)
    tell("digits", model, X, model.uncertainty(X))
    return {"digits": RelevanceDisplay.from_estimator(model, X, kind="images").figure_}


def tell(name: str, model: Any, X: Any, sure: Any) -> None:
    """The strongest variables of the first components, and what is sure."""
    found = model.relevance(X, unit="share")
    print(f"\n{name}: {len(X)} rows")
    for k, row in enumerate(found.components[:3]):
        best = np.argsort(-row)[:5]
        print(f"  component {k}:", ", ".join(f"{found.names[j]} {row[j]:.0%}" for j in best))
    best = np.argsort(-found.error)[:4]
    print("  error:", ", ".join(f"{found.names[j]} {found.error[j]:.0%}" for j in best))
    for line in sure.advice:
        print("  " + line)
