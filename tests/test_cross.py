"""The cross: kernels × solvers × precisions × data × weights, beside the definition.

``python -m mercer.testing SEED`` repeats one case, ``python -m benchmarks cross`` prints a table.
"""

import pytest

from mercer.testing import judge_fit, random_problem

#: Cases of the plain test command: the quick ones of these seeds, in chunks for the processes.
QUICK, CHUNK = 360, 20
#: Cases behind the slow marker, and how many of a part may be left: of 10,000 about ten are, most
#: of them claims that are a few times too small (docs/explanation/accuracy.md).
MANY, PART, LEFT = 10_000, 250, 3


def failures(seeds, largest=None):
    found = []
    for seed in seeds:
        problem = random_problem(seed)
        if largest is not None and len(problem.X) > largest:
            continue
        verdict = judge_fit(problem)
        if not verdict.good:
            found.append(
                f"python -m mercer.testing {seed}  # {verdict.outcome}: {verdict.detail} | "
                f"{problem.describe()}"
            )
    return "\n".join(found)


@pytest.mark.parametrize("start", range(0, QUICK, CHUNK))
def test_quick_cases(start):
    bad = failures(range(start, start + CHUNK), largest=160)
    assert not bad, f"\n{bad}"


@pytest.mark.slow
@pytest.mark.parametrize("start", range(QUICK, QUICK + MANY, PART))
def test_many_cases(start):
    bad = failures(range(start, start + PART))
    assert bad.count("python -m mercer.testing") <= LEFT, f"\n{bad}"
    assert "# crashed" not in bad, f"\n{bad}"
