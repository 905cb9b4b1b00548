"""Files with right checksums and wrong content: ModelFileError, or a model that stays finite."""

import copy
import json
import resource
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest

import mercer
from mercer.exceptions import MercerError, ModelFileError
from mercer.io.model_file import describe
from tests.fuzz import ODD, cases, pick, run
from tests.io.model_file.forge import assemble, parts
from tests.io.model_file.models import answers, estimators, rows

pytestmark = pytest.mark.filterwarnings("ignore")
#: Bytes that the process may grow by over all cases.
ROOM = 400 << 20
NAMES = (
    "exact",
    "landmarks",
    "incremental",
    "sparse",
    "novelty",
    "combined",
    "generative",
    "robust",
    "curve",
    "missing",
    "classifier",
)
VALUES = (
    None,
    True,
    "",
    "x",
    "gaussian",
    "nan",
    [],
    {},
    0.0,
    -1.5,
    1e308,
    5e-324,
    {"array": "subspace.coef"},
    {"scalar": "float64", "value": 1.0},
    {"tuple": [1]},
    {"object": "Gaussian", "with": {}},
    *ODD,
)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    return [estimators()[name].save(folder / f"{name}.mercer") for name in NAMES]


def places(node, found):
    """Every (container, key) of a JSON tree."""
    keys = list(node) if isinstance(node, dict) else range(len(node))
    for key in keys:
        found.append((node, key))
        if isinstance(node[key], dict | list):
            places(node[key], found)
    return found


def mutate_tree(rng, tree):
    node, key = pick(rng, places(tree, []))
    how = rng.integers(6)
    if how <= 1:
        node[key] = copy.deepcopy(pick(rng, VALUES))
    elif how == 2 and isinstance(node[key], int | float) and not isinstance(node[key], bool):
        node[key] = node[key] * pick(rng, (-1, 0, 0.5, 2, 1e6, 1e-6, 1e300)) + pick(rng, (0, 1, -1))
    elif how == 3:
        del node[key]
    elif how == 4:  # something from elsewhere in the file
        other, at = pick(rng, places(tree, []))
        node[key] = copy.deepcopy(other[at])
    elif isinstance(node, dict):
        node[pick(rng, ("x", "__class__", "kernel", "with", "array", "n_components"))] = node[key]
    else:
        node.append(copy.deepcopy(node[key]))


def mutate_tensors(rng, header, payload):
    """Another shape, type, name or order of the same bytes; or other numbers in them."""
    tensors = [name for name in header if name != "__metadata__"]
    if not tensors:
        return
    name = pick(rng, tensors)
    entry = header[name]
    how = rng.integers(5)
    if how == 0:
        entry["shape"] = pick(
            rng, (entry["shape"][::-1], [*entry["shape"], 1], [], [pick(rng, ODD)] * 2)
        )
    elif how == 1:
        entry["dtype"] = pick(rng, ("F64", "F32", "I64", "U8", "BOOL", "F16", "BF16", "C64", "x"))
    elif how == 2:
        other = pick(rng, tensors)
        header[name], header[other] = header[other], header[name]
    elif how == 3:
        entry["data_offsets"] = [entry["data_offsets"][0], pick(rng, (0, len(payload), *ODD))]
    else:
        start, stop = entry["data_offsets"]
        stop = min(stop, len(payload))
        width = 8 if entry["dtype"] in ("F64", "I64") else 4
        if stop - start >= width:
            at = start + width * int(rng.integers((stop - start) // width))
            number = pick(rng, (0.0, -1.0, 1e300, -1e300, 5e-324, np.nan, np.inf, 1e10))
            kind = {8: np.float64, 4: np.float32}[width]
            with np.errstate(over="ignore"):
                payload[at : at + width] = kind(number).tobytes()


@pytest.mark.parametrize("seeds", cases(100, 2500))
def test_forged_models_are_refused_or_finite(seeds, files):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    X = rows(7, seed=5)

    def case(rng):
        header, model, payload = parts(pick(rng, files))
        payload = bytearray(payload)
        for _ in range(int(rng.integers(1, 4))):
            if rng.random() < 0.6:
                mutate_tree(rng, model)
            elif rng.random() < 0.8:
                mutate_tensors(rng, header, payload)
            else:
                facts = json.loads(header["__metadata__"].get("data", "{}"))
                mutate_tree(rng, {"data": facts})
                header["__metadata__"]["data"] = json.dumps(facts)
        with tempfile.TemporaryDirectory(prefix="mercer-fuzz-") as folder:
            path = Path(folder) / "forged.mercer"
            try:
                assemble(path, header, model, bytes(payload))
            except (TypeError, ValueError, KeyError):  # what cannot be written at all
                return
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ask(path, X)

    run(seeds, case, "tests/io/model_file/test_fuzz.py")
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
    assert grown < ROOM, f"{grown >> 20} MB"


def ask(path, X):
    """Every answer of the model, where it loads; its own refusals are one line."""
    try:
        model = mercer.load(path)
    except ModelFileError as error:
        one_line(error)
        return
    describe(path)
    try:
        found = answers(model, X)
    except MercerError as error:  # a query that it says it cannot answer
        one_line(error)
        return
    for name, value in found.items():
        value = np.asarray(value)
        assert value.dtype.kind != "f" or np.isfinite(value).all(), f"{name} is not finite"


def one_line(error):
    assert "\n" not in str(error)
