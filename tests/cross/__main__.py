"""``python -m tests.cross SEED [SEED ...]``: judge the random problems of these seeds."""

import sys

from tests.cross.judge import judge_fit
from tests.cross.problems import random_problem


def main() -> None:
    """Say what each problem is, and what became of it."""
    good = True
    for seed in map(int, sys.argv[1:]):
        problem = random_problem(seed)
        verdict = judge_fit(problem)
        good = good and verdict.good
        sys.stdout.write(
            f"{seed}: {problem.describe()}\n  {verdict.outcome} {verdict.detail} "
            f"({verdict.seconds:.2f} s)\n"
        )
    sys.exit(not good)


if __name__ == "__main__":
    main()
