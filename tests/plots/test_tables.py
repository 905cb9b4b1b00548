"""Displays draw a model of tables: the model inside it, by the names of the table."""

import numpy as np
import pytest

import mercer
from mercer import plots
from mercer.tables import TableModel

pd = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")


@pytest.fixture
def table(rng):
    return pd.DataFrame(
        {
            "id": np.arange(100, 160),
            "price": rng.normal(300, 50, 60),
            "mass": rng.normal(0.02, 0.005, 60),
            "city": np.array(["Oslo", "Rome"], dtype=object)[rng.integers(0, 2, 60)],
        }
    )


@pytest.mark.parametrize(
    "display",
    [
        plots.BiplotDisplay,
        plots.ComponentsDisplay,
        plots.EmbeddingDisplay,
        plots.ScreeDisplay,
        plots.WidthSpectrumDisplay,
    ],
)
def test_a_table_is_drawn_as_the_vectors_of_it(display, table):
    """They said that a column of texts is not a number."""
    model = TableModel(mercer.KernelPCA(4)).fit(table)
    drawn = display.from_estimator(model, table)
    plain = display.from_estimator(
        mercer.KernelPCA(4).fit(model.vectors(table)), model.vectors(table)
    )
    for name, value in vars(plain).items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            np.testing.assert_allclose(getattr(drawn, name), value, atol=1e-12)
    assert "feature_names_in_" not in vars(model.model_), "the model itself is left alone"


def test_contributions_are_named_by_the_columns_in_use(table):
    """The id, which is left out, lent its name to the price."""
    model = TableModel(mercer.KernelNovelty(random_state=0)).fit(table)
    for given in (table[:1].assign(price=600.0), {**table[:1], "price": [600.0]}):
        drawn = plots.ContributionsDisplay.from_estimator(model, given)
        assert drawn.names[int(drawn.contributions.argmax())] == "price"
        assert sorted(drawn.names) == ["city", "mass", "price"]


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_contributions_to_rows_of_any_library_are_drawn(library, table):
    """Columns were taken for their own names, which no axis could be labelled with."""
    module = pytest.importorskip(library)
    columns = {name: table[name].tolist() for name in ("price", "mass", "city")}
    given = (module.table if library == "pyarrow" else module.DataFrame)(columns)
    model = TableModel(mercer.KernelNovelty(random_state=0)).fit(given)
    drawn = plots.ContributionsDisplay.from_estimator(model, given.slice(0, 2))
    assert [*drawn.names] == [*columns]
    assert drawn.contributions.shape == (2, 3)
