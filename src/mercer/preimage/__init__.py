"""From feature space back to input space."""

from mercer.preimage.base import BoundPreImage, PreImages, PreImageSolver

__all__ = ["BoundPreImage", "PreImageSolver", "PreImages"]
