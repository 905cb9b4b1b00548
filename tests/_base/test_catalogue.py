"""The catalogue holds what is there, and a name is an object or an error that helps."""

import ast
import subprocess
import sys

import numpy as np
import pytest

import mercer
from mercer import kernels, preimage, solvers, sparse
from mercer._base import catalogue
from mercer._base import registry as _registry
from mercer.exceptions import MercerError
from mercer.generative import Normal, as_density
from mercer.landmarks import Uniform
from mercer.live.protocol import kernel_spec
from mercer.novelty import Split, as_calibration
from mercer.robust import Tukey, as_loss
from mercer.solvers.landmarks import as_landmark_rule
from mercer.testing import check_kernel

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

NAMES = {
    "kernel": catalogue.KERNELS,
    "solver": catalogue.SOLVERS,
    "sparse": catalogue.SPARSE_SOLVERS,
    "preimage": catalogue.PREIMAGES,
    "density": catalogue.DENSITIES,
    "loss": catalogue.LOSSES,
    "landmarks": catalogue.LANDMARK_RULES,
}


@pytest.mark.parametrize("table", [catalogue.WORDS, catalogue.PUBLIC, catalogue.PAPERS])
def test_everything_is_where_the_catalogue_says(table):
    for place in table.values():
        found = catalogue.load(place)
        if isinstance(found, type):  # the same words when it is saved: not where it passed through
            assert f"{found.__module__}:{found.__qualname__}" == place


def test_words_lead_to_classes_and_back():
    for word in catalogue.WORDS:
        own = _registry.word_of(_registry.find(word))
        assert own == word or word in catalogue.OTHER_WORDS
        assert own not in catalogue.OTHER_WORDS


@pytest.mark.parametrize("resolver", NAMES)
def test_every_name_is_an_object_of_its_class(resolver):
    for name, place in NAMES[resolver].items():
        assert type(RESOLVERS[resolver][0](name)) is catalogue.load(place)


def test_the_catalogue_imports_nothing():
    show = "print([m for m in sys.modules if m.startswith('mercer')])"
    code = f"import sys, mercer._base.catalogue; {show}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    base = {f"mercer._base{name}" for name in ("", ".catalogue", ".spelling")}
    assert set(ast.literal_eval(done.stdout)) == {"mercer", *base}


def test_the_names_of_the_package():
    assert set(dir(mercer)) == {*mercer.__all__, *mercer._PACKAGES} - {"rows"}
    for name in mercer.__all__:
        assert getattr(mercer, name) is not None


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


NEW_KERNEL = '''
import numpy as np
from mercer.kernels.radial import OneLength

class Steep(OneLength):
    """1 / (1 - t)²."""

    def __init__(self, length_scale="median"):
        self.length_scale = length_scale

    def profile(self, t):
        t[...] = self.formula(t, np)[0]
        return t

    def slope(self, t):
        t[...] = self.formula(t, np)[1]
        return t

    def formula(self, t, xp):
        base = 1 / (1 - t)
        return base * base, 2 * base * base * base

    def invert(self, k):
        return 1 - k**-0.5
'''


def test_a_kernel_is_one_file_and_one_line(tmp_path, monkeypatch, rng):
    """By its name, in a model file, as an ONNX graph, on a page."""
    (tmp_path / "new_kernel.py").write_text(NEW_KERNEL)
    monkeypatch.syspath_prepend(tmp_path)
    place = "new_kernel:Steep"
    monkeypatch.setitem(catalogue.KERNELS, "steep", place)
    monkeypatch.setitem(catalogue.WORDS, "kernels.Steep", place)  # what that line leads to
    monkeypatch.setitem(_registry._OURS, place, "kernels.Steep")
    X, new = rng.standard_normal((40, 3)), rng.standard_normal((5, 3))
    model = mercer.KernelPCA(3, kernel="steep").fit(X)
    check_kernel(kernels.as_kernel("steep"))
    loaded = mercer.load(model.save(tmp_path / "m.mercer"))
    np.testing.assert_array_equal(loaded.transform(new), model.transform(new))
    spec = kernel_spec(model.kernel_)
    assert spec["of"] == "distance"
    assert spec["nodes"][spec["f"]][0] == "Mul"
    onnxruntime = pytest.importorskip("onnxruntime")
    path = mercer.export_onnx(model, tmp_path / "m.onnx", dtype="float64")
    session = onnxruntime.InferenceSession(path)
    found = session.run(["transform"], {session.get_inputs()[0].name: new})[0]
    np.testing.assert_allclose(found, model.transform(new), atol=1e-10)
