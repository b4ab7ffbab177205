"""Sizes, axes and other numbers may be arrays without dimensions, or results, of either library."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import gpunumpy

from .parity import on_host, outcome

NUMBERS = {
    "an array": "np.array(3)",
    "a result": "np.arange(3).sum()",
    "an element": "np.array([1, 3])[1]",
}

# Of a matrix `x` of 2 by 3 elements and of `N`, which is 3.
CALLS = """
np.eye(N)
np.eye(N, N, N - 1)
np.identity(N)
np.tri(N, N, k=N)
np.diag_indices(N)
np.diag_indices(N, N)
np.tril_indices(N)
np.triu_indices(N, N - 1, N)
np.mask_indices(N, np.triu)
np.zeros(N)
np.ones((N, 2))
np.full(N, 7)
np.full((N, N), N)
np.arange(N)
np.arange(0, N, N - 1)
np.linspace(0, 1, N)
np.logspace(0, 1, N)
np.geomspace(1, 8, N)
np.reshape(x, (2, N))
x.reshape(N, 2)
x.reshape(N, -1)
np.roll(x, N)
np.roll(x, N, axis=N - 2)
np.repeat(x, N)
np.repeat(x, N, axis=N - 3)
np.tile(x, N)
np.tile(x, (N, 1))
np.rot90(x, N)
np.diag(x[0], N)
np.diag(x, N - 2)
np.diagonal(x, N - 2)
np.trace(x, N - 2)
np.tril(x, N - 2)
np.moveaxis(x, N - 3, N - 2)
np.swapaxes(x, N - 3, N - 2)
np.rollaxis(x, N - 2)
np.expand_dims(x, N - 2)
np.squeeze(x[None], N - 3)
np.sum(x, N - 3)
x.sum(axis=N - 2)
np.cumsum(x, N - 2)
np.max(x, axis=N - 2)
np.argmax(x, N - 2)
np.mean(x, N - 2)
np.var(x, N - 2, ddof=N - 2)
np.median(x, N - 2)
np.percentile(x, N)
np.quantile(x, N / 4, axis=N - 2)
np.split(x, N, axis=1)
np.array_split(x, N)
np.hsplit(x, N)
np.take(x, N)
np.take(x, N - 2, axis=N - 2)
x.take(N)
np.partition(x, N - 2)
np.argpartition(x, N - 1)
np.sort(x, axis=N - 3)
np.round(x * 1.234, N)
np.around(x * 1.234, N - 1)
np.diff(x, N - 2)
np.diff(x, axis=N - 3)
np.vander(x[0], N)
np.polyfit(np.arange(6.0), np.arange(6.0) ** 2, N - 1)
np.fft.fft(x, N)
np.fft.fft(x, n=N, axis=N - 3)
np.fft.irfft(x, N)
np.fft.fft2(x, (N, N))
np.fft.fftn(x, (N,), (N - 3,))
np.fft.fftshift(x, N - 2)
np.histogram(x, N)[0]
np.histogram(x, bins=N, range=(0, N))[1]
np.bincount(np.array([1, 2]), minlength=N + 3)
np.unpackbits(np.array([7], 'u1'), count=N)
np.packbits(x > 2, axis=N - 2)
np.indices((N, 2))
np.ones_like(x, shape=N)
np.broadcast_to(np.arange(3), (N, 3))
np.resize(x, (N, N))
np.pad(x, N)
np.pad(x, (N, 0))
np.pad(x, ((N, 0), (0, N)), constant_values=N)
np.insert(x, N, 9)
np.insert(x, N - 2, 9, axis=N - 2)
np.delete(x, N)
np.delete(x, N - 2, axis=N - 2)
np.hamming(N)
np.kaiser(N, N)
np.bartlett(N)
np.hanning(N)
np.blackman(N)
np.unwrap(x * 2.0, axis=N - 3)
np.gradient(x, N)
np.gradient(x, axis=N - 2)
np.trapezoid(x, dx=N)
np.flip(x, N - 2)
np.concatenate([x, x], N - 2)
np.stack([x, x], N - 1)
np.apply_along_axis(np.sum, N - 2, x)
np.apply_over_axes(np.sum, x, N - 2)
np.average(x, N - 2)
np.count_nonzero(x, N - 2)
np.ptp(x, N - 2)
np.nansum(x, N - 2)
np.searchsorted(x[0], N)
np.digitize(x, [N])
np.choose(N - 3, [x, x])
np.clip(x, N - 2, N)
np.unravel_index(N, (2, 3))
np.ravel_multi_index((N - 2, N - 2), (2, 3))
np.linalg.matrix_power(np.eye(3) * 2, N)
np.linalg.norm(x, N - 2)
np.linalg.norm(x, axis=N - 2)
np.tensordot(x, x.T, N - 2)
np.cross(x, x, axis=N - 2)
np.cov(x, ddof=N - 2)
np.lib.stride_tricks.sliding_window_view(x, N, axis=N - 2)
np.lib.stride_tricks.as_strided(x, (N,), (8,))
np.ma.masked_greater(x, N)
np.ma.array(x, mask=x > 2).sum(N - 2)
np.unique(x, axis=N - 2)
np.isin(x, N)
np.array(x, ndmin=N)
np.float64(2) ** N
np.einsum(x, [0, 1], [N - 2])
np.split(x, [N - 2], axis=N - 2)
x[N - 2]
x[:N - 2]
x[N - 2:N, 0]
x[..., N - 1]
np.kron(x, N)
np.ldexp(1.5, N)
np.left_shift(1, N)
np.gcd(N, 6)
np.polynomial.polynomial.polyder([1, 2, 3, 4], N)
np.polynomial.chebyshev.chebgauss(N)
np.polyder([1, 2, 3, 4], N - 1)
np.polyint([1, 2], N)
np.nan_to_num(np.nan, nan=N)
np.tril_indices_from(np.eye(3), N - 2)
np.require(x, None, 'C')
np.frombuffer(b'12345678', 'u1', N, N - 1)
np.fromiter(range(9), int, N)
np.fromstring('1,2,3,4', sep=',', count=N)
np.block([[x], [x]])
np.convolve([1, 2], N)
np.interp(N, [1, 5], [1, 2])
np.select([x > N], [x], N)
np.where(x > N, x, N)
np.heaviside(x - N, N)
np.ix_([N - 2], [0])
np.array([N, 1])
np.array([[N, N], [1, 2]])
np.array((N, 2.5))
np.r_[N, 1:N]
np.c_[x[0], x[1]]
np.mgrid[0:N, 0:2]
np.iinfo(np.int8).max + N
""".strip().splitlines()


def _called(call: str, number: str, np: Any) -> Any:
    names = {"np": np, "x": np.arange(6).reshape(2, 3)}
    names["N"] = eval(number, names)
    result = outcome(lambda: eval(call, names))
    return tuple(result) if isinstance(result, list) else result


@pytest.mark.parametrize("place", ["auto", "device"])
@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("call", CALLS)
def test_calls(call: str, number: str, place: str, residence: None) -> None:
    gpunumpy.set_residence(place)
    found, expected = on_host(_called(call, number, gpunumpy)), _called(call, number, numpy)
    if isinstance(expected, Exception):
        assert type(found) is type(expected)
        return
    pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    for one, other in pairs:
        assert numpy.asarray(one).dtype == numpy.asarray(other).dtype
        numpy.testing.assert_allclose(numpy.asarray(one), numpy.asarray(other), rtol=1e-12, atol=1e-12, strict=True)
