"""Do the arrays of a model agree with each other? A file may be whole and still make no sense."""

import warnings
from collections.abc import Callable
from functools import partial, singledispatch
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from mercer._base.numbers import fixed_rng
from mercer._base.types import Estimator, RowsLike
from mercer.exceptions import MercerError, ModelFileError
from mercer.gram import FeatureSums, LandmarkFeatures
from mercer.kernels import Kernel
from mercer.model import Subspace, model_of
from mercer.model.model import PER_COMPONENT
from mercer.points import Points
from mercer.points.sparse import SparseRows

#: Columns of sparse rows in a file: it may claim any number of them at no cost to itself, and a
#: model takes 4 bytes for each.
MAX_WIDTH = 1 << 26


@singledispatch
def check_loaded(loaded: object) -> None:
    """Do the parts of an object agree? Raises if not; every class may add its own question."""


def demand(fine: object, otherwise: str) -> None:
    """Raise ModelFileError unless the condition holds."""
    if not fine:
        raise ModelFileError(otherwise)


def expect(what: str, value: object, shape: tuple[int | None, ...], kind: str = "f") -> None:
    """An array of this shape (None: any length) and kind of numbers, or ModelFileError."""
    if not isinstance(value, np.ndarray):
        raise ModelFileError(f"{what} is {type(value).__name__}, not an array")
    sides = zip(shape, value.shape, strict=False)
    fits = value.ndim == len(shape) and all(side in (None, length) for side, length in sides)
    held = f"{what} has shape {value.shape} of {value.dtype}, where {shape} is needed"
    demand(fits and value.dtype.kind in kind, held)


def _expect_rows(what: str, rows: object, m: int | None) -> None:
    """An array (m, d), or m sparse rows."""
    if not isinstance(rows, Points):
        expect(what, rows, (m, None))
    else:
        demand(m in (None, len(rows)), f"{what} has {len(rows)} sparse rows, where {m} are needed")


@check_loaded.register
def _sparse_rows(rows: SparseRows) -> None:
    rows.check()
    demand(rows.width <= MAX_WIDTH, f"sparse rows of {rows.width} columns, more than {MAX_WIDTH}")


@check_loaded.register
def _kernel(kernel: Kernel) -> None:
    kernel.check()


@check_loaded.register
def _subspace(subspace: Subspace) -> None:
    """S (m, d), B (m, q), c (m,), b (q,) in one precision, and a kernel."""
    kernel, coef = subspace.kernel, subspace.coef
    demand(isinstance(kernel, Kernel), f"the kernel is {type(kernel).__name__}")
    expect("coef", coef, (None, None))
    m, q = coef.shape
    if subspace.points.is_open:
        _expect_rows("support", subspace.support, m)
    else:
        expect("support", subspace.support, (m,), "i")
        demand((subspace.support >= 0).all(), "support has negative column numbers")
    expect("mean", subspace.mean, (m,))
    expect("offset", subspace.offset, (q,))
    alike = coef.dtype == subspace.mean.dtype == subspace.offset.dtype
    demand(alike, "coef, mean and offset differ in precision")
    square = subspace.mean_square
    demand(m and q and isinstance(square, float), f"{m} support points, {q} components, {square!r}")


@check_loaded.register
def _sums(sums: FeatureSums) -> None:
    """Σa (r,) and Σaaᵀ (r, r)."""
    expect("linear", sums.linear, (None,))
    expect("square", sums.square, (len(sums.linear),) * 2)


@check_loaded.register
def _features(features: LandmarkFeatures) -> None:
    """Landmarks (m, d), and a basis (m, r)."""
    _expect_rows("landmarks", features.landmarks, None)
    expect("basis", features.basis, (len(features.landmarks), None))


def check_model(model: object) -> None:
    """Check that everything else in a model fits its subspace."""
    state = vars(model)
    if "_model_" not in state:
        return
    learnt = model_of(model)
    subspace, d = learnt.subspace, state.get("n_features_in_")
    demand(isinstance(subspace, Subspace), f"subspace_ is {type(subspace).__name__}")
    if subspace.points.is_open and d != subspace.points.width:
        raise ModelFileError(f"n_features_in_={d!r}, and support points {subspace.support.shape}")
    eta = state.get("eta_", 1.0)
    positive = isinstance(eta, int | float | np.number) and 0 < eta < np.inf
    demand(positive, f"eta_ is {eta!r:.80}, not a positive number")
    for name in PER_COMPONENT:
        if (part := getattr(learnt, name)) is not None:
            expect(f"{name}_", part, (subspace.n_components,))


def check_answers(model: Estimator, size: int) -> None:
    """Three rows of zeros get every cheap answer: parts that do not fit together fail here.

    What the model itself refuses (a kernel may not take zeros) is an answer, too. A file of
    ``size`` bytes knows of no more columns than that, but for a few.
    """
    d = vars(model).get("n_features_in_")
    sparse = "_model_" in vars(model) and model_of(model).subspace.points.is_sparse
    if type(d) is not int or not 1 <= d <= (MAX_WIDTH if sparse else max(size, 10**6)):
        raise ModelFileError(f"n_features_in_ is {d!r:.80}")
    zeros = csr_array((3, d)) if sparse else np.zeros((3, d))
    for name, ask in _trials(model, zeros).items():
        try:
            with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
                answers = np.asarray(ask())
        except MercerError:
            continue
        except Exception as error:  # of any kind: nothing about such a model is known
            raise ModelFileError(f"{name} fails for rows of zeros ({error!r:.200})") from error
        finite = answers.dtype.kind != "f" or np.isfinite(answers).all()
        demand(finite, f"{name} of rows of zeros is not finite")


def _trials(model: Estimator, rows: RowsLike) -> dict[str, Callable[[], Any]]:
    names = ["transform", "reconstruction_error", "score_samples", "predict", "p_values"]
    # The way back is a formula, if it was asked for; with a subspace it may be a search.
    if getattr(model, "fit_inverse_transform", True) and "_model_" not in vars(model):
        names.append("denoise")
    there = [name for name in names if hasattr(model, name)]
    trials: dict[str, Any] = {name: partial(getattr(model, name), rows) for name in there}
    if "density_" in vars(model) or hasattr(type(model), "density_"):  # computed only when asked
        trials["density"] = lambda: model.density_.sample(3, fixed_rng(0))
    return trials
