"""Outputs: formats that agree, formulas that are tamed, and files that are whole or not there."""

import json

import numpy as np
import pytest

import mercer as package
from mercer.cli.files import whole_file
from mercer.cli.options import Output
from mercer.cli.writing import Frame, write_frame
from tests.cli.conftest import make_rows


def test_formulas_get_an_apostrophe(tmp_path):
    labels = np.array(["=1+1", "+a", "-b", "@c", "plain", "-5", ""])
    frame = Frame(iter([np.arange(7.0)[:, None]]), 7, ["=x"], {"kind": labels})
    write_frame(Output(tmp_path / "x.csv"), frame)
    lines = (tmp_path / "x.csv").read_text().splitlines()
    assert lines[0] == "'=x,kind"
    ends = [line.split(",")[1] for line in lines[1:]]
    assert ends == ["'=1+1", "'+a", "'-b", "'@c", "plain", "-5", ""]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ending", ["csv", "tsv", "npy", "npz", "parquet"])
def test_every_format_keeps_every_bit(mercer, tmp_path, dtype, ending):
    X = np.vstack([make_rows(), np.full((1, 4), 1e-300), np.full((1, 4), 1 / 3)]).astype(dtype)
    source, there, back = tmp_path / "x.npy", tmp_path / f"y.{ending}", tmp_path / "z.npy"
    np.save(source, X)
    mercer("convert", source, there)
    mercer("convert", there, back)
    np.testing.assert_array_equal(np.load(back).astype(dtype), X)


def test_blocks_are_joined(tmp_path):
    for ending in ("csv", "npy", "npz", "parquet"):
        parts = iter(np.array_split(make_rows(), 7))
        path = tmp_path / f"x.{ending}"
        assert write_frame(Output(path), Frame(parts, 60, list("abcd"))) == (60, 4)
        from mercer.rows import open_rows

        rows = open_rows(path, array="X" if ending == "npz" else None)
        np.testing.assert_array_equal(rows[:], make_rows())


def test_json_to_standard_output_and_file(mercer, model, test, tmp_path):
    table = json.loads(mercer("transform", model, test, "--json").out)
    expected = package.load(model).subspace_.scores(make_rows(25, seed=1))
    np.testing.assert_array_equal(table["data"], expected)
    target = tmp_path / "z.npy"
    facts = json.loads(mercer("transform", model, test, "-o", target, "--json").out)
    assert facts == {"output": str(target), "rows": 25, "columns": 5}


def test_an_error_in_the_middle_leaves_nothing(tmp_path):
    def blocks():
        yield make_rows()
        raise RuntimeError("in the middle")

    target = tmp_path / "x.csv"
    target.write_text("old")
    with pytest.raises(RuntimeError, match="in the middle"):
        write_frame(Output(target), Frame(blocks(), 120, list("abcd")))
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


def test_links_and_rights_stay(tmp_path):
    target, link = tmp_path / "x.csv", tmp_path / "link.csv"
    target.write_text("old")
    link.symlink_to(target)
    with whole_file(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_text() == "new"


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
    mercer.fails("plot", "scree", model, "-o", target, status=1, words=["--force"])
    mercer.fails("plot", "samples", model, "-o", tmp_path / "s.png", status=3, words=["KernelPCA"])


def test_live_page(mercer, model, train, tmp_path):
    """One file, with the rows and their classes; no matplotlib is asked for."""
    target = tmp_path / "live.html"
    mercer("plot", "live", model, train, "--label", "kind", "-o", target)
    page = target.read_text(encoding="utf-8")
    assert "Content-Security-Policy" in page
    assert '"classes": ["' in page
    mercer.fails("plot", "live", model, "-o", tmp_path / "live.png", status=2, words=[".html"])
