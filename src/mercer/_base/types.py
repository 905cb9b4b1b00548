"""Names for what users may give: what is accepted is checked at the door, not by the type checker.

Each says what is meant where ``Any`` would say nothing.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:  # the command line answers --help without numpy
    import numpy as np
    from numpy.typing import DTypeLike, NDArray

    #: An array of numpy, of any type and shape; the docstring says which.
    Array: TypeAlias = NDArray[Any]
else:
    Array = Any

#: Rows: an array or a data frame, a list of objects, a path, a row source or a dask collection.
RowsLike: TypeAlias = Any
#: Rows below the door, as points hold them: an array, sparse rows, or a list of objects.
Rows: TypeAlias = Any
#: Numbers: whatever ``numpy.asarray`` takes.
ArrayLike: TypeAlias = Any
#: Classes or numbers, one for each row; None, or ignored, where there is nothing to predict.
Targets: TypeAlias = Any
#: An estimator with scikit-learn's methods and the attributes that the docstring names.
Estimator: TypeAlias = Any
#: Matplotlib's objects; it is not there unless somebody draws.
Axes: TypeAlias = Any
Figure: TypeAlias = Any
Artist: TypeAlias = Any
#: A floating type; None for the one that is there.
Precision: TypeAlias = "DTypeLike | None"
#: What scikit-learn accepts as ``random_state``.
Seed: TypeAlias = "int | np.random.Generator | np.random.RandomState | None"
#: The name of a file or folder.
PathLike: TypeAlias = str | os.PathLike[str]
#: Names of columns, or others.
Names: TypeAlias = Sequence[str]
