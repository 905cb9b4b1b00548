"""Rules that choose m landmarks to represent n rows."""

from mercer.landmarks.base import Given, LandmarkRule, Uniform, sample_rows
from mercer.landmarks.kmeans import KMeans
from mercer.landmarks.rpcholesky import RPCholesky, partial_cholesky, random_pivots

__all__ = ["Given", "KMeans", "LandmarkRule", "RPCholesky", "Uniform"]
__all__ += ["partial_cholesky", "random_pivots", "sample_rows"]
