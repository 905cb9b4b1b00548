"""Contract checks for those who write a kernel, an operator, a solver or a pre-image of their own.

Each check is a plain function that raises ``AssertionError`` with the numbers that it saw;
``check_kernel``, ``check_operator``, ``check_eigensolver`` and ``check_preimage`` run all that
belong to a role. They need no test framework; mercer's own implementations pass them in its tests.
"""

from mercer.testing.kernels import check_kernel, check_preimage
from mercer.testing.operators import (
    check_block_sizes,
    check_eigensolver,
    check_memory,
    check_operator,
    lapack_ratio,
    prescribed_spectra,
)

__all__ = ["check_block_sizes", "check_eigensolver", "check_kernel", "check_memory"]
__all__ += ["check_operator", "check_preimage", "lapack_ratio", "prescribed_spectra"]
