"""Properties in which executors differ. Passes, and functions that have two algorithms, choose by them."""

from __future__ import annotations

from math import inf

from ..late_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Traits:
    """The properties of an executor.

    Attributes
    ----------
    alignment
        The bytes of which an address is a multiple where its kernels load several elements at once; 1 if they do not
        ask for that.
    rewritten_bytes
        The bytes of the largest arrays of which one kernel writes all elements in less time than two kernels write
        some: an update that reads what it overwrites is written to a new buffer.
    host_bytes
        The bytes of the largest arrays with which NumPy computes at once in no more time than it takes to record an
        operation and to run it.
    host_multiplications
        The multiplications of the largest matrix products that are placed on the host.
    draws_faster_than_numpy
        Its kernels draw many random numbers faster than NumPy draws them.
    takes_epilogues
        Its matrix products apply elementwise operations to their results faster than a separate kernel would.
    calls_numpy
        A function of NumPy's takes less time over whole arrays than kernels that compute the same.
    correlated_taps
        The elements of the shorter of two vectors from which on its kernel for correlations takes less time than one
        that is generated; infinity if it has none.
    reduces_vector_products
        Its kernels multiply a small matrix and a vector in less time than it takes to call a library.
    recomputes_pairs
        Its kernels compute a value for each pair of points, such as a distance, again in less time than it takes to
        store and to load it.
    ignores_imaginary_ends
        Its transforms to real numbers ignore, as NumPy's do, the imaginary parts that such a spectrum cannot have.
    sums_long_rows_faster_than_blas
        Its reductions read the long rows of a large matrix faster than a BLAS product with a vector does.
    """

    alignment: int = 16
    rewritten_bytes: int = 1 << 20
    host_bytes: int = 1 << 15
    host_multiplications: int = 1 << 15
    draws_faster_than_numpy: bool = False
    takes_epilogues: bool = False
    calls_numpy: bool = False
    correlated_taps: float = inf
    reduces_vector_products: bool = False
    recomputes_pairs: bool = False
    ignores_imaginary_ends: bool = False
    sums_long_rows_faster_than_blas: bool = False
