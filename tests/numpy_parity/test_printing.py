"""Text: repr, str and format as in NumPy, whatever is fetched for them."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from ml_dtypes import bfloat16

import gpunumpy as np
from gpunumpy.arrays import printing

from .parity import DTYPES, sample

SHAPES = ((), (0,), (1,), (5,), (3, 4), (2, 0), (2, 3, 4), (1001,), (1000,), (40, 50), (7, 7, 30), (6, 2000), (2000, 3))


@pytest.fixture(autouse=True, params=["corners", "whole"])
def fetched(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays on the device are fetched whole if they are small, or the corners of all that NumPy summarizes."""
    if request.param == "corners":
        monkeypatch.setattr(printing, "COPIED_BYTES", 0)


@pytest.mark.parametrize("dtype", [*DTYPES, bfloat16])
def test_repr_and_str(dtype: Any) -> None:
    for shape in SHAPES:
        reference = numpy.asarray(sample(dtype, shape, low=-1000, high=1000))
        tested = np.asarray(reference)
        assert repr(tested) == repr(reference), shape
        assert str(tested) == str(reference), shape


@pytest.mark.parametrize(
    "options",
    [
        {"threshold": 5},
        {"threshold": 5, "edgeitems": 1},
        {"precision": 2, "suppress": True},
        {"linewidth": 40, "threshold": 50},
        {"threshold": 10, "edgeitems": 0},
        {"sign": "+", "floatmode": "fixed"},
        *({"threshold": 5, "linewidth": 60, "legacy": release} for release in ("1.13", "1.21", "1.25", "2.1")),
    ],
    ids=str,
)
def test_print_options(options: dict[str, Any]) -> None:
    for reference in (sample("d", (4, 9)) / 7, sample("i4", (30,)), sample("F", (9, 3)), sample("f", (3, 3, 8)) * 1e10):
        with np.printoptions(**options):
            assert repr(np.asarray(reference)) == repr(reference)
            assert str(np.asarray(reference)) == str(reference)
            assert np.array_repr(np.asarray(reference), 60, 3) == numpy.array_repr(reference, 60, 3)


@pytest.mark.parametrize("shape", [(3,), (1001,), (40, 50)])
def test_repr_of_a_subclass_has_its_name(shape: tuple[int, ...]) -> None:
    reference = sample("f", shape)
    tested = np.asarray(reference).view(type("Meters", (np.ndarray,), {}))
    assert repr(tested) == repr(reference.view(type("Meters", (numpy.ndarray,), {})))


def test_array2string() -> None:
    reference = sample("d", (5, 30)) / 3
    tested = np.asarray(reference)
    for options in (
        {},
        {"precision": 2, "separator": ", "},
        {"threshold": 20, "edgeitems": 2},
        {"threshold": 20, "prefix": "abc", "suffix": ";", "max_line_width": 50},
        {"formatter": {"float": lambda v: f"<{v:.1f}>"}},
    ):
        assert np.array2string(tested, **options) == numpy.array2string(reference, **options)
        assert np.array2string(reference, **options) == numpy.array2string(reference, **options)
    assert np.array_str(tested, 40, 2) == numpy.array_str(reference, 40, 2)


def test_views_and_pending_values() -> None:
    reference = numpy.arange(6000.0).reshape(60, 100)
    tested = np.arange(6000.0).reshape(60, 100)
    for key in (numpy.s_[::-1], numpy.s_[:, ::2], numpy.s_[3], numpy.s_[2:, 5:6]):
        assert repr(tested[key]) == repr(reference[key])
        assert repr(tested[key] * 2 + 1) == repr(reference[key] * 2 + 1)
        assert repr(tested.T[key]) == repr(reference.T[key])


def test_a_large_array_is_not_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = []
    real = printing.to_host  # type: ignore[attr-defined]
    monkeypatch.setattr("gpunumpy.arrays.printing.to_host", lambda x: fetched.append(x.size) or real(x))
    repr(np.zeros((3000, 3000)))
    assert fetched == [49]


def test_scalars_print_as_scalars() -> None:
    for dtype in DTYPES:
        reference = sample(dtype, (3,)).max()
        tested = np.max(np.asarray(sample(dtype, (3,))))
        assert repr(tested) == repr(reference)
        assert str(tested) == str(reference)
    x, y = np.sum(np.arange(4.0)), numpy.arange(4.0).sum()
    for spec in ("", ".3f", "10.2e", ">12", "g"):
        assert format(x, spec) == format(y, spec)
        assert f"{np.array(2.5):{spec}}" == f"{numpy.array(2.5):{spec}}"
    assert f"{np.arange(3)}" == f"{numpy.arange(3)}"
    with pytest.raises(TypeError):
        format(np.arange(3), ".2f")
