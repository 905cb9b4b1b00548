"""One table in every place where rows may be: files, stores, a folder of images, a cluster."""

import numpy as np
import pandas as pd
import pytest

#: Where rows may be that are not an array.
KINDS = ("npy", "csv", "parquet", "zarr", "images", "dask")


def bytes_as_rows(n=60, seed=0):
    """n × 4 rows that are images of 2 × 2 pixels, too."""
    return np.random.default_rng(seed).integers(1, 256, (n, 4)) / 255


def elsewhere(kind, X, folder):
    """The rows of X as a source of this kind; skips where its package is missing."""
    path = folder / f"x.{kind}"
    if kind == "npy":
        np.save(path, X)
    elif kind == "csv":
        np.savetxt(path, X, delimiter=",", fmt="%.17g")
    elif kind == "parquet":
        pytest.importorskip("pyarrow")
        pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).to_parquet(path)
    elif kind == "zarr":
        pytest.importorskip("zarr").save_array(str(path), X)
    elif kind == "images":
        pillow = pytest.importorskip("PIL.Image")
        path.mkdir()
        for i, row in enumerate(X):
            pixels = np.round(255 * row).astype(np.uint8).reshape(-1, 2)
            pillow.fromarray(pixels).save(path / f"{i:03d}.png")
    elif kind == "dask":
        return pytest.importorskip("dask.array").from_array(X, chunks=(25, X.shape[1]))
    return path
