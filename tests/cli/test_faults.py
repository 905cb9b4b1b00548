"""The wrong ways: every fault is one line with its cause and a remedy, and leaves no file."""

import io
import pickle
import shlex
import zipfile

import numpy as np
import pytest

from mercer._base.catalogue import KERNELS
from mercer.cli.options import _split
from tests.cli.conftest import make_rows, write_csv


def npy(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def huge_npy():
    file = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**4)}
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue()


def zip_bomb():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", huge_npy() + bytes(1000))
    return file.getvalue()


def climbing_archive():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("../../escape.npy", npy(np.array([[object()]]), allow_pickle=True))
    return file.getvalue()


DATA = {
    "nothing": ("x.csv", b"", ["empty"]),
    "names only": ("x.csv", b"a,b\n", ["no rows"]),
    "infinity": ("x.csv", b"a,b\n1,2\n3,1e999\n5,6\n", ["inf", "line 3", "'b'"]),
    "text": ("x.csv", b"a,b\n1,2\n3,red\n5,6\n", ["'b'", "--drop b", "--label b"]),
    "latin-1": ("x.csv", b"a,b\n1,2\n3,\xe9\n", ["'b'"]),
    "UTF-16": ("x.csv", "a,b\n1,2\n".encode("utf-16"), ["at least 2"]),
    "NUL": ("x.csv", b"a,b\n1,2\n3,\x004\n", ["line 3", "NUL"]),
    "ragged": ("x.csv", b"a,b\n1,2\n3,4,5\n", ["line 3", "3 fields"]),
    "open quote": ("x.csv", b'a,b\n1,2\n3,"4\n', ["line 3"]),
    "one row": ("x.csv", b"a,b\n1,2\n", ["at least 2"]),
    "constant": ("x.csv", b"a,b\n" + 5 * b"1,2\n", ["no variance"]),
    "one dimension": ("x.npy", npy(np.arange(9.0)), ["(9,)"]),
    "three dimensions": ("x.npy", npy(np.zeros((2, 3, 4))), ["(2, 3, 4)"]),
    "complex": ("x.npy", npy(np.ones((3, 3), complex)), ["complex128"]),
    "texts": ("x.npy", npy(np.full((3, 3), "a")), ["<U1"]),
    "dates": ("x.npy", npy(np.zeros((3, 3), "M8[s]")), ["datetime64"]),
    "pickled objects": ("x.npy", npy(np.array([[object()]]), allow_pickle=True), ["object"]),
    "80 TB": ("x.npy", huge_npy(), ["declares"]),
    "no numpy file": ("x.npy", b"hello", ["not a NumPy array"]),
    "zip bomb": ("x.npz", zip_bomb(), ["MB"]),
    "member that climbs": ("x.npz", climbing_archive(), ["holds objects"]),
    "no zip": ("x.npz", b"hello", ["not a readable .npz"]),
    "no Parquet": ("x.parquet", b"hello", ["not a Parquet"]),
    "unknown ending": ("x.doc", b"hello", ["'.doc'"]),
    "no workbook": ("x.xls", b"hello", ["not a workbook"]),
}


@pytest.mark.filterwarnings("ignore:.*is read as Latin-1")
@pytest.mark.parametrize(("name", "content", "words"), DATA.values(), ids=DATA)
def test_bad_data(mercer, tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content)
    mercer.fails("fit", path, "-o", tmp_path / "m.mercer", "-q", status=3, words=words)
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("hole", ["", "nan", "NA"])
def test_missing_values_of_few_rows(mercer, tmp_path, hole):
    """They are filled in, and the model is saved; if that is refused, the cell is named."""
    path, target = tmp_path / "x.csv", tmp_path / "m.mercer"
    path.write_text(f"a,b\n1,2\n3,{hole}\n5,6\n")
    fit = ("fit", path, "-o", target, "-q")
    mercer.fails(*fit, "--missing", "refuse", status=3, words=["line 3", "'b'", "mercer impute"])
    for model in ("kpca", "missing"):
        mercer(*fit, "--model", model, "--force")
        assert "nan" not in mercer("transform", target, path).out


MODELS = {
    "empty": b"",
    "text": b"hello",
    "pickle": pickle.dumps(KERNELS),
    "huge header": (2**40).to_bytes(8, "little") + b"{}",
}


@pytest.mark.parametrize("content", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("command", ["transform", "info", "score", "novelty", "sample", "impute"])
def test_bad_model_files(mercer, tmp_path, test, command, content):
    path = tmp_path / "m.mercer"
    path.write_bytes(content)
    args = [] if command in ("info", "sample") else [test]
    mercer.fails(command, path, *args, status=4, words=["m.mercer"])


def test_a_damaged_model_file(mercer, model, test):
    content = bytearray(model.read_bytes())
    content[-100] ^= 1
    model.write_bytes(content)
    mercer.fails("transform", model, test, status=4, words=["m.mercer"])
    mercer.fails("info", model, status=4, words=["m.mercer"])


USAGE = {
    "no file": (["fit"], "DATA"),
    "no model": (["transform"], "MODEL"),
    "no command": (["fitt", "x.csv"], "fitt"),
    "unknown model": (["fit", "{train}", "--model", "pca"], "pca"),
    "unknown kernel": (["fit", "{train}", "--kernel", "rbx"], "rbx"),
    "another kernel": (["fit", "{train}", "--kernel", "linear", "--gamma", "1"], "gamma"),
    "kernel parameter": (["fit", "{train}", "--kernel", "matern:mu=1"], "'mu'"),
    "no assignment": (["fit", "{train}", "--kernel", "matern:1.5"], "1.5"),
    "gamma": (["fit", "{train}", "--gamma", "wide"], "wide"),
    "components": (["fit", "{train}", "--components", "some"], "some"),
    "no components": (["fit", "{train}", "--components", "0"], "0"),
    "more than all": (["fit", "{train}", "--components", "1.5"], "1.5"),
    "kernels of another model": (["fit", "{train}", "--kernels", "5"], "--kernels"),
    "density of another model": (["fit", "{train}", "--density", "kde"], "--density"),
    "rate of another model": (["fit", "{train}", "--false-alarm-rate", ".1"], "--false-alarm-rate"),
    "rate": (["fit", "{train}", "--model", "novelty", "--false-alarm-rate", "2"], "2"),
    "sparse solver": (["fit", "{train}", "--solver", "greedy"], "davidson"),
    "eigensolver": (["fit", "{train}", "--model", "sparse", "--solver", "dense"], "greedy"),
    "landmarks": (["fit", "{train}", "--solver", "dense", "--landmarks", "9"], "--landmarks"),
    "model to the pipe": (["fit", "{train}", "-o", "-"], "--output"),
    "seed": (["fit", "{train}", "--seed", "-1"], "-1"),
    "picture ending": (["plot", "scree", "m.mercer", "-o", "x.gif"], ".png"),
    "picture kind": (["plot", "pie", "m.mercer", "-o", "x.png"], "pie"),
    "format": (["transform", "m.mercer", "-", "--format", "xls"], "xls"),
    "count": (["sample", "m.mercer", "-n", "0"], "0"),
}  # fmt: skip


@pytest.mark.parametrize(("args", "word"), USAGE.values(), ids=USAGE)
def test_wrong_usage(mercer, train, tmp_path, monkeypatch, args, word):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    args = [arg.format(train=train.name) for arg in args]
    mercer.fails(*args, status=2, words=[word, "--help"])
    assert sorted(tmp_path.iterdir()) == before


def test_files_that_are_not_there(mercer, model, tmp_path):
    mercer.fails("fit", tmp_path / "none.csv", status=3, words=["none.csv"])
    mercer.fails("transform", model, tmp_path / "none.csv", status=3, words=["none.csv"])
    mercer.fails("transform", tmp_path / "none.mercer", model, status=4, words=["none.mercer"])
    mercer.fails("info", tmp_path / "none.mercer", status=4, words=["none.mercer"])


def test_columns_that_are_not_there(mercer, model, train, tmp_path):
    few = write_csv(tmp_path / "few.csv", make_rows(5)[:, :2], ["length", "age"])
    mercer.fails("transform", model, few, status=3, words=["3 of", "'width'", "'height'"])
    mercer.fails("fit", train, "--columns", "age", status=3, words=["'age'", "'length'"])
    mercer.fails("fit", train, "--label", "sort", status=3, words=["'sort'", "'kind'"])
    mercer.fails("fit", train, "--label", "", status=3, words=["'kind'"])
    mercer.fails("fit", train, "--drop", "length,width,height,weight,kind", status=3,
                 words=["no column"])  # fmt: skip


def test_a_model_that_cannot(mercer, train, test, model, tmp_path):
    detector = tmp_path / "n.mercer"
    mercer("fit", train, "--drop", "kind", "--model", "novelty", "-o", detector, "-q")
    for command in ("transform", "denoise", "impute", "score", "inverse"):
        mercer.fails(command, detector, test, status=1, words=["KernelNovelty", "--model kpca"])
    mercer.fails("sample", model, status=1, words=["KernelPCA", "--model generative"])


def test_existing_output_is_kept(mercer, model, train, test, tmp_path):
    target = tmp_path / "z.csv"
    target.write_text("mine")
    before = model.read_bytes()
    mercer.fails("transform", model, test, "-o", target, status=1, words=["--force"])
    mercer.fails("fit", train, "--drop", "kind", "-o", model, status=1, words=["--force"])
    assert target.read_text() == "mine"
    assert model.read_bytes() == before
    mercer("transform", model, test, "-o", target, "--force")
    assert target.read_text().startswith("kernelpca0")


@pytest.mark.parametrize("name", ["none/z.csv", "z.xls", "z"])
def test_output_that_cannot_be_written(mercer, model, test, tmp_path, name):
    mercer.fails("transform", model, test, "-o", tmp_path / name, status=1)
    assert not [entry for entry in tmp_path.iterdir() if entry.name.startswith((".", "z"))]


def test_a_fit_without_room_is_refused_before_it_starts(mercer, train, monkeypatch, tmp_path):
    monkeypatch.setenv("MERCER_MEMORY", "20000")
    mercer.fails("fit", train, "--drop", "kind", "--solver", "dense", "-o", tmp_path / "m.mercer",
                 "-q", status=1, words=["landmarks", "MB"])  # fmt: skip


def test_a_folder_without_rows_is_called_so(mercer, fitted, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    for command in (["transform", fitted, folder], ["explore", folder, "--no-browser"]):
        mercer.fails(*command, status=3, words=["holds neither .png nor .parquet files"])


def test_a_model_that_was_never_fitted_is_no_table(mercer, log, tmp_path):
    model = tmp_path / "log.mercer"
    fit = f"fit it first: mercer fit {log} -o {model}"
    mercer.fails("transform", model, log, status=4, words=[fit])


def test_options_of_other_commands_are_known(mercer, log):
    words = ["'--noise'", "an option of 'mercer tune'"]
    mercer.fails("fit", log, "--noise", "0.3", status=2, words=words)


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
    empty = write_csv(tmp_path / "empty.csv", np.full((3, 4), np.nan))
    failures = [
        ("plot", "roc", model, train, "--label", "kind"),
        ("plot", "novelty", model),
        ("plot", "gallery", model, test, "--image-shape", "3x3"),
        ("plot", "samples", model),
        ("novelty", model, test, "--normal", write_csv(tmp_path / "seen.csv", make_rows())),
        ("fit", holes, "--missing", "refuse"),
        ("transform", model, empty),
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
    ("tune", "TRAIN", "--noise", "high"): "'high' is not a noise level; give a positive number,",
    ("sample", "MODEL", "5"): "-n 5",
    ("impute", "TRAIN"): "MODEL comes before DATA: 'mercer impute MODEL ",
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


def test_a_mistyped_file_is_named_before_its_model(mercer, train, tmp_path, monkeypatch):
    """It said that the model exists, and to replace it."""
    monkeypatch.chdir(tmp_path)
    mercer("fit", "train.csv", "-q")
    wrong = ["no file 'train.cvs'", "did you mean 'train.csv'"]
    for command in ("fit", "tune"):
        mercer.fails(command, "train.cvs", status=3, words=wrong)
    several = ["joined by commas", "--columns NAME,width"]
    mercer.fails("fit", "train.csv", "--columns", "height", "width", status=2, words=several)
