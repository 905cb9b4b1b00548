"""From feature space back to input space; the names in lower case work as strings."""

from mercer.exceptions import KernelError
from mercer.preimage.base import BoundPreImage, PreImages, PreImageSolver
from mercer.preimage.fixed_point import FixedPoint
from mercer.preimage.nearest import Nearest

__all__ = ["BoundPreImage", "FixedPoint", "Nearest", "PreImageSolver", "PreImages", "as_preimage"]

_BY_NAME: dict[str, type[PreImageSolver]] = {
    "auto": FixedPoint,
    "fixed_point": FixedPoint,
    "nearest": Nearest,
}


def as_preimage(preimage: str | PreImageSolver) -> PreImageSolver:
    """A pre-image solver from its name (with default parameters), or the solver itself."""
    if isinstance(preimage, PreImageSolver):
        return preimage
    if isinstance(preimage, str) and preimage in _BY_NAME:
        return _BY_NAME[preimage]()
    raise KernelError(
        f"preimage={preimage!r} is not known; give one of {', '.join(map(repr, _BY_NAME))}, "
        "or an object of mercer.preimage."
    )
