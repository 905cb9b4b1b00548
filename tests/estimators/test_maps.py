"""MapModel: both ways for a map that another tool has made."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import MapModel, TableModel
from mercer.exceptions import ColumnsError, DataError
from mercer.kernels import Matern
from mercer.points import as_points
from mercer.preimage import near, ways
from mercer.preimage.near import Neighbours
from mercer.preimage.ways import learn_back


def islands(n=600, d=6, seed=0):
    """Rows of three groups, and a map in which each is an island."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    t = rng.standard_normal((n, 2))
    X = 4 * np.eye(d)[group] + t @ rng.standard_normal((2, d)) + 0.1 * rng.standard_normal((n, d))
    return X, t + 20 * np.array([[0, 0], [1, 0], [0, 1]])[group], group


X, Z, GROUP = islands()
MODEL = MapModel().fit(X[:400], Z[:400])


@parametrize_with_checks([MapModel(PCA(1))])
@pytest.mark.filterwarnings("ignore::mercer.exceptions.MercerWarning")
def test_check_estimator(estimator, check):
    check(estimator)


def test_back_is_kernel_ridge_by_the_textbook():
    """The normal equations, solved as they are written."""
    back = MODEL.back_
    K = back.kernel.exact(Z[:400], Z[:400])
    A = np.linalg.solve(K + back.alpha * np.eye(400), X[:400] - X[:400].mean(axis=0))
    expected = X[:400].mean(axis=0) + back.kernel.exact(Z[400:], Z[:400]) @ A
    assert_allclose(MODEL.inverse_transform(Z[400:]), expected, atol=1e-8)


def test_what_the_way_back_misses_is_that_of_models_without_the_row():
    small, places = X[:60], Z[:60]
    model = MapModel().fit(small, places)
    back = model.back_
    for i in (0, 17, 59):
        rest = np.arange(60) != i
        K = back.kernel.exact(places[rest], places[rest])
        A = np.linalg.solve(K + back.alpha * np.eye(59), small[rest] - small.mean(axis=0))
        said = small.mean(axis=0) + back.kernel.exact(places[i : i + 1], places[rest]) @ A
        assert_allclose(model.certainty_.missed[i], np.linalg.norm(said - small[i]), rtol=1e-6)


@pytest.mark.parametrize("largest", [5000, 40])
def test_errors_beside_a_row_are_those_of_models_without_both(largest, monkeypatch):
    """On all rows, and on landmarks, where the textbook solves for their weights."""
    monkeypatch.setattr(ways, "LARGEST", largest)
    rows, places, kernel, alpha = X[:60], Z[:60], Matern(length_scale=2.0, nu=0.5), 0.03
    back, left = learn_back(places, as_points(rows), kernel, alpha, 20, np.arange(60))
    centred = rows - rows.mean(axis=0)
    for i, j in ((0, 3), (17, 5), (59, 58)):
        rest = ~np.isin(np.arange(60), [i, j])
        K = kernel.exact(places[rest], back.centres[rest] if largest > 60 else back.centres)
        if largest > 60:
            A = np.linalg.solve(K + alpha * np.eye(58), centred[rest])
        else:
            inner = kernel.exact(back.centres, back.centres)
            A = np.linalg.solve(K.T @ K + alpha * inner, K.T @ centred[rest])
        centres = back.centres[rest] if largest > 60 else back.centres
        off = np.linalg.norm(kernel.exact(places[j : j + 1], centres) @ A - centred[j])
        assert_allclose(left.beside(np.full((60, 1), j))[i, 0], off, rtol=1e-5)


def test_forth_is_the_geometric_median_of_the_neighbours_places():
    forth = MODEL.forth_
    for x in X[400:410]:
        apart = np.linalg.norm(X[:400] - x, axis=1)
        nearest = np.argsort(apart)[: forth.count]
        d = apart[nearest]
        w = np.exp(-(d**2 - d[0] ** 2) / (forth.sharpness * d[-1]) ** 2)

        def cost(z, near=Z[nearest], w=w):
            return (w * np.linalg.norm(near - z, axis=1)).sum()

        found = MODEL.transform(x[None])[0]
        around = found + 1e-2 * np.random.default_rng(0).standard_normal((50, 2))
        assert cost(found) <= 1.0005 * min(map(cost, around))


def test_rows_of_the_fit_are_where_the_map_has_them():
    assert_allclose(MODEL.transform(X[:400]), Z[:400], atol=1e-9)
    assert_array_equal(MODEL.embedding_, Z[:400])


def test_both_ways_beat_the_mean():
    back = MODEL.inverse_transform(Z[400:])
    assert ((back - X[400:]) ** 2).sum() < 0.05 * ((X[400:] - X.mean(axis=0)) ** 2).sum()
    placed = MODEL.transform(X[400:])
    assert np.median(np.linalg.norm(placed - Z[400:], axis=1)) < 0.5
    assert_allclose(MODEL.denoise(X[400:]), MODEL.inverse_transform(placed))
    assert MODEL.score(X[400:]) == -((MODEL.denoise(X[400:]) - X[400:]) ** 2).sum(axis=1).mean()


def test_a_row_between_two_groups_goes_to_one_island():
    """A mean of places would lie in the water."""
    between = (X[:400][GROUP[:400] == 0][:1] + X[:400][GROUP[:400] == 1][:1]) / 2
    assert MODEL.place_p_values(MODEL.transform(between))[0] > 0.01


def test_radii_cover_as_promised():
    rows, places, _ = islands(4000, seed=3)
    model = MapModel().fit(rows[:1500], places[:1500])
    back = np.linalg.norm(model.inverse_transform(places[1500:]) - rows[1500:], axis=1)
    forth = np.linalg.norm(model.transform(rows[1500:]) - places[1500:], axis=1)
    for coverage in (0.8, 0.9):
        inside = back <= model.row_radius(places[1500:], coverage)
        assert abs(inside.mean() - coverage) < 0.03
        assert abs((forth <= model.place_radius(rows[1500:], coverage)).mean() - coverage) < 0.03


def test_calibrated_radii_cover_at_places_of_another_way():
    """Places that somebody has shaken: the fit does not know, rows placed alike do."""
    rows, places, _ = islands(4000, seed=3)
    shaken = places + 0.7 * np.random.default_rng(0).standard_normal(places.shape)
    model = MapModel().fit(rows[:1500], places[:1500])
    some, new = slice(1500, 2200), slice(2200, None)

    def covered():
        back = np.linalg.norm(model.inverse_transform(shaken[new]) - rows[new], axis=1)
        forth = np.linalg.norm(model.transform(rows[new]) - shaken[new], axis=1)
        inside = back <= model.row_radius(shaken[new]), forth <= model.place_radius(rows[new])
        return [part.mean() for part in inside]

    assert max(covered()) < 0.8
    assert model.calibrate(rows[some], shaken[some]) is model
    assert_allclose(covered(), 0.9, atol=0.03)
    assert (model.place_p_values(shaken[new]) <= 0.05).mean() < 0.08
    with pytest.raises(DataError, match="3 rows and 2 places"):
        model.calibrate(rows[:3], places[:2])


def test_places_between_islands_have_no_data():
    assert MODEL.place_p_values([[10.0, 0.0], [9.0, 11.0], [-30.0, 5.0]]).max() < 0.02
    assert (MODEL.place_p_values(Z[400:]) <= 0.05).mean() < 0.15


def test_trust_is_the_share_of_neighbours_that_are_kept():
    same = MapModel().fit(X[:100], X[:100, :2])
    assert_array_equal(same.trust(X[:100], X[:100]), np.ones(100))
    scattered = np.random.default_rng(0).standard_normal((100, 2))
    assert same.trust(X[:100], scattered).mean() < 0.4
    assert MODEL.trust().shape == (400,)
    i = 7
    a = np.argsort(np.linalg.norm(X[:400] - X[i], axis=1))[1:16]
    b = np.argsort(np.linalg.norm(Z[:400] - Z[i], axis=1))[1:16]
    assert_allclose(MODEL.trust()[i], len(np.intersect1d(a, b)) / 15)


def test_relevance_is_the_gradient_of_the_way_back():
    places, step = Z[:5] + 0.05, 1e-5
    columns = [
        MODEL.inverse_transform(places + e) - MODEL.inverse_transform(places - e)
        for e in step * np.eye(2)
    ]
    expected = np.sqrt(sum((column / (2 * step)) ** 2 for column in columns))
    assert_allclose(MODEL.relevance(places=places), expected, rtol=1e-3, atol=1e-6)
    grouped = MODEL.relevance(places=places, groups=list("aabbbc"))
    assert_allclose(grouped[:, 0] ** 2, (expected[:, :2] ** 2).sum(axis=1), rtol=1e-3)
    assert MODEL.relevance(X[:3]).shape == (3, 6)


def test_a_strip_goes_from_place_to_place():
    strip = MODEL.strip(Z[0], Z[1], 5)
    assert_allclose(strip[[0, -1]], MODEL.inverse_transform(Z[:2]))
    assert strip.shape == (5, 6)


@pytest.mark.parametrize(
    ("places", "said"),
    [
        (None, "no map was given"),
        (Z[:399], "400 rows and 399 places"),
        (np.where(np.arange(800).reshape(400, 2) == 6, np.nan, Z[:400]), "that of row 3"),
        (np.ones((400, 2)), "at one place"),
        ([["a", "b"]] * 400, "not a table of numbers"),
    ],
)
def test_a_bad_map_is_refused_with_a_reason(places, said):
    with pytest.raises(DataError, match=said):
        MapModel().fit(X[:400], places)


def test_a_map_of_one_dimension_and_one_with_repeated_places():
    line = MapModel().fit(X[:400], Z[:400, 0])
    assert line.transform(X[400:]).shape == (200, 1)
    assert line.inverse_transform(Z[400:, :1]).shape == (200, 6)
    grid = MapModel().fit(X[:400], np.round(Z[:400]))
    assert np.isfinite(grid.inverse_transform(np.round(Z[400:]))).all()
    assert np.isfinite(grid.row_radius(Z[400:])).all()
    twice = MapModel().fit(np.repeat(X[:100], 2, axis=0), np.repeat(Z[:100], 2, axis=0))
    assert_allclose(twice.transform(X[:100]), Z[:100], atol=1e-9)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_other_units_change_nothing(scale):
    model = MapModel().fit(X[:400] * scale, Z[:400] * scale)
    assert_allclose(
        model.inverse_transform(Z[400:] * scale) / scale, MODEL.inverse_transform(Z[400:])
    )
    assert_allclose(model.transform(X[400:] * scale) / scale, MODEL.transform(X[400:]), atol=1e-6)


def test_places_of_a_line_may_be_given_as_one_list():
    line = MapModel().fit(X[:400], Z[:400, 0])
    column = Z[400:, :1]
    assert_array_equal(line.inverse_transform(column[:, 0]), line.inverse_transform(column))
    assert_array_equal(line.row_radius(column[:, 0]), line.row_radius(column))
    assert "in a map of 1 dimension\n" in repr(line)


def test_few_rows():
    model = MapModel().fit(X[:3], Z[:3])
    assert model.transform(X[3:5]).shape == (2, 2)
    assert (model.row_radius(Z[3:5]) == np.inf).all()  # three rows promise nothing at 90 %


def test_sparse_rows_give_what_dense_ones_give():
    rows = np.where(X > 1, X, 0)
    dense, sparse = (
        MapModel().fit(rows[:400], Z[:400]),
        MapModel().fit(csr_array(rows[:400]), Z[:400]),
    )
    assert_allclose(sparse.inverse_transform(Z[400:]), dense.inverse_transform(Z[400:]), atol=1e-8)
    new = csr_array(rows[400:])
    assert_allclose(sparse.transform(new), dense.transform(rows[400:]), atol=1e-6)
    assert_allclose(sparse.denoise(new), dense.denoise(rows[400:]), atol=1e-5)


def test_many_rows_lie_in_cells_and_on_landmarks(monkeypatch):
    monkeypatch.setattr(near, "LARGEST", 1000)
    monkeypatch.setattr("mercer.preimage.ways.LARGEST", 1000)
    rows, places, _ = islands(4200, seed=2)
    model = MapModel(n_landmarks=200).fit(rows[:4000], places[:4000])
    known = model.forth_.known
    assert known.centres is not None
    assert len(model.back_.centres) == 200
    exact = Neighbours(known.rows).nearest(rows[4000:], 5)[0]
    found = known.nearest(rows[4000:], 5)[0]
    assert (
        np.mean([len(np.intersect1d(*pair)) / 5 for pair in zip(exact, found, strict=True)]) > 0.8
    )
    assert_allclose(model.transform(rows[:4000]), places[:4000], atol=1e-9)
    error = ((model.inverse_transform(places[4000:]) - rows[4000:]) ** 2).sum(axis=1)
    assert error.mean() < 0.05 * rows.var(axis=0).sum()
    assert abs((np.sqrt(error) <= model.row_radius(places[4000:])).mean() - 0.9) < 0.07


def test_an_embedder_makes_the_map():
    model = MapModel(PCA(2)).fit(X)
    assert_allclose(model.embedding_, PCA(2).fit_transform(X))
    assert_allclose(model.fit_transform(X), model.embedding_)


class Halved:
    """An embedder that knows nothing of scikit-learn's parameters."""

    def fit_transform(self, X, y=None):
        return np.asarray(X)[:, :2] / 2


def test_an_embedder_needs_nothing_but_fit_transform():
    embedder = Halved()
    model = MapModel(embedder).fit(X)
    assert_array_equal(model.embedding_, X[:, :2] / 2)
    assert model.embedder_ is not embedder


@pytest.mark.parametrize("embedder", [PCA, "umap", StandardScaler().fit])
def test_what_makes_no_map_is_refused(embedder):
    with pytest.raises(DataError, match="is not an object with fit_transform"):
        MapModel(embedder).fit(X)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: MODEL.relevance(X[:3], groups="abc"), "3 names for 6 variables"),
        (lambda: MODEL.strip(Z[0], [1, 2, 3]), "3 columns, but the model has 2"),
        (lambda: MODEL.trust(n_neighbors=400), "400 rows have 399 others"),
        (lambda: MODEL.trust(X[:9], Z[:9]), "9 rows have 8 others"),
        (lambda: MODEL.calibrate(X[:99], Z[:99]), "are those of the fit"),
    ],
)
def test_questions_without_an_answer_are_refused(call, said):
    with pytest.raises((DataError, ColumnsError), match=said):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda model: model.inverse_transform(Z),
        lambda model: model.row_radius(Z),
        lambda model: model.place_p_values(Z),
        lambda model: model.strip(Z[0], Z[1]),
        lambda model: model.trust(),
        lambda model: model.relevance(),
    ],
)
def test_what_is_not_fitted_says_so(call):
    with pytest.raises(NotFittedError):
        call(MapModel())


def test_names_of_the_map_and_frames():
    table = pd.DataFrame(X, columns=list("abcdef"), index=range(10, 610))
    model = MapModel().set_output(transform="pandas")
    model.fit(table, pd.DataFrame(Z, columns=["umap1", "umap2"]))
    placed = model.transform(table[:4])
    assert list(placed.columns) == ["umap1", "umap2"]
    assert list(placed.index) == [10, 11, 12, 13]
    assert list(MODEL.get_feature_names_out()) == ["mapmodel0", "mapmodel1"]


def test_a_table_comes_back_legal(tmp_path):
    iris = load_iris(as_frame=True)
    table = iris.data.assign(kind=iris.target_names[iris.target])
    Z = PCA(2).fit_transform(iris.data)
    model = TableModel(MapModel(PCA(2))).fit(table.drop(columns="kind"))
    model = TableModel(MapModel()).fit(table, Z)
    back = model.inverse_transform(Z)
    assert list(back.columns) == list(table.columns)
    assert set(back["kind"]) <= set(iris.target_names)
    assert (back["kind"] == table["kind"]).mean() > 0.9
    assert model.row_radius(Z[:3]).shape == (3,)
    assert model.relevance(table[:2]).shape == (2, 5)
    again = mercer.load(model.save(tmp_path / "m.mercer"))
    pd.testing.assert_frame_equal(again.inverse_transform(Z), back)
    model = TableModel(MapModel()).fit(table[::2], Z[::2])
    model.calibrate(table[1::2], Z[1::2])
    assert model.row_radius(Z[:3]).shape == (3,)


def test_missing_values_of_a_table_are_filled_in():
    iris = load_iris(as_frame=True)
    table = iris.data.assign(kind=iris.target_names[iris.target])
    Z = PCA(2).fit_transform(iris.data)
    gaps = table.copy()
    gaps.loc[[3, 77], "petal length (cm)"] = np.nan
    gaps.loc[5, "kind"] = None
    for known in (table, gaps):
        model = TableModel(MapModel()).fit(known, Z)
        off = np.linalg.norm(model.transform(gaps) - Z, axis=1)
        assert off[[3, 5, 77]].max() < 1
    assert "3 missing values in 3 of 150 rows" in model.note_


def test_a_file_keeps_both_ways_but_not_the_embedder(tmp_path):
    model = MapModel(PCA(2)).fit(X)
    again = mercer.load(model.save(tmp_path / "m.mercer"))
    assert again.embedder is None
    assert_array_equal(again.transform(X[:9] + 0.1), model.transform(X[:9] + 0.1))
    assert_array_equal(again.row_radius(Z[:9]), model.row_radius(Z[:9]))
    assert_array_equal(again.place_p_values(Z[:9]), model.place_p_values(Z[:9]))


def test_what_was_learnt_is_shown():
    assert "400 in a map of 2 dimensions" in repr(MODEL)
    assert "neighbours" in MODEL._repr_html_inner()


def test_it_brings_digits_back_better_than_their_mean():
    digits = load_digits()
    rows = digits.data[:600] / 16
    Z = PCA(2).fit_transform(rows)
    model = MapModel().fit(rows[:500], Z[:500])
    error = ((model.inverse_transform(Z[500:]) - rows[500:]) ** 2).sum(axis=1).mean()
    assert error < 0.85 * ((rows[500:] - rows[:500].mean(axis=0)) ** 2).sum(axis=1).mean()


def test_frames_in_another_order_are_refused(rng):
    """Rows would be paired with places of others, and places with the wrong axes, in silence."""
    X = pd.DataFrame(rng.standard_normal((60, 3)))
    Z = pd.DataFrame(X.to_numpy()[:, :2], columns=["a", "b"])
    with pytest.raises(DataError, match="same index in different orders"):
        MapModel().fit(X, Z.iloc[::-1])
    model = MapModel().fit(X, Z.iloc[::-1].loc[X.index])
    with pytest.raises(DataError, match=r"give Z\[\['a', 'b'\]\]"):
        model.inverse_transform(Z[["b", "a"]])
    assert model.inverse_transform(Z[:5]).shape == (5, 3)
    assert MapModel().fit(X[::-1].reset_index(drop=True), Z.set_index(Z.index + 1)) is not None


def test_a_map_with_a_mask_is_refused():
    with pytest.raises(DataError, match="the mask would be lost"):
        MapModel().fit(X[:50], np.ma.masked_array(Z[:50], mask=Z[:50] > 20))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the overflow that is refused
def test_rows_and_places_out_of_range():
    with pytest.raises(DataError, match="row 1 is so far from those of the fit"):
        MODEL.transform(np.vstack([X[:1], np.full((1, 6), 1e300)]))
    assert np.isfinite(MODEL.inverse_transform([[1e300, 1e300]])).all()
