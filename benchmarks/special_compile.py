"""What NVRTC takes to compile a kernel of each function of hundreds of instructions: seconds of a processor, no GPU.

``GPUNUMPY_TIER=compiled PYTHONPATH=. python benchmarks/special_compile.py [NAME ...]``. The kernels are those of a
pretended GPU, for arrays of 2^20 numbers.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.ops.special import SPECIAL
from gpunumpy.kernels.cuda import compile as compiler
from gpunumpy.kernels.cuda.nvrtc import compile_options, compiled
from gpunumpy.scipy import special
from tests.support import fake_driver

ARCH = "sm_90"


def text_of(name: str, dtype: str) -> str:
    """Return the text of the kernel that applies the function alone."""
    texts: list[str] = []

    def noted(text: str, *target: Any) -> bytes:
        texts.append(text)
        return b"image"

    with pytest.MonkeyPatch.context() as patch:
        fake_driver.install(patch)
        patch.setattr(compiler, "_compile", noted)
        patch.setattr(compiler, "_image_on_disk", lambda key: None)
        with np.Device("cuda:0"):
            getattr(special, name)(*SPECIAL[name].arity * [np.asarray(numpy.ones(1 << 20, dtype))]).computed()
    (text,) = texts
    return text


def main() -> None:
    print("| function | float32 | float64 |\n|---|---|---|")
    for name in sys.argv[1:] or [name for name, op in SPECIAL.items() if op.points]:
        cells = [name]
        for text in (text_of(name, "float32"), text_of(name, "float64")):
            start = time.thread_time()
            compiled(text, "cubin", compile_options(ARCH))
            cells.append(f"{time.thread_time() - start:.2f}")
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
