"""A pipeline with steps of scikit-learn goes through skops; the code is that of the how-to page."""

import numpy as np
import pytest
import skops.io as sio
from numpy.testing import assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import KernelNovelty, KernelPCA
from tests.io.model_file.models import rows


@pytest.mark.parametrize(
    "model",
    [KernelPCA(3), KernelNovelty(3, calibration="split", false_alarm_rate=0.1, random_state=0)],
    ids=repr,
)
def test_pipeline_through_skops(model, tmp_path):
    X, new = rows() + 100, rows(9, seed=5) + 100
    pipeline = make_pipeline(StandardScaler(), model).fit(X)
    path = tmp_path / "pipeline.skops"
    sio.dump(pipeline, path)
    types = sio.get_untrusted_types(file=path)
    # A subspace that has predicted carries its packed rows; a name from elsewhere would be news.
    assert types
    assert all(name.startswith("mercer.") or name == "numpy.dtype" for name in types)
    loaded = sio.load(path, trusted=types)
    method = "transform" if isinstance(model, KernelPCA) else "score_samples"
    assert_array_equal(getattr(loaded, method)(new), getattr(pipeline, method)(new))


def test_the_steps_can_be_saved_apart(tmp_path):
    """Without skops: the model as a model file, the scaler as its two vectors."""
    X, new = rows() + 100, rows(9, seed=5) + 100
    scaler = StandardScaler().fit(X)
    model = KernelPCA(3).fit(scaler.transform(X))
    path = model.save(tmp_path / "model.mercer")
    scaled = (new - scaler.mean_) / scaler.scale_
    np.testing.assert_allclose(
        mercer.load(path).transform(scaled), model.transform(scaler.transform(new)), atol=1e-12
    )
