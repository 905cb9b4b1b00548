"""Tables to vectors and back: nothing is lost, and only legal values come out."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import GenerativeKernelPCA, KernelNovelty, KernelPCA, MissingKernelPCA
from mercer.exceptions import DataError, MercerWarning
from mercer.kernels import Gaussian
from mercer.tables import TableEncoder, TableModel

CITIES = ["Oslo", "Rome", "Bonn"]


def people(n=80, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "id": np.arange(n) + 17,
            "city": rng.choice(CITIES, n),
            "size": pd.Categorical(rng.choice(["S", "M", "L"], n), ["S", "M", "L"], ordered=True),
            "age": rng.integers(18, 90, n),
            "income": np.exp(rng.normal(10, 1.5, n)),
            "share": rng.random(n),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 999, n), "D"),
            "member": rng.random(n) < 0.5,
            "land": ["NO"] * n,
        },
        index=[f"row {i}" for i in range(n)],
    )


def known_to_differ(estimator):
    if isinstance(estimator, TableModel):
        return {}
    why = "columns are taken by name, in any order"
    return {
        "check_dataframe_column_names_consistency": why,
        "check_do_not_raise_errors_in_init_or_set_params": "**columns are no parameters",
    }


@parametrize_with_checks(
    [TableEncoder(), TableModel(KernelPCA(2))], expected_failed_checks=known_to_differ
)
@pytest.mark.filterwarnings("ignore")
def test_check_estimator(estimator, check):
    if "check_positive_only_tag_during_fit" in str(check) and sklearn.__version__ < "1.7":
        pytest.skip("this check of scikit-learn 1.6 subtracts a mean from whole numbers in place")
    check(estimator)


def test_what_is_done_is_decided_and_told():
    encoder = TableEncoder().fit(people())
    assert encoder.left_out_ == {
        "id": "id-like, 80 different whole numbers",
        "land": "constant",
    }
    told = dict(line.split(": ", 1) for line in encoder.describe())
    assert told["income"].startswith("number, asinh((x - ")
    assert told["share"].endswith("from 0 to 1")
    assert told["since"].startswith("date, days since 2020-")
    assert told["city"].startswith("category of 3")


def test_the_way_back_loses_nothing():
    table = people()
    encoder = TableEncoder().fit(table)
    back = encoder.inverse_transform(encoder.transform(table)).set_index(table.index)
    for name in ("city", "size", "age", "member", "land"):
        assert (back[name] == table[name]).all()
        assert back[name].dtype == table[name].dtype
    assert (back["since"] == table["since"]).all()
    for name in ("income", "share"):
        assert_allclose(back[name], table[name], rtol=1e-12, atol=1e-12)
    assert back["id"].isna().all()


def test_a_gaussian_on_blocks_is_a_product_of_kernels():
    """exp(-γ‖u - v‖²) = Π exp(-γ_c [x ≠ y]) with γ_c = 2 γ gain²."""
    table = pd.DataFrame({"a": list("xyxyzz"), "b": list("ppqqpp")})
    encoder = TableEncoder(weights={"b": 2}).fit(table)
    K = Gaussian(gamma=0.3)(encoder.transform(table), encoder.transform(table))
    expected = np.ones((6, 6))
    for name, column in encoder.columns_.items():
        differ = table[name].to_numpy()[:, None] != table[name].to_numpy()
        expected *= np.exp(-2 * 0.3 * column.gain**2 * differ)
    assert_allclose(K, expected, atol=1e-12)


def test_one_unit_stays_raw_and_many_are_scaled():
    assert TableEncoder().fit(load_digits().data).scale_ == "none"
    X, y = load_digits(return_X_y=True)
    for digit in range(10):  # some pixels of one digit are seldom more than dark
        assert TableEncoder().fit(X[y == digit]).scale_ == "none"
        assert TableEncoder().fit(X[y == digit][:20]).scale_ == "none"
    assert TableEncoder().fit(load_iris().data).scale_ == "none"
    assert TableEncoder().fit(load_breast_cancer().data).scale_ == "robust"
    answers = np.random.default_rng(0).integers(0, 2, (50, 30)) * 1.0
    assert TableEncoder().fit(answers).scale_ == "none"
    with pytest.warns(MercerWarning, match="30 of 31 columns .*, not 'x30'"):  # an income
        assert TableEncoder().fit(np.c_[answers, 1000 * X[:50, 10]]).scale_ == "robust"
    assert TableEncoder().fit(load_iris().data * [1, 1, 1000, 1]).scale_ == "robust"
    assert TableEncoder().fit(people()).scale_ == "robust"


def test_kinds_and_weights_by_name():
    encoder = TableEncoder(age="category", id="number", weights={"id": 3}, city="drop")
    encoder.fit(people())
    assert type(encoder.columns_["age"]).__name__ == "Category"
    assert encoder.columns_["id"].gain == 3
    assert encoder.left_out_["city"] == "asked for"
    assert TableEncoder(age="category").get_params()["kinds"] == {"age": "category"}
    for wrong in ({"kinds": {"nobody": "number"}}, {"kinds": {"age": "figure"}}, {"scale": "no"}):
        with pytest.raises(DataError):
            TableEncoder(**wrong).fit(people())


def test_unseen_categories_are_named_and_far_from_all():
    encoder = TableEncoder().fit(people())
    new = people(3).assign(city="Lima")
    with pytest.warns(MercerWarning, match="'city' has 1 category .* 'Lima'"):
        vectors = encoder.transform(new)
    assert not vectors[:, [g == "city" for g in encoder.groups_]].any()


def test_very_many_categories_are_pooled_or_left_out():
    rng = np.random.default_rng(0)
    often = rng.integers(0, 90, 3000)
    rare = np.where(rng.random(3000) < 0.1, rng.integers(100, 400, 3000), often)
    table = pd.DataFrame({"often": rare.astype(str), "text": [f"t{i}" for i in range(3000)]})
    encoder = TableEncoder().fit(table)
    assert encoder.columns_["often"].width == 100
    assert encoder.columns_["often"].pooled
    assert encoder.left_out_["text"].startswith("id-like")
    back = encoder.inverse_transform(encoder.transform(table))
    assert set(back["often"]) <= set(table["often"])


MODELS = [KernelPCA(6), GenerativeKernelPCA(6, random_state=0), MissingKernelPCA(KernelPCA(4))]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_frames_in_frames_out(model):
    table = people()
    fitted = TableModel(model).fit(table)
    clean = fitted.denoise(table)
    assert_array_equal(clean.index, table.index)
    assert list(clean.columns) == list(table.columns)
    assert (clean.dtypes == table.dtypes).all()
    assert (clean["id"] == table["id"]).all()
    holes = table.astype({"age": float})
    for j, name in enumerate(["city", "size", "age", "income", "since"]):
        holes.loc[holes.index[j::7], name] = None
    filled = fitted.impute(holes)
    assert not filled.drop(columns="id").isna().any().any()
    for name in ("city", "age", "since"):
        known = holes[name].notna()
        assert (filled[name][known] == table[name][known]).all()
    assert set(filled["city"]) <= set(CITIES)


@pytest.mark.parametrize("convert", [pl.from_pandas, lambda t: pl.from_pandas(t).to_arrow()])
def test_other_libraries(convert):
    table = convert(people().reset_index(drop=True))
    clean = TableModel(KernelPCA(4)).fit(table).denoise(table)
    assert type(clean) is type(table)
    assert clean.schema == table.schema


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("step", ["D", "h", "s", "unit"])
@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_times_come_back_in_their_type_and_resolution(library, step, unit, zone, tmp_path):
    """Hours are no resolution of polars, and Python's datetimes have no nanoseconds."""
    rng = np.random.default_rng(0)
    steps = rng.integers(0, 10**4, 40).astype(f"m8[{unit if step == 'unit' else step}]")
    times = pl.Series(np.datetime64("2024-01-01", unit) + steps).cast(pl.Datetime(unit, zone))
    frame = pl.DataFrame({"t": times, "x": rng.standard_normal(40)})
    holes = frame.with_columns(t=pl.when(pl.col("x") < 1).then("t"))
    if library == "pyarrow":
        frame, holes = frame.to_arrow(), holes.to_arrow()
    model = TableModel(GenerativeKernelPCA(3)).fit(frame)
    encoder = model.encoder_
    assert encoder.inverse_transform(encoder.transform(frame))["t"].equals(frame["t"])
    scores = model.transform(frame)
    made = [model.denoise(frame), model.sample(5), model.inverse_transform(scores)]
    if library == "polars":
        made.append(mercer.load(model.save(tmp_path / "m.mercer")).sample(5))
    filled = model.impute(holes)
    for table in (*made, filled):
        assert table.schema == frame.schema
    known = (np.asarray(frame["x"]) < 1).tolist()
    assert not all(known)
    assert filled["t"].filter(known).equals(frame["t"].filter(known))


def test_a_finer_time_than_those_of_the_fit_is_not_cut_by_impute():
    days = pd.DataFrame({"t": pd.date_range("2024-01-01", periods=30), "x": np.arange(30.0) ** 2})
    model = TableModel(KernelPCA(2)).fit(days)
    new = pd.DataFrame({"t": [pd.Timestamp("2024-01-05 13:30"), None], "x": [3.0, 4.0]})
    assert model.impute(new)["t"][0] == new["t"][0]


LONG = 1486653023415623644  # 2**53 is 16 digits, this has 19


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, dict])
def test_whole_numbers_that_float64_cannot_hold_are_refused_or_left_alone(make):
    rng = np.random.default_rng(0)
    table = make({"n": [LONG + 3 * i for i in range(40)], "x": rng.standard_normal(40).tolist()})
    for kind in ("number", "raw", "category"):
        with pytest.raises(DataError, match=r"column 'n' .* 15 digits.*"):
            TableEncoder(n=kind).fit(table)
    model = TableModel(KernelPCA(2)).fit(table)
    assert "15 digits" in model.encoder_.left_out_["n"]
    for back in (model.denoise(table), model.impute(table)):
        assert list(back["n"]) == list(table["n"])


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "columns"])
def test_impute_does_not_touch_a_long_number_beside_a_missing_one(library):
    rng = np.random.default_rng(0)
    fitted = pl.DataFrame({"n": rng.integers(0, 10**6, 40), "x": rng.standard_normal(40)})
    holes = pl.DataFrame({"n": [LONG, None, 5], "x": [0.1, 0.2, 0.3]})
    make = {
        "pandas": lambda table: table.to_pandas(use_pyarrow_extension_array=True),
        "polars": lambda table: table,
        "pyarrow": pl.DataFrame.to_arrow,
        "columns": lambda table: table.to_dict(as_series=False),
    }[library]
    filled = TableModel(KernelPCA(2)).fit(make(fitted)).impute(make(holes))["n"]
    first, middle, last = filled.to_pylist() if library == "pyarrow" else list(filled)
    assert (first, last) == (LONG, 5)
    assert middle == int(middle)


def test_missing_values_are_refused_with_the_remedy():
    table = people()
    table.loc["row 3", "city"] = None
    with pytest.raises(DataError, match=r"'city', .* row 3. .*missing='auto'"):
        TableModel(missing="refuse").fit(table)


def test_a_method_is_there_if_the_model_has_it():
    assert hasattr(TableModel(GenerativeKernelPCA()), "sample")
    assert not hasattr(TableModel(KernelPCA()), "sample")
    assert not hasattr(TableModel(KernelNovelty()), "denoise")


def test_novelty_and_relevance_speak_of_columns():
    table = people()
    model = TableModel(KernelNovelty(random_state=0)).fit(table)
    strange = table.iloc[:2].assign(income=1e12)
    parts = model.contributions(strange)
    assert list(parts.columns) == ["city", "size", "age", "income", "share", "since", "member"]
    assert (parts.to_numpy().argmax(axis=1) == 3).all()
    assert (model.p_values(strange) < 0.05).all()
    found = TableModel(KernelPCA(3)).fit(table).relevance(table)
    assert list(found.names) == list(parts.columns)


def test_saved_and_loaded(tmp_path):
    table = people()
    model = TableModel(GenerativeKernelPCA(4, random_state=0), TableEncoder(age="number")).fit(
        table
    )
    again = mercer.load(model.save(tmp_path / "m.mercer"))
    assert_array_equal(again.transform(table), model.transform(table))
    new = again.sample(5, random_state=1)
    assert new["city"].tolist() == model.sample(5, random_state=1)["city"].tolist()
    assert (again.denoise(table).dtypes == table.dtypes).all()


def test_scores_are_a_frame_where_asked_for():
    table = people()
    table.index = [f"row {i}" for i in range(len(table))]
    model = TableModel(KernelPCA(3)).set_output(transform="pandas")
    for scores in (model.fit_transform(table), model.transform(table)):
        assert list(scores.columns) == ["kernelpca0", "kernelpca1", "kernelpca2"]
        assert scores.index.equals(table.index)
    steps = make_pipeline(TableModel(KernelPCA(3)), StandardScaler())
    scores = steps.set_output(transform="pandas").fit_transform(table)
    assert list(scores.columns) == ["kernelpca0", "kernelpca1", "kernelpca2"]
    assert isinstance(model.set_output(transform="default").transform(table), np.ndarray)


def test_what_is_done_is_told_as_a_formula():
    x = np.random.default_rng(0).standard_normal(50)
    encoder = TableEncoder(scale="robust").fit({"a": x - 30, "b": 5 + np.sinh(6 * x)})
    below, tails = encoder.describe()
    assert below.startswith(f"a: number, (x + {-encoder.columns_['a'].center:.4g}) / ")
    assert tails.startswith(f"b: number, asinh((x - {encoder.columns_['b'].center:.4g}) / ")
    assert tails.endswith(")")


def test_the_name_of_a_file_is_no_table():
    with pytest.raises(DataError, match=r"read_table\('people.csv'\) of mercer.tables"):
        TableEncoder().fit("people.csv")


def test_what_is_left_out_has_no_say_about_scales():
    pixels = {f"p{j}": np.random.default_rng(j).random(30) for j in range(5)}
    numbered = {"id": np.arange(100, 130.0), "name": [f"n{i}" for i in range(30)], **pixels}
    encoder = TableEncoder().fit(numbered)
    assert encoder.scale_ == "none"
    assert set(encoder.left_out_) == {"id", "name"}
    kinds = {"run": "index"}
    assert TableEncoder(kinds).fit({"run": ["a", "b"] * 15, **pixels}).scale_ == "none"
    assert TableEncoder().fit({"run": ["a", "b"] * 15, **pixels}).scale_ == "robust"


def test_kernel_pca_says_what_to_write():
    with pytest.raises(ValueError, match=r"TableModel\(model\)"):
        KernelPCA().fit(people()[["age", "city"]])


@st.composite
def tables(draw):
    n = draw(st.integers(20, 40))
    texts = st.lists(st.sampled_from(["a", "b", "ü c", "1"]), min_size=n, max_size=n)
    numbers = st.lists(st.floats(-1e6, 1e6, width=32), min_size=n, max_size=n)
    wholes = st.lists(st.integers(0, 50), min_size=n, max_size=n)
    days = st.lists(st.dates(datetime.date(1990, 1, 1)), min_size=n, max_size=n)
    table = {"t": draw(texts), "x": draw(numbers), "n": draw(wholes), "d": draw(days)}
    table["always"] = list(np.linspace(0, 1, n))
    return table


@given(tables(), st.integers(0, 100))
@settings(max_examples=30, deadline=None)
def test_only_legal_values_come_out(table, seed):
    encoder = TableEncoder().fit(table)
    Z = encoder.transform(table)
    back = encoder.decode(Z)
    used = [name for name in table if name not in encoder.left_out_]
    for name in {"t", "d", "n"} & set(used):
        assert name == "d" or back[name].tolist() == list(table[name])
    spread = np.abs(Z).max() + 1
    new = encoder.decode(Z + spread * np.random.default_rng(seed).standard_normal(Z.shape))
    assert set(new["t"].tolist()) <= set(table["t"])
    if "n" in used:
        assert (new["n"] == np.rint(new["n"])).all()
        assert (new["n"] >= 0).all()
    assert ((new["always"] >= 0) & (new["always"] <= 1)).all()
    if "d" in used:
        assert new["d"].dtype.kind == "M"
        assert not np.isnat(new["d"]).any()


def test_a_constant_pixel_tells_a_row_of_another_kind():
    """Columns of one unit: what never differs in the fit costs nothing, and may differ later."""
    X, y = load_digits(return_X_y=True)
    train, new = X[y == 3], X[y == 7]
    encoder = TableEncoder().fit(train)
    assert (encoder.scale_, encoder.left_out_) == ("none", {})
    assert_array_equal(encoder.transform(new), new)
    assert_array_equal(encoder.inverse_transform(encoder.transform(train)), train)
    with pytest.raises(DataError, match="no variance"):
        TableEncoder().fit(np.ones((20, 3)))


def test_other_values_of_a_column_that_was_constant_are_said():
    encoder = TableEncoder().fit(people())
    encoder.transform(people(5))
    with pytest.warns(MercerWarning, match="'land' had one value in fit .'NO'.* 2 of 5 rows"):
        encoder.transform(people(5).assign(land=["NO", "SE", "NO", "SE", None]))


VERBS = {
    "KernelPCA": mercer.KernelPCA(3),
    "SparseKernelPCA": mercer.SparseKernelPCA(8, n_components=3),
    "IncrementalKernelPCA": mercer.IncrementalKernelPCA(3),
    "GenerativeKernelPCA": mercer.GenerativeKernelPCA(3, random_state=0),
    "KernelNovelty": mercer.KernelNovelty(3, random_state=0),
    "ReweightedKernelPCA": mercer.ReweightedKernelPCA(mercer.KernelPCA(3), random_state=0),
    "MissingKernelPCA": mercer.MissingKernelPCA(mercer.KernelPCA(3), random_state=0),
    "RKMClassifier": mercer.RKMClassifier(),
}


@pytest.mark.parametrize("name", VERBS)
def test_a_method_is_there_if_and_only_if_the_model_has_it(name):
    model, table = VERBS[name], TableModel(VERBS[name])
    ours = {
        n for n in dir(type(model)) if not n.startswith("_") and callable(getattr(type(model), n))
    }
    ours -= {"from_fitted", "set_callbacks"} | {n for n in ours if n.endswith("_request")}
    ours -= {"get_metadata_routing"}
    assert {n for n in ours if hasattr(model, n)} == {n for n in ours if hasattr(table, n)}
    others = {
        n for n in dir(TableModel) if not n.startswith("_") and not n.endswith("_request")
    } - ours
    own = {"vectors", "from_fitted", "model_", "encoder_", "get_metadata_routing"}
    own |= {*table.get_params(deep=False)}
    assert {n for n in others - own if hasattr(table, n)} <= {"fit_transform"}


def test_every_verb_works_on_a_table(tmp_path):
    """Tables in; tables out, where the model gives rows."""
    pd = pytest.importorskip("pandas")
    iris = load_iris(as_frame=True)
    table = iris.data.assign(kind=iris.target_names[iris.target])
    model = TableModel(mercer.GenerativeKernelPCA(5, random_state=0)).fit(table, iris.target)
    vectors = model.vectors(table)
    some = table[:4]

    def same(found, expected):
        pd.testing.assert_frame_equal(found, model.encoder_.inverse_transform(expected))

    np.testing.assert_array_equal(model.hidden_units(some), model.model_.hidden_units(vectors[:4]))
    np.testing.assert_array_equal(model.sensitivity(some), model.model_.sensitivity(vectors[:4]))
    assert model.uncertainty(table).shares.low.shape == (5,)
    assert list(model.preimages(some).points.columns) == list(table.columns)
    assert model.preimages(X=some, report=False).points.index.equals(some.index)
    same(
        model.interpolate(table[:1], table[100:101], steps=3),
        model.model_.interpolate(vectors[:1], vectors[100:101], steps=3),
    )
    same(model.traverse(table[:1], 0, steps=3), model.model_.traverse(vectors[:1], 0, steps=3))
    same(model.sample(3, label=1), model.model_.sample(3, label=1))
    same(model.generate(model.sample_hidden(2)), model.model_.generate(model.sample_hidden(2)))
    up, down = model.component_preimages()
    same(up, model.model_.component_preimages()[0])
    assert set(down["kind"]) <= set(iris.target_names)
    holes = table.copy()
    holes.loc[3, "kind"] = None
    draws = model.imputation_draws(holes[:5], 2, random_state=0)
    assert [draw.loc[4].equals(table.loc[4]) for draw in draws] == [True, True]
    assert all(draw.loc[3, "kind"] in iris.target_names for draw in draws)
    assert model.plan(table).name == "Dense"
    path = model.transform_to(tmp_path / "z.csv", table)
    assert len(path.read_text().splitlines()) == 151
    tuned = TableModel(mercer.KernelPCA()).tune(table[:60], noise=0.3, rows="clean")
    assert tuned.model.n_components == tuned.model_.tuning_.n_components
    assert tuned.denoise(some).shape == some.shape
    flags = TableModel(mercer.KernelNovelty(5, contamination=0.05, random_state=0)).fit_predict(
        table
    )
    assert set(flags) == {-1, 1}


def test_columns_are_decided_on_by_the_first_chunk():
    iris = load_iris(as_frame=True)
    table = iris.data.assign(kind=iris.target_names[iris.target]).sample(150, random_state=0)
    model = TableModel(mercer.IncrementalKernelPCA(3))
    for chunk in (table[:75], table[75:]):
        model.partial_fit(chunk)
    assert model.model_.n_samples_seen_ == 150


def test_what_belongs_elsewhere_is_answered_with_where():
    table = {"a": [1.0, 2.0, 4.0], "b": ["x", "y", "x"]}
    with pytest.raises(TypeError, match=r"no n_components=; write TableModel\(KernelPCA\(n_c"):
        TableModel(n_components=3)
    with pytest.raises(TypeError, match=r"encoder=StandardScaler\(\) is not a TableEncoder"):
        TableModel(KernelPCA(2), StandardScaler()).fit(table)
    with pytest.raises(DataError, match="is an address; download it first"):
        TableModel().fit("https://example.org/x.csv")
    model = TableModel(KernelPCA(2)).fit(table)
    with pytest.raises(DataError, match=r"labels='b' is a text; .* table\['b'\]"):
        model.to_html("never.html", table, "b")
