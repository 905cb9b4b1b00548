"""Files with an encoder of tables, and with sparse rows, stay readable and mean what they meant.

``python -m tests.io.model_file.test_golden_tables`` wrote them, once; never again for this version.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

import mercer
from mercer import KernelPCA
from mercer.exceptions import ModelFileError
from mercer.io.model_file.checks import check_loaded
from mercer.kernels import Gaussian
from mercer.tables import Category, Date, LeftOut, Number, TableEncoder, TableModel

FOLDER = Path(__file__).parents[2] / "data" / "model_file"
PLACES = np.arange(12)
TABLE = {
    "age": np.array([31.0, 52, 24, 47, 38, 29, 61, 44, 35, 27, 58, 40]),
    "income": np.round(np.exp(np.sin(PLACES) * 3 + 8), 2),
    "city": np.array(["Oslo", "Rome", "Bonn"], dtype=object)[PLACES % 3],
    "since": np.datetime64("2021-03-01") + 17 * PLACES,
    "land": np.array(["NO"] * 12, dtype=object),
}
ROWS = csr_array(np.round(np.maximum(np.cos(np.outer(PLACES + 1, [0.7, 1.9, 2.3, 3.1])), 0), 3))


def models():
    encoder = TableEncoder(city="category", since="date")
    return {
        "table": TableModel(KernelPCA(3, kernel=Gaussian(gamma=0.5)), encoder).fit(TABLE),
        "sparse_rows": KernelPCA(3, kernel=Gaussian(gamma=0.5)).fit(ROWS),
    }


def answers(name, model):
    rows = TABLE if name == "table" else ROWS
    back = model.denoise(rows)
    found = {"transform": model.transform(rows).tolist()}
    if name == "table":
        return found | {"age": back["age"].tolist(), "city": back["city"].tolist()}
    return found | {"denoise": back.toarray().tolist()}


@pytest.mark.parametrize("name", ["table", "sparse_rows"])
def test_golden_files_mean_what_they_meant(name):
    expected = json.loads((FOLDER / "answers_tables.json").read_text())[name]
    found = answers(name, mercer.load(FOLDER / f"{name}.mercer"))
    assert set(found) == set(expected)
    for method, values in expected.items():
        if method == "city":
            assert found[method] == values
        else:
            assert_allclose(found[method], values, atol=1e-10, err_msg=method)


NUMBER, CITY = Number(center=1.0, levels=(1.0, 2.0)), Category(("a", "b"), pooled=("c",))
DAY = Date(NUMBER, "2020-01-01", "D")
FORGED = {
    "scale 0": replace(NUMBER, scale=0.0),
    "scale of text": replace(NUMBER, scale="1"),
    "center nan": replace(NUMBER, center=float("nan")),
    "bounds": replace(NUMBER, low=2.0, high=1.0),
    "levels": replace(NUMBER, levels=(2.0, 1.0)),
    "whole": replace(NUMBER, whole="yes"),
    "no values": replace(CITY, values=()),
    "twice": replace(CITY, pooled=("a",)),
    "kinds": replace(CITY, values=("a", 1.0)),
    "objects": replace(CITY, values=(("a",), ("b",))),
    "gain": replace(CITY, gain=-1.0),
    "unit": replace(DAY, unit="Y"),
    "no number": replace(DAY, number=CITY),
    "no date": replace(DAY, origin="NaT"),
    "constant": LeftOut("constant", constant=[1]),
    "no reason": LeftOut(None),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_columns_are_refused(name):
    for fine in (NUMBER, CITY, DAY, LeftOut("an id"), LeftOut("constant", constant="NO")):
        check_loaded(fine)
    with pytest.raises(ModelFileError):
        check_loaded(FORGED[name])


def test_an_encoder_that_does_not_fit_its_model_is_refused(tmp_path):
    model = models()["table"]
    model.encoder_.columns_["city"] = LeftOut("forged")
    path = model.save(tmp_path / "m.mercer")
    with pytest.raises(ModelFileError, match="entries"):
        mercer.load(path)
    model.encoder_.columns_["city"] = "Oslo"
    with pytest.raises(ModelFileError, match="not columns"):
        mercer.load(model.save(path))


if __name__ == "__main__":
    fitted = models()
    for name, model in fitted.items():
        model.save(FOLDER / f"{name}.mercer")
    text = json.dumps({name: answers(name, model) for name, model in fitted.items()}, indent=1)
    (FOLDER / "answers_tables.json").write_text(text + "\n")
