"""Same file, same model through every door, and one rule for scaling."""

import gzip
import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

import mercer
from mercer import KernelDrift, KernelPCA
from mercer.cli import main
from mercer.exceptions import DataError, ModelFileError
from mercer.live.protocol import Wanted
from mercer.live.worker import Job, do
from mercer.tables import TableEncoder, TableModel

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(5)
N = 80
NUMBERS = {
    "width": RNG.normal(3, 1, N).round(3),
    "price": RNG.normal(300, 50, N).round(2),
    "mass": RNG.normal(0.02, 0.005, N).round(5),
}
CITY = RNG.choice(["Oslo", "Rome", "Bonn"], N)


def _gaps(table):
    table = table.copy()
    table.loc[::9, "price"] = np.nan
    table.loc[4::13, "city"] = None
    return table


def ugly():
    """Name of a file → the table in it, how it is written, and how pandas reads it."""
    base = pd.DataFrame(NUMBERS)
    city = base.assign(city=CITY)
    days = pd.Timestamp("2021-03-01") + pd.to_timedelta(RNG.integers(0, 500, N), "D")
    return {
        "headerless.csv": (base, {"header": False}, {"header": None}),
        "gaps.csv": (_gaps(city), {}, {}),
        "categories.csv": (city.assign(size=RNG.choice(list("SML"), N)), {}, {}),
        "dates.csv": (city.assign(since=days.strftime("%Y-%m-%d")), {}, {}),
        "german.csv": (city, {"sep": ";", "decimal": ","}, {"sep": ";", "decimal": ","}),
        "constant.csv": (city.assign(unit=7, note="same"), {}, {}),
        "ids.csv": (base.assign(id=np.arange(5000, 5000 + N), city=CITY), {}, {}),
        "flags.csv": (base.assign(member=RNG.random(N) < 0.4), {}, {}),
        "twice.csv": (pd.concat([city, city[:30]], ignore_index=True), {}, {}),
        "größe.csv": (city.rename(columns={"width": "Größe (mm)", "city": "städte, alle"}), {}, {}),
        "counts.csv": (base.assign(n=RNG.integers(0, 4, N), zip=RNG.choice([11, 25], N)), {}, {}),
        "packed.csv.gz": (city, {}, {}),
        "tabs.tsv": (_gaps(city), {"sep": "\t"}, {"sep": "\t"}),
        "pixels.csv": (pd.DataFrame(RNG.random((N, 6)), columns=list("abcdef")), {}, {}),
    }


FILES = ugly()


def write(folder, name):
    table, how, reading = FILES[name]
    path = folder / name
    text = table.to_csv(index=False, **how)
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    return path, pd.read_csv(path, **reading)


def run(*args):
    assert main([str(arg) for arg in args]) == 0


def scores_by_command(model, data, folder):
    out = folder / f"{model.stem}.npy"
    run("transform", model, data, "-o", out, "-q")
    return np.load(out)


def used(model):
    """Columns that the kernel sees, and what is done with each."""
    if not isinstance(model, TableModel):
        return dict.fromkeys(model.feature_names_in_, "number as it is")
    columns = model.encoder_.columns_.items()
    return {name: column.describe().split(", ")[0] for name, column in columns if column.width}


@pytest.mark.parametrize("name", FILES)
def test_same_file_same_model(name, tmp_path):
    """One such table had 24, 343 and 20 components, by three doors."""
    path, frame = write(tmp_path, name)
    frame.columns = [str(column) for column in frame.columns]
    by_frame = TableModel().fit(frame)
    expected = by_frame.transform(frame)

    by_path = TableModel().fit(path)
    assert used(by_path) == used(by_frame)
    assert_allclose(by_path.transform(frame), expected, atol=1e-12)

    again = mercer.load(by_path.save(tmp_path / "again.mercer"))
    assert_allclose(again.transform(frame), expected, atol=1e-12)

    run("fit", path, "-o", tmp_path / "by_command.mercer", "-q")
    do(Job(path, name, tmp_path / "page", Wanted("0" * 32)))
    for file in (tmp_path / "by_command.mercer", tmp_path / "page" / "model.mercer"):
        assert used(mercer.load(file)) == used(by_frame)
        assert_allclose(scores_by_command(file, path, tmp_path), expected, atol=1e-12)

    if by_frame.filler_ is None:  # what is filled in is drawn for a fit, and expected afterwards
        array = by_frame.vectors(frame)
        by_array = clone(by_frame.model_).fit(array)
        assert_allclose(by_array.transform(array), expected, atol=1e-12)


@pytest.mark.filterwarnings("ignore::mercer.exceptions.DenoisingWarning")
@pytest.mark.parametrize("name", ["headerless.csv", "gaps.csv", "dates.csv", "german.csv"])
def test_same_file_same_tuned_model(name, tmp_path):
    path, frame = write(tmp_path, name)
    frame.columns = [str(column) for column in frame.columns]
    by_frame = TableModel(KernelPCA(random_state=0)).tune(frame, noise=0.3)
    expected = by_frame.transform(frame)
    assert used(by_frame) == used(TableModel().fit(frame))
    run("tune", path, "--noise", 0.3, "-o", tmp_path / "tuned.mercer", "-q")
    by_command = mercer.load(tmp_path / "tuned.mercer")
    assert used(by_command) == used(by_frame)
    assert by_command.model_.kernel_.length == pytest.approx(by_frame.model_.kernel_.length)
    assert_allclose(
        scores_by_command(tmp_path / "tuned.mercer", path, tmp_path), expected, atol=1e-12
    )


def test_a_file_without_names_is_scaled_as_others(tmp_path, capsys):
    """It was left as it is, in silence, and 100 % of the relevance was that of one column."""
    path, frame = write(tmp_path, "headerless.csv")
    named = tmp_path / "named.csv"
    frame.to_csv(named, index=False, header=list(NUMBERS))
    said = {}
    for data in (path, named):
        run("fit", data, "-o", tmp_path / f"{data.stem}.mercer")
        said[data.stem] = capsys.readouterr().err
    for j, name in enumerate(NUMBERS):
        formula = said["named"].partition(f"mercer: {name}: ")[2].partition("\n")[0]
        assert formula.startswith("number, (x - ")
        assert f"mercer: {j}: {formula}\n" in said["headerless"]
    scores = [scores_by_command(tmp_path / f"{data.stem}.mercer", data, tmp_path) for data in
              (path, named)]  # fmt: skip
    assert_allclose(*scores, atol=1e-12)
    run("fit", path, "--drop", "1", "-o", tmp_path / "two.mercer", "-q")
    assert list(used(mercer.load(tmp_path / "two.mercer"))) == ["0", "2"]


@pytest.mark.parametrize("options", [("--drop", "id"), ("--label", "name"), ("--label", "id"), ()])
def test_what_is_not_used_has_no_say_in_the_scale(options, tmp_path, capsys):
    """A large id among columns of one unit had them scaled, and without it they were not."""
    pixels = RNG.random((N, 3))
    table = pd.DataFrame(pixels, columns=list("abc"))
    table.insert(0, "id", np.arange(1000, 1000 + N))
    table["name"] = [f"n{i}" for i in range(N)]
    table.to_csv(tmp_path / "x.csv", index=False)
    run("fit", tmp_path / "x.csv", *options, "-o", tmp_path / "m.mercer")
    said = capsys.readouterr().err
    assert "not scaled: they seem to have one unit" in said or "a: number as it is" in said
    raw = KernelPCA(2).fit(pixels).transform(pixels)
    found = scores_by_command(tmp_path / "m.mercer", tmp_path / "x.csv", tmp_path)
    assert_allclose(found[:, :2], raw, atol=1e-10)


def test_one_column_that_is_all_that_a_model_sees_is_named(tmp_path):
    X = RNG.standard_normal((60, 3)) * [1, 1, 8]
    with pytest.warns(UserWarning, match=r"'c' holds 9\d\.\d% of their variance"):
        TableModel(KernelPCA(2)).fit(pd.DataFrame(X, columns=list("abc")))
    model = KernelPCA(2).fit(X)
    with pytest.warns(UserWarning, match=r"'x2' holds 9\d\.\d% of the relevance.*scale='std'"):
        model.relevance(X)


def test_truth_values_of_a_file_are_those_of_a_frame(tmp_path):
    """'False' of a file and False of a frame were two categories, and the text is true."""
    path, frame = write(tmp_path, "flags.csv")
    by_path = TableModel(KernelPCA(20)).fit(path)
    assert (by_path.denoise(frame)["member"] == frame["member"]).mean() > 0.9
    TableModel(KernelPCA(4)).fit(frame).save(tmp_path / "frame.mercer")
    run("transform", tmp_path / "frame.mercer", path, "-o", tmp_path / "z.npy", "-q")


def test_onnx_of_a_table_has_the_encoder_in_it(tmp_path):
    """The graph took vectors that nothing but mercer could make."""
    onnxruntime = pytest.importorskip("onnxruntime")
    for name in ("dates.csv", "categories.csv", "flags.csv", "pixels.csv", "headerless.csv"):
        _, frame = write(tmp_path, name)
        frame.columns = [str(column) for column in frame.columns]
        frame.iloc[:3, 0] = [40.0, -90.0, 3.0]  # tails, for asinh
        for inner in (KernelPCA(3), mercer.KernelNovelty(random_state=0)):
            model = TableModel(inner).fit(frame)
            file = mercer.export_onnx(model, tmp_path / "x.onnx", dtype="float64")
            session = onnxruntime.InferenceSession(file)
            codes = model.encoder_.codes(frame)
            verb = "transform" if hasattr(model, "transform") else "score_samples"
            (found,) = session.run([verb], {"X": codes})
            assert_allclose(found, getattr(model, verb)(frame), atol=1e-10)
        columns = json.loads(session.get_modelmeta().custom_metadata_map["columns"])
        assert [column["name"] for column in columns] == list(used(model))
    with pytest.raises(DataError, match="give some of 'score_samples', 'decision_function'"):
        mercer.export_onnx(model, tmp_path / "x.onnx", outputs=["denoise"])


def test_onnx_of_what_has_no_form_says_what_to_do(tmp_path):
    _, frame = write(tmp_path, "dates.csv")
    model = TableModel(KernelPCA(3), TableEncoder(since="date:month")).fit(frame)
    with pytest.raises(ModelFileError, match=r"angles of 'since' .*model\.vectors\(table\)"):
        mercer.export_onnx(model, tmp_path / "x.onnx")


def test_drift_of_tables_in_python():
    table = pd.DataFrame(NUMBERS).assign(city=CITY)
    model = TableModel(KernelDrift(20, random_state=0)).fit(table)
    moved = table[:40].assign(price=table.price[:40] + 200)
    result, (results, adjusted) = model.test(moved), model.test_many([table[40:], moved])
    assert result.p_value == results[1].p_value < 0.001
    assert results[0].p_value > 0.01
    assert adjusted.shape == (2,)
    parts = model.contributions(moved)
    assert parts.shape == (1, 4)
    assert parts.columns[parts.to_numpy()[0].argmax()] == "price"
