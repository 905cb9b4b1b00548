"""Everything that the demo fits and measures, once."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from mercer import KernelPCA
from mercer._base.progress import announce
from mercer.cli.demo.denoising import Study, compare
from mercer.cli.demo.digits import Digits, load
from mercer.cli.demo.others import Compressed, Found, Generated, compress_model, find_new, generate


@dataclass(frozen=True)
class Results:
    """Everything that the demo has found."""

    digits: Digits
    embedding: KernelPCA
    studies: list[Study]
    compressed: Compressed
    generated: Generated
    found: Found
    seconds: float

    def models(self) -> dict[str, Any]:
        """The fitted models, by the name of their file."""
        return {
            "embedding": self.embedding,
            "denoiser": self.studies[0].model,
            "sparse": self.compressed.model,
            "generator": self.generated.model,
            "novelty": self.found.model,
        }

    def facts(self) -> dict[str, Any]:
        """The figures, for programs."""
        return {
            "denoising": {
                study.noise: {
                    result.method: {"error": result.error, "read": result.read}
                    for result in study.results
                }
                for study in self.studies
            },
            "sparse": {
                "support": self.compressed.support,
                "file_bytes": self.compressed.file_bytes,
                "error": self.compressed.error,
            },
            "generated": {
                "read": self.generated.read,
                "distance": self.generated.distance,
                "real_distance": self.generated.real_distance,
            },
            "novelty": {
                "false_alarms": self.found.false_alarms,
                "detected": self.found.detected,
                "auc": self.found.auc,
            },
            "seconds": self.seconds,
        }


def run() -> Results:
    """Fit and measure everything."""
    started, stages = time.perf_counter(), 5
    data = load()
    announce("demo", 0, stages)
    embedding = KernelPCA(64, random_state=0).fit(data.train)
    announce("demo", 1, stages)
    studies = compare(data)
    announce("demo", 2, stages)
    compressed = compress_model(data, studies[0].model)
    announce("demo", 3, stages)
    generated = generate(data)
    announce("demo", 4, stages)
    found = find_new(data)
    announce("demo", 5, stages)
    seconds = time.perf_counter() - started
    return Results(data, embedding, studies, compressed, generated, found, seconds)
