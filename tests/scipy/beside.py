"""The same call of SciPy's functions on NumPy arrays and of this package's on its arrays: results must agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy
import scipy

import gpunumpy
import gpunumpy.scipy
from gpunumpy.scipy.held import Held

# What is called: with the package (`scipy`, or `gpunumpy.scipy`), the namespace of arrays, and what makes its arrays of
# NumPy's.
Case: TypeAlias = Callable[[Any, Any, Callable[[Any], Any]], Any]


def agree(call: Case, device: str = "cpu", rtol: float = 1e-9) -> None:
    """Assert that a call gives for arrays of the device what SciPy gives, in classes of the same names."""
    reference = call(scipy, numpy, lambda x: numpy.array(x))
    found = call(gpunumpy.scipy, gpunumpy, lambda x: gpunumpy.array(x, device=device))
    compare(found, reference, device, rtol)


def compare(found: Any, reference: Any, device: str, rtol: float) -> None:
    """Assert that a result is SciPy's, with arrays of the device in place of NumPy's."""
    if isinstance(reference, numpy.ndarray | numpy.generic):
        if isinstance(reference, numpy.generic) and isinstance(found, numpy.generic):
            numpy.testing.assert_allclose(found, reference, rtol, rtol / 10)
            return
        assert type(found) is gpunumpy.ndarray
        assert str(found.device) == device
        assert (found.shape, found.dtype) == (reference.shape, reference.dtype)
        if reference.dtype.kind in "biufc":
            rtol = max(rtol, 1e-5) if reference.dtype.char in "fF" else rtol
            size: Any = numpy.max(numpy.abs(reference), initial=1.0, where=numpy.isfinite(reference))
            numpy.testing.assert_allclose(gpunumpy.asnumpy(found), reference, rtol, rtol * size)
        else:
            assert gpunumpy.asnumpy(found).tolist() == reference.tolist()
    elif isinstance(reference, dict):
        assert found.keys() == reference.keys()
        assert type(found) is type(reference)
        for key, part in reference.items():
            compare(found[key], part, device, rtol)
    elif isinstance(reference, list | tuple):
        assert len(found) == len(reference)
        assert type(found).__name__ == type(reference).__name__
        assert isinstance(found, type(reference))
        for tested, part in zip(found, reference):
            compare(tested, part, device, rtol)
    elif scipy.sparse.issparse(reference):
        assert isinstance(found, getattr(gpunumpy.scipy.sparse, type(reference).__name__))
        assert (found.format, found.shape, found.dtype) == (reference.format, reference.shape, reference.dtype)
        compare(found.toarray(), reference.toarray(), device, rtol)
    elif isinstance(reference, int | float | complex) and not isinstance(reference, bool):
        assert isinstance(found, type(reference) | gpunumpy.ndarray)
        difference: Any = abs(found - reference)
        assert found == reference or difference <= rtol * abs(reference) + rtol / 10
    elif type(reference).__module__.startswith("scipy.") and not callable(reference):
        assert isinstance(found, Held)
        assert type(found).__name__ == type(reference).__name__
    elif not callable(reference):
        assert found == reference
