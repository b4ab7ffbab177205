"""Epilogues that a library does not apply to the bit: one program for all sizes. The driver and the library pretend."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from gpunumpy.core.graph.bounded_table import forget_all
from gpunumpy.core.graph.layout import c_layout
from gpunumpy.core.graph.library_calls.products import Product
from gpunumpy.core.runtime.device import Device
from gpunumpy.kernels.cuda import compile as compiler
from gpunumpy.kernels.products import cuda
from gpunumpy.nvlib import cublas, cublaslt

from ..support import fake_driver

FLOAT64 = numpy.dtype(numpy.float64)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The epilogues of all products that the library was asked for."""
    found: list[tuple[str, ...]] = []

    def prepare(device: Any, plan: Any, dtype: Any, out: Any, product: Product, fallback: Any) -> Any:
        found.append(product.epilogues)
        return lambda pointers: None

    monkeypatch.setattr(cublas, "prepare", lambda *product: None)
    monkeypatch.setattr(cublaslt, "prepare", prepare)
    return found


def product(rows: int, epilogues: tuple[str, ...]) -> Any:
    layouts = [c_layout((rows, 70)), c_layout((rows, 600)), c_layout((600, 70))]
    return cuda.matmul(Device("cuda"), Product(epilogues=epilogues), layouts, [FLOAT64] * 3)


def test_the_program_serves_all_sizes(monkeypatch: pytest.MonkeyPatch, asked: list[tuple[str, ...]]) -> None:
    driver, texts = fake_driver.install(monkeypatch), []
    forget_all()

    def compile_text(text: str, *target: Any) -> bytes:
        texts.append(text)
        return b"image"

    monkeypatch.setattr(compiler, "_compile", compile_text)
    monkeypatch.setattr(compiler, "_image_of_package", lambda key: None)
    params = []
    driver.work = lambda addresses: params.append([addresses[k][0] for k in range(3)])
    for rows in range(40, 80):
        product(rows, ("maximum",))([1024, 2048, 4096, 0.1])
    assert len(driver.launched) == 40
    assert len(texts) <= 2, "one for the first sizes, and one for all"
    assert {tuple(words[:2]) for words in params} == {(1024, 1024)}, "the product is read and written"
    assert {numpy.array(words[2]).view(FLOAT64)[()] for words in params} == {0.1}
    assert set(asked) == {()}, "the library is not asked for what it would not be used for"


def test_the_library_applies_what_it_does_to_the_bit(
    monkeypatch: pytest.MonkeyPatch, asked: list[tuple[str, ...]]
) -> None:
    driver = fake_driver.install(monkeypatch)
    run = product(50, ("maximum",))
    run([1024, 2048, 4096, 0.0])
    assert asked == [("maximum",)]
    assert not driver.launched
