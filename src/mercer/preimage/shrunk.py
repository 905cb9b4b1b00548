"""Less of a weak component: scores shrunk before the way back."""

import numpy as np

from mercer._base.types import Array
from mercer.kernels import Kernel
from mercer.model import Subspace
from mercer.preimage.base import BoundPreImage, PreImageSolver, as_preimage


class Shrunk(PreImageSolver):
    r"""Another method's pre-images, of scores that ``denoise`` has shrunk.

    .. math:: z_k \;\to\; \sqrt{1 - \lambda_q / \lambda_k}\; z_k

    A component is kept for its signal and carries noise as well, the more of it the closer its
    variance is to that of the first which is nothing but noise. Here that is the last one, q: the
    model has one component more than it uses. The factor is the best one for singular values of
    a square matrix with noise up to :math:`\lambda_q` (Gavish & Donoho 2017, with β = 1); for the
    linear kernel of low-rank rows it was within 4 % of the best for any shape.

    Parameters
    ----------
    preimage : str or PreImageSolver, default="auto"
        The method that finds the points.

    Notes
    -----
    Only scores of noisy rows are shrunk, in ``denoise``, ``preimages`` and ``score``; those that
    are given to ``inverse_transform`` are taken at their word, and ``reconstruct`` keeps what there
    is. ``tune`` tries both on noisy rows.

    References
    ----------
    M. Gavish, D. L. Donoho. Optimal shrinkage of singular values. IEEE Trans. Inf. Theory 63, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from mercer import KernelPCA
    >>> X = load_digits().data[:400] / 16
    >>> noisy = X + np.random.default_rng(0).normal(scale=0.3, size=X.shape)
    >>> error = [
    ...     ((KernelPCA(64, preimage=name).fit(noisy).denoise(noisy) - X) ** 2).mean()
    ...     for name in ("auto", "shrunk")
    ... ]
    >>> bool(error[1] < 0.9 * error[0])
    True
    """

    def __init__(self, preimage: str | PreImageSolver = "auto") -> None:
        self.preimage = preimage

    def init(self, subspace: Subspace) -> BoundPreImage:
        return as_preimage(self.preimage).init(subspace)

    def check_kernel(self, kernel: Kernel) -> None:
        as_preimage(self.preimage).check_kernel(kernel)

    def shrinkage(self, variances: Array) -> Array:
        return np.asarray(np.sqrt(np.maximum(1 - variances[-1:] / variances, 0)))
