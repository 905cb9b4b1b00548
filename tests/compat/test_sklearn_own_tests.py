"""scikit-learn's own tests of KernelPCA, run with one import changed.

Their source is read from the installed scikit-learn, so that nothing of it is copied here and every
version of it brings its own tests.
"""

from importlib.util import find_spec
from pathlib import Path

import pytest

# Their suite allows the warnings that it provokes; ours makes every warning an error.
pytestmark = pytest.mark.filterwarnings("default")

THEIR_IMPORT = "from sklearn.decomposition import PCA, KernelPCA\n"
OUR_IMPORT = "from mercer.compat import KernelPCA\nfrom sklearn.decomposition import PCA\n"


@pytest.fixture
def global_random_seed():
    """scikit-learn's conftest draws it from the environment; 42 is its default."""
    return 42


def their_source() -> tuple[str, Path]:
    package = Path(find_spec("sklearn.decomposition").origin).parent
    path = package / "tests" / "test_kernel_pca.py"
    return path.read_text(encoding="utf-8"), path


SOURCE, PATH = their_source()
assert SOURCE.count(THEIR_IMPORT) == 1, f"the import of KernelPCA in {PATH} has changed"
exec(compile(SOURCE.replace(THEIR_IMPORT, OUR_IMPORT), PATH, "exec"))


def test_it_is_ours_that_was_tested():
    assert KernelPCA.__module__ == "mercer.compat"  # noqa: F821  from the source above
