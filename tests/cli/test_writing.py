"""Outputs of commands: formats that agree, standard output, devices, pictures."""

import json

import numpy as np
import pytest

import mercer as package
from tests.cli.conftest import make_rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ending", ["csv", "tsv", "npy", "npz", "parquet", "zarr"])
def test_every_format_keeps_every_bit(mercer, tmp_path, dtype, ending):
    X = np.vstack([make_rows(), np.full((1, 4), 1e-300), np.full((1, 4), 1 / 3)]).astype(dtype)
    source, there, back = tmp_path / "x.npy", tmp_path / f"y.{ending}", tmp_path / "z.npy"
    np.save(source, X)
    mercer("convert", source, there)
    mercer("convert", there, back)
    np.testing.assert_array_equal(np.load(back).astype(dtype), X)


def test_json_to_standard_output_and_file(mercer, model, test, tmp_path):
    table = json.loads(mercer("transform", model, test, "--json").out)
    expected = package.load(model).subspace_.scores(make_rows(25, seed=1))
    np.testing.assert_array_equal(table["data"], expected)
    target = tmp_path / "z.npy"
    facts = json.loads(mercer("transform", model, test, "-o", target, "--json").out)
    assert facts == {"output": str(target), "rows": 25, "columns": 5}


def test_labels_and_npy(mercer, model, train, tmp_path):
    mercer.fails("transform", model, train, "--label", "kind", "-o", tmp_path / "z.npy",
                 status=1, words=["labels", ".parquet"])  # fmt: skip


def test_devices(mercer, model, test):
    mercer("transform", model, test, "-o", "/dev/null", "-q")
    mercer.fails("transform", model, test, "-o", "/dev/full", "-q", status=1, words=["No space"])


def test_info(mercer, model):
    facts = json.loads(mercer("info", model, "--json").out)
    assert facts["class_name"] == "KernelPCA"
    assert facts["n_bytes"] == model.stat().st_size
    done = mercer("info", model)
    for word in ("KernelPCA", "subspace.support", "60 × 4", "Gaussian", "checksums agree"):
        assert word in done.out


def test_plots(mercer, model, train, tmp_path):
    pytest.importorskip("matplotlib")
    for kind, ending in (("scree", "svg"), ("embedding", "png")):
        target = tmp_path / f"{kind}.{ending}"
        mercer("plot", kind, model, train, "--label", "kind", "-o", target)
        start = target.read_bytes()[:8]
        assert start == b"\x89PNG\r\n\x1a\n" if ending == "png" else b"<?xml" in start
    mercer.fails("plot", "samples", model, "-o", tmp_path / "s.png", status=3, words=["KernelPCA"])


def test_live_page(mercer, model, train, tmp_path):
    """One file, with the rows and their classes; no matplotlib is asked for."""
    target = tmp_path / "live.html"
    mercer("plot", "live", model, train, "--label", "kind", "-o", target)
    page = target.read_text(encoding="utf-8")
    assert f"<title>{train.name}</title>" in page, "the name of the data"
    assert "Content-Security-Policy" in page
    assert '"classes": ["' in page
    mercer.fails("plot", "live", model, "-o", tmp_path / "live.png", status=2, words=[".html"])


def test_info_tells_which_columns_a_model_wants(mercer, fitted):
    done = " ".join(mercer("info", fitted).out.split())
    assert "pressure: number, (x - 1013" in done
    assert "state: category of 2" in done
