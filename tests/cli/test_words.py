"""Messages of the command line name what can be typed there, and pictures have their options."""

import shlex
import subprocess
import sys

import numpy as np
import pytest

from mercer.cli.options import _split
from tests.cli.conftest import make_rows, write_csv


def write_strange(path, names):
    """Columns of numbers, and others of text."""
    lines = [",".join(["a", *(f'"{name}"' for name in names)])]
    lines += [",".join([f"{i}.5", *("text" for _ in names)]) for i in range(9)]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_suggested_command_is_complete_and_quoted(mercer, tmp_path):
    strange = ["x;ls", "it's", "two words", "one,two"]
    data = write_strange(tmp_path / "strange.csv", strange)
    done = mercer("fit", data, "--raw", status=3)
    command = done.err.partition("leave them out with ")[2].partition(", or keep")[0]
    option, names = shlex.split(command)
    assert option == "--drop"
    assert list(_split(None, None, [names])) == strange
    assert "--label 'x;ls'" in done.err


def test_nothing_is_said_that_cannot_be_typed(mercer, model, train, test, tmp_path):
    holes = write_csv(tmp_path / "holes.csv", np.where(make_rows() > 1, np.nan, make_rows()))
    failures = [
        ("plot", "roc", model, train, "--label", "kind"),
        ("plot", "novelty", model),
        ("plot", "gallery", model, test, "--image-shape", "3x3"),
        ("plot", "samples", model),
        ("novelty", model, test, "--normal", write_csv(tmp_path / "seen.csv", make_rows())),
        ("transform", model, holes),
    ]
    for arguments in failures:
        target = ["-o", tmp_path / "no.png"] if arguments[0] == "plot" else []
        done = mercer(*arguments, *target, status=3)
        for word in ("from_fitted", "image_shape", "X)", "KernelNovelty(", "give -1", "max_iter"):
            assert word not in done.err, done.err


def test_every_remedy_is_a_line_for_the_shell(mercer, model, train, test, tmp_path):
    def fitted(name, *options):
        mercer("fit", train, "--drop", "kind", "-q", "-o", tmp_path / name, *options)
        return tmp_path / name

    linear = fitted("l.mercer", "--kernel", "linear", "--preimage", "fixed_point")
    sparse, new = fitted("s.mercer", "--model", "sparse"), fitted("n.mercer", "--model", "novelty")
    picture, table = ("-o", tmp_path / "no.png"), ("-o", tmp_path / "no.csv")
    file = ("-o", tmp_path / "no.mercer")
    said = {
        ("plot", "vectors", model, *picture): "'mercer fit DATA --model sparse'",
        ("plot", "novelty", new, *picture): "--columns",
        ("plot", "components", model, "--components", "999", *picture): "--components 999",
        ("plot", "traversal", new, *picture): "'mercer fit DATA'",
        ("plot", "widths", linear, *picture): "--kernel gaussian",
        ("relevance", sparse, "--intervals", *table): "as DATA",
        ("denoise", linear, test, *table): "--preimage auto",
        ("fit", train, "--drop", "kind", "--width", "-1", *file): "--width -1",
    }
    for arguments, words in said.items():
        done = mercer(*arguments, status=None)
        assert words in done.err, done.err
        assert done.err.count("error") == 1


def test_the_look_of_a_picture(mercer, model, train, test, tmp_path):
    pytest.importorskip("matplotlib")
    shape = ("--image-shape", "2x2", "--cmap", "viridis", "--title", "four numbers")
    mercer("plot", "gallery", model, test, *shape, "-o", tmp_path / "gallery.png")
    mercer("plot", "embedding", model, test, "--components", "0,2,3", "-o", tmp_path / "e.png")
    mercer("plot", "roc", model, train, "--label", "kind", "--positive", "left",
           "-o", tmp_path / "roc.png")  # fmt: skip
    wrong = {
        ("scree", model, "--cmap", "gray"): ["--cmap goes with", "gallery"],
        ("gallery", model, "--cmap", "grey tone"): ["no 'grey tone'"],
        ("gallery", model, "--image-shape", "2by2"): ["2by2", "28x28"],
        ("embedding", model, "--components", "a"): ["0,2"],
        ("scree", model, "--positive", "left"): ["goes with roc"],
        ("roc", model, train): ["--label"],
    }
    for arguments, words in wrong.items():
        mercer.fails("plot", *arguments, "-o", tmp_path / "no.png", status=2, words=words)
    roc = ("plot", "roc", model, train, "--label", "kind", "-o", tmp_path / "no.png")
    mercer.fails(*roc, status=3, words=["left, right", "new by --positive"])


def test_numbers_as_labels_are_a_scale(mercer, model, train, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    from mercer.plots import EmbeddingDisplay

    numbered = write_csv(tmp_path / "n.csv", make_rows(), label=np.linspace(0, 1, 60))
    drawn, plot = [], EmbeddingDisplay.plot
    monkeypatch.setattr(
        EmbeddingDisplay, "plot", lambda self, **how: drawn.append(self) or plot(self, **how)
    )
    mercer("plot", "embedding", model, numbered, "--label", "kind", "-o", tmp_path / "e.png")
    assert len(drawn[0].points_) == 1
    assert drawn[0].label_name == "kind"


def test_python_m_mercer():
    done = subprocess.run(
        [sys.executable, "-m", "mercer", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("mercer, version ")


TYPOS = {
    ("fit", "TRAIN", "--kernel", "gausian"): "Did you mean 'gaussian'?",
    ("fit", "TRAIN", "--solver", "arpack"): "Did you mean 'lanczos'?",
    ("fit", "TRAIN", "--n-components", "3"): "it is --components",
    ("fit", "TRAIN", "--target", "kind"): "it is --label",
    ("fit", "TRAIN", "--components", "two"): "give a whole number",
    ("fit", "TRAIN", "new.mercer"): "-o new.mercer",
    ("fit", "TRAIN", "-o", "m.csv"): "name it m.mercer",
    ("fit", "TRAIN", "--drop", "kinds"): "did you mean 'kind'?",
    ("plot", "scre", "MODEL", "-o", "x.png"): "Did you mean 'scree'?",
    ("plot", "MODEL", "scree", "-o", "x.png"): "KIND comes before MODEL",
    ("plot", "gallery", "MODEL", "-o", "x.png"): "give --image-shape",
    ("plot", "traversal", "MODEL", "-o", "x.png"): "--image-shape 1x4",
    ("tune", "TRAIN", "--noise", "high"): "'high' is not a number",
    ("sample", "MODEL", "5"): "-n 5",
    ("help", "fit"): "'mercer COMMAND --help'",
    ("predict", "MODEL", "TRAIN"): "'mercer novelty MODEL DATA'",
    ("inverse", "MODEL", "TRAIN"): "'mercer denoise ",
}


@pytest.mark.parametrize("line", TYPOS, ids=" ".join)
def test_a_typical_mistake_is_answered(mercer, model, train, tmp_path, line, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {"TRAIN": train, "MODEL": model}
    done = mercer(*(given.get(word, word) for word in line), status=None)
    assert done.status != 0
    assert TYPOS[line] in done.err, done.err
    assert not list(tmp_path.glob("x.*"))


def test_a_misspelt_file(mercer, model, train):
    wrong = train.with_name(train.name.replace("t", "tt", 1))
    assert f"did you mean '{train}'?" in mercer("fit", wrong, status=None).err
    wrong = model.with_name("x" + model.name)
    assert f"did you mean '{model}'?" in mercer("transform", wrong, train, status=None).err
