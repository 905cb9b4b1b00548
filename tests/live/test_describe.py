"""What Python prepares for the page; no browser needed."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
import shutil
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

import mercer.live
from mercer import (
    GenerativeKernelPCA,
    IncrementalKernelPCA,
    KernelNovelty,
    KernelPCA,
    MissingKernelPCA,
    ReweightedKernelPCA,
    SparseKernelPCA,
    load,
)
from mercer.exceptions import DataError, KernelError, MercerWarning, NotFittedError, said
from mercer.kernels import FunctionKernel, Gaussian, Polynomial
from mercer.live import bundle, describe, pack, render, source, write_html
from mercer.live.model import thin
from mercer.tables import TableModel

STATIC = Path(mercer.live.__file__).with_name("static")
CODE = 400_000  # bytes of a page beside the model's own numbers


@pytest.fixture(scope="module")
def digits():
    return load_digits().data[:200] / 16


@pytest.fixture(scope="module")
def model(digits):
    return KernelPCA(6).fit(digits)


def unpacked(facts, numbers):
    """The arrays of a page, as its JavaScript reads them."""
    raw, arrays = zlib.decompress(numbers), {}
    for name, entry in facts["arrays"].items():
        dtype, count = np.dtype(entry["type"]), int(np.prod(entry["shape"]))
        planes = np.frombuffer(raw, np.uint8, count * dtype.itemsize, entry["at"])
        whole = np.ascontiguousarray(planes.reshape(dtype.itemsize, count).T)
        arrays[name] = whole.view(dtype).reshape(entry["shape"])
    return arrays


def test_packing_loses_nothing(model):
    live = describe(model)
    facts, numbers = pack(live)
    arrays = unpacked(json.loads(json.dumps(facts)), numbers)
    assert set(arrays) == set(live.arrays)
    for name, array in live.arrays.items():
        assert np.array_equal(arrays[name], array), name


def test_support_is_not_written_twice(model, digits):
    assert "rows" not in describe(model).arrays
    assert "rows" not in describe(model, digits).arrays
    other = describe(model, digits[:50] + 0.01)
    assert other.arrays["rows"].shape == (50, 64)
    assert other.arrays["supportScores"].shape == (200, 6)


def test_scores_and_p_values_are_those_of_the_model():
    X = load_iris().data
    detector = KernelNovelty(random_state=0).fit(X)
    live = describe(detector, X[:20])
    assert np.allclose(live.arrays["pValues"], detector.p_values(X[:20]), atol=1e-6)
    assert live.facts["novelty"]["heldOut"]
    assert live.facts["novelty"]["rate"] == 0.05


def test_a_detector_is_not_too_kind_to_the_rows_of_its_fit():
    """Of 150 rows it would have flagged 0 to 2; without each of them it flags about 5 %."""
    X = load_iris().data
    for solver in ("auto", "landmarks"):
        detector = KernelNovelty(solver=solver, random_state=0).fit(X)
        live = describe(detector, X)
        assert not live.facts["novelty"]["tooKind"]
        p, score = live.arrays["pValues"], live.arrays["novelty"]
        own = detector.calibration_p_values_  # among 149 others, not 150
        assert np.allclose(p[detector.calibration_rows_], own, atol=1 / 150)
        bar = np.float32(-detector.offset_)
        assert 5 <= np.count_nonzero(score > bar) <= 8
        assert (p[score > bar] <= 0.05 + 1e-6).all()


def test_new_rows_of_a_detector_are_a_stream(rng):
    """As its monitor sees them; rows of the fit are none."""
    X = rng.standard_normal((300, 3))
    model, new = KernelNovelty(random_state=0).fit(X), rng.standard_normal((300, 3))
    new[200:, 1] += 2
    page, monitor = describe(model, new), model.monitor()
    evidence = monitor.update(new).log_martingale
    np.testing.assert_allclose(page.arrays["evidence"], evidence, rtol=1e-6)
    assert page.facts["stream"]["alarm"] == monitor.alarm_at_ > 200
    assert page.facts["stream"]["statistic"] == "x1"
    assert "stream" not in describe(model, X).facts
    assert "stream" not in describe(KernelPCA(3).fit(X), new).facts


def test_where_the_held_out_scores_are_not_known_it_is_said(tmp_path):
    X = load_iris().data
    split = KernelNovelty(calibration="split", random_state=0).fit(X)
    assert describe(split, X).facts["novelty"]["tooKind"]
    assert not describe(split, X + 0.1).facts["novelty"]["tooKind"]
    KernelNovelty(random_state=0).fit(X).save(tmp_path / "m.mercer")
    live = describe(load(tmp_path / "m.mercer"), X)
    assert live.facts["novelty"]["tooKind"]
    assert np.allclose(live.arrays["pValues"], load(tmp_path / "m.mercer").p_values(X), atol=1e-6)


def test_rows_of_the_fit_promise_nothing(model, digits):
    assert not describe(model).facts["novelty"]["heldOut"]
    assert describe(model, digits[:50] + 0.01).facts["novelty"]["heldOut"]


@pytest.mark.parametrize(
    "estimator",
    [
        KernelPCA(3),
        KernelPCA(3, center=False),
        KernelPCA(3, solver="landmarks"),
        SparseKernelPCA(n_kernels=20, n_components=3),
        IncrementalKernelPCA(3),
        ReweightedKernelPCA(KernelPCA(3)),
        MissingKernelPCA(KernelPCA(3)),
        GenerativeKernelPCA(3, random_state=0),
        KernelNovelty(3, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_every_estimator_with_a_subspace(estimator, digits, tmp_path):
    fitted = estimator.fit(digits)
    path = fitted.to_html(tmp_path / "m.html", digits[:30])
    assert path.stat().st_size > 50_000
    assert not list(tmp_path.glob(".*")), "nothing is left beside the file"


def test_a_generative_model_brings_draws(digits):
    live = describe(GenerativeKernelPCA(4, random_state=0).fit(digits))
    assert live.arrays["drawn"].shape == (200, 4)
    assert "drawn" not in describe(KernelPCA(4).fit(digits)).arrays


def test_a_large_model_is_thinned_and_says_so(digits):
    big = KernelPCA(5).fit(digits)
    with pytest.warns(MercerWarning, match="compress") as caught:
        live = describe(big, largest=100 * 70)
    assert live.arrays["support"].shape == (100, 64)
    assert "landmarks" in live.facts["notes"][0]
    said_once = [said(warning.message, "page") for warning in caught]
    assert live.facts["notes"] == said_once, "the server adds warnings to the notes"
    small, _ = thin(big.subspace_, 100 * 70)
    Z, z = big.transform(digits), small.scores(digits)
    for k in range(5):
        assert np.corrcoef(Z[:, k], z[:, k])[0, 1] > 0.9
    gram = small.coef.T @ Gaussian(gamma=big.kernel_.gamma)(small.support) @ small.coef
    assert np.allclose(gram, np.eye(5), atol=1e-6)


def test_few_landmarks_stand_for_very_many_points(rng):
    """100,000 rows of 9 columns were thinned to 66,666 landmarks, which take 25.7 GB to choose."""
    big = KernelPCA(2, random_state=0).fit(rng.standard_normal((3000, 2)))
    small, note = thin(big.subspace_, 5 * 2000)
    assert len(small.support) <= 500
    assert "3,000 support points" in note


def test_scores_of_very_many_rows_are_those_of_the_landmarks(digits, monkeypatch):
    """100,000 rows on as many support points took 84 seconds; a detector keeps its promise."""
    monkeypatch.setattr("mercer.live.model.MOST_VALUES", 1000)
    big, detector = KernelPCA(5).fit(digits), KernelNovelty(5, random_state=0).fit(digits)
    with pytest.warns(MercerWarning, match="compress"):
        live = describe(big, largest=100 * 70)
    small, _ = thin(big.subspace_, 100 * 70)
    assert np.allclose(live.arrays["scores"], small.scores(digits), atol=1e-6)
    with pytest.warns(MercerWarning, match="compress"):
        exact = describe(detector, digits + 0.01, largest=50 * 70)
    assert np.allclose(exact.arrays["pValues"], detector.p_values(digits + 0.01), atol=1e-6)


def test_thin_leaves_small_models_alone(model):
    assert thin(model.subspace_) == (model.subspace_, None)


def test_float64_where_float32_would_show(rng):
    X = np.linspace(0, 1, 60)[:, None] + 0.001 * rng.standard_normal((60, 1))
    steep = KernelPCA(12, kernel=Gaussian(width=0.5)).fit(X)  # eigenvalues over 13 decades
    assert describe(steep).arrays["coef"].dtype == np.float64
    mild = KernelPCA(2, kernel=Gaussian(width=0.5)).fit(X)
    assert describe(mild).arrays["coef"].dtype == np.float32


def test_labels(model):
    assert describe(model, labels=["a", "b"] * 100).facts["classes"] == ["a", "b"]
    numbers = describe(model, labels=np.linspace(0, 1, 200))
    assert numbers.facts["classes"] is None
    assert numbers.arrays["values"].shape == (200,)
    with pytest.raises(DataError, match="200 different labels"):
        describe(model, labels=[f"row {i}" for i in range(200)])
    with pytest.raises(DataError, match="one label per row"):
        describe(model, labels=[1, 2])


def test_images(model, digits):
    assert describe(model, images=(8, 8)).facts["imageShape"] == [8, 8]
    pictures = describe(model, images=digits.reshape(-1, 8, 8)).arrays["pictures"]
    assert pictures.dtype == np.uint8
    assert pictures.shape == (200, 8, 8)
    assert pictures.max() == 255
    with pytest.raises(DataError, match="8, 9"):
        describe(model, images=(8, 9))
    with pytest.raises(DataError, match="one picture"):
        describe(model, images=np.zeros((3, 8, 8)))


def test_names_come_from_the_model_or_the_frame():
    frame = load_iris(as_frame=True).data
    assert describe(KernelPCA(2).fit(frame)).facts["names"][0] == "sepal length (cm)"
    assert describe(KernelPCA(2).fit(frame.to_numpy())).facts["names"][0] == "x0"


def test_what_has_no_input_space_is_refused():
    with pytest.raises(KernelError, match="no input space"):
        describe(KernelPCA(1, kernel=FunctionKernel(lambda a, b: len(a) * len(b))).fit(["a", "bb"]))
    with pytest.raises(NotFittedError):
        KernelPCA(2).to_html("never.html")


def test_many_rows_keep_their_leading_scores_only(rng):
    X = rng.standard_normal((400, 3)).astype(np.float32)
    fitted = KernelPCA(20, solver="landmarks").fit(X)
    many = np.tile(X, (300, 1))
    arrays = describe(fitted, many).arrays
    assert arrays["scores"].shape == (120_000, 8)
    wide = KernelPCA(3, solver="landmarks").fit(np.tile(X, (1, 20)))
    assert "rows" not in describe(wide, np.tile(X, (100, 20))).arrays


def test_page_is_closed(model):
    page = render(describe(model))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for tag, rule in (
        ("style", "style-src"),
        ('script type="module" id="mercer-code"', "script-src"),
    ):
        text = re.search(rf"<{tag}>(.*?)</{tag.split()[0]}>", page, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{rule} 'sha256-{digest}'" in policy
    assert not re.search(r"https?://", page), "no address of another machine"


def test_names_cannot_leave_their_place(digits):
    evil = '</script><script>alert("x")</script><!-- $code'
    fitted = KernelPCA(2).fit(digits)
    page = render(describe(fitted, labels=[evil, "b"] * 100, names=[evil] * 64, title=evil))
    assert "<script>alert" not in page
    assert page.count("</script>") == 3


def test_page_weight(model, digits, tmp_path):
    path = write_html(model, tmp_path / "m.html", labels=np.arange(200) % 10, images=(8, 8))
    numbers = base64.b64encode(pack(describe(model))[1])
    assert path.stat().st_size - len(numbers) < CODE


@pytest.mark.parametrize("entry", ["start", "explore", "widget", "map_page"])
def test_bundle_takes_every_module_once(entry):
    text = bundle(entry)
    names = re.findall(r"^const \$(\w+) = \(\(\) => \{$", text, re.M)
    assert len(names) == len(set(names))
    assert names[-1] == entry
    assert not re.search(r"^\s*(import|export) ", text, re.M)


def test_modules_are_short():
    """The law for Python's files holds for these, too."""
    from importlib.resources import files

    for file in files("mercer.live").joinpath("static").iterdir():
        if file.name.endswith((".js", ".css")):
            assert len(source(file.name).splitlines()) < 400, file.name


def test_sums_of_kernels_are_described():
    spec = describe(KernelPCA(2, kernel=0.5 * Gaussian(width=1) + Polynomial(2)).fit(np.eye(5)))
    assert spec.facts["kernel"]["k1"]["kernel"]["length"] == 1.0


@pytest.mark.skipif(shutil.which("node") is None, reason="no node to run the page's code")
@pytest.mark.parametrize("left", [False, True])
def test_names_of_arrows_do_not_cover_each_other(left):
    """Four arrows that end at nearly the same place, at the edge of the map."""
    tips = [{"x": 20 + k, "y": 30 + k, "left": left, "width": 90} for k in range(4)]
    code = f"""
    import {{ placeNames }} from "{STATIC.as_uri()}/arrows.js";
    process.stdout.write(JSON.stringify(placeNames({json.dumps(tips)}, [300, 200])));
    """
    done = subprocess.run(
        ["node", "--input-type=module", "-e", code], capture_output=True, check=True, timeout=60
    )
    places = np.array(json.loads(done.stdout))
    assert (places[:, 0] >= 0).all()
    assert ((places[:, 1] > 10) & (places[:, 1] < 200)).all()
    apart = np.abs(np.subtract.outer(places[:, 1], places[:, 1]))[np.triu_indices(4, 1)]
    assert apart.min() >= 15


@pytest.mark.skipif(shutil.which("node") is None, reason="no node to run the page's code")
def test_no_label_is_a_formula_in_a_spreadsheet():
    """A bare carriage return begins a line, in which =1+1 stands first."""
    labels = ["=1+1", "+a", "-a", "@a", "\t=1", "\r=1", "a\r=1+1", "a\n=1", "a,b", "-1.5", "a"]
    code = """
    import { csvOf } from "%s/selection.js";
    const labels = %s;
    const model = {
      facts: { novelty: {}, classes: labels, names: [] },
      scores: { q: 1, data: new Float64Array(labels.length) },
      codes: labels.map((_, i) => i),
      error: labels.map(() => 0), pValues: labels.map(() => 1), d: 1,
    };
    process.stdout.write(JSON.stringify(csvOf(model, labels.map((_, i) => i))));
    """
    done = subprocess.run(
        ["node", "--input-type=module", "-e", code % (STATIC.as_uri(), json.dumps(labels))],
        capture_output=True,
        check=True,
        timeout=60,
    )
    text = json.loads(done.stdout)
    found = [line[1] for line in csv.reader(io.StringIO(text, newline=""))][1:]
    guarded = [f"'{label}" if label[0] in "=+-@\t\r" else label for label in labels]
    guarded[labels.index("-1.5")] = "-1.5"
    assert found == guarded
    outside = "".join(text.split('"')[::2])  # what no quotes protect
    assert "\r" not in outside


def test_rows_of_an_incomplete_table_are_known_as_those_of_the_fit(rng):
    """The page said that the model had not seen them."""
    table = {"a": rng.normal(size=60), "b": rng.normal(size=60), "c": ["x", "y", "z"] * 20}
    table["a"][7] = np.nan
    model = TableModel(KernelPCA(5)).fit(table)
    assert not describe(model, table).facts["novelty"]["heldOut"]
    table["a"] = table["a"] + 1.0
    assert describe(model, table).facts["novelty"]["heldOut"]
    detector = TableModel(KernelNovelty(random_state=0)).fit(table)
    assert describe(detector, table).facts["novelty"]["tooKind"]
