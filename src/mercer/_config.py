"""Config: what users construct. It holds parameters, and computes nothing."""

from mercer._sklearn import BaseEstimator
from mercer._spelling import SpellingMixin

__all__ = ["Config"]


class Config(SpellingMixin, BaseEstimator):
    """Named parameters with ``get_params``, ``set_params``, ``clone`` and a short ``repr``.

    Kernels, solvers and pre-image strategies inherit from it, so that ``GridSearchCV`` reaches
    ``kernel__gamma``. What ``fit`` makes from a Config is a frozen dataclass, never a Config.
    """
