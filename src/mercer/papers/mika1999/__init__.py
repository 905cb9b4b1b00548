"""Mika et al. 1999, "Kernel PCA and de-noising in feature spaces": Table 1 and Figures 1 to 4.

Where the text and the printed numbers disagree, the settings here are those that reproduce the
numbers; they are inferences, and each is marked. Ratios are the error of linear PCA over that of
kernel PCA with the same number of components, unless said otherwise.
"""

from mercer.papers.mika1999.digits import (
    NOISES,
    Eigenvectors,
    Reconstructions,
    UspsRow,
    UspsStudy,
    eigenvectors,
    factors,
    per_digit,
    reconstructions,
    usps,
    usps_digits,
    usps_study,
)
from mercer.papers.mika1999.toys import (
    PAPER_TABLE1,
    Curve,
    Denoiser,
    Draw,
    alternatives,
    denoise_with,
    figure1,
    gaussians,
    half_circle,
    linear_denoise,
    square,
    table1,
)

__all__ = [
    "NOISES",
    "PAPER_TABLE1",
    "Curve",
    "Denoiser",
    "Draw",
    "Eigenvectors",
    "Reconstructions",
    "UspsRow",
    "UspsStudy",
    "alternatives",
    "denoise_with",
    "eigenvectors",
    "factors",
    "figure1",
    "gaussians",
    "half_circle",
    "linear_denoise",
    "per_digit",
    "reconstructions",
    "square",
    "table1",
    "usps",
    "usps_digits",
    "usps_study",
]
