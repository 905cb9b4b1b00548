"""Files of format version 1 stay readable, and mean what they meant.

``python -m tests.io.model_file.test_golden`` wrote them, once; never again for this version.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mercer
from mercer import KernelNovelty, KernelPCA, SparseKernelPCA
from mercer.exceptions import MercerWarning
from mercer.generative import KernelSmoother
from mercer.io.model_file import describe
from mercer.kernels import Gaussian, Polynomial
from mercer.preimage import Smoother
from tests import naive
from tests.io.model_file.forge import forge

FOLDER = Path(__file__).parents[2] / "data" / "model_file"
ROWS = np.round(np.cos(np.outer(np.arange(1, 13), [0.7, 1.9])), 3)  # 12 points of a Lissajous curve
NEW = np.round(np.sin(np.outer(np.arange(1, 6), [1.1, 0.4])), 3)


def models():
    mixture = 0.5 * Gaussian(sigma=0.8) + Polynomial(2)
    return {
        "kernel_pca": KernelPCA(3, kernel=Gaussian(gamma=0.5)).fit(ROWS),
        "float32": KernelPCA(0.9, kernel=mixture, preimage="smoother").fit(ROWS.astype("float32")),
        "sparse": SparseKernelPCA(n_kernels=5, kernel=Gaussian(width=1.5)).fit(ROWS),
        "novelty": KernelNovelty(
            2, kernel=Gaussian(gamma=0.5), false_alarm_rate=0.2, random_state=0
        ).fit(ROWS),
    }


def answers(model):
    names = ("transform", "reconstruction_error", "denoise", "score_samples", "p_values")
    # The answers are of the time before match_noise="auto", which became the default.
    options = {"denoise": {"match_noise": False}}
    return {
        n: getattr(model, n)(NEW, **options.get(n, {})).tolist() for n in names if hasattr(model, n)
    }


@pytest.mark.parametrize("name", ["kernel_pca", "float32", "sparse", "novelty"])
def test_golden_files_mean_what_they_meant(name):
    expected = json.loads((FOLDER / "answers.json").read_text())[name]
    if name == "float32":
        # "smoother" is the method of today: since 0.2.0 its similarities are centred.
        expected["denoise"] = answers(models()[name])["denoise"]
    found = answers(mercer.load(FOLDER / f"{name}.mercer"))
    assert set(found) == set(expected)
    for method, values in expected.items():
        tol = 1e-4 if name == "float32" or method == "denoise" else 1e-10
        assert_allclose(found[method], values, atol=tol, err_msg=method)


def test_the_golden_model_is_kernel_pca_of_its_rows():
    """Not only what it said then, but what the textbook says."""
    model = mercer.load(FOLDER / "kernel_pca.mercer")
    textbook = naive.KernelPCA(naive.gaussian(0.5), ROWS, 3)
    assert_allclose(np.abs(model.transform(NEW)), np.abs(textbook.scores(NEW)), atol=1e-10)
    assert_allclose(model.reconstruction_error(NEW), textbook.residual(NEW), atol=1e-10)


def test_a_smoother_of_before_keeps_its_neighbours_and_says_what_changed(tmp_path):
    """Files of 0.2.0 and before say nothing but ``n_neighbors``."""

    def forget(header, model, payload):
        assert model["with"]["preimage"]["with"].pop("by") == "nearest"

    model = KernelPCA(3, preimage=Smoother(4, by="nearest")).fit(ROWS)
    path = forge(model.save(tmp_path / "new.mercer"), tmp_path / "old.mercer", forget)
    with pytest.warns(MercerWarning, match="similarities are centred"):
        old = mercer.load(path)
    assert old.preimage.get_params() == {"n_neighbors": 4, "by": "nearest", "noise": None}
    assert_allclose(old.denoise(NEW), model.denoise(NEW))
    old.save(tmp_path / "again.mercer")
    mercer.load(tmp_path / "again.mercer")  # without a word


def test_the_other_word_of_the_smoother(tmp_path):
    def rename(header, model, payload):
        model["with"]["preimage"]["object"] = "generative.KernelSmoother"

    model = KernelPCA(3, preimage=KernelSmoother(4, by="distance")).fit(ROWS)
    path = forge(model.save(tmp_path / "new.mercer"), tmp_path / "old.mercer", rename)
    assert_allclose(mercer.load(path).denoise(NEW), model.denoise(NEW))


def test_the_golden_header():
    info = describe(FOLDER / "kernel_pca.mercer")
    assert (info.version, info.class_name, info.n_bytes) == (1, "KernelPCA", 3816)
    assert info.parameters["kernel"] == "Gaussian(gamma=0.5)"
    assert info.data["rows"] == 12


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    fitted = models()
    for name, model in fitted.items():
        model.save(FOLDER / f"{name}.mercer")
    text = json.dumps({name: answers(model) for name, model in fitted.items()}, indent=1)
    (FOLDER / "answers.json").write_text(text + "\n")
