"""The Gram matrix as an operator: kept, streamed, weighted, centred."""

from mercer.gram.base import GramOperator, MatrixOperator
from mercer.gram.centered import CenteredGram, ProbedGram, UncenteredGram, WeightedGram
from mercer.gram.checkpoint import Checkpoint
from mercer.gram.feature_sums import FeatureSums, LandmarkFeatures, chunk_sums, sum_features
from mercer.gram.kernel_gram import DenseGram, StreamedGram
from mercer.gram.low_rank import LowRank, nystrom, whiten
from mercer.gram.spot_check import SpotCheck

__all__ = ["CenteredGram", "Checkpoint", "DenseGram", "FeatureSums", "GramOperator"]
__all__ += ["LandmarkFeatures", "LowRank", "MatrixOperator", "ProbedGram", "SpotCheck"]
__all__ += ["StreamedGram", "UncenteredGram", "WeightedGram", "chunk_sums", "nystrom"]
__all__ += ["sum_features", "whiten"]
