"""The Gram matrix as an operator: kept, streamed, weighted, centred."""

from mercer.gram.base import GramOperator, MatrixOperator
from mercer.gram.centered import CenteredGram
from mercer.gram.cross import cross_matmat
from mercer.gram.dense import DenseGram
from mercer.gram.low_rank import LowRank, nystrom, whiten
from mercer.gram.streamed import StreamedGram
from mercer.gram.weighted import WeightedGram

__all__ = [
    "CenteredGram",
    "DenseGram",
    "GramOperator",
    "LowRank",
    "MatrixOperator",
    "StreamedGram",
    "WeightedGram",
    "cross_matmat",
    "nystrom",
    "whiten",
]
