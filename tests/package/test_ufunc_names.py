"""NumPy's ufuncs and the names that NumPy's namespace has for them."""

from __future__ import annotations

import numpy

from gpunumpy.core import numpy_ufuncs


def test_every_ufunc_of_numpy_is_found() -> None:
    public = {name: getattr(numpy, name) for name in numpy.__all__}
    expected = {name: found.__name__ for name, found in public.items() if isinstance(found, numpy.ufunc)}
    found = numpy_ufuncs.names()
    assert {name: found[name] for name in expected if name in found} == {
        name: expected[name] for name in expected if name in found
    }
    assert found.keys() >= expected.keys() - {"matmul"}
    assert found.keys() <= expected.keys()
    assert all(numpy_ufuncs.UFUNCS[name] is getattr(numpy, name) for name in expected.values())
