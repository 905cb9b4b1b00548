"""What a person sees at a prompt: names, numbers and hints."""

import numpy as np
import pytest

import mercer
from mercer import KernelPCA
from mercer.kernels import FunctionKernel, Gaussian

X = np.random.default_rng(0).normal(size=(50, 3)) * [1, 1.4, 2]


def test_packages_are_completed():
    assert {"live", "plots", "kernels", "solvers", "KernelPCA"} <= set(dir(mercer))
    assert all(hasattr(mercer, name) for name in ("plots", "kernels", "solvers"))


def test_a_function_is_a_kernel():
    model = KernelPCA(2, kernel=lambda a, b: float(a @ b)).fit(X)
    assert isinstance(model.subspace_.kernel, FunctionKernel)
    wanted = KernelPCA(2, kernel="linear").fit(X).eigenvalues_
    np.testing.assert_allclose(model.eigenvalues_, wanted, rtol=1e-8)
    with pytest.raises(ValueError, match="is a class"):
        KernelPCA(2, kernel=Gaussian).fit(X)


def test_a_mistyped_result_gets_a_hint():
    model = KernelPCA(2).fit(X)
    with pytest.raises(AttributeError, match="did you mean eigenvalues_"):
        _ = model.eigen_values_
    with pytest.raises(AttributeError, match="not fitted yet"):
        _ = KernelPCA(2).eigenvalues_
    assert not hasattr(model, "nothing_like_it_")


def test_relevance_and_uncertainty_show_names_and_numbers():
    model = KernelPCA(2).fit(X)
    shown = repr(model.relevance())
    assert "component 0  x2 " in shown
    assert "array" not in shown
    shown = repr(model.uncertainty())
    assert "component 1  " in shown
    assert "stable" in shown
    assert "array" not in shown


@pytest.mark.parametrize("gamma", [1e-14, 1e14])
def test_a_width_beyond_reason_warns(gamma):
    with pytest.warns(mercer.exceptions.DegenerateKernelWarning, match="does not suit"):
        KernelPCA(2, kernel=Gaussian(gamma=gamma)).fit(X)
