"""Sixteen small kernels compiled one by one, and as one program: seconds of a processor in NVRTC, without a GPU.

``GPUNUMPY_TIER=compiled PYTHONPATH=. python benchmarks/compiled_together.py``. The kernels are those of a pretended
GPU, and have the same helpers, which are there once in the program of all. Each figure is the least of three.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy
import pytest

import gpunumpy as np
from gpunumpy.kernels.cuda import compile as compiler
from gpunumpy.kernels.cuda.nvrtc import compile_options, compiled
from tests.support import fake_driver

ARCH = "sm_90"
KERNEL = 'extern "C" __global__'
NAME = re.compile(r"(__launch_bounds__\(\d+\) )\w+\(")
ROUNDS = 3

Step = Callable[[Any], Any]
# Four steps of each kind are sixteen kernels of two steps, whose texts differ and whose helpers do not.
STEPS: dict[str, Sequence[Step]] = {
    "arithmetic": (lambda x: x + 2, lambda x: x * x, lambda x: 1 - x, lambda x: x * 3),
    "division": (lambda x: x / 3, lambda x: 2 / x, lambda x: (x + 1) / x, lambda x: x / (x + 2)),
    "exponentials": (lambda x: np.exp(x), lambda x: np.exp(-x), lambda x: np.exp(x * x), lambda x: x * np.exp(x)),
}


def texts_of(work: Callable[[], None]) -> list[str]:
    """Return the texts of the kernels that work takes on a GPU, which is pretended."""
    texts: list[str] = []

    def noted(text: str, *target: Any) -> bytes:
        texts.append(text)
        return b"image"

    with pytest.MonkeyPatch.context() as patch:
        fake_driver.install(patch)
        patch.setattr(compiler, "_compile", noted)
        patch.setattr(compiler, "_image_on_disk", lambda key: None)
        with np.Device("cuda:0"):
            work()
    return texts


def compute_pairs(steps: Sequence[Step]) -> None:
    """Compute each pair of steps by a kernel."""
    for first, second in itertools.product(steps, repeat=2):
        second(first(np.asarray(numpy.ones(1 << 20)))).computed()


def joined(texts: Sequence[str]) -> str:
    """Return one program of all kernels: the longest of the heads, which has all helpers, and each kernel once."""
    head = max((text.partition(KERNEL)[0] for text in texts), key=len)
    kernels = (KERNEL + text.partition(KERNEL)[2] for text in texts)
    return head + "".join(NAME.sub(rf"\1kernel_{k}(", text) for k, text in enumerate(kernels))


def seconds(texts: Sequence[str]) -> float:
    took = []
    for _ in range(ROUNDS):
        start = time.thread_time()
        for text in texts:
            compiled(text, "cubin", compile_options(ARCH))
        took.append(time.thread_time() - start)
    return min(took)


def main() -> None:
    print("| 16 kernels of | one by one (s) | one program (s) | ratio | the longest alone (s) |\n" + "|---" * 5 + "|")
    for name, steps in STEPS.items():
        texts = texts_of(partial(compute_pairs, steps))
        alone, together = seconds(texts), seconds([joined(texts)])
        longest = max(seconds([text]) for text in texts)
        print(f"| {name}, {len(texts)} | {alone:.2f} | {together:.2f} | {together / alone:.2f} | {longest:.2f} |")


if __name__ == "__main__":
    main()
