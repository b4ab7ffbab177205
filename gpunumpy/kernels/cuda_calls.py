"""The library routines of a GPU: ``CALLS[name](device, options, layouts, dtypes)`` prepares one.

`layouts` and `dtypes` are those of the result and the arguments; what is returned takes their pointers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.device import Device
from ..core.layout import Layout
from ..nvlib import cufft
from .codegen.program import Program
from .cuda_bounded import bounded_draws, sampled, swapped
from .cuda_calls_blas import matmul
from .cuda_decompositions import eig, eigh, qr, svd
from .cuda_fft_callbacks import fft_absorbed
from .cuda_fft_scaled import fft_scaled
from .cuda_fold import accumulate, fold, reduceat
from .cuda_histogram import bincount, histogram
from .cuda_linalg_solve import cholesky, inv, slogdet, solve
from .cuda_masks import mask_elements, mask_offsets, mask_positions
from .cuda_program import Prepared, prepared
from .cuda_random import stream_draws
from .cuda_scatter import scatter
from .cuda_search import searchsorted
from .cuda_sequence import PROGRAMS as SEQUENCE
from .cuda_sort import argsort, sort, sort_upper
from .cuda_together import fft_together, matmul_together
from .cuda_twister import PROGRAMS as TWISTER

CALLS: dict[str, Callable[..., Prepared]] = {}


def _empty(device: Any, options: tuple[Any, ...], layouts: Any, dtypes: Any) -> Prepared:
    """Memory alone."""
    return lambda pointers: None


CALLS["empty"] = _empty
CALLS |= {"fft": cufft.fft, "fft_absorbed": fft_absorbed, "fft_scaled": fft_scaled}
CALLS |= {"bounded_draws": bounded_draws, "stream_draws": stream_draws}
CALLS["matmul"] = matmul
CALLS |= {"fft_together": fft_together, "matmul_together": matmul_together}
CALLS |= {"cholesky": cholesky, "det": slogdet, "inv": inv, "slogdet": slogdet, "solve": solve}
CALLS |= {"eig": eig, "eigh": eigh, "qr": qr, "svd": svd}


def _programmed(make: Callable[..., Program]) -> Callable[..., Prepared]:
    """A routine that is a program of kernels, made from the options, the layouts and the dtypes."""

    def prepare(device: Device, options: tuple[Any, ...], layouts: Sequence[Layout], dtypes: Sequence[Any]) -> Prepared:
        return prepared(device, make(options, layouts, dtypes), len(layouts))

    return prepare


_PROGRAMS: tuple[Callable[..., Program], ...] = (
    *(accumulate, fold, reduceat),
    *(argsort, sampled, searchsorted, sort, sort_upper, swapped),
    *(bincount, histogram),
    *(mask_elements, mask_offsets, mask_positions, scatter),
    *TWISTER,
    *SEQUENCE,
)
for _make in _PROGRAMS:
    CALLS[_make.__name__] = _programmed(_make)
