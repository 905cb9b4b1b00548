"""scikit-learn's base classes, with the types that it does not ship."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Self, TypeAlias

    #: What an estimator says about itself.
    Tags: TypeAlias = Any

    class BaseEstimator:
        """Named parameters; what a fit finds are attributes of its own."""

        @classmethod
        def _get_param_names(cls) -> list[str]: ...
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **parameters: object) -> Self: ...
        def __sklearn_tags__(self) -> Tags: ...
        def __getstate__(self) -> dict[str, Any]: ...
        def __getattr__(self, name: str) -> Any: ...
        def __repr__(self, N_CHAR_MAX: int = ...) -> str: ...
        def _repr_mimebundle_(self, **kwargs: object) -> dict[str, str]: ...

    class TransformerMixin(BaseEstimator):
        """``fit_transform`` and ``set_output``."""

    class ClassNamePrefixFeaturesOutMixin(BaseEstimator):
        """``get_feature_names_out``."""

    class ClassifierMixin(BaseEstimator):
        """``score`` of classes."""

    class RegressorMixin(BaseEstimator):
        """``score`` of numbers."""

    class OutlierMixin(BaseEstimator):
        """``fit_predict``."""

else:
    from sklearn.base import (  # noqa: F401  for the others
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        OutlierMixin,
        RegressorMixin,
        TransformerMixin,
    )
    from sklearn.utils import Tags
