"""Which m points stand for n rows."""

from mercer.landmarks.base import LandmarkRule, sample_rows
from mercer.landmarks.kmeans import KMeans
from mercer.landmarks.rpcholesky import RPCholesky, partial_cholesky, random_pivots
from mercer.landmarks.uniform import Given, Uniform

__all__ = [
    "Given",
    "KMeans",
    "LandmarkRule",
    "RPCholesky",
    "Uniform",
    "partial_cholesky",
    "random_pivots",
    "sample_rows",
]
