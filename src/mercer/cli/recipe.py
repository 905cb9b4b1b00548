"""From the options of ``mercer fit`` to an estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from mercer._base.catalogue import SOLVERS, SPARSE_SOLVERS
from mercer.estimators import (
    GenerativeKernelPCA,
    KernelNovelty,
    KernelPCA,
    MissingKernelPCA,
    ReweightedKernelPCA,
    SparseKernelPCA,
)
from mercer.kernels import Kernel, as_kernel
from mercer.model import ParallelAnalysis
from mercer.model.rank import ShareUpTo
from mercer.solvers import Landmarks, as_solver

#: ``--components auto`` keeps this share of the variance in at most so many components.
AUTO = ShareUpTo(0.95, 64)


@dataclass(frozen=True)
class Recipe:
    """What the options of ``mercer fit`` say about the model."""

    model: str = "kpca"
    kernel: str = "gaussian"
    widths: Mapping[str, float | str | None] = field(default_factory=dict)
    components: str = "auto"
    solver: str | None = None
    landmarks: int | None = None
    kernels: int | None = None
    preimage: str | None = None
    false_alarm_rate: float | None = None
    contamination: float | str | None = None
    density: str | None = None
    seed: int = 0

    def check(self) -> None:
        """Refuse options that the model has no use for, instead of ignoring them."""
        belongs = {
            "kernels": ("sparse",),
            "false_alarm_rate": ("novelty",),
            "contamination": ("novelty",),
            "density": ("generative",),
            "landmarks": ("kpca", "novelty", "generative", "missing", "robust"),
            "preimage": ("kpca", "sparse", "generative", "missing", "robust"),
        }
        for name, models in belongs.items():
            if getattr(self, name) is not None and self.model not in models:
                option = f"--{name.replace('_', '-')}"
                raise click.UsageError(f"{option} means nothing to --model {self.model}")
        known = SPARSE_SOLVERS if self.model == "sparse" else SOLVERS
        if self.solver is not None and self.solver not in known:
            listed = ", ".join(known)
            raise click.UsageError(f"--solver of --model {self.model} is one of {listed}")
        if self.landmarks is not None and self.solver not in (None, "auto", "landmarks"):
            raise click.UsageError(f"--landmarks means nothing to --solver {self.solver}")
        self.make_kernel()
        self.make_components()

    def make_kernel(self) -> Kernel:
        """The kernel that ``NAME:parameter=value,...`` and the width options describe."""
        name, _, inside = self.kernel.partition(":")
        default = as_kernel(name)
        allowed = default.get_params(deep=False)
        given = _assignments(inside)
        for option, value in self.widths.items():
            key = "length_scale" if option == "width" and option not in allowed else option
            if value is None:
                continue
            if key not in allowed:
                raise click.UsageError(f"the {name} kernel has no {option}; leave --{option} out")
            given[key] = value
        for key in given:
            if key not in allowed:
                takes = ", ".join(sorted(allowed)) or "no parameters"
                raise click.UsageError(f"the {name} kernel has no '{key}'; it takes {takes}")
        return type(default)(**given)

    def make_components(self) -> Any:
        """``n_components`` from text: a count, a share, ``auto``, ``all`` or ``parallel``."""
        text = self.components
        named = {"auto": AUTO if self.model in _EIGEN else None, "all": None}
        if text in named:
            return named[text]
        if text == "parallel":
            return ParallelAnalysis()
        number = _number(text.removesuffix("%"))
        if text.endswith("%") and not isinstance(number, str):
            number = number / 100
        if isinstance(number, str) or number <= 0 or (isinstance(number, float) and number >= 1):
            raise click.UsageError(
                f"--components {text}: give a whole number, a share such as 0.9, 'auto', 'all' "
                "or 'parallel'"
            )
        return number

    def make(self, checkpoint: Path | None = None) -> Any:
        """The estimator, unfitted.

        Parameters
        ----------
        checkpoint : where a fit on landmarks keeps its state, if it can be resumed
        """
        common: dict[str, Any] = {
            "n_components": self.make_components(),
            "kernel": self.make_kernel(),
            "solver": self._solver(checkpoint),
            "random_state": self.seed,
        }
        if self.model == "sparse":
            return SparseKernelPCA(self.kernels, preimage=self.preimage or "auto", **common)
        if self.model == "novelty":
            rate = 0.05 if self.false_alarm_rate is None else self.false_alarm_rate
            if self.kernel == "gaussian" and not any(self.widths.values()):
                common["kernel"] = None  # a width for novelty
            return KernelNovelty(false_alarm_rate=rate, contamination=self.contamination, **common)
        if self.model == "generative":
            chosen = {"density": self.density, "preimage": self.preimage}
            common |= {name: value for name, value in chosen.items() if value is not None}
            return GenerativeKernelPCA(**common)
        pca = KernelPCA(preimage=self.preimage or "auto", **common)
        if self.model == "missing":
            return MissingKernelPCA(pca, random_state=self.seed)
        if self.model == "robust":
            return ReweightedKernelPCA(pca, random_state=self.seed)
        return pca

    def _solver(self, checkpoint: Path | None) -> Any:
        """The solver by its name where it has no state to keep."""
        if self.landmarks is not None:
            return Landmarks(self.landmarks, checkpoint=checkpoint)
        name = self.solver or "auto"
        if checkpoint is None or name not in ("auto", "landmarks"):
            return name
        return as_solver(name).set_params(checkpoint=checkpoint)


_EIGEN = ("kpca", "generative", "missing", "robust")


def _assignments(text: str) -> dict[str, Any]:
    """``degree=2,coef0=1`` as a dictionary."""
    given = {}
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        if not equals:
            raise click.UsageError(f"--kernel: '{part}' is not PARAMETER=VALUE")
        given[name.strip()] = _number(value.strip())
    return given


def _number(text: str) -> Any:
    """A whole number, another number, or the text itself."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
