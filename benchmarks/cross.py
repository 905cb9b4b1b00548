"""Random fits beside the definition: ``python -m benchmarks cross [COUNT] [--start SEED]``.

Prints a table of outcomes by method and by kernel, and a line that repeats each failure.
"""

import argparse
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

from threadpoolctl import threadpool_limits

from tests.cross.judge import OUTCOMES, Verdict, judge_fit
from tests.cross.problems import random_problem


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks cross")
    parser.add_argument("count", nargs="?", type=int, default=1000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args(sys.argv[2:])
    seeds = range(given.start, given.start + given.count)
    methods: dict[str, Counter[str]] = {}
    families: dict[str, Counter[str]] = {}
    seconds, doubts = 0.0, 0
    with ProcessPoolExecutor(given.jobs) as pool:
        for seed, line, verdict, method, family in pool.map(_judge, seeds, chunksize=20):
            methods.setdefault(method, Counter())[verdict.outcome] += 1
            families.setdefault(family, Counter())[verdict.outcome] += 1
            seconds += verdict.seconds
            doubts += verdict.doubted and verdict.good
            if not verdict.good:
                print(f"python -m tests.cross {seed}  # {verdict.outcome}: {line}", flush=True)
    print(f"\n{given.count} problems from seed {given.start}, {seconds:.0f} s in fits")
    print(f"{doubts} right fits of which their own audit warned\n")
    _print("method", methods)
    _print("kernel", families)


def _judge(seed: int) -> tuple[int, str, Verdict, str, str]:
    threadpool_limits(1)
    problem = random_problem(seed)
    verdict = judge_fit(problem)
    line = f"{verdict.detail} | {problem.describe()}"
    return seed, line, verdict, problem.method.name, problem.family


def _print(title: str, table: dict[str, Counter[str]]) -> None:
    total: Counter[str] = sum(table.values(), Counter())
    print("| " + " | ".join([title, *OUTCOMES]) + " |")
    print("|---|" + "---:|" * len(OUTCOMES))
    for name, counts in [*sorted(table.items()), ("**all**", total)]:
        print("| " + " | ".join([name, *(str(counts[outcome]) for outcome in OUTCOMES)]) + " |")
    print()
