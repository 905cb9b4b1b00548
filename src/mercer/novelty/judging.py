"""A table of verdicts: how new each row is, and whether it is called new."""

from __future__ import annotations

import numpy as np

from mercer._types import Estimator
from mercer.rows import MemoryRows, Table


def judge(model: Estimator, table: Table) -> Table:
    """Score, p-value and verdict of each row, read block by block and scored once.

    Parameters
    ----------
    model : KernelNovelty, or an estimator with ``reconstruction_error``
        The latter has no threshold, and gives scores alone.
    table : the rows; columns beside them stay beside the verdicts

    Returns
    -------
    Table
        Columns ``score`` (larger is newer), ``p_value`` and, beside them, ``new``.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelNovelty
    >>> from mercer.novelty import judge
    >>> from mercer.rows import MemoryRows, Table
    >>> rows = np.random.default_rng(0).standard_normal((100, 2))
    >>> model = KernelNovelty(10, random_state=0).fit(rows)
    >>> judge(model, Table(MemoryRows(np.array([[0.0, 0.0], [9.0, 9.0]])))).beside["new"].tolist()
    [False, True]
    """
    has_threshold = hasattr(model, "p_values")
    parts, new = [], []
    for rows in table.blocks():
        if has_threshold:
            score = -model.score_samples(rows)
            parts.append(np.column_stack([score, model.conformal_.p_values(score)]))
            new.append(score > -model.offset_)
        else:
            parts.append(model.reconstruction_error(rows)[:, None])
    names = ["score", "p_value"] if has_threshold else ["score"]
    beside = table.beside_of([*names, "new"])
    if has_threshold:
        beside = {"new": np.concatenate(new), **beside}
    return Table(MemoryRows(np.concatenate(parts), names), beside)
