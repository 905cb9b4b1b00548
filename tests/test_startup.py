"""What an import brings in."""

import subprocess
import sys
from importlib.util import find_spec

import numpy as np

from mercer import KernelPCA
from mercer._base import catalogue
from mercer.kernels import Gaussian

CALLBACKS = find_spec("sklearn.callback") is not None  # from scikit-learn 1.9 on


def modules(statement):
    """Names of all modules that are loaded after it, in a new process."""
    code = f"{statement}; import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_kernel_pca_loads_no_more_of_others_than_scikit_learns():
    """Which is most of the time: our own modules take a tenth of it."""
    theirs = modules("from sklearn.decomposition import KernelPCA")
    more = modules("from mercer import KernelPCA") - theirs
    assert {name for name in more if name.partition(".")[0] != "mercer"} == set()


def test_kernel_pca_loads_none_of_the_other_estimators():
    found = modules("from mercer import KernelPCA")
    others = {"generative", "sparse.", "compat", "alternatives", "tables", "plots", "live", "cli"}
    assert not {name for name in found if name.startswith(tuple(f"mercer.{o}" for o in others))}
    assert found & {path.partition(":")[0] for path in catalogue.ESTIMATORS.values()} <= {
        "mercer.estimators.kernel_pca",
    }


def test_a_transform_on_the_command_line_loads_no_more_of_scikit_learn_than_an_estimator(tmp_path):
    """Its metrics, searches and encoders are a third of its modules."""
    np.savetxt(tmp_path / "rows.csv", np.eye(5), delimiter=",", header="a,b,c,d,e", comments="")
    model = KernelPCA(2, kernel=Gaussian(gamma=1.0)).fit(np.eye(5)).save(tmp_path / "m.mercer")
    arguments = ["transform", str(model), str(tmp_path / "rows.csv"), "-o", str(tmp_path / "z.csv")]
    found = modules(f"from mercer.cli import main; main({arguments!r})")
    assert (tmp_path / "z.csv").is_file()
    least = modules("import sklearn.base" + ", sklearn.callback" * CALLBACKS)
    heavy = {".".join(name.split(".")[:2]) for name in found - least if name.startswith("sklearn")}
    assert heavy <= {"sklearn.utils", "sklearn.callback"}
    kinds = {name.partition(".")[0] for name in found - least}
    assert kinds.isdisjoint({"matplotlib", "dask", "polars", "onnx", "torch", "narwhals"})


def test_a_fit_loads_nothing_of_onnx():
    found = modules("from mercer import KernelPCA; KernelPCA(1).fit([[0.0], [1.0], [3.0]])")
    assert not {name for name in found if "onnx" in name}


def test_packages_are_there_without_an_import():
    code = "import mercer; mercer.plots.ScreeDisplay; mercer.solvers.Dense; mercer.compat.KernelPCA"
    subprocess.run([sys.executable, "-c", code], check=True)
