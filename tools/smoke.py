"""Try an installed package, in an environment without its tests: python tools/smoke.py [--core compiled|python].

It is run by its path, so what it imports is the installed package and not the checkout's.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import numpy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--core", choices=("compiled", "python"), default="compiled", help="the core that is to run")
    options = parser.parse_args()
    warnings.simplefilter("error")
    import gpunumpy
    from gpunumpy.core import _native
    from gpunumpy.demo import names

    checkout = Path(__file__).resolve().parents[1]
    package = Path(gpunumpy.__file__).resolve().parent
    assert package.parent != checkout, f"{package} is the checkout's package, not an installed one"
    gpunumpy.show_config()
    assert (options.core == "compiled") == _native.IS_COMPILED, f"the core is not {options.core}"
    if hasattr(sys, "_is_gil_enabled") and _native.IS_COMPILED:
        free_threaded = "t" in getattr(sys, "abiflags", "")
        assert sys._is_gil_enabled() != free_threaded, "an import has turned the GIL on"  # type: ignore[attr-defined,unused-ignore]
    for residence in ("auto", "device"):
        gpunumpy.set_residence(residence)
        assert run(gpunumpy) == run(numpy)
    for data in ("py.typed", "__init__.pyi", "kernels/sort/sort.cuh"):
        assert (package / data).is_file(), f"{data} is not in the package"
    assert "heat" in names(), "the package has no examples"


def run(np: object) -> list[object]:
    """Whole numbers, so that the order of sums does not matter."""
    x = np.arange(12.0).reshape(3, 4)  # type: ignore[attr-defined]
    y = x.T.copy()
    y[1:, ::2] += 5
    product = x @ y
    product[product > 60] = 0
    return [product.tolist(), float(y.sum()), np.sort(-x.ravel())[:3].tolist(), int(np.linalg.matrix_rank(x))]  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
