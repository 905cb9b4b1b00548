"""How models, plans and what is measured of them show themselves, as text and in notebooks."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_html_repr

from mercer import KernelNovelty, KernelPCA, TableModel
from mercer.kernels import Gaussian


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).standard_normal((60, 3))


@pytest.fixture(scope="module")
def model(X):
    return KernelPCA(2, kernel=Gaussian(gamma=0.25)).fit(X)


def test_a_fitted_model_says_what_it_has_learnt(model):
    first, *lines = repr(model).splitlines()
    facts = dict(line.strip().split("  ", 1) for line in lines)
    assert first == "KernelPCA(kernel=Gaussian(gamma=0.25), n_components=2)"
    assert facts["rows"].strip() == "60"
    assert facts["columns"].strip() == "3"
    assert facts["kernel"].strip() == "Gaussian(gamma=0.25)"
    share = f"{model.explained_variance_ratio_.sum():.1%}"
    assert facts["components"].strip() == f"2, with {share} of the variance"
    assert f"claimed {model.report_.estimated_error:.1e}" in facts["accuracy"]
    assert f"audited {model.report_.audited:.1e}" in facts["accuracy"]


def test_an_unfitted_model_is_shown_as_scikit_learn_shows_it():
    assert repr(KernelPCA(2)) == "KernelPCA(n_components=2)"
    assert "mercer-table" not in KernelPCA(2)._repr_html_()


def test_a_fitted_model_keeps_scikit_learns_diagram(model):
    for html in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert "sk-top-container" in html
        assert html.count('<table class="mercer-table"') == 1
        assert "Gaussian(gamma=0.25)" in html
    with config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()


def test_inside_of_a_pipeline_a_model_is_its_parameters(model, X):
    pipeline = make_pipeline(KernelPCA(2)).fit(X)
    assert repr(pipeline) == "Pipeline(steps=[('kernelpca', KernelPCA(n_components=2))])"
    assert "mercer-table" not in estimator_html_repr(pipeline)


def test_models_of_tables_and_detectors_name_their_columns(X):
    table = {"height": X[:, 0], "weight": X[:, 1], "kind": ["a", "b"] * 30}
    shown = repr(TableModel(KernelNovelty()).fit(table))
    assert "3: height, weight, kind" in shown


def test_texts_of_the_data_are_not_markup(X):
    table = {"<b>": X[:, 0], "weight": X[:, 1]}
    html = TableModel(KernelPCA(2)).fit(table)._repr_html_()
    assert "&lt;b&gt;, weight" in html
    assert "<b>, weight" not in html


@pytest.mark.parametrize("what", ["plan", "report", "relevance", "uncertainty"])
def test_what_is_measured_of_a_model_is_a_small_table(model, X, what):
    shown = {
        "plan": lambda: model.plan(X),
        "report": lambda: model.report_,
        "relevance": model.relevance,
        "uncertainty": model.uncertainty,
    }[what]()
    title, *lines = repr(shown).splitlines()
    assert title.lower().startswith(what)
    assert lines
    assert all(line.startswith("  ") and "(" not in line.split()[0] for line in lines)
    html = shown._repr_html_()
    assert html.count("<tr>") == len(lines)
    assert f"<caption>{title}</caption>" in html


def test_a_report_and_a_plan_say_numbers_as_people_do(model, X):
    assert "about " in repr(model.plan(X))
    assert "Dense" in repr(model.plan(X))
    assert f"{model.report_.seconds:.3g} s" in repr(model.report_)
    assert "converge" not in repr(model.report_)
