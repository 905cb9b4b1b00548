"""Parameters as people spell them: parts given by name, and the names that neighbours use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

from mercer._sklearn import BaseEstimator
from mercer._spelling import SpellingMixin, other_spelling
from mercer.kernels import as_kernel

__all__ = ["ParametersMixin"]

_HINTS = {
    "gamma": "the kernel owns its width: kernel=Gaussian(gamma=...), from mercer.kernels.",
    "degree": "the kernel owns it: kernel=Polynomial(degree=...), from mercer.kernels.",
    "coef0": "the kernel owns it: kernel=Polynomial(coef0=...), from mercer.kernels.",
    "verbose": "steps are heard by mercer.listen(...); report_ says what was done.",
    "contamination": "KernelNovelty(contamination=...) finds outliers among the rows; fitted to "
    "normal rows only, KernelNovelty(false_alarm_rate=...) finds new ones.",
    "eigen_solver": "it is solver=, for example solver='dense' or solver='lanczos'.",
    "fit_inverse_transform": "inverse_transform and denoise are always there; preimage= says how.",
    "n_jobs": "all cores are used; threadpoolctl.threadpool_limits(n) allows fewer.",
    "nu": "it is false_alarm_rate=, the share of normal rows that may be called new.",
    "whiten": "scores have the variances of their components; a StandardScaler behind it makes "
    "them 1: make_pipeline(KernelPCA(...), StandardScaler()).",
    "svd_solver": "it is solver=, for example solver='dense' or solver='landmarks'.",
    "sigma": "the kernel owns its width: kernel=Gaussian(sigma=...), from mercer.kernels.",
    "width": "the kernel owns its width: kernel=Gaussian(width=...), from mercer.kernels.",
    "alpha": "the ridge is one of the pre-images: preimage=Ridge(alpha=...), from mercer.preimage.",
}

#: Parameters of the kernel → how ``set_params`` and ``GridSearchCV`` reach them.
_INSIDE = {name: f"kernel__{name}=" for name in ("gamma", "degree", "coef0", "sigma", "width")}

#: Attributes and methods that neighbours have → where the same is found here.
_ELSEWHERE = {
    "components_": "components are functions here: component_preimages() follows them through "
    "input space, subspace_.coef has their coefficients.",
    "lambdas_": "it is eigenvalues_.",
    "alphas_": "it is subspace_.coef.",
    "eigenvectors_": "it is subspace_.coef, scaled so that kernel values become scores.",
    "X_fit_": "it is subspace_.support.",
    "singular_values_": "it is eigenvalues_ ** 0.5.",
    "mean_": "the mean is one of feature space; subspace_.mean has its weights.",
    "predict": "KernelNovelty().fit(X).predict(X_new) tells what is new; for classes, "
    "make_pipeline(KernelPCA(...), LogisticRegression()).",
    "score_samples": "reconstruction_error(X) is large for rows unlike those of the fit; "
    "KernelNovelty.from_fitted(model, X_normal) has a threshold, too.",
    "decision_function": "KernelNovelty.from_fitted(model, X_normal) judges rows.",
    "fit_predict": "it is one of KernelNovelty(contamination='auto').",
    "set_output": "sklearn.set_config(transform_output='pandas') makes frames of its answers.",
    "plot": "pictures are in mercer.plots: EmbeddingDisplay.from_estimator(model, X).",
    "sample": "GenerativeKernelPCA(...).fit(X) draws new rows.",
    "labels_": "it is fit_predict(X) of KernelNovelty(contamination='auto').",
    "decision_scores_": "it is -score_samples(X) of KernelNovelty.",
}


class ParametersMixin(SpellingMixin, BaseEstimator):
    """``set_params`` that reaches into parts given by name, and hints for foreign names."""

    #: Parameters that may be a name → the function that makes the object.
    _by_name: ClassVar[Mapping[str, Callable[[Any], Any]]] = {"kernel": as_kernel}

    _foreign: ClassVar[Mapping[str, str]] = _HINTS

    if not TYPE_CHECKING:  # else every name would have a type

        def __getattr__(self, name: str) -> Any:
            """Only asked for what is not there."""
            if name in _ELSEWHERE:
                raise AttributeError(f"{type(self).__name__} has no {name}; {_ELSEWHERE[name]}")
            return object.__getattribute__(self, name)  # the error of before

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters; ``kernel__gamma`` reaches a kernel that was given by its name, too.

        ``KernelPCA(2).set_params(kernel__gamma=1)`` makes its ``"gaussian"`` a
        ``Gaussian(gamma=1)``.
        """
        names = self._get_param_names()
        for name in parameters:
            if "__" not in name and name not in names:
                foreign = {**_HINTS, **{word: f"write {path}." for word, path in _INSIDE.items()}}
                remedy = other_spelling(name, names, foreign)
                raise ValueError(f"{type(self).__name__} has no {name}=; {remedy}")
        for part in {name.partition("__")[0] for name in parameters if "__" in name}:
            value = parameters.get(part, getattr(self, part, None))
            if value is not None and not isinstance(value, str):
                continue
            if part not in self._by_name:
                inner = next(name for name in parameters if name.startswith(f"{part}__"))
                raise ValueError(f"{part}={value!r} is no object with {inner}; give one as {part}.")
            parameters[part] = self._by_name[part](value)
        super().set_params(**parameters)
        return self
