"""array-api-compat and array-api-extra take gpunumpy arrays as they are."""

from __future__ import annotations

import array_api_compat as compat
import array_api_extra as xpx
import numpy
import pytest

import gpunumpy
from gpunumpy.arrays.namespace_info import EDITIONS

from .ecosystem import Case, agree

RANDOM = numpy.random.default_rng(0)
X, V, W = RANDOM.normal(size=(12, 4)), RANDOM.normal(size=30), RANDOM.normal(size=5)
N = RANDOM.integers(0, 6, 20)
HOLES = numpy.array([[1.0, numpy.nan, numpy.inf], [2.0, 3.0, numpy.nan]])


@pytest.mark.parametrize("version", [None, *EDITIONS])
def test_the_namespace_is_ours(device: str, version: str | None) -> None:
    x = gpunumpy.ones((2, 3), device=device)
    assert compat.array_namespace(x, 1.0, None, x + x, x.sum(), api_version=version) is gpunumpy
    assert x.__array_namespace__(api_version=version) is gpunumpy


def test_scalars_of_every_extension_are_of_the_namespace(at_home: str) -> None:
    x = gpunumpy.ones((2, 2))
    scalars = (gpunumpy.linalg.vector_norm(x), gpunumpy.linalg.det(x), gpunumpy.linalg.trace(x), x.sum(), x[0, 0])
    assert compat.array_namespace(x, *scalars) is gpunumpy
    assert {str(compat.device(scalar)) for scalar in scalars} == {at_home}


def test_what_there_is_to_ask(device: str) -> None:
    x = gpunumpy.ones((2, 3), device=device)
    assert compat.is_array_api_obj(x)
    assert compat.device(x) == x.device  # type: ignore[union-attr]
    assert compat.size(x) == 6
    assert compat.is_writeable_array(x)
    assert not compat.is_lazy_array(x)
    assert not compat.is_lazy_array(gpunumpy.ones((2, 0), device=device))
    for name in ("numpy", "cupy", "torch", "jax", "dask", "pydata_sparse"):
        assert not getattr(compat, f"is_{name}_array")(x)
        assert not getattr(compat, f"is_{name}_namespace")(gpunumpy)


def test_to_another_device(device: str) -> None:
    x = gpunumpy.arange(6.0, device=device)
    assert compat.to_device(x, x.device) is x
    there = compat.to_device(x, "cpu")
    assert compat.device(there) == gpunumpy.Device("cpu")
    assert there.tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(TypeError, match="namespaces"):
        compat.array_namespace(x, numpy.ones(2))


EXTRA: dict[str, Case] = {
    "angle": lambda xp, a: xpx.angle(a(X + 1j)),
    "apply_where": lambda xp, a: xpx.apply_where(a(X) > 0, a(X), xp.log, lambda x: -x),
    "apply_where, filled": lambda xp, a: xpx.apply_where(
        a(X) > 0, (a(X), a(X)), lambda x, y: xp.log(x) + y, fill_value=xp.nan
    ),
    "argpartition": lambda xp, a: xp.sort(xpx.argpartition(a(V), 5)[:5]),
    "at set": lambda xp, a: xpx.at(a(X), 2).set(1.0),
    "at add, mask": lambda xp, a: xpx.at(a(X))[a(X) > 0].add(1.0),
    "at max, slice": lambda xp, a: xpx.at(a(X))[:, 1:3].max(0.5),
    "at, a copy": lambda xp, a: xpx.at(a(X))[3, :].multiply(2.0, copy=True),
    "at, 0-d result": lambda xp, a: xpx.at(xp.sum(a(X)), ()).set(3.0),
    "at, 0-d result, mask": lambda xp, a: xpx.at(xp.sum(a(X)), xp.asarray(True)).multiply(3.0),
    "at, 0-d result, no mask": lambda xp, a: xpx.at(xp.sum(a(X)), xp.asarray(False)).multiply(3.0),
    "atleast_nd": lambda xp, a: xpx.atleast_nd(a(V), ndim=3),
    "cov": lambda xp, a: xpx.cov(a(X)),
    "cov, weights": lambda xp, a: xpx.cov(a(X), axis=0, fweights=a(numpy.arange(1, 13)), aweights=a(X[:, 0] ** 2)),
    "create_diagonal": lambda xp, a: xpx.create_diagonal(a(W), offset=-2),
    "default_dtype": lambda xp, a: xpx.default_dtype(xp) == xp.float64,
    "deg2rad": lambda xp, a: xpx.deg2rad(a(X)),
    "diag_indices": lambda xp, a: xpx.diag_indices(4, xp=xp),
    "isclose": lambda xp, a: xpx.isclose(a(HOLES), a(HOLES + 1e-12), equal_nan=True),
    "isin": lambda xp, a: xpx.isin(a(N), a(N[:3])),
    "kron": lambda xp, a: xpx.kron(a(X), a(X[:2, :2])),
    "lazy_apply": lambda xp, a: xpx.lazy_apply(lambda x: x * 2, a(X)),
    "lazy_apply, NumPy": lambda xp, a: xpx.lazy_apply(numpy.cumsum, a(V), as_numpy=True),
    "nan_to_num": lambda xp, a: xpx.nan_to_num(a(HOLES), fill_value=2.0),
    "nanmax": lambda xp, a: xpx.nanmax(a(HOLES), axis=1),
    "nanmean": lambda xp, a: xpx.nanmean(a(HOLES[:, :2]), axis=0),
    "nunique": lambda xp, a: xpx.nunique(a(N)),
    "one_hot": lambda xp, a: xpx.one_hot(a(N), 6, axis=0),
    "pad": lambda xp, a: xpx.pad(a(X), ((1, 2), (0, 1)), constant_values=3.0),
    "partition": lambda xp, a: xpx.partition(a(V), 5)[5],
    "searchsorted": lambda xp, a: xpx.searchsorted(a(numpy.sort(V)), a(W), side="right"),
    "setdiff1d": lambda xp, a: xp.sort(xpx.setdiff1d(a(N), a(N[:3]))),
    "sinc": lambda xp, a: xpx.sinc(a(X)),
    "tril_indices": lambda xp, a: xpx.tril_indices(4, offset=1, xp=xp),
    "union1d": lambda xp, a: xp.sort(xpx.union1d(a(N), a(N[:3] + 4))),
    "unravel_index": lambda xp, a: xpx.unravel_index(a(N), (3, 2)),
}


@pytest.mark.parametrize("name", EXTRA)
def test_array_api_extra(at_home: str, name: str) -> None:
    agree(EXTRA[name], at_home)


def test_where_at_writes(device: str) -> None:
    """`at` updates in place what can be written, 0-d results among it."""
    x = gpunumpy.ones((2, 3), device=device)
    assert xpx.at(x)[0, :].set(5.0) is x
    assert x.tolist() == [[5, 5, 5], [1, 1, 1]]
    total = x.sum()
    assert xpx.at(total)[()].set(0.0, copy=False) is total
    assert total == 0
