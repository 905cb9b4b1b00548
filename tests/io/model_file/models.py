"""Every estimator that can be saved, and every answer that a loaded model must repeat."""

from functools import cache

import numpy as np

from mercer import (
    DeepGenerativeKernelPCA,
    GenerativeKernelPCA,
    IncrementalKernelPCA,
    KernelDrift,
    KernelNovelty,
    KernelPCA,
    MapModel,
    MissingKernelPCA,
    ReweightedKernelPCA,
    RKMClassifier,
    RKMRegressor,
    SparseKernelPCA,
    alternatives,
    compat,
    compress,
)
from mercer.kernels import (
    Cauchy,
    Chi2,
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
from mercer.preimage import (
    Distances,
    FixedPoint,
    Gradient,
    InverseDot,
    Nearest,
    Ridge,
    Smoother,
)
from mercer.solvers import Davidson, Landmarks

KERNELS = [
    Gaussian(),
    Gaussian(sigma=np.float64(1.5)),
    Linear(),
    Polynomial(3, gamma="scale"),
    Sigmoid(gamma=1e-5),
    Cosine(),
    Cauchy(),
    RationalQuadratic(alpha=0.7),
    Matern(nu=2.5),
    Laplacian(),
    Chi2(gamma=0.2),
    0.5 * Gaussian() + Polynomial(2) * Cauchy(),
    Normalized(Gaussian()),
]

PREIMAGES = [
    (Gaussian(), FixedPoint(early_stop=3)),
    (Gaussian(), FixedPoint(input_weight=0.03)),
    (Gaussian(), Ridge(alpha=1e-3)),
    (Gaussian(), Distances(n_neighbors=6)),
    (Gaussian(), Smoother(n_neighbors=4)),
    (Gaussian(), Nearest()),
    (Gaussian(), Gradient(max_iter=40)),
    (Linear(), InverseDot()),
    (Polynomial(2), Gradient(max_iter=40)),
]


def rows(n=60, d=4, dtype="float64", seed=0):
    """Positive rows, so that every kernel takes them."""
    rng = np.random.default_rng(seed)
    return rng.gamma(2.0, size=(n, d)).astype(dtype)


@cache
def estimators(dtype="float64"):
    """Name → fitted model; the same ones in every test, so do not fit them further."""
    X = rows(dtype=dtype)
    holes = np.random.default_rng(1).random(X.shape) < 0.1
    holes[:, 0] = False
    incremental = IncrementalKernelPCA(3, n_landmarks=20, random_state=0)
    for chunk in np.array_split(X, 3):
        incremental.partial_fit(chunk)
    exact = KernelPCA(5).fit(X)
    labels = np.where(X[:, 0] < 2, "low", "high")
    return {
        "exact": exact,
        "share": KernelPCA(0.9, solver=Davidson(tol=1e-9), random_state=0).fit(X),
        "uncentred": KernelPCA(3, center=False).fit(X),
        "landmarks": KernelPCA(3, solver=Landmarks(20), random_state=0).fit(X),
        "fortran": KernelPCA(3, kernel=Polynomial(2)).fit(np.asfortranarray(X)),
        "incremental": incremental,
        "sparse": SparseKernelPCA(n_kernels=10, n_components=4).fit(X),
        "compressed": compress(exact, 12),
        "novelty": KernelNovelty(random_state=0).fit(X),
        "combined": KernelNovelty(5, measure="combined", random_state=0).fit(X),
        "reweighted": ReweightedKernelPCA(KernelPCA(3), random_state=0).fit(X),
        "missing": MissingKernelPCA(KernelPCA(3), random_state=0, max_iter=3).fit(
            np.where(holes, np.nan, X)
        ),
        "generative": GenerativeKernelPCA(5, random_state=0).fit(X, labels),
        "deep": DeepGenerativeKernelPCA((6, 3), density="kde", random_state=0).fit(X),
        "classifier": RKMClassifier(random_state=0).fit(X, labels),
        "regressor": RKMRegressor(density="normal", random_state=0).fit(X, X[:, :2]),
        "drift": KernelDrift(20, random_state=0).fit(X),
        "map": MapModel().fit(X, X[:, :2]),
        "robust": alternatives.RobustPCA().fit(X),
        "multilinear": alternatives.MultilinearPCA(2).fit(X),
        "uncorrelated": alternatives.UncorrelatedMultilinearPCA(2).fit(X),
        "non-negative": alternatives.NonNegativeMultilinearPCA(2, random_state=0).fit(X),
        "robust multilinear": alternatives.RobustMultilinearPCA(2).fit(X),
        "curve": alternatives.PrincipalCurve(df=4).fit(X),
        "surface": alternatives.PrincipalSurface(4, bending=0.1).fit(X),
        "autoencoder": alternatives.BottleneckAutoencoder(
            1, hidden=4, n_init=1, random_state=0
        ).fit(X),
        "forwards": compat.KernelPCA(3, kernel="poly").fit(X),
        "compat": compat.KernelPCA(3, kernel="rbf", fit_inverse_transform=True).fit(X),
    }


def answers(model, X, *, impute=True):
    """Everything that prediction can be asked for, by name; to impute takes ten times the rest."""
    found = {}
    for name in ("transform", "reconstruction_error", "denoise", "score_samples", "p_values"):
        if hasattr(model, name):
            found[name] = getattr(model, name)(X)
    one_way = not getattr(model, "fit_inverse_transform", True)  # as scikit-learn's: it raises
    if "transform" in found and hasattr(model, "inverse_transform") and not one_way:
        found["inverse_transform"] = model.inverse_transform(found["transform"])
    if hasattr(model, "predict"):
        found["predict"] = model.predict(X)
    if hasattr(model, "sample"):
        found["sample"] = model.sample(5, random_state=3)
    if impute and hasattr(model, "impute"):
        found["impute"] = model.impute(np.where(np.eye(*X.shape, dtype=bool), np.nan, X))
    return found
