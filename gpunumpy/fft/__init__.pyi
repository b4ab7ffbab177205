# Made by tools/stubs with NumPy 2.5.5; CONTRIBUTING.md says how.
# mypy: disable-error-code="override, overload-overlap"
from collections.abc import Sequence
from typing import SupportsIndex

from .. import _DeviceLike, _Norm, _Out, _Scalar, _ShapeLike, ndarray
from ..typing import ArrayLike, DTypeLike

def fft(
    a: ArrayLike,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: _Norm | None = None,
    out: _Out | None = None,
) -> ndarray: ...
def fft2(
    a: ArrayLike,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] | None = (-2, -1),
    norm: _Norm | None = None,
    out: _Out | None = None,
) -> ndarray: ...
def fftfreq(
    n: _Scalar, d: _Scalar = 1.0, device: _DeviceLike | None = None, *, dtype: DTypeLike | None = None
) -> ndarray: ...
def fftn(
    a: ArrayLike,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: _Norm | None = None,
    out: _Out | None = None,
) -> ndarray: ...
def fftshift(x: ArrayLike, axes: _ShapeLike | None = None) -> ndarray: ...
def hfft(
    a: ArrayLike,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: _Norm | None = None,
    out: _Out | None = None,
) -> ndarray: ...
def ifft(
    a: ArrayLike,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: _Norm | None = None,
    out: _Out | None = None,
) -> ndarray: ...
def ifft2(
    a: ArrayLike,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] | None = (-2, -1),
    norm: _Norm | None = None,
    out: _Out | None = None,
) -> ndarray: ...
def ifftn(
    a: ArrayLike,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: _Norm | None = None,
    out: _Out | None = None,
) -> ndarray: ...
def ifftshift(x: ArrayLike, axes: _ShapeLike | None = None) -> ndarray: ...
def ihfft(
    a: ArrayLike,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: _Norm | None = None,
    out: _Out | None = None,
) -> ndarray: ...
def irfft(
    a: ArrayLike,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: _Norm | None = None,
    out: _Out | None = None,
) -> ndarray: ...
def irfft2(
    a: ArrayLike,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] | None = (-2, -1),
    norm: _Norm | None = None,
    out: _Out | None = None,
) -> ndarray: ...
def irfftn(
    a: ArrayLike,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: _Norm | None = None,
    out: _Out | None = None,
) -> ndarray: ...
def rfft(
    a: ArrayLike,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: _Norm | None = None,
    out: _Out | None = None,
) -> ndarray: ...
def rfft2(
    a: ArrayLike,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] | None = (-2, -1),
    norm: _Norm | None = None,
    out: _Out | None = None,
) -> ndarray: ...
def rfftfreq(
    n: _Scalar, d: _Scalar = 1.0, device: _DeviceLike | None = None, *, dtype: DTypeLike | None = None
) -> ndarray: ...
def rfftn(
    a: ArrayLike,
    s: Sequence[SupportsIndex] | None = None,
    axes: Sequence[SupportsIndex] | None = None,
    norm: _Norm | None = None,
    out: _Out | None = None,
) -> ndarray: ...

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]
