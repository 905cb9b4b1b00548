"""Typical mistakes of a first hour in Python; each is answered with what to write instead."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import mercer
from mercer import GenerativeKernelPCA, KernelNovelty, KernelPCA, TableModel
from mercer.exceptions import ModelFileError
from mercer.kernels import Gaussian
from mercer.plots import PreImageGalleryDisplay

X = load_iris().data
WITH_TEXT = "a,b\n1,x\n2,y\n3,z\n"


def fit_text(folder):
    (folder / "table.csv").write_text(WITH_TEXT)
    KernelPCA().fit(folder / "table.csv")


def load_text(folder):
    (folder / "table.csv").write_text(WITH_TEXT)
    mercer.load(folder / "table.csv")


def load_misspelt(folder):
    KernelPCA(2).fit(X).save(folder / "model.mercer")
    mercer.load(folder / "modle.mercer")


MISTAKES = {
    "nu": (lambda _: KernelNovelty(nu=0.1), TypeError, "false_alarm_rate="),
    "components_": (
        lambda _: KernelPCA(2).fit(X).components_,
        AttributeError,
        "component_pre",
    ),
    "lambdas_": (lambda _: KernelPCA(2).fit(X).lambdas_, AttributeError, "eigenvalues_"),
    "labels_": (lambda _: KernelNovelty().fit(X).labels_, AttributeError, "fit_predict"),
    "sample": (lambda _: KernelPCA(2).fit(X).sample(3), AttributeError, "GenerativeKernelPCA"),
    "noise": (lambda _: KernelPCA().tune(X, noise="high"), ValueError, "give a number"),
    "table of 10": (lambda _: TableModel(10).fit(X), TypeError, r"KernelPCA\(10\)"),
    "text": (
        lambda _: KernelPCA().fit(pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]})),
        ValueError,
        r"'b' holds text .* TableModel\(model\)",
    ),
    "date": (
        lambda _: KernelPCA().fit(pd.DataFrame({"d": pd.date_range("2020", periods=3)})),
        ValueError,
        r"'d' holds dates.* TableModel\(model\)",
    ),
    "infinity": (
        lambda _: KernelPCA().fit(np.where(X > 7, np.inf, X)),
        ValueError,
        r"make such values NaN and fit TableModel\(",
    ),
    "a class in a table model": (
        lambda _: TableModel(KernelPCA).fit({"a": [1.0, 2.0, 4.0]}),
        TypeError,
        r"model=KernelPCA is a class; give KernelPCA\(\), an object",
    ),
    "kernel by position": (
        lambda _: KernelPCA(2, "rbf"),
        TypeError,
        r"write KernelPCA\(2, kernel='rbf'\)",
    ),
    "kernal": (lambda _: KernelPCA(2, kernal="rbf"), TypeError, "did you mean kernel=?"),
    "gama": (lambda _: Gaussian(gama=1), TypeError, "did you mean gamma=?"),
    "nothing like it": (lambda _: KernelPCA(colour=1), TypeError, "it has n_components, kernel"),
    "set gamma": (lambda _: KernelPCA().set_params(gamma=1), ValueError, "write kernel__gamma="),
    "set kernle": (lambda _: KernelPCA().set_params(kernle=1), ValueError, "mean kernel=?"),
    "a missing model": (
        lambda folder: mercer.load(folder / "m.mercer"),
        FileNotFoundError,
        "there is no model file",
    ),
    "a misspelt model": (load_misspelt, ModelFileError, "did you mean '.*model.mercer'?"),
    "no folder": (
        lambda folder: KernelPCA(2).fit(X).save(folder / "a" / "m.mercer"),
        FileNotFoundError,
        r"there is no folder .*mkdir\(",
    ),
    "predict": (lambda _: KernelPCA(2).fit(X).predict(X), AttributeError, "KernelNovelty"),
    "X_fit_": (lambda _: KernelPCA(2).fit(X).X_fit_, AttributeError, "subspace_.support"),
    "frames of a detector": (
        lambda _: KernelNovelty().set_output(transform="pandas"),
        AttributeError,
        r"sklearn.set_config\(transform_output",
    ),
    "KPCA": (lambda _: mercer.KPCA, AttributeError, "did you mean mercer.KernelPCA?"),
    "RBF": (lambda _: mercer.kernels.RBF, AttributeError, "did you mean Gaussian?"),
    "arpack": (
        lambda _: KernelPCA(2, solver="arpack").fit(X),
        ValueError,
        "did you mean 'lanczos'?",
    ),
    "on its side": (
        lambda _: KernelPCA(2).fit(X).transform(X.T[:, :20]),
        ValueError,
        "give X.T, with one sample per row",
    ),
    "columns of two lengths": (
        lambda _: TableModel(KernelPCA(2)).fit({"a": [1, 2, 3], "b": [1, 2]}),
        ValueError,
        "differ in length: {'a': 3, 'b': 2}",
    ),
    "no images": (
        lambda _: PreImageGalleryDisplay.from_estimator(KernelPCA(2).fit(X)),
        ValueError,
        "4 columns are few for an image; give image_shape=",
    ),
    "a file with text": (fit_text, ValueError, r"open_rows\(path, columns=.* read_table\(path\)"),
    "a table for a model": (load_text, ValueError, "fit a model to it first"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_answer_is_a_remedy(mistake, tmp_path):
    make, kind, words = MISTAKES[mistake]
    with pytest.raises(kind, match=words) as caught:
        make(tmp_path)
    assert "\n" not in str(caught.value)


def test_hints_hide_nothing():
    """What a model has, it has; what it has not, is absent for ``hasattr``; other errors stay."""
    assert len(GenerativeKernelPCA(5, random_state=0).fit(X).sample(3)) == 3
    model = KernelPCA(2).fit(X)
    assert not hasattr(model, "components_")
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        model.nonsense  # noqa: B018
    with pytest.raises(AttributeError, match="not fitted|no attribute 'eigenvalues_'"):
        KernelPCA().eigenvalues_  # noqa: B018
