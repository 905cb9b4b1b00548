"""Classes of other people in a model file: only those that were registered, in this process."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mercer
from mercer import GenerativeKernelPCA, KernelPCA
from mercer._base import registry as _registry
from mercer.exceptions import ModelFileError
from mercer.io.model_file import describe
from mercer.kernels import Gaussian, Kernel, Linear
from mercer.solvers import Landmarks
from mercer.testing import check_kernel
from tests.io.model_file import lab
from tests.io.model_file.forge import forge
from tests.io.model_file.models import rows

ROOT = Path(__file__).parents[3]
WEIGHTS = np.array([1.0, 0.5, 2.0, 0.25])


@pytest.fixture(autouse=True)
def _forget(monkeypatch):
    """What a test registers is forgotten after it."""
    for table in ("_CLASSES", "_WORDS"):
        monkeypatch.setattr(_registry, table, dict(getattr(_registry, table)))


def models():
    return {
        "radial": KernelPCA(3, kernel=lab.Wave(3.0)),
        "array": KernelPCA(3, kernel=lab.Weighted(WEIGHTS)),
        "nested": KernelPCA(3, kernel=0.5 * lab.Wave() + Gaussian(0.1)),
        "rule": KernelPCA(lab.Odd(3)),
        "landmarks": KernelPCA(3, solver=Landmarks(20, select=lab.First())),
        "solver": KernelPCA(3, solver=lab.Patient()),
        "preimage": KernelPCA(3, preimage=lab.Closest()),
        "density": GenerativeKernelPCA(3, density=lab.Boxed(), random_state=0),
    }


def answer(model, new):
    if isinstance(model, GenerativeKernelPCA):
        return model.sample(4, random_state=1)
    return np.hstack([model.transform(new), model.preimages(new).points])


IN_A_NEW_PROCESS = """
import sys
import numpy as np
import mercer
from tests.io.model_file import lab
if sys.argv[3] == "register":
    for cls in lab.ALL:
        mercer.register(cls)
model = mercer.load(sys.argv[1])
np.save(sys.argv[2], model.transform(np.load(sys.argv[2])))
"""


def in_a_new_process(model_path, rows_path, word):
    return subprocess.run(
        [sys.executable, "-c", IN_A_NEW_PROCESS, model_path, rows_path, word],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("name", ["radial", "array"])
def test_a_kernel_of_ones_own_in_a_new_process(name, tmp_path):
    for cls in lab.ALL:
        mercer.register(cls)
    model = models()[name].fit(rows())
    path, new = model.save(tmp_path / "m.mercer"), rows(11, seed=5)
    np.save(tmp_path / "new.npy", new)
    without = in_a_new_process(path, tmp_path / "new.npy", "nothing")
    assert without.returncode == 1
    last = without.stderr.strip().splitlines()[-1]
    assert last.startswith("mercer.exceptions.ModelFileError")
    assert f"'tests.io.model_file.lab:{type(model.kernel).__name__}'" in last
    assert "mercer.register" in last
    done = in_a_new_process(path, tmp_path / "new.npy", "register")
    assert done.returncode == 0, done.stderr
    assert_array_equal(np.load(tmp_path / "new.npy"), model.transform(new), strict=True)


@pytest.mark.parametrize("name", models())
def test_whatever_is_registered_can_be_saved(name, tmp_path):
    model = models()[name].fit(rows())
    with pytest.raises(ModelFileError, match=r"tests\.io\.model_file\.lab:.*mercer\.register"):
        model.save(tmp_path / "m.mercer")
    assert not list(tmp_path.iterdir())
    for cls in lab.ALL:
        mercer.register(cls)
    loaded = mercer.load(model.save(tmp_path / "m.mercer"))
    new = rows(9, seed=5)
    assert_array_equal(answer(loaded, new), answer(model, new), strict=True)
    assert repr(loaded) == repr(model)


def test_parameters_are_checked_when_loaded(tmp_path):
    @mercer.register
    class Strict(lab.Wave):
        def check(self):
            if not self.length_scale > 0:
                raise mercer.exceptions.KernelError(f"length_scale={self.length_scale}")

    path = KernelPCA(2, kernel=Strict(2.0)).fit(rows()).save(tmp_path / "m.mercer")

    def change(header, model, payload):
        model["with"]["kernel"]["with"]["length_scale"] = -2.0

    with pytest.raises(ModelFileError, match=r"Strict makes no sense \(length_scale=-2.0\)"):
        mercer.load(forge(path, tmp_path / "forged.mercer", change))


def test_describe_needs_no_registration(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(_registry, "_CLASSES", dict(_registry._CLASSES))
        patch.setattr(_registry, "_WORDS", dict(_registry._WORDS))
        mercer.register(lab.Wave)
        path = KernelPCA(2, kernel=lab.Wave(3.0)).fit(rows()).save(tmp_path / "m.mercer")
    assert describe(path).parameters["kernel"] == "Wave(length_scale=3.0)"
    with pytest.raises(ModelFileError, match="mercer.register"):
        mercer.load(path)


def test_a_class_that_has_moved(tmp_path):
    """Read under all of its names, saved under the first."""
    mercer.register(lab.Wave, name="old.place:Ripple")
    path = KernelPCA(2, kernel=lab.Wave(3.0)).fit(rows()).save(tmp_path / "m.mercer")
    assert b"old.place:Ripple" in path.read_bytes()
    for table in (_registry._CLASSES, _registry._WORDS):
        table.pop("old.place:Ripple", table.pop(lab.Wave, None))
    mercer.register(lab.Wave)
    mercer.register(lab.Wave, name="old.place:Ripple")
    again = mercer.load(path)
    assert isinstance(again.kernel, lab.Wave)
    assert b"model_file.lab:Wave" in again.save(path).read_bytes()


def test_one_name_one_class():
    mercer.register(lab.Wave)
    assert mercer.register(lab.Wave) is lab.Wave  # twice does no harm
    with pytest.raises(
        ModelFileError, match=r"'tests\.io\.model_file\.lab:Wave' is the name of .*Wave"
    ):
        mercer.register(lab.Weighted, name="tests.io.model_file.lab:Wave")


def test_a_cell_that_is_run_again():
    """In a notebook the class of the last run counts, also for models of an earlier one."""
    cells = [type("Cell", (lab.Wave,), {"__module__": "__main__"}) for _ in range(2)]
    for cls in cells:
        mercer.register(cls)
    assert _registry.find("__main__:Cell") is cells[1]
    assert {_registry.word_of(cls) for cls in cells} == {"__main__:Cell"}


@pytest.mark.parametrize("name", ["kernels.Gaussian", "Gaussian", "lab:", ":Wave", "lab:a\nb", 3])
def test_names_of_mercer_cannot_be_taken(name):
    with pytest.raises(ModelFileError, match="package.module:Class"):
        mercer.register(lab.Wave, name=name)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lab.Wave(), "a class.*register\\(Wave\\)"),
        (lambda x: x, "a class"),
        (int, "int .* no parameters"),
        (np.ndarray, "no parameters"),
    ],
)
def test_what_cannot_be_registered(wrong, words):
    with pytest.raises(TypeError, match=words):
        mercer.register(wrong)


def test_an_estimator_of_others_would_lose_its_fit():
    from sklearn.preprocessing import StandardScaler

    with pytest.raises(TypeError, match="StandardScaler"):
        mercer.register(StandardScaler)


def test_our_own_classes_are_registered_already():
    assert mercer.register(Gaussian) is Gaussian
    assert _registry.word_of(Gaussian) == "kernels.Gaussian"


def test_loading_imports_nothing_that_it_does_not_need(tmp_path):
    """Nor what a file names; a word of a layer above brings that layer, and nothing else."""
    path = KernelPCA(2).fit(rows()).save(tmp_path / "m.mercer")

    def change(header, model, payload):
        model["with"]["kernel"] = {"object": "antigravity:Kernel", "with": {}}

    forged = forge(path, tmp_path / "forged.mercer", change)
    code = (
        "import sys, mercer; mercer.load(sys.argv[1])\n"
        "try: mercer.load(sys.argv[2])\n"
        "except ValueError as error: assert 'antigravity:Kernel' in str(error), error\n"
        "else: raise AssertionError\n"
        "print([name for name in sys.modules if name in "
        "('antigravity', 'mercer.alternatives', 'mercer.compat', 'mercer.papers', 'onnx')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, path, forged], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize("kernel", [lab.Wave(3.0), lab.Weighted(WEIGHTS)], ids=repr)
def test_a_foreign_kernel_has_no_onnx_form(kernel, tmp_path):
    pytest.importorskip("onnx")
    model = KernelPCA(2, kernel=kernel).fit(rows())
    with pytest.raises(ModelFileError, match=f"{type(kernel).__name__}.*has no ONNX form"):
        mercer.export_onnx(model, tmp_path / "m.onnx")


class Shifted(Linear):
    """x·y, and something else for everyone who looks twice."""

    def profile(self, p):
        p += 1
        return p


def test_a_subclass_is_not_exported_as_its_base(tmp_path):
    pytest.importorskip("onnx")
    model = KernelPCA(2, kernel=Shifted(), center=False).fit(rows())
    with pytest.raises(ModelFileError, match="Shifted.*has no ONNX form"):
        mercer.export_onnx(model, tmp_path / "m.onnx")


def test_kernels_of_the_lab_are_kernels():
    check_kernel(lab.Weighted(np.array([1.0, 0.5, 2.0])))
    assert issubclass(lab.Wave, Kernel)
