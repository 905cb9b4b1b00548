"""Strategies by name: in every layer the object itself, a name, or an error that helps."""

import pytest

from mercer import kernels, preimage, solvers, sparse
from mercer.eigen.landmarks import as_landmark_rule
from mercer.exceptions import MercerError
from mercer.generative import Normal, as_density
from mercer.landmarks import Uniform
from mercer.novelty import Split, as_calibration
from mercer.robust import Tukey, as_loss

RESOLVERS = {
    "kernel": (kernels.as_kernel, "gaussian", kernels.Gaussian, "gausian"),
    "solver": (solvers.as_solver, "dense", solvers.Dense, "denser"),
    "sparse": (sparse.as_sparse_solver, "greedy", sparse.Greedy, "greed"),
    "preimage": (preimage.as_preimage, "nearest", preimage.Nearest, "Nearst"),
    "density": (as_density, "normal", Normal, "norml"),
    "loss": (as_loss, "tukey", Tukey, "Tukey"),
    "landmarks": (as_landmark_rule, "uniform", Uniform, "uniforn"),
    "calibration": (lambda value: as_calibration(value, 100), "split", Split, "splt"),
}


@pytest.mark.parametrize("resolver", RESOLVERS)
def test_by_name(resolver):
    resolve, name, cls, typo = RESOLVERS[resolver]
    made = cls()
    assert resolve(made) is made
    assert type(resolve(name)) is cls
    with pytest.raises(MercerError, match=f"={typo!r} is not known; did you mean {name!r}\\?"):
        resolve(typo)
    with pytest.raises(MercerError, match=f"'nonsense' is not known; give one of .*{name!r}.*, or"):
        resolve("nonsense")


@pytest.mark.parametrize("resolver", sorted(set(RESOLVERS) - {"landmarks"}))
def test_a_class_is_not_an_object(resolver):
    resolve, _, cls, _ = RESOLVERS[resolver]
    with pytest.raises(MercerError, match=rf"={cls.__name__} is a class; give {cls.__name__}\(\)"):
        resolve(cls)
    with pytest.raises(MercerError, match="=None is not known"):
        resolve(None)


def test_a_function_is_told_how_to_become_a_kernel():
    with pytest.raises(MercerError, match=r"FunctionKernel\(f\)"):
        kernels.as_kernel(lambda x, y: 1.0)
