"""Mika et al. 1999, "Kernel PCA and de-noising in feature spaces": Table 1 and Figures 1 to 4.

Where the text and the printed numbers disagree, the settings here are those that reproduce the
numbers; they are inferences, and each is marked. Ratios are the error of linear PCA over that of
kernel PCA with the same number of components, unless said otherwise.
"""

from mercer.papers.mika1999.curves import Curve, alternatives, figure1, half_circle, square
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
from mercer.papers.mika1999.gaussians import PAPER_TABLE1, Draw, gaussians, table1
from mercer.papers.mika1999.methods import Denoiser, denoise_with, linear_denoise

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
