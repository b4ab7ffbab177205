"""What NVRTC takes to compile a kernel of each function of hundreds of instructions: seconds of a processor, no GPU.

``GPUNUMPY_TIER=compiled PYTHONPATH=. python benchmarks/special_compile.py [NAME ...]``. The kernels are those of a
pretended GPU, for arrays of 2^20 numbers.
"""

from __future__ import annotations

import sys
import time
from functools import partial

import numpy
from compiled_together import ARCH, texts_of

import gpunumpy as np
from gpunumpy.core.ops.special import SPECIAL
from gpunumpy.kernels.cuda.nvrtc import compile_options, compiled
from gpunumpy.scipy import special


def compute(name: str, dtype: str) -> None:
    """Compute a function alone, by one kernel."""
    getattr(special, name)(*SPECIAL[name].arity * [np.asarray(numpy.ones(1 << 20, dtype))]).computed()


def main() -> None:
    print("| function | float32 | float64 |\n|---|---|---|")
    for name in sys.argv[1:] or [name for name, op in SPECIAL.items() if op.points]:
        cells = [name]
        for dtype in ("float32", "float64"):
            (text,) = texts_of(partial(compute, name, dtype))
            start = time.thread_time()
            compiled(text, "cubin", compile_options(ARCH))
            cells.append(f"{time.thread_time() - start:.2f}")
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
