"""Config: what users construct. It holds parameters, and computes nothing."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, dataclass_transform

from mercer._base.sklearn import BaseEstimator
from mercer._base.spelling import answer_spelling

Made = TypeVar("Made")


@dataclass_transform(eq_default=False)
def with_parameters(cls: type[Made]) -> type[Made]:
    """Make parameters of the annotated attributes, which the constructor stores, and no more."""
    made = dataclass(eq=False, repr=False)(cls)  # equality and text are scikit-learn's
    answer_spelling(made)
    return made


class Config(BaseEstimator):
    """Named parameters with ``get_params``, ``set_params``, ``clone`` and a short ``repr``.

    Kernels, solvers and pre-image strategies inherit from it, so that ``GridSearchCV`` reaches
    ``kernel__gamma``. What ``fit`` makes from a Config is a frozen dataclass, never a Config.
    """

    #: Arguments that neighbours have → what to write here.
    _foreign: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        answer_spelling(cls)
