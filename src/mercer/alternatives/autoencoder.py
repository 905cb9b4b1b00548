"""The five-layer autoassociative network (Kramer 1991), trained by scikit-learn."""

import warnings
from dataclasses import KW_ONLY
from numbers import Real

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor

from mercer._base import numbers, progress
from mercer._base.config import with_parameters
from mercer._base.types import Array, Seed
from mercer.alternatives import _base as base
from mercer.exceptions import DataError


@with_parameters
class BottleneckAutoencoder(base.ReversibleAlternative):
    r"""Nonlinear PCA by a network that must pass the data through a bottleneck.

    Five layers: input, mapping, bottleneck, demapping, output. The network is trained to return
    its input,

    .. math:: \min \tfrac12 \operatorname{mean} \|x - g(h(x))\|^2 + \tfrac{\alpha}{2n} \|W\|^2,

    the first half h gives the codes, the second half g leads back.

    Parameters
    ----------
    n_components : int, default=1
        Units of the bottleneck.
    hidden : int, default=20
        Units of the mapping and of the demapping layer. More can fold more, and overfit more.
    alpha : float, default=1e-2
        Weight decay. Rows are centred and scaled to unit variance (all columns by one number)
        before, so that it means the same for all units of measurement.
    n_init : int, default=8
        Networks trained from different random weights; the one with the least loss is kept. One
        in a few ends in a bad local minimum: a half circle folded or cut in two.
    max_iter : int, default=2000
        Steps of L-BFGS for each.
    tol : float, default=1e-4
        Bar for the gradient.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    network_ : MLPRegressor
        The network that was kept; a model file stores its weights only.
    losses_ : (n_init,) array
        Final loss of each start.
    n_iter_ : int
        Steps of the network that was kept.

    Notes
    -----
    O(n d h) time per step and start with h hidden units. Codes lie in (-1, 1), and have neither an
    order of importance nor a scale. Another seed gives another code for the same data.

    References
    ----------
    M. A. Kramer, "Nonlinear principal component analysis using autoassociative neural networks",
    AIChE Journal 37, 1991.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.alternatives import BottleneckAutoencoder
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, np.pi, 200)
    >>> X = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.1 * rng.standard_normal((200, 2))
    >>> model = BottleneckAutoencoder(n_init=4, random_state=0).fit(X)
    >>> points = model.inverse_transform(model.transform(X))
    >>> bool(np.abs(np.linalg.norm(points, axis=1) - 1).mean() < 0.04)
    True
    """

    _saved = ("_weights", "losses_", "n_iter_", "_center", "_scale", *base.SEEN)

    n_components: int = 1
    _: KW_ONLY
    hidden: int = 20
    alpha: float = 1e-2
    n_init: int = 8
    max_iter: int = 2000
    tol: float = 1e-4
    random_state: Seed = None

    def _learn(self, rows: Array, dtype: np.dtype) -> None:  # noqa: ARG002
        self._center, unit, largest = base.centred(rows, "a network")
        self._scale = float(largest * unit.std(axis=0).max())
        scaled = (rows - self._center) / self._scale
        networks = self._train(scaled, numbers.make_rng(self.random_state))
        self.losses_ = np.array([network.loss_ for network in networks])
        self.network_ = networks[int(np.argmin(self.losses_))]
        self._weights = list(zip(self.network_.coefs_, self.network_.intercepts_, strict=True))
        self.n_iter_ = self.network_.n_iter_
        if self.n_iter_ >= self.max_iter:
            still = f"the network still learnt after {self.n_iter_} steps"
            base.warn_unsettled(still, "raise max_iter, tol or alpha")

    def _encode(self, rows: Array) -> Array:
        layer = (rows - self._center) / self._scale
        for W, b in self._weights[:2]:
            layer = np.tanh(layer @ W + b)
        return np.asarray(layer)

    def _decode(self, codes: Array) -> Array:
        (W, b), (W_out, b_out) = self._weights[2:]
        points = np.tanh(codes @ W + b) @ W_out + b_out
        return np.asarray(self._center + self._scale * points)

    @property
    def _n_features_out(self) -> int:
        return int(self._weights[1][0].shape[1])

    def _train(self, X: Array, rng: np.random.Generator) -> list[MLPRegressor]:
        target = X.ravel() if X.shape[1] == 1 else X
        networks = []
        for _ in progress.announced("autoencoder", range(self.n_init)):
            network = MLPRegressor(
                hidden_layer_sizes=(self.hidden, self.n_components, self.hidden),
                activation="tanh",
                solver="lbfgs",
                alpha=self.alpha,
                max_iter=self.max_iter,
                max_fun=2 * self.max_iter,
                tol=self.tol,
                random_state=int(rng.integers(2**31)),
            )
            # Told once, and in our words, for the network that is kept.
            with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
                networks.append(network.fit(X, target))
        return networks

    def _check_parameters(self) -> None:
        for name in ("n_components", "hidden", "n_init", "max_iter"):
            numbers.check_count(name, getattr(self, name))
        for name in ("alpha", "tol"):
            value = getattr(self, name)
            if not (isinstance(value, Real) and 0 <= float(value) < np.inf):
                raise DataError(f"{name}={value!r}: give a number of 0 or more.")
