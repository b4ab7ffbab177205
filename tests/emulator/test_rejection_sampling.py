"""Numbers that take as many words as they need, through the kernels of a GPU, compared with NumPy."""

from __future__ import annotations

import re
from typing import Any

import numpy
import pytest

from gpunumpy.core.runtime import evaluate
from gpunumpy.core.runtime.device import Device
from gpunumpy.kernels.cuda.compile import compile_cubin
from gpunumpy.kernels.random import cuda_rejection_sampling
from gpunumpy.random import rejection_sampling
from gpunumpy.random.rejection_sampling import Sampler
from gpunumpy.random.stream import Stream
from tests.support.host_executor import run_on_host

from ..support.arrays import to_host, wrap
from .executor import run_program
from .test_masks_and_scatter import layout_of

pytestmark = pytest.mark.usefixtures("host_functions")

BITS = (numpy.random.PCG64, numpy.random.PCG64DXSM, numpy.random.Philox)


def emulated(options: tuple[Any, ...], *arrays: Any) -> None:
    """The library call, on the emulated machine."""
    program = cuda_rejection_sampling.rejection_sampling(
        options, [layout_of(x) for x in arrays], [x.dtype for x in arrays]
    )
    assert run_program(program, arrays, seed=3) == 0


@pytest.fixture(autouse=True)
def on_the_device(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The list has how many words the library call was given, call by call."""
    asked: list[int] = []

    def call(options: tuple[Any, ...], *arrays: Any) -> None:
        asked.append(arrays[2].size)
        emulated(options, *arrays)

    run_on_host(monkeypatch, "rejection_sampling", call)
    return asked


def gammas(bits: Any, sampler: Sampler, shape: float, count: int, each: float = 2.2) -> Any:
    queue = evaluate.queue_of(Device("cpu"))
    found = rejection_sampling.draw_by_rejection(Stream(bits), sampler, [shape, 1], (count,), each, queue)
    return None if found is None else to_host(wrap(found))


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("kind", BITS)
def test_words_and_numbers_equal_numpy(kind: Any, dtype: str) -> None:
    for count in (1, 100, 5000):
        for shape in (1.0, 0.3, 2.5):
            tested, reference = (kind(count) for _ in range(2))
            for bits in (tested, reference):
                numpy.random.Generator(bits).random(count % 3, numpy.float32)
            got = gammas(tested, Sampler("Gamma", dtype=numpy.dtype(dtype)), shape, count)
            want: Any = numpy.random.Generator(reference).standard_gamma(shape, count, dtype)  # type: ignore[call-overload]
            numpy.testing.assert_allclose(got, want, rtol=1e-15 if dtype == "f8" else 4e-7)
            assert repr(tested.state) == repr(reference.state)


def test_float32_numbers_are_decided_by_nearest_ones() -> None:
    """A GPU's float32 logarithms and powers are less exact than NumPy's, so another word could be the next one."""
    arrays = numpy.zeros(4000, "f4"), numpy.zeros(4, "i8"), numpy.zeros(9000, "u4"), numpy.zeros(2)
    for sampler in ("Gamma", "Exponential"):
        layouts, dtypes = [layout_of(x) for x in arrays], [x.dtype for x in arrays]
        text = cuda_rejection_sampling.rejection_sampling(Sampler(sampler).options, layouts, dtypes).text
        assert not re.search(r"::(exp|log|pow)f\(", text)


def test_many_groups_of_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_rejection_sampling, "TILE", 256)
    monkeypatch.setattr(cuda_rejection_sampling, "THREADS", 64)
    for longest, count in ((256, 40000), (128, 20000)):
        tested, reference = (numpy.random.PCG64(5) for _ in range(2))
        got = gammas(tested, Sampler("Gamma", max_words=longest), 0.7, count)
        numpy.testing.assert_allclose(got, numpy.random.Generator(reference).standard_gamma(0.7, count), rtol=1e-15)
        assert tested.state == reference.state


def test_too_few_words(on_the_device: list[int]) -> None:
    tested, reference = (numpy.random.PCG64(5) for _ in range(2))
    got = gammas(tested, Sampler("Gamma"), 1.5, 5000, 0.3)
    numpy.testing.assert_allclose(got, numpy.random.Generator(reference).standard_gamma(1.5, 5000), rtol=1e-15)
    assert tested.state == reference.state
    assert len(on_the_device) == 3


def test_words_that_end_with_a_tile_and_a_number(on_the_device: list[int]) -> None:
    tested, reference = (numpy.random.PCG64(5) for _ in range(2))
    sampler = Sampler(
        "GeometricSearch", "samplers_discrete", numpy.dtype("i8"), max_words=cuda_rejection_sampling.TILE // 4
    )
    got = gammas(tested, sampler, 0.5, 2000, 1e-9)
    numpy.testing.assert_array_equal(got, numpy.random.Generator(reference).geometric(0.5, 2000))
    assert tested.state == reference.state
    assert on_the_device[0] == cuda_rejection_sampling.TILE


@pytest.mark.parametrize("count", [1, 1000, 2500])
def test_numbers_in_parts(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    part, parts = rejection_sampling._draw_part, []

    def counted(*args: Any) -> Any:
        parts.append(args)
        return part(*args)

    monkeypatch.setattr(rejection_sampling, "MAX_WORDS", 2000)
    monkeypatch.setattr(rejection_sampling, "_draw_part", counted)
    tested, reference = (numpy.random.PCG64(5) for _ in range(2))
    got = gammas(tested, Sampler("Gamma"), 1.5, count, 2.5)
    numpy.testing.assert_allclose(got, numpy.random.Generator(reference).standard_gamma(1.5, count), rtol=1e-15)
    assert tested.state == reference.state
    assert len(parts) == -(-count // 800)


def test_attempts_that_are_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    text = cuda_rejection_sampling.source  # type: ignore[attr-defined]
    longer = "if (shape == 1) { for (int k = s.unit() < 1e-3 ? 40 : 0; k; --k) s.word64(); "
    monkeypatch.setattr(cuda_rejection_sampling, "source", lambda name: text(name).replace("if (shape == 1) {", longer))
    bits, before = numpy.random.PCG64(5), numpy.random.PCG64(5).state
    assert gammas(bits, Sampler("Gamma", max_words=32), 1.0, 20000, 3) is None
    assert bits.state == before
    assert gammas(bits, Sampler("Gamma"), 1.0, 20000, 3).shape == (20000,)


SAMPLERS = (
    *("Gamma", "Beta", "BetaOfPowers", "F", "NoncentralF", "NoncentralChisquare", "StandardT", "Wald", "VonMises"),
    *("Dirichlet", "MixedF"),
)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_nvrtc_compiles_it(sampler: str) -> None:
    shape = (1000, 3) if sampler == "Dirichlet" else 4000
    for dtype, word in (("f8", "u8"), ("f4", "u4"))[: 2 if sampler == "Gamma" else 1]:
        arrays = numpy.zeros(shape, dtype), numpy.zeros(4, "i8"), numpy.zeros(9000, word), numpy.zeros(2)
        files = "samplers_continuous samplers_discrete samplers_noncentral"
        options = Sampler(sampler, files, width=3 if sampler == "Dirichlet" else 1).options
        layouts, dtypes = [layout_of(x) for x in arrays], [x.dtype for x in arrays]
        program = cuda_rejection_sampling.rejection_sampling(options, layouts, dtypes)
        for arch in ("sm_75", "sm_80", "sm_90", "sm_100") if sampler == "Gamma" else ("sm_90",):
            assert compile_cubin(program.text, arch)
