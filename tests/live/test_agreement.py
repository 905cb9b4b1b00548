"""The page computes what Python computes: scores, errors, p-values, pre-images, fits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import PCA

from mercer import KernelNovelty, KernelPCA
from mercer.kernels import (
    Cauchy,
    Chi2,
    Cosine,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
)
from mercer.live import write_html
from mercer.live.protocol import kernel_spec
from mercer.preimage import FixedPoint, Shrunk, Smoother

pytestmark = pytest.mark.browser

KERNELS = {
    "gaussian": Gaussian(),
    "cauchy": Cauchy(),
    "rational_quadratic": RationalQuadratic(alpha=0.7),
    "rational_quadratic of large alpha": RationalQuadratic(alpha=1e6),
    "matern 3/2": Matern(),
    "matern 5/2": Matern(nu=2.5),
    "laplacian": Laplacian(),
    "chi2": Chi2(0.2),
    "linear": Linear(),
    "polynomial": Polynomial(3, gamma="scale"),
    "sigmoid": Sigmoid(gamma=1e-4),
    "cosine": Cosine(),
    "sum": 0.7 * Gaussian() + Polynomial(2, gamma="scale"),
    "product": Gaussian() * Polynomial(2, gamma="scale"),
}


@pytest.fixture(scope="module")
def digits():
    return load_digits().data / 16


def in_page(view, function: str, *values):
    """Call a function of the engine, written in JavaScript, with arrays as lists."""
    return view.page.evaluate(f"([...v]) => ({function})(mercerLive, ...v)", list(values))


def shifted(live_facts, X):
    return (X - np.array(live_facts["origin"])).tolist()


@pytest.mark.filterwarnings("ignore::mercer.exceptions.IndefiniteKernelWarning")
@pytest.mark.parametrize("name", KERNELS)
def test_scores_errors_and_preimages(name, opened, digits, tmp_path):
    X, new = digits[:300], digits[300:325]
    model = KernelPCA(8, kernel=KERNELS[name]).fit(X)
    opened.visit(write_html(model, tmp_path / "m.html"))
    facts = opened.page.evaluate("mercerLive.app.model.facts")
    rows = shifted(facts, new)
    seen = in_page(
        opened,
        """(live, rows) => rows.map((row) => {
             const [P, x] = [live.app.model.P, Float64Array.from(row)];
             const { z, residual } = live.engine.scoresAndResidual(P, x);
             const found = live.engine.denoise(P, x);
             return { z: [...z], residual, point: [...found.point] };
           })""",
        rows,
    )
    Z = model.transform(new)
    assert np.abs([one["z"] for one in seen] - Z).max() <= 1e-5 * np.abs(Z).max()
    error = model.reconstruction_error(new)
    # Differences of numbers of the size of k(x, x).
    size = model.kernel_.diag(new).max()
    assert np.abs([one["residual"] for one in seen] - error).max() <= 1e-5 * size
    points = np.array([one["point"] for one in seen]) + facts["origin"]
    scale = np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
    distance = np.linalg.norm(points - model.denoise(new, match_noise=False), axis=1)
    assert distance.max() <= 1e-3 * scale


@pytest.mark.parametrize("kernel", [Gaussian(), Linear()], ids=["gaussian", "linear"])
def test_shrunk_scores(kernel, opened, digits, tmp_path):
    """What ``tune`` chooses on noisy rows; a page of fewer components is a model of so many."""
    X, new = digits[:300], digits[300:310]
    model = KernelPCA(8, kernel=kernel, preimage=Shrunk(power=1.0)).fit(X)
    opened.visit(write_html(model, tmp_path / "m.html"))
    origin = opened.page.evaluate("mercerLive.app.model.facts.origin")
    for q in (8, 5):
        seen = in_page(
            opened,
            """(live, rows, q) => rows.map((row) => {
                 return [...live.engine.denoise(live.app.model.P, Float64Array.from(row), q).point];
               })""",
            (new - origin).tolist(),
            q,
        )
        few = KernelPCA(q, kernel=model.kernel_, preimage=Shrunk(power=1.0)).fit(X)
        apart = np.array(seen) + origin - few.denoise(new, match_noise=False)
        scale = np.sqrt(X.var(axis=0).sum())
        assert np.linalg.norm(apart, axis=1).max() <= 1e-3 * scale


@pytest.mark.parametrize("by", ["similarity", "distance", "nearest"])
def test_a_smoother(by, opened, digits, tmp_path):
    """Which ``tune`` may choose on noisy rows: the page does as the model does."""
    X, new = digits[:300], digits[300:310]
    model = KernelPCA(8, preimage=Smoother(5, by=by)).fit(X)
    opened.visit(write_html(model, tmp_path / "m.html"))
    origin = opened.page.evaluate("mercerLive.app.model.facts.origin")
    seen = in_page(
        opened,
        """(live, rows) => rows.map((row) => {
             return [...live.engine.denoise(live.app.model.P, Float64Array.from(row)).point];
           })""",
        (new - origin).tolist(),
    )
    apart = np.array(seen) + origin - model.denoise(new, match_noise=False)
    assert np.linalg.norm(apart, axis=1).max() <= 1e-3 * np.sqrt(X.var(axis=0).sum())


@pytest.mark.parametrize("name", ["gaussian", "cauchy", "matern 5/2", "rational_quadratic"])
def test_preimages_of_scores_alone(name, opened, digits, tmp_path, rng):
    """A place that a hand has dragged to: the fixed point from the nearest support point."""
    model = KernelPCA(8, kernel=KERNELS[name]).fit(digits[:300])
    opened.visit(write_html(model, tmp_path / "m.html"))
    Z = model.transform(digits[rng.choice(300, 12)]) + 0.3 * model.transform(
        digits[rng.choice(300, 12)]
    )
    seen = in_page(
        opened,
        """(live, Z) => Z.map((z) => {
             const found = live.engine.preimage(live.app.model.P, Float64Array.from(z));
             return { point: [...found.point], converged: found.converged };
           })""",
        Z.tolist(),
    )
    origin = opened.page.evaluate("mercerLive.app.model.facts.origin")
    expected = FixedPoint().init(model.subspace_).solve(Z)
    scale = np.sqrt(digits[:300].var(axis=0).sum())
    points = np.array([one["point"] for one in seen]) + origin
    assert all(one["converged"] for one in seen)
    assert np.linalg.norm(points - expected.points, axis=1).max() <= 1e-3 * scale


def test_novelty_p_values_and_contributions(opened, tmp_path):
    X = load_iris().data
    model = KernelNovelty(random_state=0, measure="combined").fit(X[:100])
    opened.visit(write_html(model, tmp_path / "m.html", X))
    strange = X[100:110] + 0.5
    facts = opened.page.evaluate("mercerLive.app.model.facts")
    seen = in_page(
        opened,
        """(live, rows) => rows.map((row) => {
             const model = live.app.model;
             const x = Float64Array.from(row);
             const { parts } = live.engine.contributions(model.P, model.facts.novelty, x);
             return { ...live.engine.judgePoint(model, x), parts: [...parts] };
           })""",
        shifted(facts, strange),
    )
    assert np.allclose([one["score"] for one in seen], -model.score_samples(strange), rtol=1e-5)
    assert np.allclose([one["p"] for one in seen], model.p_values(strange))
    expected = model.contributions(strange)
    assert np.abs([one["parts"] for one in seen] - expected).max() <= 1e-4 * np.abs(expected).max()


FITS = {
    "gaussian": (Gaussian(width=2.0), True),
    "uncentred": (Gaussian(width=2.0), False),
    "polynomial": (Polynomial(3, gamma=0.1), True),
}


@pytest.mark.parametrize("name", FITS)
def test_a_small_fit_in_the_worker(name, opened, digits, tmp_path):
    kernel, center = FITS[name]
    X = digits[:120]
    model = KernelPCA(6, kernel=kernel, center=center).fit(X)
    origin = np.array(
        opened.visit(write_html(model, tmp_path / "m.html")).evaluate(
            "mercerLive.app.model.facts.origin"
        )
    )
    seen = in_page(
        opened,
        """async (live, rows, kernel, center) => {
             const data = Float64Array.from(rows.flat());
             const client = live.app.client();
             await client.ask({ rows: { data, m: rows.length, d: rows[0].length } });
             const fit = await client.ask({ fit: { kernel, q: 6, center } });
             return { shares: fit.shares, scores: [...fit.scores], offset: [...fit.parts.offset] };
           }""",
        (X - origin).tolist(),
        kernel_spec(kernel),
        center,
    )
    assert np.allclose(seen["shares"], model.explained_variance_ratio_, rtol=1e-6)
    Z, expected = np.reshape(seen["scores"], (120, 6)), model.transform(X)
    if not center:  # Python subtracts no mean either
        assert np.allclose(seen["offset"], 0)
    assert np.abs(np.abs(Z) - np.abs(expected)).max() <= 1e-5 * np.abs(expected).max()


def test_linear_pca_beside_it_is_pca(opened, digits, tmp_path):
    model = KernelPCA(4).fit(digits[:200])
    opened.visit(write_html(model, tmp_path / "m.html"))
    axes = opened.page.evaluate("[...mercerLive.app.model.linear.axes.data.slice(0, 3 * 64)]")
    expected = PCA(3).fit(digits[:200]).components_
    assert np.abs(np.sum(np.reshape(axes, (3, 64)) * expected, axis=1)).min() > 1 - 1e-5
