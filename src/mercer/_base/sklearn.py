"""scikit-learn's base classes; ``sklearn.pyi`` beside it has the types that it does not ship."""

from sklearn.base import (  # noqa: F401  for the others
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    MultiOutputMixin,
    OutlierMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.utils import Tags  # noqa: F401
