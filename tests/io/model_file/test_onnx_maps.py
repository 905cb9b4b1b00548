"""Both ways of a map in onnxruntime against the model itself."""

import warnings

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError

from mercer import MapModel, TableModel, export_onnx
from mercer.exceptions import DataError, ModelFileError
from mercer.kernels import Gaussian, Matern
from mercer.preimage import near

#: Relative to the largest entry; in float32 without a warning.
TOLERANCE = {"float32": 3e-5, "float64": 1e-11}


def islands(n=500, q=2):
    """Rows that float32 holds exactly, and a map of three islands, far from the origin."""
    rng = np.random.default_rng(0)
    group, t = rng.integers(0, 3, n), rng.standard_normal((n, q))
    X = 4 * np.eye(6)[group] + t @ rng.standard_normal((q, 6)) + 0.3 * rng.standard_normal((n, 6))
    return np.float32(X + 50).astype(float), np.float32(t + 30 * np.eye(3, q)[group]).astype(float)


X, Z = islands()
NEW, PLACES = X[400:], Z[400:]


def fit(**parameters):
    return MapModel(**parameters).fit(X[:400], Z[:400])


def run(path, rows, dtype, name="X"):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {name: rows.astype(dtype)}), strict=True))


def off(found, expected):
    assert found.shape == expected.shape
    return np.abs(found - expected).max() / np.abs(expected).max()


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("kernel", [None, Gaussian(), Matern(nu=0.5), Matern(nu=2.5), "cauchy"])
def test_back(kernel, dtype, tmp_path):
    model = fit(kernel=kernel)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        path = export_onnx(model, tmp_path / "m.onnx", outputs=["inverse_transform"], dtype=dtype)
    places = np.concatenate([PLACES, Z[:50], np.float32(Z[:50] + 1e-3)])
    found = run(path, places, dtype, "Z")["inverse_transform"]
    assert found.dtype == dtype
    assert off(found, model.inverse_transform(places)) < TOLERANCE[dtype] * (10 if said else 1)
    assert bool(said) == (dtype == "float32" and "0.5" not in repr(kernel or 0.5))


@pytest.mark.filterwarnings("ignore:in float32")
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("q", [1, 2, 3])
def test_forth_and_there_and_back(q, dtype, tmp_path):
    rows, places = islands(q=q)
    model = MapModel().fit(rows[:400], places[:400])
    outputs = ["transform", "denoise"]
    path = export_onnx(model, tmp_path / "m.onnx", outputs=outputs, dtype=dtype)
    new = np.concatenate([rows[400:], rows[:50]])
    for name, found in run(path, new, dtype).items():
        # What is off in the place is off in its row, by as much as the way back is steep.
        tol = TOLERANCE[dtype] * (10 if name == "denoise" else 1)
        assert off(found, getattr(model, name)(new)) < tol, name


def test_rows_of_the_fit_are_where_the_map_has_them(tmp_path):
    path = export_onnx(fit(), tmp_path / "m.onnx")
    found = run(path, X[:400], "float32")["transform"]
    np.testing.assert_allclose(found, Z[:400], atol=1e-4)


def test_images_and_repeated_places(tmp_path):
    rows = load_digits().data[:600] / 16
    places = np.round(rows @ np.random.default_rng(0).standard_normal((64, 2)), 1)
    model = MapModel().fit(rows[:500], places[:500])
    for dtype, outputs, given, name in (
        ("float32", ["transform"], rows[500:], "X"),
        ("float32", ["inverse_transform"], places[500:], "Z"),
    ):
        path = export_onnx(model, tmp_path / "m.onnx", outputs=outputs, dtype=dtype)
        found = run(path, given, dtype, name)[outputs[0]]
        assert off(found, getattr(model, outputs[0])(given)) < 1e-4


def test_a_table_is_placed(tmp_path):
    table = pd.DataFrame(X, columns=list("abcdef"))
    table["kind"] = np.where(X[:, 0] > 52, "far", "near")
    model = TableModel(MapModel()).fit(table[:400], Z[:400])
    path = export_onnx(model, tmp_path / "m.onnx", dtype="float64")
    codes = model.encoder_.codes(table[400:])
    found = run(path, np.asarray(codes), "float64")["transform"]
    assert off(found, np.asarray(model.transform(table[400:]))) < 1e-9
    with pytest.raises(DataError, match="'transform'"):
        export_onnx(model, tmp_path / "m.onnx", outputs=["inverse_transform"])


class Wave(Gaussian):
    """A kernel of a user's own, without a formula."""

    def profile(self, t):
        return np.exp(t, out=t)


def test_what_has_no_graph_is_refused_with_the_reason(tmp_path, monkeypatch):
    path = tmp_path / "m.onnx"
    for outputs in (["trust"], []):
        with pytest.raises(DataError, match="give some of 'transform', 'denoise'"):
            export_onnx(fit(), path, outputs=outputs)
    with pytest.raises(DataError, match="write two graphs"):
        export_onnx(fit(), path, outputs=["transform", "inverse_transform"])
    with pytest.raises(NotFittedError, match="not fitted"):
        export_onnx(MapModel(), path)
    sparse = MapModel().fit(csr_array(X[:400]), Z[:400])
    with pytest.raises(ModelFileError, match="no sparse rows"):
        export_onnx(sparse, path)
    assert export_onnx(sparse, path, outputs=["inverse_transform"]) == path
    monkeypatch.setattr(near, "LARGEST", 300)
    with pytest.raises(ModelFileError, match="looks into cells"):
        export_onnx(fit(), path)


def test_a_kernel_without_a_formula_is_refused(tmp_path):
    model = fit(kernel=Wave(width=2.0))
    with pytest.raises(ModelFileError, match="no ONNX form"):
        export_onnx(model, tmp_path / "m.onnx", outputs=["inverse_transform"])
    assert export_onnx(model, tmp_path / "m.onnx").exists()
