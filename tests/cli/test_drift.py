"""``mercer drift``: an exit status for pipelines."""

import json

import numpy as np
import pandas as pd
import pytest

from mercer.cli import main
from mercer.cli.drift import DRIFTED


def table(rng, n, shift=0.0):
    columns = {"flow": rng.normal(10 + shift, 2, n), "heat": rng.normal(size=n)}
    return pd.DataFrame({**columns, "kind": rng.choice(["a", "b"], n)})


@pytest.fixture
def folder(rng, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, n, shift in (("ref", 600, 0), ("calm", 150, 0), ("bad", 150, 1.5)):
        table(rng, n, shift).to_csv(f"{name}.csv", index=False)
    assert main(["fit", "ref.csv", "--model", "drift", "--landmarks", "60", "-q"]) == 0
    return tmp_path


def test_the_status_says_whether_a_batch_has_drifted(folder, capsys):
    assert main(["drift", "ref.mercer", "calm.csv"]) == 0
    assert "not drifted" in capsys.readouterr().err
    assert main(["drift", "ref.mercer", "calm.csv", "bad.csv"]) == DRIFTED
    said = capsys.readouterr().err
    assert "bad.csv: p = " in said
    assert "drifted, by flow" in said
    assert main(["drift", "ref.mercer", "bad.csv", "--json"]) == DRIFTED
    (facts,) = json.loads(capsys.readouterr().out)["batches"]
    assert facts["drifted"]
    assert facts["rows"] == 150
    assert main(["drift", "ref.mercer", "calm.csv", "--level", "0.999999"]) == DRIFTED


def test_what_is_refused(folder, capsys):
    np.save("rows.npy", np.random.default_rng(0).standard_normal((40, 2)))
    assert main(["fit", "rows.npy", "-o", "pca.mercer", "-q"]) == 0
    assert main(["drift", "pca.mercer", "rows.npy"]) == 1
    assert "--model drift" in capsys.readouterr().err
    assert main(["fit", "ref.csv", "--model", "drift", "--solver", "dense", "--force"]) == 2
    assert "--solver does not apply to --model drift" in capsys.readouterr().err
