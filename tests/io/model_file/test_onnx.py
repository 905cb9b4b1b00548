"""The exported graph in onnxruntime against the model: 1e-5 in float32, rounding in float64."""

import sys
import warnings
from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pytest
from sklearn.exceptions import NotFittedError

import mercer
from mercer import (
    IncrementalKernelPCA,
    KernelNovelty,
    KernelPCA,
    SparseKernelPCA,
    compress,
    export_onnx,
)
from mercer.exceptions import DataError, MercerWarning, ModelFileError
from mercer.kernels import (
    Cauchy,
    Cosine,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Normalized,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
)
from mercer.preimage import FixedPoint, Shrunk, Smoother
from mercer.solvers import Landmarks

pytestmark = [
    pytest.mark.filterwarnings("ignore::mercer.exceptions.RankWarning"),
    pytest.mark.filterwarnings("ignore::mercer.exceptions.IndefiniteKernelWarning"),
]

#: Relative to the largest entry of the output; for squared distances from the subspace, which are
#: differences, relative to the largest squared distance from the mean.
TOLERANCE = {"float32": 1e-5, "float64": 1e-12}
RADIAL = [
    Gaussian(),
    Cauchy(),
    RationalQuadratic(alpha=0.7),
    RationalQuadratic(alpha=1e6),
    Matern(nu=1.5),
    Matern(nu=2.5),
]
OTHERS = [
    Linear(),
    Polynomial(3),
    Polynomial(2, gamma="scale"),
    Polynomial(5, gamma=0.1, coef0=0.5),
    Sigmoid(gamma=1e-4),
    Cosine(),
    0.3 * Gaussian() + Polynomial(2) * Cauchy(),
    2.0 * Linear(),
    Normalized(Gaussian()),
    Normalized(0.3 * Matern(nu=1.5) + Polynomial(2)),
]


@pytest.fixture(scope="module")
def data():
    """Rows that float32 holds exactly, so that both sides see the same numbers."""
    rng = np.random.default_rng(0)
    mixing = rng.standard_normal((6, 6))
    X = np.float32(rng.standard_normal((240, 6)) @ mixing).astype(float)
    return X[:200], X[200:]


def run(path, X, dtype="float32", names=None):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = names or [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": X.astype(dtype)}), strict=True))


def assert_agrees(model, path, X, dtype, tol=None):
    for name, found in run(path, X, dtype).items():
        expected = getattr(model, name)(X)
        assert found.dtype == dtype
        assert found.shape == expected.shape
        size = np.abs(expected).max()
        if name == "reconstruction_error":
            size = (expected + (model.transform(X) ** 2).sum(axis=1)).max()
        error = np.abs(found - expected).max() / size
        assert error <= (tol or TOLERANCE[dtype]), (name, error)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("kernel", [*RADIAL, *OTHERS], ids=repr)
def test_transform_and_reconstruction_error(kernel, dtype, data, tmp_path):
    X, new = data
    model = KernelPCA(4, kernel=kernel).fit(X)
    path = export_onnx(model, tmp_path / "m.onnx", dtype=dtype)
    assert_agrees(model, path, new, dtype)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(
    "solver", [FixedPoint(early_stop=7), FixedPoint(early_stop=7, input_weight=0.1)]
)
@pytest.mark.parametrize("kernel", RADIAL, ids=repr)
def test_fixed_point_steps(kernel, solver, dtype, data, tmp_path):
    X, new = data
    model = KernelPCA(10, kernel=kernel, preimage=solver).fit(X)
    path = export_onnx(model, tmp_path / "m.onnx", outputs=["denoise"], steps=7, dtype=dtype)
    # A point that has arrived (to 1e-6 of the scale) stops in the model, and goes on in the graph.
    assert_agrees(model, path, new, dtype, tol=1e-5 if dtype == "float32" else 2e-6)


def test_many_steps_reach_what_the_model_finds(data, tmp_path):
    X, new = data
    model = KernelPCA(10).fit(X)
    path = export_onnx(model, tmp_path / "m.onnx", outputs=["denoise"], steps=200, dtype="float64")
    assert_agrees(model, path, new, "float64", tol=1e-4)


def test_lost_points_start_again_as_in_the_model(tmp_path):
    """Projections of data have no lost points; with the mean turned round there are many."""
    rng = np.random.default_rng(0)
    X, new = rng.standard_normal((100, 2)), rng.uniform(-3, 3, (200, 2))
    solver = FixedPoint(max_iter=300, tol=1e-9, accelerate=False)
    model = KernelPCA(3, kernel=Gaussian(width=0.7), preimage=solver).fit(X)
    turned = replace(model.subspace_, mean=-0.3 * model.subspace_.mean)
    model._model_ = replace(model._model_, subspace=turned)
    found = model.preimages(new, report=False)
    assert (found.status == "restarted").sum() > 50
    assert (found.status == "failed").any()
    path = export_onnx(model, tmp_path / "m.onnx", outputs=["denoise"], steps=300, dtype="float64")
    points = run(path, new, "float64")["denoise"]
    ended = found.status != "iteration limit"
    np.testing.assert_allclose(points[ended], found.points[ended], atol=1e-5)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(
    "preimage",
    [
        "smoother",
        "nearest",
        Smoother(3, by="nearest"),
        Smoother(3, by="distance"),
        Shrunk("smoother"),
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    "kernel", [Polynomial(3), Sigmoid(gamma=1e-4), Cosine(), Gaussian()], ids=repr
)
def test_direct_preimages(kernel, preimage, dtype, data, tmp_path):
    X, new = data
    model = KernelPCA(4, kernel=kernel, preimage=preimage).fit(X)
    path = export_onnx(model, tmp_path / "m.onnx", outputs=["denoise"], dtype=dtype)
    assert_agrees(model, path, new, dtype)


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_linear_is_pca_and_small_however_many_rows(dtype, data, tmp_path):
    X, new = data[0] + 1000, data[1] + 1000
    model = KernelPCA(3, kernel="linear").fit(X)
    outputs = ["transform", "reconstruction_error", "denoise"]
    path = export_onnx(model, tmp_path / "m.onnx", outputs=outputs, dtype=dtype)
    assert path.stat().st_size < 3000
    # float32 knows rows around 1000 to 6e-5 only.
    new = new.astype("float32").astype(float)
    assert_agrees(model, path, new, dtype, tol=2e-5 if dtype == "float32" else 1e-9)


def test_an_offset_costs_no_digits(data, tmp_path):
    """Radial kernels, shifted by the mean as in the library: 1000 ± 1 is as good as 0 ± 1."""
    X, new = (np.round(part * 64) / 64 + 1024 for part in data)  # exact in float32
    model = KernelPCA(6).fit(X)
    path = export_onnx(model, tmp_path / "m.onnx", outputs=["transform", "reconstruction_error"])
    assert_agrees(model, path, new, "float32")


def test_every_estimator_with_a_subspace(data, tmp_path):
    X, new = data
    exact = KernelPCA(5).fit(X)
    models = [
        KernelPCA(5, solver=Landmarks(60), random_state=0).fit(X),
        IncrementalKernelPCA(5, n_landmarks=60, random_state=0).fit(X),
        SparseKernelPCA(n_kernels=30, n_components=5).fit(X),
        compress(exact, 40),
        KernelPCA(5, center=False).fit(X.astype("float32")),
    ]
    for model in models:
        assert_agrees(
            model, export_onnx(model, tmp_path / "m.onnx"), new.astype("float32"), "float32"
        )


@pytest.mark.parametrize("measure", ["reconstruction", "combined"])
def test_novelty(measure, data, tmp_path):
    X, new = data
    model = KernelNovelty(5, measure=measure, calibration="split", random_state=0).fit(X)
    path = export_onnx(model, tmp_path / "m.onnx")
    assert_agrees(model, path, new, "float32")
    found = run(path, new, names=["decision_function"])["decision_function"]
    np.testing.assert_array_equal(np.where(found < 0, -1, 1), model.predict(new))


def test_any_number_of_rows(data, tmp_path):
    X, new = data
    path = export_onnx(KernelPCA(4).fit(X), tmp_path / "m.onnx")
    for n in (1, 2, 40):
        assert run(path, new[:n])["transform"].shape == (n, 4)
        assert run(path, new[:n])["reconstruction_error"].shape == (n,)


def test_a_saved_and_loaded_model_exports_the_same_graph(data, tmp_path):
    model = KernelPCA(4).fit(data[0])
    loaded = mercer.load(model.save(tmp_path / "m.mercer"))
    one, two = (export_onnx(m, tmp_path / "m.onnx").read_bytes() for m in (model, loaded))
    assert one == two


def test_the_graph_says_what_it_is(data, tmp_path):
    graph = onnx.load(export_onnx(KernelPCA(4, kernel="linear").fit(data[0]), tmp_path / "m.onnx"))
    assert graph.producer_name == "mercer"
    texts = {entry.key: entry.value for entry in graph.metadata_props}
    assert texts == {"class": "KernelPCA", "kernel": "Linear()"}
    onnx.checker.check_model(graph, full_check=True)


def test_rounding_is_announced(tmp_path):
    """400 components of a wide kernel: the coefficients are large, and float32 cannot hold them."""
    X = np.random.default_rng(0).standard_normal((200, 2))
    model = KernelPCA(40, kernel=Gaussian(sigma=3.0)).fit(X)
    with pytest.warns(MercerWarning, match="float32 the outputs differ by up to .*float64"):
        export_onnx(model, tmp_path / "m.onnx")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path = export_onnx(model, tmp_path / "m.onnx", dtype="float64")
    assert_agrees(model, path, X[:20] + 0.1, "float64", tol=1e-8)


@pytest.mark.parametrize(
    ("model", "arguments", "error", "words"),
    [
        (KernelPCA(2, kernel=Laplacian()), {}, ModelFileError, "Laplacian.*Gaussian"),
        (KernelPCA(2, kernel="polynomial"), {"outputs": ["denoise"]}, ModelFileError, "smoother"),
        (
            KernelPCA(2, preimage="ridge"),
            {"outputs": ["denoise"]},
            ModelFileError,
            "Ridge.*smoother",
        ),
        (KernelPCA(2), {"outputs": ["score"]}, DataError, "give some of 'transform'"),
        (KernelPCA(2), {"outputs": []}, DataError, "give some of"),
        (KernelPCA(2), {"steps": 0}, DataError, "steps=0"),
        (KernelPCA(2), {"dtype": "float16"}, DataError, "float16"),
        (
            KernelNovelty(2, calibration="split"),
            {"outputs": ["transform"]},
            DataError,
            "score_samples",
        ),
    ],
    ids=repr,
)
def test_what_cannot_be_exported_is_refused_with_a_remedy(
    model, arguments, error, words, data, tmp_path
):
    model.fit(data[0])
    with pytest.raises(error, match=words):
        export_onnx(model, tmp_path / "m.onnx", **arguments)
    assert not list(tmp_path.iterdir())


def test_unfitted_and_precomputed(data, tmp_path):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        export_onnx(KernelPCA(), tmp_path / "m.onnx")
    model = KernelPCA(2, kernel="precomputed").fit(Gaussian(gamma=1.0)(data[0]))
    with pytest.raises(ModelFileError, match="table of numbers"):
        export_onnx(model, tmp_path / "m.onnx")


def test_without_onnx_the_error_says_what_to_install(data, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match="pip install onnx onnxruntime"):
        export_onnx(KernelPCA(2).fit(data[0]), tmp_path / "m.onnx")


class Inverse(Cauchy):
    """The Cauchy kernel to the power of a half, as somebody else would write it."""

    def profile(self, t):
        return np.power(1 - t, -0.5, out=t)

    def slope(self, t):
        return np.multiply(np.power(1 - t, -1.5, out=t), 0.5, out=t)

    def invert(self, k):
        return 1 - k**-2.0


class Exportable(Inverse):
    """The same with its formula."""

    def profile(self, t):
        return super().profile(t)

    def formula(self, t, xp):
        root = xp.sqrt(1 - t)
        return 1 / root, 0.5 / (root * root * root)


def test_kernels_of_others_are_exported_by_their_formula(data, tmp_path):
    train, test = data[0], data[1]
    with pytest.raises(ModelFileError, match=r"needs a method formula\(t, xp\)"):
        export_onnx(KernelPCA(4, kernel=Inverse(2.0)).fit(train), tmp_path / "no.onnx")
    model = KernelPCA(4, kernel=Exportable(2.0)).fit(train)
    path = export_onnx(model, tmp_path / "yes.onnx", dtype="float64")
    assert_agrees(model, path, test, "float64")
