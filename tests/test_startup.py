"""What an import brings in."""

import subprocess
import sys


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
