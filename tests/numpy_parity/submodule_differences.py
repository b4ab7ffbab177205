"""Calls of functions in submodules whose outcome is not NumPy's, each with the reason: see docs/differences.md."""

from __future__ import annotations

from fnmatch import fnmatchcase

from gpunumpy.core.numpy_release import RELEASE

from .keyword_differences import Difference

_NAMES = "NumPy's signature says a name that its function does not take"
_STD = "NumPy's `std` forgets `mean`, which its `var` takes"
_OUTPUT = "NumPy's own output fails, as its scalar has no mask"
_FILL = "NumPy forgets it where the array was not asked for its fill value before"
_LIST = "the functions of weights take lists as others do"
_MISTAKES = "a call with several mistakes"
_UNINITIALIZED = "uninitialized"
# The name and the dtype precede the call that a pattern is matched with.
DIFFERENCES = (
    Difference("strings.*partition *", "all", "NumPy's copy of texts of no characters has one"),
    Difference("rec.array i8: *f8*", "all", "NaNs of other bits become the integers"),
    Difference("lib.array_utils.byte_bounds *", "all", "addresses"),
    Difference("lib.stride_tricks.as_strided *shape=2)", "all", "a number is a shape, as in other functions"),
    Difference("lib.stride_tricks.as_strided *(1.5, 2))", "errors", _MISTAKES),
    Difference("lib.stride_tricks.sliding_window_view *(m, 1.5)", "errors", _MISTAKES),
    Difference("polynomial.*weight *((1, 2))", "all", _LIST),
    Difference("polynomial.legendre.legweight *(0.5)", "class", "a number on the device is an array"),
    Difference("random.*seed *.seed()", "all", "entropy of the system"),
    Difference("ma.*argsort *", "values", "of equal elements any may come first; here the sort is stable"),
    Difference("ma.*argpartition *", "values", "partitions are sorted; what NumPy leaves in them is undefined"),
    Difference("ma.MaskedArray.partition *", "arguments", "partitions are sorted; NumPy leaves any order in them"),
    Difference("ma.argsort *stable=True*", "all", "NumPy did not look at it", "2.5.0"),
    Difference("ma.empty *", "values", _UNINITIALIZED),
    Difference("ma.empty_like *", "values", _UNINITIALIZED),
    Difference("ma.*ids *", "all", "addresses"),
    Difference("ma.* device=3)", "all", "devices are named differently: an integer is the number of a GPU"),
    Difference("ma.MaskedArray.to_device *(None)", "all", "None is the default device"),
    *(Difference(f"ma.{name} *tup=*", "all", _NAMES) for name in ("?stack", "column_stack", "row_stack")),
    Difference("ma.stack *arrays=*", "all", _NAMES),
    Difference("ma.compress *condition=*a=*", "all", _NAMES),
    Difference("ma.diagflat *v=*", "all", _NAMES),
    Difference("ma.hsplit *ary=*", "all", _NAMES),
    Difference("ma.swapaxes *a=*", "all", _NAMES),
    Difference("ma.MaskedArray.fill *value=*", "all", "arguments may be named"),
    Difference("ma.*std *mean=*", "all", _STD),
    Difference("ma.*std *out=masked_new(*", "all", _OUTPUT),
    Difference("ma.*var *out=masked_new(*", "all", _OUTPUT),
    Difference("ma.MaskedArray.view *fill_value=*", "all", _FILL),
    Difference("ma.* *out=new(rt, 'C', 1))", "masks", "NumPy's mask has not the shape of such an output"),
    Difference("ma.allclose *, M(::-1))", "all", "NumPy broadcasts the mask to the first operand's shape"),
    Difference("ma.*dot *out=*", "errors", "outputs that are no masked arrays fail in NumPy otherwise"),
    Difference("ma.fix_invalid *fill_value=*", "all", "it is looked at whether or not an element is invalid"),
    Difference("ma.indices *sparse=True*", "all", "NumPy's own tuple of arrays fails"),
    Difference("ma.median *overwrite_input=True*", "arguments", "what NumPy leaves in the input is undefined"),
    Difference("ma.median f8: *axis=1, out=new(rt))", "all", "NumPy's own steps do not fit the output"),
    Difference("ma.median *out=*", "errors", _MISTAKES),
    Difference("ma.put *(M(1, 1)*", "errors", _MISTAKES),
    Difference("ma.putmask *(M(1, 1)*", "errors", _MISTAKES),
    Difference("ma.*ravel *order=None)", "all", "None is the default, as of other functions"),
    Difference("ma.squeeze *(M(1, 1))", "all", "an element is an array, which becomes a masked one"),
    Difference("ma.MaskedArray.searchsorted *side=None)", "errors", _MISTAKES),
    Difference("ma.MaskedArray.choose *", "errors", _MISTAKES),
)


def skipped_of(name: str, call: str, dtype: str) -> set[str]:
    """Return what of a call's outcome is not compared."""
    text = f"{name} {dtype}: {call}".replace("[", "(").replace("]", ")")
    return {
        difference.what
        for difference in DIFFERENCES
        if fnmatchcase(text, difference.pattern) and (not difference.before or difference.before > RELEASE)
    }
