"""The library routines of a GPU: ``CALLS[name](device, options, layouts, dtypes)`` prepares one.

`layouts` and `dtypes` are those of the result and the arguments; what is returned takes their pointers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.graph.layout import Layout
from ...core.runtime.device import Device
from ...nvlib import cufft
from ..codegen.program import Program
from ..fft.cuda_callbacks import fft_fused
from ..fft.cuda_scaled import fft_scaled
from ..folds.cuda import accumulate, fold, reduceat
from ..histogram.cuda import bincount, histogram
from ..indexing.cuda_masks import mask_elements, mask_offsets, mask_positions
from ..indexing.cuda_scatter import scatter
from ..linalg.cuda_decompositions import eig, eigh, qr, svd
from ..linalg.cuda_solvers import cholesky, inv, slogdet, solve
from ..products.cuda import matmul
from ..products.cuda_batch import fft_together, matmul_together
from ..random.cuda_bounded import bounded_draws, sampled, swapped
from ..random.cuda_mt19937 import PROGRAMS as TWISTER
from ..random.cuda_sequence import PROGRAMS as SEQUENCE
from ..random.cuda_words import stream_draws
from ..search.cuda import searchsorted
from ..sort.cuda import argsort, sort, sort_upper
from .program import Prepared, prepared

CALLS: dict[str, Callable[..., Prepared]] = {}


def _empty(device: Any, options: tuple[Any, ...], layouts: Any, dtypes: Any) -> Prepared:
    """Memory alone."""
    return lambda pointers: None


CALLS["empty"] = _empty
CALLS |= {"fft": cufft.fft, "fft_absorbed": fft_fused, "fft_scaled": fft_scaled}
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
