"""From feature space back to input space; the names in lower case work as strings."""

from mercer.preimage.auto import Auto
from mercer.preimage.base import BoundPreImage, PreImages, PreImageSolver, Status, as_preimage
from mercer.preimage.combination import Combination
from mercer.preimage.distances import Distances, InverseDot
from mercer.preimage.fixed_point import FixedPoint
from mercer.preimage.gradient import Gradient
from mercer.preimage.nearest import Nearest
from mercer.preimage.ridge import Ridge
from mercer.preimage.shrunk import Shrunk
from mercer.preimage.smoother import Smoother

__all__ = ["Auto", "BoundPreImage", "Combination", "Distances", "FixedPoint", "Gradient"]
__all__ += ["InverseDot", "Nearest", "PreImageSolver", "PreImages", "Ridge", "Shrunk", "Smoother"]
__all__ += ["Status", "as_preimage"]
