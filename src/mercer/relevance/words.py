"""What eigenvalues and their sampling errors mean, in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mercer._base.types import Array
from mercer.exceptions import Remedy

if TYPE_CHECKING:
    from mercer.relevance.uncertainty import Uncertainty


def close_groups(values: Array, n: float) -> list[tuple[int, int]]:
    """Runs of components (first and last, from 0) that n rows hardly tell apart.

    A rule of thumb in the manner of North et al. (1982): sampling turns component k towards the
    next one by about ``λ / (√n gap)``, so that a gap below ``2 λ / √n`` means 30 degrees or more.

    Examples
    --------
    >>> from mercer.relevance import close_groups
    >>> close_groups([5.0, 3.0, 2.95, 1.0], n=200)
    [(1, 2)]
    """
    lam = np.asarray(values, dtype=np.float64)
    near = lam[:-1] - lam[1:] < lam[:-1] * 2 / np.sqrt(max(n, 1))
    groups: list[tuple[int, int]] = []
    for k in np.flatnonzero(near):
        if groups and groups[-1][1] == k:
            groups[-1] = (groups[-1][0], int(k) + 1)
        else:
            groups.append((int(k), int(k) + 1))
    return groups


def spectrum_advice(values: Array, n: float, most: int = 10) -> str:
    """One sentence about close eigenvalues among the leading ones, for a report; empty if none."""
    groups = close_groups(values[:most], n)
    if not groups:
        return ""
    named = [_range(range(first, last + 1)) for first, last in groups]
    measured = Remedy(
        "; uncertainty() measures it",
        shell="; 'mercer relevance MODEL --intervals' measures it",
        table="",
    )
    return (
        f"by their eigenvalues, {n:.0f} rows hardly tell components {'; '.join(named)} apart: "
        "read such a group as one" + measured
    )


def describe(found: Uncertainty) -> list[str]:
    """How many components are stable, which mix, and which are noise."""
    q, level = len(found.angle), f"{found.level:.0%}"
    stable = (
        f"{found.n_stable} of {q} components are stable: in {level} of samples of "
        f"{found.n_rows:,} rows they turn by less than 45 degrees."
    )
    lines = [stable]
    lines += [
        f"Components {_range(group)} are not distinguishable from each other: their variances are "
        "close, and sampling turns them into each other. Read them as one."
        for group in _mixing_groups(found.neighbours, found.stable | found.noise)
    ]
    noise = np.flatnonzero(found.noise)
    if noise.size:
        lines.append(
            f"{'Components' if noise.size > 1 else 'Component'} {_range(noise)} cannot be told "
            "from noise: sampling replaces most of it by directions that the model has left out."
        )
    lines.append(f"All {q} together turn by at most {found.subspace_angle:.0f} degrees ({level}).")
    return lines


def _mixing_groups(neighbours: Sequence[Sequence[int]], apart: Array) -> list[list[int]]:
    """Components that turn into each other, joined; stable ones and noise left out."""
    groups: list[set[int]] = []
    for k, others in enumerate(neighbours):
        member = {i for i in (k, *others) if not apart[i]}
        if len(member) < 2:
            continue
        touching = [group for group in groups if group & member]
        groups = [group for group in groups if not group & member]
        groups.append(set.union(member, *touching))
    return sorted(sorted(group) for group in groups)


def _range(numbers: Sequence[int] | Array | range) -> str:
    """Counted from 0: ``2 and 3``, ``2 to 5``, or a list."""
    shown = [int(k) for k in numbers]
    if len(shown) == 1:
        return str(shown[0])
    if len(shown) > 2 and shown[-1] - shown[0] == len(shown) - 1:
        return f"{shown[0]} to {shown[-1]}"
    return f"{', '.join(map(str, shown[:-1]))} and {shown[-1]}"
