"""The figures of the demo as lines for people."""

from __future__ import annotations

from mercer._memory import size_text
from mercer.demo.study import Results
from mercer.demo.table import fill_in


def in_words(results: Results) -> dict[str, str]:
    """The other figures, as lines."""
    small, made, found = results.compressed, results.generated, results.found
    sizes = [size_text(size) for size in small.file_bytes]
    others = ", ".join(f"{name} {auc:.3f}" for name, auc in list(found.auc.items())[1:])
    return {
        "sparse": f"{small.support[1]} points instead of {small.support[0]:,}; error "
        f"{small.error[1]:.3f} instead of {small.error[0]:.3f}; model file {sizes[1]} instead of "
        f"{sizes[0]}",
        "generated": f"{made.read:.0%} of {len(made.images)} new digits are read as the digit "
        f"asked for; {made.distance:.2f} from the nearest training image (real ones "
        f"{made.real_distance:.2f})",
        "novelty": f"{found.detected:.0%} of the {found.digit}s found by a model that never saw "
        f"one, at {found.false_alarms:.1%} false alarms (asked for {found.asked:.0%}); area under "
        f"the curve, mean of ten digits: {next(iter(found.auc.values())):.3f} ({others})",
        "table": fill_in(),
        "time": f"{results.seconds:.1f} s",
    }
