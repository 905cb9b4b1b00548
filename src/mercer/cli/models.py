"""Models as commands use them: loaded from a file, or described by options of ``mercer fit``."""

from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

import click

import mercer
from mercer._base import catalogue
from mercer._base.spelling import similar_file
from mercer._base.types import Estimator
from mercer.cli import options
from mercer.cli.faults import Failure, NoModelFile
from mercer.cli.options import learnt, one_of, option, which_was_meant


def load_model(path: str, *abilities: str) -> Any:
    """The model in a file, which must have the methods named; :class:`Failure` if it has not."""
    model = mercer.load(existing(path))
    for ability in abilities:
        check_able(path, model, ability)
    return model


def check_able(path: str, model: Estimator, ability: str) -> None:
    """Refuse a model without this method, and name one that has it."""
    inner = learnt.of_vectors(model)
    if not hasattr(inner, ability):
        use, kind = click.get_current_context().command_path, _MODELS.get(ability, "kpca")
        raise Failure(
            f"'{path}' holds a {type(inner).__name__}, which cannot be used by '{use}'. Fit one "
            f"that can: mercer fit DATA --model {kind}."
        )


_MODELS = {"sample": "generative", "reconstruction_error": "novelty", "test": "drift"}


def existing(path: str) -> str:
    """The path if it exists; otherwise an error, which names rows that have yet to be fitted.

    Nothing is imported for it: a mistyped name is answered at once.
    """
    if Path(path).exists():
        return path
    rows = [file for file in Path(path).parent.glob("*") if file.suffix.lower() in options.ENDINGS]
    guess = similar_file(Path(path)) or "; check its name."
    for data in (file for file in rows if file.stem == Path(path).stem):
        guess = f"; fit it first: mercer fit {quote(str(data))} -o {quote(path)}"
    raise NoModelFile(f"there is no model file '{path}'{guess}")


KERNELS = [name for name in catalogue.KERNELS if name != "precomputed"]  # no columns of numbers


def _assignments(text: str) -> dict[str, Any]:
    """``degree=2,coef0=1`` as a dictionary."""
    parameters = {}
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        if not equals:
            raise click.UsageError(f"--kernel: '{part}' is not PARAMETER=VALUE")
        parameters[name.strip()] = _number(value.strip(), value.strip())
    return parameters


def _number(text: str, otherwise: Any = float("nan")) -> Any:
    """A whole number, or another number, if the text is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return otherwise


def _kernel_text(text: str) -> str:
    name = text.partition(":")[0]
    if name not in (*KERNELS, "rbf", "poly"):  # scikit-learn's names of two of them
        guess = which_was_meant(name, KERNELS)
        raise click.BadParameter(f"'{name}' is not one of {', '.join(KERNELS)}.{guess}")
    return text


def _number_or_rule(text: str) -> Any:
    try:
        return text if text in ("median", "scale") else float(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is neither a number, 'median' nor 'scale'") from None


def _seconds(text: str) -> float:
    """``30``, ``30s``, ``5m`` or ``1h`` in seconds."""
    factor = {"s": 1, "m": 60, "h": 3600}.get(text[-1:], 0)
    number = _number(text[:-1] if factor else text)
    if not 0 < number < float("inf"):
        raise click.BadParameter(f"{text!r} is not a time such as 30s, 5m or 1h")
    return float(number * (factor or 1))


def _share_or_auto(text: str) -> Any:
    share = _number(text, text)
    if share != "auto" and not 0 < _number(text) <= 0.5:
        raise click.BadParameter(f"{text!r} is neither 'auto' nor a share from 0 to 0.5")
    return share


KERNEL = option(
    "The kernel, e.g. polynomial:degree=2.",
    "gaussian",
    type=_kernel_text,
    shell_complete=lambda _context, _option, text: [k for k in KERNELS if k.startswith(text)],
    metavar="NAME[:P=V,...]",
)
PREIMAGE = option(
    "The way back to input space.  [default: the model's own]",
    type=options.OneOf([*catalogue.PREIMAGES]),
)


@dataclass(frozen=True)
class Recipe:
    """What the options of ``mercer fit`` say about the model."""

    model: str = one_of("The estimator.", *catalogue.MODELS, "drift")
    kernel: str = KERNEL
    gamma: float | str | None = option(
        "Width as exp(-gamma r²); 'median' if none is given (novelty has its own rule).",
        type=_number_or_rule,
        metavar="NUMBER|median|scale",
    )
    sigma: float | None = option("Width as exp(-r²/2 sigma²).", type=float)
    width: float | None = option("Width as exp(-r²/width²), or a length scale.", type=float)
    components: str = option(
        "How many: a count, a share of the variance, or a rule.",
        "auto",
        metavar="N|SHARE|auto|all|parallel",
    )
    solver: str | None = option(
        "How to find the components.  [default: auto]",
        type=options.OneOf(sorted({*catalogue.SOLVERS, *catalogue.SPARSE_SOLVERS})),
    )
    time: float | None = option(
        "Choose the solver and landmarks so that the fit should take no longer than this; of a "
        "sparse model, refuse a number of kernels that would.",
        type=_seconds,
        metavar="30s|5m|1h",
    )
    landmarks: int | None = option("Fit on this many landmarks.", type=click.IntRange(2))
    kernels: int | None = option("Representing rows of a sparse model.", type=click.IntRange(1))
    preimage: str | None = PREIMAGE
    false_alarm_rate: float | None = option(
        "The false-alarm rate of a novelty model.  [default: 0.05]", type=options.RATE
    )
    contamination: float | str | None = option(
        "Share of outliers among the rows of a novelty model, up to 0.5.  [default: none]",
        type=_share_or_auto,
        metavar="SHARE|auto",
    )
    density: str | None = option(
        "The distribution that a generative model samples from.  [default: local]",
        type=options.OneOf([*catalogue.DENSITIES]),
    )
    seed: int = options.SEED

    def check(self) -> None:
        """Refuse options that the model does not use, instead of ignoring them."""
        for name, models in _BELONGS.items():
            if getattr(self, name) is not None and self.model not in models:
                option = f"--{name.replace('_', '-')}"
                raise click.UsageError(f"{option} does not apply to --model {self.model}")
        sparse = self.model == "sparse"
        known = catalogue.SPARSE_SOLVERS if sparse else catalogue.SOLVERS
        if self.solver is not None and self.solver not in known:
            listed = ", ".join(known)
            raise click.UsageError(f"--solver of --model {self.model} is one of {listed}")
        chosen = self.landmarks or self.solver not in (None, "auto")
        if self.time is not None and chosen and not sparse:
            raise click.UsageError("--time chooses the solver; leave --solver and --landmarks out")
        if self.landmarks is not None and self.solver not in (None, "auto", "landmarks"):
            raise click.UsageError(f"--landmarks does not apply to --solver {self.solver}")
        self.make()

    def make(self, checkpoint: Path | None = None) -> Any:
        """The estimator, unfitted; ``checkpoint`` is where a fit keeps its state to be resumed."""
        if self.model == "drift":
            count = {} if self.landmarks is None else {"n_landmarks": self.landmarks}
            return mercer.KernelDrift(kernel=self._kernel(), random_state=self.seed, **count)
        names = ("preimage", "density", "false_alarm_rate", "contamination")
        own = {"n_kernels": self.kernels, **{name: getattr(self, name) for name in names}}
        parameters: dict[str, Any] = {
            "n_components": self._components(),
            "kernel": self._kernel(),
            "solver": self._solver(checkpoint),
            "random_state": self.seed,
            **{name: value for name, value in own.items() if value is not None},
        }
        if self.model in ("missing", "robust"):
            parameters = {"estimator": mercer.KernelPCA(**parameters), "random_state": self.seed}
        return catalogue.load(catalogue.MODELS[self.model])(**parameters)

    @property
    def fits(self) -> int:
        """About how many times the solver runs: for folds, reweighting or filling in."""
        return {"novelty": 6, "robust": 7, "missing": 20}.get(self.model, 1)

    def _kernel(self) -> Any:
        """The kernel that ``NAME:parameter=value,...`` and the width options describe."""
        name, _, inside = self.kernel.partition(":")
        widths = {"gamma": self.gamma, "sigma": self.sigma, "width": self.width}
        default = mercer.kernels.as_kernel(name)
        allowed = default.get_params(deep=False)
        parameters = _assignments(inside)
        parameters |= {width: value for width, value in widths.items() if value is not None}
        if "length_scale" in allowed and "width" in parameters:
            parameters["length_scale"] = parameters.pop("width")
        for key in parameters:
            if key not in allowed:
                takes = ", ".join(sorted(allowed)) or "no parameters"
                raise click.UsageError(f"the {name} kernel has no '{key}'; it takes {takes}")
        if self.model == "novelty" and self.kernel == "gaussian" and not parameters:
            return None  # a novelty model has a width of its own
        return type(default)(**parameters)

    def _components(self) -> Any:
        """``n_components`` from text: a count, a share, ``auto``, ``all`` or ``parallel``."""
        text = self.components
        if text == "all" or (text == "auto" and self.model in ("sparse", "novelty")):
            return None
        if text == "auto":
            from mercer.model.rank import usual_rule

            return usual_rule()
        if text == "parallel":
            return mercer.ParallelAnalysis()
        number = _number(text.removesuffix("%"))
        if text.endswith("%"):
            number = number / 100
        if not number > 0 or (isinstance(number, float) and number >= 1):
            known = "a whole number, a share such as 0.9, 'auto', 'all' or 'parallel'"
            raise click.UsageError(f"--components {text}: give {known}")
        return number

    def _solver(self, checkpoint: Path | None) -> Any:
        """The solver by its name where it has no state to keep."""
        if self.landmarks is not None:
            return mercer.solvers.Landmarks(self.landmarks, checkpoint=checkpoint)
        if self.time is not None and self.model != "sparse":
            return mercer.solvers.Auto(seconds=self.time / self.fits, checkpoint=checkpoint)
        name = self.solver or "auto"
        if checkpoint is None or name not in ("auto", "davidson", "landmarks"):
            return name
        return mercer.solvers.as_solver(name).set_params(checkpoint=checkpoint)


_WITH_SOLVER = ("kpca", "novelty", "generative", "missing", "robust")
#: Options → the models that take them.
_BELONGS = {
    "kernels": ("sparse",),
    "false_alarm_rate": ("novelty",),
    "contamination": ("novelty",),
    "density": ("generative",),
    "time": (*_WITH_SOLVER, "sparse"),
    "landmarks": (*_WITH_SOLVER, "drift"),
    "solver": (*_WITH_SOLVER, "sparse"),
    "preimage": ("kpca", "sparse", "generative", "missing", "robust"),
}
