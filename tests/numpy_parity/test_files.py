"""Files of arrays of every dtype: what is written is NumPy's to the byte, what is read is an array of this package."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import gpunumpy as np

from .test_every_dtype import DATA as HOST_DATA
from .test_every_number import DATA as NUMBERS

DATA = HOST_DATA | NUMBERS
_OF_STRINGS = pytest.mark.filterwarnings("ignore:Custom dtypes are saved as python objects")
# Of texts without a fixed size, and of objects, there are only pickles.
_WITHOUT_RAW_BYTES = ("StringDType", "object", "object of texts")


def _same(found: Any, expected: numpy.ndarray) -> None:
    assert type(found) is np.ndarray
    assert found.dtype == expected.dtype
    assert repr(found.tolist()) == repr(expected.tolist())


@_OF_STRINGS
@pytest.mark.parametrize("kind", DATA)
def test_one_array(kind: str, tmp_path: Path) -> None:
    for data in (DATA[kind], DATA[kind][:4].reshape(2, 2).T):
        np.save(tmp_path / "a.npy", np.asarray(data), allow_pickle=True)
        numpy.save(tmp_path / "b.npy", data, allow_pickle=True)
        assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()
        _same(np.load(tmp_path / "a.npy", allow_pickle=True), data)


@_OF_STRINGS
@pytest.mark.parametrize("options", [{}, {"allow_pickle": True}, {"allow_pickle": True, "encoding": "latin1"}])
@pytest.mark.parametrize("save", ["savez", "savez_compressed"])
def test_archives(save: str, options: dict[str, Any], tmp_path: Path) -> None:
    arrays = {kind: np.asarray(data) for kind, data in DATA.items() if options or not data.dtype.hasobject}
    arrays |= {"sum": np.arange(3.0).sum()}
    getattr(np, save)(tmp_path / "a.npz", np.arange(2), **arrays)
    with np.load(str(tmp_path / "a.npz"), **options) as archive:
        assert archive.files == [*arrays, "arr_0"]
        for kind, array in arrays.items():
            _same(archive[kind], array.get())
        assert all(type(array) is np.ndarray for array in archive.values())
    with numpy.load(tmp_path / "a.npz", allow_pickle=True) as archive:
        assert all(type(array) is numpy.ndarray for array in archive.values())


def test_objects_are_refused_unless_asked_for(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([1, None]), allow_pickle=True)
    np.savez(tmp_path / "a.npz", np.array([1, None]))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        np.load(tmp_path / "a.npy")
    with np.load(tmp_path / "a.npz") as archive, pytest.raises(ValueError, match="allow_pickle=False"):
        archive["arr_0"]


@pytest.mark.parametrize("kind", [kind for kind in DATA if kind not in _WITHOUT_RAW_BYTES])
def test_bytes_and_mapped_files(kind: str, tmp_path: Path) -> None:
    data = DATA[kind]
    np.asarray(data).tofile(tmp_path / "raw")
    assert (tmp_path / "raw").read_bytes() == data.tobytes()
    _same(np.fromfile(tmp_path / "raw", data.dtype), data)
    _same(np.fromfile(tmp_path / "raw", data.dtype, count=2, offset=data.itemsize), data[1:3])
    mapped = np.memmap(tmp_path / "raw", data.dtype, "r+", shape=(2, 3))
    mapped[1] = np.asarray(data)[:3]
    mapped.flush()
    expected = numpy.concatenate([data[:3], data[:3]])
    _same(np.fromfile(tmp_path / "raw", data.dtype), expected.astype(data.dtype))
    _same(np.concatenate([np.asarray(data), mapped[1]]), numpy.concatenate([data, data[:3]]))
    np.save(tmp_path / "a.npy", np.asarray(data))
    assert isinstance(np.load(tmp_path / "a.npy", mmap_mode="r"), np.memmap)


_TABLE = "# a b\n1 2.5\n3 4\n"


def _from_text(xp: Any) -> Any:
    with tempfile.TemporaryFile("w+") as file:
        file.write("1, 2, 3")
        file.seek(0)
        return xp.fromfile(file, "i4", sep=",")


READERS: dict[str, Callable[[Any], Any]] = {
    "loadtxt": lambda xp: xp.loadtxt(io.StringIO(_TABLE)),
    "loadtxt of records": lambda xp: xp.loadtxt(io.StringIO(_TABLE), [("a", "i4"), ("b", "f8")]),
    "loadtxt, columns": lambda xp: xp.loadtxt(io.StringIO(_TABLE), unpack=True),
    "loadtxt of texts": lambda xp: xp.loadtxt(["a bc", "d e"], str),
    "loadtxt of dates": lambda xp: xp.loadtxt(["2020-01-01", "2021-01-01"], "M8[D]"),
    "genfromtxt": lambda xp: xp.genfromtxt(io.StringIO(_TABLE)),
    "genfromtxt, names": lambda xp: xp.genfromtxt(io.StringIO(_TABLE), names=True),
    "genfromtxt, any": lambda xp: xp.genfromtxt(["a,1,", "b,2,2.5"], delimiter=",", dtype=None, encoding="utf-8"),
    "genfromtxt, columns": lambda xp: xp.genfromtxt(["1,2", "3,4"], delimiter=",", unpack=True),
    "genfromtxt, masked": lambda xp: xp.genfromtxt(["1,,3"], delimiter=",", usemask=True).filled(9),
    "fromregex": lambda xp: xp.fromregex(io.StringIO("12 ab\n3 cd"), r"(\d+)\s+(..)", [("n", "i8"), ("s", "S2")]),
    "fromstring": lambda xp: xp.fromstring("1 2 3", sep=" "),
    "fromfile of text": _from_text,
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_texts(read: Callable[[Any], Any]) -> None:
    found, expected = read(np), read(numpy)
    for pair in zip(found, expected) if isinstance(expected, list) else ((found, expected),):
        _same(*pair)


@pytest.mark.parametrize("kind", DATA)
def test_writing_texts(kind: str) -> None:
    texts = []
    for xp in (numpy, np):
        file = io.StringIO()
        xp.savetxt(file, xp.asarray(DATA[kind]), fmt="%s", header="h", footer="f")
        texts.append(file.getvalue())
    assert texts[1] == texts[0]
