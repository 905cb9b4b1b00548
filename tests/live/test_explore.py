"""``mercer explore`` in a real browser, and what it computes without a server."""

from __future__ import annotations

import io
import json
import threading
import time
import zipfile
import zlib

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from mercer import KernelPCA, load
from mercer._base.catalogue import MODELS
from mercer.exceptions import DataError, KernelError
from mercer.io import MemoryRows, Table
from mercer.live.model import describe
from mercer.live.protocol import KERNELS, MOST_NUMBERS, Wanted, kernel_spec
from mercer.live.server import MOST_ITEMS, Store, open_server
from mercer.live.worker import (
    Job,
    do,
    fit,
    open_guessing,
    open_upload,
    payload,
    unpack_images,
)
from mercer.tables import TableModel
from mercer.tables import read_table as read_columns
from mercer.tables.opening import Opened
from tests.tables.test_files import write_xlsx
from tests.tables.test_tables import people

ID = "0" * 32


@pytest.fixture(scope="module")
def iris_csv(tmp_path_factory):
    iris = load_iris(as_frame=True)
    table = iris.data.assign(kind=iris.target_names[iris.target])
    path = tmp_path_factory.mktemp("explore") / "iris <b>.csv"
    table.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_come_back_as_the_page_wrote_them(name):
    """The numbers of the page's kernel make the same kernel in Python."""
    X = np.abs(load_iris().data)
    kernel = Wanted(ID, kernel={"name": name}).make_kernel(X).resolve(X)
    spec, numbers = kernel_spec(kernel), KERNELS[name][1]
    sent = {key: spec[key] for key in ("name", *numbers)}  # plainSpec of kernels.js
    again = Wanted.read({"data": ID, "kernel": sent}).make_kernel(X).resolve(X)
    assert np.allclose(again(X[:5], X), kernel(X[:5], X), rtol=1e-12)


@pytest.mark.parametrize("name", ["gaussian", "matern", "cauchy", "rational_quadratic"])
def test_width_in_medians(name):
    X = load_iris().data
    narrow, wide = (
        Wanted(ID, kernel={"name": name, "medians": m}).make_kernel(X).resolve(X) for m in (0.5, 2)
    )
    assert kernel_spec(wide)["length"] == pytest.approx(4 * kernel_spec(narrow)["length"])


@pytest.mark.filterwarnings("ignore:.*may be data, not outliers")  # a kind of iris is apart
@pytest.mark.parametrize("model", MODELS)
def test_every_estimator(model):
    X = load_iris().data[::2]
    table = Table(MemoryRows(X, ("a", "b", "c", "d")))
    fitted, live = fit(Opened(table, None), Wanted(ID, model=model, components=3))
    assert live.facts["names"] == ["a", "b", "c", "d"]
    assert live.arrays["scores"].shape == (75, 3)
    assert list(fitted.feature_names_in_) == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("given", "word"),
    [
        (None, "data"),
        ({"data": ID, "path": "x"}, "takes"),
        ({"data": ID, "components": 10**6}, "1,000"),
        ({"data": ID, "kernel": {"name": []}}, "name"),
        ({"data": ID, "kernel": {"name": "linear", "length": 1.0}}, "length"),
        ({"data": ID, "kernel": {"name": "gaussian", "length": 10**400}}, "number"),
        ({"data": ID, "center": 1}, "center"),
        ({"data": [ID]}, "data"),
    ],
)
def test_what_is_refused(given, word):
    with pytest.raises((DataError, KernelError), match=word):
        Wanted.read(given)


def test_text_columns_are_labels(iris_csv, tmp_path):
    """They colour the map, and are learnt from, as ``mercer fit`` does."""
    opened = open_guessing(iris_csv, Wanted(ID))
    assert opened.table.rows.shape == (150, 7)
    assert len(set(opened.table.label)) == 3
    assert (
        open_guessing(iris_csv, Wanted(ID, label=next(iter(opened.table.beside)))).encoder is None
    )
    names = tmp_path / "named.csv"
    lines = [f"row {i},{i / 8},{i % 7}" for i in range(100)]
    names.write_text("\n".join(["who,a,b", *lines]))
    assert open_guessing(names, Wanted(ID)).table.label is None, "a name for each row is no class"
    assert open_guessing(names, Wanted(ID, label="b")).table.rows.shape == (100, 1)


def test_a_table_of_many_kinds_is_used_well(tmp_path):
    """Columns without numbers were dropped, and glucose was all that the model saw."""
    path = tmp_path / "people.csv"
    people().to_csv(path, index=False)
    table = read_columns(path)
    for label in (None, ""):
        do(Job(path, "people.csv", tmp_path / "out", Wanted(ID, components=5, label=label)))
        model = load(tmp_path / "out" / "model.mercer")
        learnt = {name for name, column in model.encoder_.columns_.items() if column.width}
        assert learnt == {"city", "size", "age", "income", "share", "since", "member"}
        assert model.vectors(table).std(axis=0).max() < 5
        assert set(model.denoise(table)["size"]) <= {"S", "M", "L"}
    raw = (tmp_path / "out" / "page.bin").read_bytes()
    facts = json.loads(raw[4 : 4 + int.from_bytes(raw[:4], "little")])
    assert "id: left out: id-like, 80 different whole numbers" in facts["notes"]


def test_missing_values_are_filled_in_and_it_is_said(tmp_path):
    table, numbers = people(), people()[["age", "share"]].astype(float)
    table.loc["row 3", "size"] = None
    numbers.iloc[5, 1] = np.nan
    for i, given in enumerate((table, numbers)):
        path = tmp_path / f"{i}.csv"
        given.to_csv(path, index=False)
        for model in ("kpca", "novelty", "missing"):
            do(Job(path, "holes", tmp_path / "out", Wanted(ID, model, label="", components=5)))
            assert "1 missing value in 1 of" in (tmp_path / "out" / "page.bin").read_bytes().decode(
                "utf-8", errors="replace"
            )


@pytest.mark.parametrize("ending", ["xlsx", "jsonl", "feather"])
def test_files_that_fit_takes_are_taken(ending, tmp_path):
    columns = {"size": [1.5, 2, 4, 3, 7, 5], "kind": ["a", "b", "a", "b", "b", "a"]}
    path = Store(tmp_path).new(f"Mine.{ending.upper()}").path
    if ending == "xlsx":
        pytest.importorskip("python_calamine")
        write_xlsx(path, [[*columns], *zip(*columns.values(), strict=True)])
    elif ending == "jsonl":
        pd.DataFrame(columns).to_json(path, orient="records", lines=True)
    else:
        pytest.importorskip("pyarrow")
        pd.DataFrame(columns).to_feather(path)
    opened = open_upload(path, Wanted(ID), tmp_path)
    assert opened.table.rows.shape == (6, 3)
    assert list(opened.table.beside) == ["kind"]


def test_a_model_of_tables_is_shown(tmp_path):
    table = people()
    TableModel(KernelPCA(4)).fit(table).save(tmp_path / "m.mercer")
    live = describe(load(tmp_path / "m.mercer"))
    names = [column["name"] for column in live.facts["columns"]]
    assert names == ["city", "size", "age", "income", "share", "since", "member"]


def test_too_many_numbers(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((1, 1)))
    header = np.lib.format.open_memmap(
        tmp_path / "x.npy", "w+", np.float32, (MOST_NUMBERS // 2 + 1, 2)
    )
    header[0] = 1, 2
    del header
    with pytest.raises(DataError, match="50,000,000"):
        open_guessing(tmp_path / "x.npy", Wanted(ID))


def test_zip_of_images(tmp_path):
    from PIL import Image

    path = tmp_path / "images.zip"
    rng = np.random.default_rng(0)
    with zipfile.ZipFile(path, "w") as archive:
        for i in range(6):
            file = io.BytesIO()
            Image.fromarray(rng.integers(0, 255, (4, 5), np.uint8)).save(file, "png")
            archive.writestr(f"../../{i}.png", file.getvalue())
        archive.writestr("../evil.txt", "x")
    opened = open_upload(path, Wanted(ID), tmp_path / "out")
    assert opened.table.rows.shape == (6, 20)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["images.zip", "out"]
    _, live = fit(opened, Wanted(ID, components=2))
    assert live.facts["imageShape"] == [4, 5]
    path.write_bytes(b"PK, but no archive")
    with pytest.raises(DataError, match="zip"):
        unpack_images(path, tmp_path / "out")


def test_a_zip_with_a_password_is_the_visitors_fault(tmp_path):
    """It used to end as an unexpected RuntimeError, "a fault of mercer"."""
    path = tmp_path / "images.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.png", b"x" * 100)
    raw = bytearray(path.read_bytes())
    raw[6] |= 1  # encrypted, say the header of the entry and the list of them
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(raw)
    with pytest.raises(DataError, match=r"'images\.zip' .*encrypted"):
        unpack_images(path, tmp_path / "out")


def test_a_degree_that_is_no_whole_number_is_not_cut():
    X = load_iris().data
    wanted = Wanted.read({"data": ID, "kernel": {"name": "polynomial", "degree": 2.7}})
    with pytest.raises(KernelError, match=r"degree=2\.7 must be a whole number"):
        wanted.make(X).fit(X)


def test_a_model_is_shown_and_fitted_again(tmp_path):
    X = load_iris().data
    KernelPCA(5).fit(X).save(tmp_path / "m.mercer")
    do(Job(tmp_path / "m.mercer", "m.mercer", tmp_path / "shown"))
    assert np.allclose(
        np.abs(load(tmp_path / "shown" / "model.mercer").transform(X)),
        np.abs(KernelPCA(5).fit(X).transform(X)),
    )
    do(Job(tmp_path / "m.mercer", "m", tmp_path / "again", Wanted(ID, components=2)))
    assert load(tmp_path / "again" / "model.mercer").n_components == 2
    assert (tmp_path / "again" / "page.bin").exists()


def test_payload_in_one_piece():
    rows = Table(MemoryRows(load_iris().data))
    _, live = fit(Opened(rows, None), Wanted(ID, components=2))
    data = payload(live)
    size = int.from_bytes(data[:4], "little")
    facts = json.loads(data[4 : 4 + size])
    last = max(part["at"] for part in facts["arrays"].values())
    assert len(zlib.decompress(data[4 + size :])) > last


def test_what_is_used_stays(tmp_path):
    """Rows outlive any number of fits of them."""
    store = Store(tmp_path)
    rows = store.new("x.csv")
    for _ in range(2 * MOST_ITEMS):
        assert store.get(rows.id) is rows
        store.add("x.csv", "model.mercer")


def test_the_oldest_go_first(tmp_path):
    store = Store(tmp_path)
    items = [store.new("x.csv") for _ in range(MOST_ITEMS + 2)]
    assert not items[0].folder.exists()
    assert items[2].folder.exists()
    with pytest.raises(DataError, match="load it again"):
        store.get(items[0].id)


@pytest.fixture
def served():
    with open_server() as served:
        thread = threading.Thread(target=served.run)
        thread.start()
        yield served
        served.server.should_exit = True
        thread.join(30)


@pytest.fixture
def visit(browser, served):
    """A page of the server, which asks nobody else and complains of nothing."""
    from tests.live.conftest import Opened

    context = browser.new_context(viewport={"width": 1280, "height": 860})
    view = Opened(context.new_page())
    view.page.goto(served.url)
    yield view
    context.close()
    own = served.url.partition("?")[0]
    foreign = [u for u in view.requests if not u.startswith((own, "blob:", "data:"))]
    assert not foreign, foreign
    assert not view.problems, view.problems


@pytest.mark.browser
def test_upload_fit_and_save(visit, iris_csv, tmp_path):
    """A CSV goes in, a map comes out, and the saved model gives the scores of the map."""
    page = visit.page
    visit.until("document.querySelector('input[type=file]')")
    page.set_input_files("input[type=file]", iris_csv)
    visit.until("window.mercerLive?.app.map.painted > 0", 120)
    assert page.inner_text("h1") == iris_csv.name, "a name is text"
    assert page.evaluate("mercerLive.app.model.facts.classes") == [
        "setosa",
        "versicolor",
        "virginica",
    ]
    assert visit.pixels(".ml-map").std() > 5
    page.click("#ml-tab-data")
    page.select_option(".ml-side select >> nth=1", "matern")
    page.click("text=Fit all rows")
    visit.until("mercerLive.app.model.facts.kernel.name === 'matern'", 60)
    page.click("#ml-tab-knobs")
    page.select_option(".ml-side select >> nth=0", "cauchy")
    visit.until("mercerLive.app.fits > 0", 60)
    page.click("text=Fit all rows")
    visit.until("mercerLive.app.model.facts.kernel.name === 'cauchy'", 60)
    page.click("#ml-tab-take")
    with page.expect_download() as download:
        page.click("text=Model (.mercer)")
    download.value.save_as(tmp_path / "saved.mercer")
    model = load(tmp_path / "saved.mercer")
    shown = np.reshape(page.evaluate("[...mercerLive.app.model.scores.data]"), (150, -1))
    assert np.allclose(model.transform(read_columns(iris_csv)), shown, atol=1e-5)


def test_the_plan_says_what_becomes_of_each_column(tmp_path):
    path = tmp_path / "people.csv"
    people().to_csv(path, index=False)
    plans = []
    do(Job(path, "people.csv", tmp_path / "out", Wanted(ID, components=3)), plans.append)
    (plan,) = plans
    assert (plan["rows"], plan["label"]) == (80, "city")
    kinds = {entry["name"]: entry["kind"] for entry in plan["columns"] if not entry["left_out"]}
    assert kinds["age"] == "number"
    assert kinds["since"] == "date"
    assert kinds["size"] == "category"
    assert {entry["name"] for entry in plan["columns"] if entry["left_out"]} == {"id", "land"}


def test_the_plan_names_solver_and_time_and_a_long_fit_waits_for_a_yes(tmp_path, monkeypatch):
    path = tmp_path / "people.csv"
    people().to_csv(path, index=False)
    plans = []
    asked, told = Wanted(ID, components=3, ask=True), Wanted(ID, components=3)
    assert do(Job(path, "people.csv", tmp_path / "out", asked), plans.append)
    solver = plans[0]["solver"]
    assert solver["name"] == "Dense"
    assert solver["seconds"] > 0
    assert solver["time"] == "less than a second"
    monkeypatch.setattr("mercer.live.worker.LONG", 0.0)
    assert not do(Job(path, "people.csv", tmp_path / "later", asked), plans.append)
    assert not (tmp_path / "later").exists()
    assert plans[1] == plans[0]
    assert do(Job(path, "people.csv", tmp_path / "later", told), plans.append)


@pytest.mark.browser
def test_a_long_fit_is_shown_before_it_starts_and_starts_by_a_press(visit, tmp_path):
    """The plan came while the fit ran."""
    page = visit.page
    rng = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", rng.standard_normal((60_000, 12)).astype(np.float32))
    visit.until("document.querySelector('input[type=file]')")
    page.set_input_files("input[type=file]", tmp_path / "x.npy")
    visit.until("document.querySelector('.ml-verdict').textContent.includes('Press')", 60)
    words = page.inner_text(".ml-plan")
    assert "Solver: Davidson" in words
    assert "about" in words
    assert not page.evaluate("mercerDesk.busy")
    assert page.evaluate("window.mercerLive === undefined")


@pytest.mark.browser
def test_the_fit_is_described_and_its_classes_come_from_a_list(visit, tmp_path):
    """The name of the column had to be typed, and nothing was said before the map."""
    page = visit.page
    path = tmp_path / "people.csv"
    people().to_csv(path, index=False)
    visit.until("document.querySelector('input[type=file]')")
    page.evaluate("mercerDesk.words_ = []; mercerDesk.listen((d) => void d.words_.push(d.words))")
    page.set_input_files("input[type=file]", path)
    visit.until("document.querySelector('progress') && mercerDesk.busy", 30)
    visit.until("mercerDesk.words_.some((text) => text.startsWith('starting'))", 2)
    visit.until("window.mercerLive?.app.map.painted > 0", 120)
    assert "fitting" in " ".join(page.evaluate("mercerDesk.words_"))
    page.click("#ml-tab-data")
    words = page.inner_text(".ml-plan")
    assert "Learns from 3 numbers: age, income, share" in words
    assert "Leaves out: id" in words
    page.select_option("label:text('Column of classes') >> xpath=.. >> select", label="size")
    assert "Colours by: size" in page.inner_text(".ml-plan")
    page.click("text=Fit all rows")
    visit.until("mercerLive.app.model.facts.classes?.includes('M')", 60)


@pytest.mark.browser
def test_a_file_that_is_dropped(visit, tmp_path):
    """By the mouse; a file that cannot be read is told in words, and the page lives on."""
    page = visit.page
    visit.until("document.querySelector('input[type=file]')")
    drop = """(text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], "<img src=x onerror=alert(1)>.csv"));
      dispatchEvent(new DragEvent("drop", { dataTransfer: data, cancelable: true }));
    }"""
    page.evaluate(drop, "a,b\n1,2\n3\n")
    visit.until("document.querySelector('.ml-verdict').textContent.includes('line')", 120)
    rows = "\n".join(f"{i},{i * i % 7},{i % 3}" for i in range(40))
    page.evaluate(drop, f"a,<script>,c\n{rows}")
    visit.until("window.mercerLive?.app.map.painted > 0", 120)
    assert page.inner_text("h1").startswith("<img")
    assert page.evaluate("document.images.length") == 0


@pytest.mark.browser
def test_cancel_from_the_page(visit, served, tmp_path):
    page = visit.page
    visit.until("document.querySelector('input[type=file]')")
    X = np.random.default_rng(0).standard_normal((4000, 6))
    np.save(tmp_path / "x.npy", X)
    page.set_input_files("input[type=file]", tmp_path / "x.npy")
    end = time.monotonic() + 60
    while not served.studio.pool.running:
        assert time.monotonic() < end
        page.wait_for_timeout(20)
    page.click("text=Cancel")
    visit.until("document.querySelector('.ml-verdict').textContent === 'cancelled'", 60)
    assert served.studio.pool.running == 0
