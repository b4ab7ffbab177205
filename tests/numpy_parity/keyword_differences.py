"""Calls with keywords whose outcome is not NumPy's, each with the reason: see docs/differences.md."""

from __future__ import annotations

from typing import NamedTuple


class Difference(NamedTuple):
    """Documented difference from NumPy of the calls that a pattern matches.

    `what` differs: the "order" of the elements in memory, the "values" of the result, what the "arguments" are
    afterwards, which of several "errors" is reported, or "all". With `before`, only releases of NumPy before that one
    do otherwise.
    """

    pattern: str
    what: str
    reason: str
    before: str = ""


_STRIDED = "NumPy returns a view of transposed or larger memory; here results are contiguous"
# The dtype precedes the call that a pattern is matched with.
DIFFERENCES = (
    Difference("*: np.polyfit(*", "values", "the residuals of points on a line are what rounding leaves"),
    Difference("*: np.empty*", "values", "uninitialized"),
    Difference("*: np.linalg.svd(*", "values", "singular vectors have any signs"),
    Difference("*tan2.reduce*axis=*", "values", "NumPy's loop for AVX-512 does not fold rows in order"),
    Difference("*tan2.reduce*axis=*", "arguments", "NumPy's loop for AVX-512 does not fold rows in order"),
    Difference("*overwrite_input=*", "arguments", "what NumPy leaves in the input is undefined"),
    *(
        Difference(f"*: {call}*", "order", _STRIDED)
        for call in (
            *("np.nonzero(", "m.nonzero(", "np.mask_indices(", "np.unravel_index(", "np.argwhere(", "np.vander("),
            *("np.cross(", "np.linalg.cross(", "np.linalg.qr(", "np.linalg.svd(", "np.nanquantile("),
            *("np.histogram2d(", "np.histogramdd("),  # of small arrays, on the host
        )
    ),
    Difference("*: np.clip(m, *where=*", "values", "where the mask is false, nothing is decided"),
    Difference("*: m.clip(*where=*", "values", "where the mask is false, nothing is decided"),
    Difference("*: np.clip(m, a_min=*", "all", "the array API standard passes the lower bound alone"),
    Difference("*device=*", "all", "devices are named differently: an integer is the number of a GPU"),
    Difference("*like=*", "order", "a NumPy array made of an array of this package is a copy in C order"),
    Difference("*partition(*", "values", "partitions are sorted; what NumPy leaves in them is undefined"),
    Difference("*argsort(m, axis=None)", "values", "of equal elements any may come first; here the sort is stable"),
    Difference("*argsort(axis=None)", "values", "of equal elements any may come first; here the sort is stable"),
    Difference("*argsort(*kind='heapsort')", "values", "of equal elements any may come first; here the sort is stable"),
    Difference("*.resize((2, 2)*", "all", "views are looked for only where elements are lost"),
    Difference("*count=99*", "values", "uninitialized"),
    Difference("*: np.pad(*mode='empty'*", "values", "uninitialized"),
    Difference("*: np.pad(*constant_values='x'*", "all", "a text is no element; NumPy casts it"),
    Difference("*initial=(1, 2)*", "all", "a sequence is no first element; some of NumPy's loops take one"),
    Difference("*: np.array(*ndmax=0*", "all", "0 is the default; NumPy refuses its own default"),
    Difference("*: np.intersect1d(*assume_unique=True*", "all", "the elements are not unique: results are undefined"),
    Difference("*mask_indices(*k=1.5*", "all", "a diagonal is numbered by an integer; NumPy rounds in several ways"),
    Difference("*tri*(*k=1.5*", "all", "a diagonal is numbered by an integer; NumPy rounds in several ways"),
    Difference("*: np.tri(3, M=2.0)", "all", "a size is an integer"),
    Difference("*: np.nanmedian(m, out=*", "all", "`out` has the shape of the result; NumPy broadcasts here alone"),
    Difference("*quantile(*weights=(1, 2, 1, 3), axis=1*", "all", "NumPy's own weights of one dimension fail here"),
    Difference("*percentile(*weights=(1, 2, 1, 3), axis=1*", "all", "NumPy's own weights of one dimension fail here"),
    Difference("*quantile(*out=(new(rt),))", "all", "`out` is an array; NumPy returns the tuple"),
    Difference("*percentile(*out=(new(rt),))", "all", "`out` is an array; NumPy returns the tuple"),
    *(
        Difference(f"*: {call}*", "errors", "a call with several mistakes")
        for call in (
            *("np.cross(q, h, axisc=5", "np.median(m, out=", "np.nanmean(m, out=", "np.nanstd(m, out="),
            *("np.nanvar(m, out=", "np.nan???????*(m, *out=", "np.percentile(m, *out=", "np.quantile(m, *out="),
            *("np.ptp(m, *out=", "np.fft.*out=", "?p.put(*mode=9", "x.put(*mode=9"),
            *("np.*axes=((0, 1), (1, 0), (0, 1)), dtype", "np.*dtype=*, axes=((0, 1)", "np.stack(*out="),
            *("np.concat*out=", "np.*packbits(x, *order='x'"),
        )
    ),
    Difference("*einsum_call=True*", "all", "what the path holds beside names is NumPy's own"),
    Difference("*gradient(*edge_order=0*", "all", "uninitialized at the ends"),
    Difference("*: np.divmod(f, *out=*", "order", "an output that is given does not decide the order of another"),
    Difference("*: np.modf(f, *out=*", "order", "an output that is given does not decide the order of another"),
    Difference("*: np.frexp(f, *out=*", "order", "an output that is given does not decide the order of another"),
    Difference("*: np.matmul(*axes=*", "order", _STRIDED),
    Difference("*.reduce(m, out=new('??'))", "values", "the steps of a fold are not rounded to the dtype of `out`"),
    Difference("*.reduce(m, out=new('??'))", "arguments", "the steps of a fold are not rounded to the dtype of `out`"),
    Difference("*: m.view(dtype=None)", "all", "None is no dtype; NumPy takes it for float64"),
    Difference("*: m.???(*correction=*", "all", "methods take it as the functions do"),
    Difference("*.reduce(*keepdims=None*", "all", "it is true or false; NumPy asked for an integer", "2.4.0"),
    Difference("*.reduce(*keepdims='x'*", "all", "it is true or false; NumPy asked for an integer", "2.4.0"),
    Difference("*: np.einsum(*optimize=*", "all", "NumPy left out `dtype` and `order` with `optimize`", "2.4.0"),
    *(
        Difference(f"*: np.fft.{name}(*out=*", "all", "NumPy wrote nothing to `out`", "2.5.0")
        for name in ("hfft", "ifft2", "irfft2")
    ),
    Difference("c16: np.linalg.cond(*", "all", "a condition is real; NumPy's was complex", "2.4.0"),
    Difference("*: np.linalg.cross(*axis=None*", "all", "the default axis", "2.5.0"),
    Difference("*: np.linalg.eigvals(*", "all", "eigenvalues are complex numbers, whatever they are", "2.5.0"),
    Difference("*: np.trim_zeros(*axis=*", "all", "NumPy did not look at the axis", "2.4.0"),
    Difference("*: np.unique(*axis=(*", "all", "an axis is an integer", "2.4.0"),
)
