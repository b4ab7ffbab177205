"""Prints where pending graphs of programs are cut, and how far each search for the place came, with the core chosen."""

from __future__ import annotations

from types import CodeType

import numpy

import gpunumpy as np
from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.loop_cut import LoopCut


def nested(turns: int, inner: int) -> np.ndarray:
    x = np.asarray(numpy.linspace(0, 1, 40))
    for _ in range(turns):
        for _ in range(inner):
            x = np.sin(x + 1) * 2 - x
            x = x - x.mean()
        total = x
        for k in range(inner):
            total = total + np.cos(x[k : k + 4]).sum() * x
        x = x + total
    return x


def part(x: np.ndarray, k: int) -> np.ndarray:
    a = np.sin(x + k)
    b = np.cos(a * 2)
    return a * np.sqrt(abs(a - b)) - b * np.exp(-a * b)


def called(turns: int) -> np.ndarray:
    x = np.zeros((8, 8))
    for k in range(turns):
        x += part(x, k)
        if k % 3 == 0:
            x = part(x, -k) + 1
    return x


def position(code: CodeType, instruction: int) -> tuple[object, ...]:
    """Where a place is in the text: a call is two instructions of Python 3.11, of which either core may see another."""
    return code.co_name, *list(code.co_positions())[instruction // 2]


def main() -> None:
    np.set_residence("device")
    cut = LoopCut()
    evaluate.state_of(np.default_device()).cut = cut
    flushed = LoopCut.flushed

    def told(self: LoopCut, is_new: bool) -> None:
        place = self._place and position(*self._place)
        print(is_new, place, self._scope and self._scope.co_name, self._waited, self._limit, self.is_searching)
        flushed(self, is_new)

    LoopCut.flushed = told  # type: ignore[method-assign]
    for _ in range(2):
        for turns, inner in ((60, 3), (40, 16), (9, 150)):
            np.asnumpy(nested(turns, inner))
        np.asnumpy(called(400))


if __name__ == "__main__":
    main()
