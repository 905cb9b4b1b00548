"""Less of a weak component: scores shrunk before the way back."""

import numpy as np

from mercer._base.types import Array
from mercer.kernels import Kernel
from mercer.model import Subspace
from mercer.preimage.base import BoundPreImage, PreImageSolver, as_preimage


class Shrunk(PreImageSolver):
    r"""Another method's pre-images, of scores that ``denoise`` has shrunk.

    .. math:: z_k \;\to\; (1 - \lambda_q / \lambda_k)^p\; z_k

    A component is kept for its signal and carries noise as well, the more of it the closer its
    variance is to that of the first which is nothing but noise. Here that is the last one, q: the
    model has one component more than it uses. For singular values with noise up to
    :math:`\lambda_q` the best factor has p = ½ if the matrix is square, and p = 1 if it has many
    more rows than columns (Gavish & Donoho 2017, β = 1 and β → 0).

    Parameters
    ----------
    preimage : str or PreImageSolver, default="auto"
        The method that finds the points.
    power : float, default=0.5
        p, above zero. ``tune`` on noisy rows chooses between ½, 1 and no shrinkage.

    Notes
    -----
    Only scores of noisy rows are shrunk, in ``denoise``, ``preimages`` and ``score``. Scores passed
    to ``inverse_transform`` are used unchanged, and ``reconstruct`` does not shrink them.

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

    def __init__(self, preimage: str | PreImageSolver = "auto", *, power: float = 0.5) -> None:
        self.preimage = preimage
        self.power = power

    def init(self, subspace: Subspace) -> BoundPreImage:
        return as_preimage(self.preimage).init(subspace)

    def check_kernel(self, kernel: Kernel) -> None:
        as_preimage(self.preimage).check_kernel(kernel)

    def shrinkage(self, variances: Array) -> Array:
        return np.asarray(np.maximum(1 - variances[-1:] / variances, 0) ** self.power)
