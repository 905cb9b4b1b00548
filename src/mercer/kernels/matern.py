"""Matérn kernels: smooth by degrees."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from mercer._base.types import Array
from mercer.kernels.base import require_choice
from mercer.kernels.radial import OneLength


class Matern(OneLength):
    r"""Matérn kernels of half-integer order, :math:`a = \sqrt{2\nu}\, r / \ell`.

    ====  =============================
    ν     k
    ====  =============================
    1/2   exp(−a)
    3/2   (1 + a) exp(−a)
    5/2   (1 + a + a²/3) exp(−a)
    ====  =============================

    Parameters
    ----------
    length_scale : float, "median" or "scale", default="median"
    nu : 0.5, 1.5 or 2.5, default=1.5
        Smoothness. ν = 1/2 has a kink at r = 0, so that pre-images by fixed point stick to
        training points; prefer 3/2 or 5/2 there.
    """

    #: The slope of the profile at t = 0 is infinite for ν = 1/2; its value there is cut off here.
    _NEAREST: ClassVar[float] = 1e-12

    def __init__(self, length_scale: float | str = "median", *, nu: float = 1.5) -> None:
        self.length_scale = length_scale
        self.nu = nu

    def check(self) -> None:
        super().check()
        require_choice("nu", self.nu, (0.5, 1.5, 2.5))

    @property
    def is_kinked(self) -> bool:
        return self.nu == 0.5

    def profile(self, t: Array) -> Array:
        a = self._decay(t)
        if self.nu == 1.5:
            t *= np.add(a, 1, out=a)
        elif self.nu == 2.5:
            t *= 1 + a * (1 + a / 3)
        return t

    def _decay(self, t: Array) -> Array:
        """a, and ``t = exp(-a)`` in place."""
        a = t * (-2 * self.nu)
        np.sqrt(a, out=a)
        np.exp(np.negative(a, out=t), out=t)
        return a

    def formula(self, t: Any, xp: Any) -> tuple[Any, Any]:
        a = xp.sqrt(t * (-2 * self.nu))
        decay = xp.exp(-a)
        if self.nu == 0.5:
            return decay, decay * (0.5 / xp.maximum(a, self._NEAREST))
        if self.nu == 1.5:
            return decay * (1 + a), decay * 1.5
        return decay * (1 + a * (1 + a / 3)), decay * (1 + a) * (5 / 6)

    def slope(self, t: Array) -> Array:
        # da/dt = -nu / a, so that the a in the denominator cancels for 3/2 and 5/2.
        a = self._decay(t)
        if self.nu == 0.5:
            t *= 0.5 / np.maximum(a, self._NEAREST)
        elif self.nu == 1.5:
            t *= 1.5
        else:
            t *= (5 / 6) * (1 + a)
        return t

    def invert(self, k: Array) -> Array:
        # Newton on log k(a), concave and decreasing: after one step it comes down from the right.
        target = np.log(k)
        a = -target
        if self.nu != 0.5:
            for _ in range(60):
                if self.nu == 1.5:
                    value, rate = np.log1p(a) - a, -a / (1 + a)
                else:
                    poly = 1 + a + a * a / 3
                    value, rate = np.log(poly) - a, -(a + a * a) / 3 / poly
                step = (target - value) / np.where(rate == 0, -1, rate)
                a = np.maximum(a + np.where(target == 0, 0, step), 0)
        return np.asarray(-a * a / (2 * self.nu))
