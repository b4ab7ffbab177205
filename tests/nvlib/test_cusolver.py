"""What of cuSOLVER's answers is more than a call: with functions of the test in the library's place."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy
import pytest

from gpunumpy.core.runtime.device import CPU
from gpunumpy.nvlib import cusolver_decompositions


@pytest.mark.parametrize("full", [False, True])
def test_a_matrix_that_the_polar_decomposition_gives_up(full: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    errors = pytest.importorskip("nvmath.bindings.cusolver")
    answers: list[Any] = [0.0, 1e-7, errors.Status.EXECUTION_FAILED, errors.Status.INVALID_VALUE]

    def xgesvdp(*arguments: Any) -> float:
        answer = answers.pop(0)
        if isinstance(answer, errors.Status):
            raise errors.cuSOLVERError(int(answer))
        return float(answer)

    library = SimpleNamespace(xgesvdp=xgesvdp, xgesvdp_buffer_size=lambda *arguments: (96, 32))
    monkeypatch.setattr(cusolver_decompositions, "solver", lambda device: (library, 1, 2))
    call = cusolver_decompositions.svd_polar(CPU, 7, 5, numpy.dtype("f8"), full)
    assert call.nbytes == 96
    pointers = range(6)
    assert [call.run(*pointers) for _ in range(3)] == [0.0, 1e-7, numpy.inf]
    with pytest.raises(errors.cuSOLVERError, match="INVALID_VALUE"):
        call.run(*pointers)
