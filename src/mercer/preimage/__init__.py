"""From feature space back to input space; the names in lower case work as strings."""

from mercer._base import catalogue
from mercer._base.registry import by_name
from mercer.exceptions import KernelError
from mercer.preimage.auto import Auto
from mercer.preimage.base import BoundPreImage, PreImages, PreImageSolver, Status
from mercer.preimage.combination import Combination
from mercer.preimage.distances import Distances
from mercer.preimage.fixed_point import FixedPoint
from mercer.preimage.gradient import Gradient
from mercer.preimage.inverse_dot import InverseDot
from mercer.preimage.nearest import Nearest
from mercer.preimage.ridge import Ridge
from mercer.preimage.smoother import Smoother

__all__ = [
    "Auto",
    "BoundPreImage",
    "Combination",
    "Distances",
    "FixedPoint",
    "Gradient",
    "InverseDot",
    "Nearest",
    "PreImageSolver",
    "PreImages",
    "Ridge",
    "Smoother",
    "Status",
    "as_preimage",
]


def as_preimage(preimage: str | PreImageSolver) -> PreImageSolver:
    """A pre-image solver from its name (with default parameters), or the solver itself."""
    others = "an object of mercer.preimage"
    return by_name("preimage", preimage, PreImageSolver, catalogue.PREIMAGES, KernelError, others)
