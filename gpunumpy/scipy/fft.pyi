# Made by tools/stubs with SciPy 1.18.1; CONTRIBUTING.md says how.
# mypy: disable-error-code="misc, override"
from typing import Any

from .. import ndarray

def dct(
    x: Any,
    type: Any = 2,
    n: Any = None,
    axis: Any = -1,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    orthogonalize: Any = None,
) -> ndarray: ...
def dctn(
    x: Any,
    type: Any = 2,
    s: Any = None,
    axes: Any = None,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    *,
    orthogonalize: Any = None,
) -> ndarray: ...
def dst(
    x: Any,
    type: Any = 2,
    n: Any = None,
    axis: Any = -1,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    orthogonalize: Any = None,
) -> ndarray: ...
def dstn(
    x: Any,
    type: Any = 2,
    s: Any = None,
    axes: Any = None,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    orthogonalize: Any = None,
) -> ndarray: ...
def fft(
    x: Any,
    n: Any = None,
    axis: Any = -1,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    *,
    plan: Any = None,
) -> Any: ...
def fft2(
    x: Any,
    s: Any = None,
    axes: Any = ...,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    *,
    plan: Any = None,
) -> Any: ...
def fftfreq(n: Any, d: Any = 1.0, *, xp: Any = None, device: Any = None) -> ndarray: ...
def fftn(
    x: Any,
    s: Any = None,
    axes: Any = None,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    *,
    plan: Any = None,
) -> Any: ...
def fftshift(x: Any, axes: Any = None) -> ndarray: ...
def fht(a: Any, dln: Any, mu: Any, offset: Any = 0.0, bias: Any = 0.0) -> Any: ...
def fhtoffset(dln: Any, mu: Any, initial: Any = 0.0, bias: Any = 0.0) -> Any: ...
def get_workers() -> Any: ...
def hfft(
    x: Any,
    n: Any = None,
    axis: Any = -1,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    *,
    plan: Any = None,
) -> ndarray: ...
def hfft2(
    x: Any,
    s: Any = None,
    axes: Any = ...,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    *,
    plan: Any = None,
) -> ndarray: ...
def hfftn(
    x: Any,
    s: Any = None,
    axes: Any = None,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    *,
    plan: Any = None,
) -> ndarray: ...
def idct(
    x: Any,
    type: Any = 2,
    n: Any = None,
    axis: Any = -1,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    orthogonalize: Any = None,
) -> ndarray: ...
def idctn(
    x: Any,
    type: Any = 2,
    s: Any = None,
    axes: Any = None,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    orthogonalize: Any = None,
) -> ndarray: ...
def idst(
    x: Any,
    type: Any = 2,
    n: Any = None,
    axis: Any = -1,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    orthogonalize: Any = None,
) -> ndarray: ...
def idstn(
    x: Any,
    type: Any = 2,
    s: Any = None,
    axes: Any = None,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    orthogonalize: Any = None,
) -> ndarray: ...
def ifft(
    x: Any,
    n: Any = None,
    axis: Any = -1,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    *,
    plan: Any = None,
) -> Any: ...
def ifft2(
    x: Any,
    s: Any = None,
    axes: Any = ...,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    *,
    plan: Any = None,
) -> Any: ...
def ifftn(
    x: Any,
    s: Any = None,
    axes: Any = None,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    *,
    plan: Any = None,
) -> Any: ...
def ifftshift(x: Any, axes: Any = None) -> ndarray: ...
def ifht(A: Any, dln: Any, mu: Any, offset: Any = 0.0, bias: Any = 0.0) -> Any: ...
def ihfft(
    x: Any,
    n: Any = None,
    axis: Any = -1,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    *,
    plan: Any = None,
) -> Any: ...
def ihfft2(
    x: Any,
    s: Any = None,
    axes: Any = ...,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    *,
    plan: Any = None,
) -> ndarray: ...
def ihfftn(
    x: Any,
    s: Any = None,
    axes: Any = None,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    *,
    plan: Any = None,
) -> Any: ...
def irfft(
    x: Any,
    n: Any = None,
    axis: Any = -1,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    *,
    plan: Any = None,
) -> ndarray: ...
def irfft2(
    x: Any,
    s: Any = None,
    axes: Any = ...,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    *,
    plan: Any = None,
) -> ndarray: ...
def irfftn(
    x: Any,
    s: Any = None,
    axes: Any = None,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    *,
    plan: Any = None,
) -> ndarray: ...
def next_fast_len(target: Any, real: Any = False) -> Any: ...
def prev_fast_len(target: Any, real: Any = False) -> Any: ...
def register_backend(backend: Any) -> Any: ...
def rfft(
    x: Any,
    n: Any = None,
    axis: Any = -1,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    *,
    plan: Any = None,
) -> Any: ...
def rfft2(
    x: Any,
    s: Any = None,
    axes: Any = ...,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    *,
    plan: Any = None,
) -> ndarray: ...
def rfftfreq(n: Any, d: Any = 1.0, *, xp: Any = None, device: Any = None) -> ndarray: ...
def rfftn(
    x: Any,
    s: Any = None,
    axes: Any = None,
    norm: Any = None,
    overwrite_x: Any = False,
    workers: Any = None,
    *,
    plan: Any = None,
) -> Any: ...
def set_backend(backend: Any, coerce: Any = False, only: Any = False) -> Any: ...
def set_global_backend(backend: Any, coerce: Any = False, only: Any = False, try_last: Any = False) -> Any: ...
def set_workers(workers: Any) -> Any: ...
def skip_backend(backend: Any) -> Any: ...

__all__ = [
    "dct",
    "dctn",
    "dst",
    "dstn",
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "fht",
    "fhtoffset",
    "get_workers",
    "hfft",
    "hfft2",
    "hfftn",
    "idct",
    "idctn",
    "idst",
    "idstn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ifht",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "next_fast_len",
    "prev_fast_len",
    "register_backend",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
    "set_backend",
    "set_global_backend",
    "set_workers",
    "skip_backend",
]
