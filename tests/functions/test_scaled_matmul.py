"""Products of float8 matrices with scales, beside float64."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy
import pytest

import gpunumpy as np
from gpunumpy.core.dtypes import FLOAT32, bfloat16, float4_e2m1fn, float8_e4m3fn, float8_e5m2
from gpunumpy.core.errors import DeviceError
from gpunumpy.core.graph import node as graph
from gpunumpy.core.runtime.device import Device

from ..support import fake_driver
from ..support.arrays import to_host

FORMATS = [(float8_e4m3fn, float8_e4m3fn), (float8_e4m3fn, float8_e5m2), (float8_e5m2, float8_e4m3fn)]
M, K, N = 40, 96, 64


def numbers(shape: tuple[int, int], dtype: Any, seed: int) -> Any:
    return numpy.random.default_rng(seed).normal(0, 2, shape).astype(dtype)


def check(got: Any, a: Any, b: Any, scale_a: Any, scale_b: Any, out: Any) -> None:
    """Within what sums may be off, and one rounding. Tensor cores keep fewer bits of a sum than float32 has."""
    wide = [x.astype("f8") * numpy.asarray(scale, "f4").astype("f8") for x, scale in ((a, scale_a), (b, scale_b))]
    want, size = wide[0] @ wide[1], abs(wide[0]) @ abs(wide[1])
    eps = 2.0**-11 if got.device.has_stream else a.shape[1] * float(numpy.finfo("f4").eps)
    eps_out = float(ml_dtypes.finfo(out).eps)
    assert got.dtype == out
    error = abs(to_host(got).astype("f8") - want)
    assert (error <= eps * size + eps_out * abs(want)).all(), error.max()


SCALES: dict[str, tuple[Any, Any]] = {
    "numbers": (0.5, 3),
    "NumPy's": (numpy.float32(0.3), numpy.array([[2.5]])),
    "rows": (numpy.linspace(0.1, 2, M, dtype="f4")[:, None], 1.5),
    "columns": (0.25, numpy.linspace(-1, 1, N)[None]),
    "both": (numpy.linspace(1, 2, M, dtype="f4")[:, None], numpy.linspace(3, 1, N)[None]),
}


@pytest.mark.parametrize("out", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("scales", SCALES)
@pytest.mark.parametrize("formats", FORMATS, ids=str)
def test_products(device: str, formats: tuple[Any, Any], scales: str, out: str) -> None:
    a, b = numbers((M, K), formats[0], 1), numbers((N, K), formats[1], 2).T
    scale_a, scale_b = SCALES[scales]
    with np.Device(device):
        x, y = np.asarray(a), np.asarray(numpy.ascontiguousarray(b.T)).T
        got = np.linalg.scaled_matmul(x, y, scale_a, scale_b, out_dtype=out)
        check(got, a, b, scale_a, scale_b, numpy.dtype(getattr(ml_dtypes, out, out)))


@pytest.mark.parametrize("scales", SCALES)
def test_the_library_gets_bytes_and_float32(monkeypatch: pytest.MonkeyPatch, scales: str) -> None:
    """What the CPU device would not notice."""
    seen: list[Any] = []
    real = graph.library_call

    def note(name: str, options: Any, args: Any, result: Any) -> Any:
        seen.append([(arg.signature.dtype, arg.signature.shape, arg.signature.queue is None) for arg in args])
        return real(name, options, args, result)

    monkeypatch.setattr(graph, "library_call", note)
    x, y = np.ones((M, K), float8_e4m3fn), np.ones((N, K), float8_e5m2).T
    np.linalg.scaled_matmul(x, y, *SCALES[scales]).computed()
    scale: tuple[Any, ...] = (FLOAT32, (1,), False)
    assert seen == [[(float8_e4m3fn, (M, K), False), (float8_e5m2, (N, K), False), scale, scale]]


def test_operands_lie_anyhow(device: str) -> None:
    wide = [numbers((2 * K, 2 * K), float8_e4m3fn, seed) for seed in (1, 2)]
    with np.Device(device):
        a, b = map(np.asarray, wide)
        for key in (numpy.s_[:K, :K], numpy.s_[::2, 1::2], numpy.s_[K - 1 :: -1, 3 : K + 3]):
            for at, scale in ((lambda x: x, 1), (lambda x: x.T, np.asarray(2.0))):
                got = np.linalg.scaled_matmul(at(a[key]), at(b[key]), scale, scale)
                check(got, at(wide[0][key]), at(wide[1][key]), float(scale), float(scale), bfloat16)
        pending = (a.astype("f4") / 2).astype(float8_e4m3fn)[:K]
        check(np.linalg.scaled_matmul(pending, b, 1, 0.5), to_host(pending), wide[1], 1, 0.5, bfloat16)


def test_scales_from_the_matrices(device: str) -> None:
    """As programs make them: a matrix over its greatest number, in float8, and that number as its scale."""
    wide = [numpy.random.default_rng(seed).normal(0, 1e-3, (64, 64)).astype("f4") for seed in (3, 4)]
    with np.Device(device):
        a, b = map(np.asarray, wide)
        scales = [abs(x).max() / np.finfo(np.float8_e4m3fn).max for x in (a, b)]
        small = [(x / scale).astype(np.float8_e4m3fn) for x, scale in zip((a, b), scales, strict=True)]
        got = np.linalg.scaled_matmul(*small, *scales, out_dtype="float32")
        check(got, to_host(small[0]), to_host(small[1]), float(scales[0]), float(scales[1]), FLOAT32)
        want = wide[0].astype("f8") @ wide[1].astype("f8")
        assert abs(to_host(got) - want).max() < 0.05 * abs(want).max()


def test_nothing_to_multiply(device: str) -> None:
    with np.Device(device):
        for m, k, n in ((0, 16, 16), (3, 0, 16), (3, 16, 0)):
            got = np.linalg.scaled_matmul(np.ones((m, k), "float8_e5m2"), np.ones((k, n), "float8_e4m3fn"))
            assert (got.shape, got.dtype, float(got.astype("f4").sum())) == ((m, n), bfloat16, 0.0)


BLOCKS: dict[str, tuple[Any, Any]] = {
    "both of rows": ((40, 2), (2, 272)),
    "of squares and rows": ((1, 2), (2, 272)),
    "of rows and squares": ((40, 2), (2, 3)),
    "both of squares": ((1, 2), (2, 3)),
    "a whole one": ((40, 2), ()),
    "columns": ((1, 2), (1, 272)),
    "rows": ((40, 1), (2, 3)),
}


def spread(scale: Any, shape: tuple[int, int]) -> Any:
    """The scale of each element of a matrix of this shape."""
    for axis in range(scale.ndim):
        if scale.shape[axis] not in (1, shape[axis]):
            scale = numpy.repeat(scale, 128, axis=axis)[(slice(None),) * axis + (slice(shape[axis]),)]
        elif scale.shape[axis] == 1 and shape[axis] > 1:
            scale = numpy.repeat(scale, shape[axis], axis=axis)
    return scale


def of_blocks(device: str) -> bool:
    chosen = np.Device(device)
    return not chosen.has_stream or chosen.attributes.capability == (9, 0)


@pytest.mark.parametrize("out", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("shapes", BLOCKS)
@pytest.mark.parametrize("formats", FORMATS, ids=str)
def test_scales_of_blocks(device: str, formats: tuple[Any, Any], shapes: str, out: str) -> None:
    if not of_blocks(device):
        pytest.skip("scales of blocks need compute capability 9.0")
    a, w = numbers((40, 160), formats[0], 1), numbers((272, 160), formats[1], 2)
    rng = numpy.random.default_rng(3)
    scale_a, scale_b = (numpy.asarray(rng.uniform(0.5, 2, shape)).astype("f4") for shape in BLOCKS[shapes])
    with np.Device(device):
        x, y = np.asarray(a), np.asarray(w).T
        got = np.linalg.scaled_matmul(x, y, scale_a, np.asarray(scale_b), out_dtype=out)
        each = spread(scale_a, (40, 160)), spread(scale_b, (160, 272))
        check(got, a, w.T, *each, numpy.dtype(getattr(ml_dtypes, out, out)))


@pytest.mark.parametrize("out", [float8_e4m3fn, float8_e5m2], ids=str)
@pytest.mark.parametrize("scales", SCALES)
def test_float8_results(device: str, scales: str, out: Any) -> None:
    """Whole numbers, whose sums are exact, so that only the last rounding is one; what is too large is the largest."""
    rng = numpy.random.default_rng(4)
    a, w = rng.integers(-3, 4, (M, K)).astype(float8_e4m3fn), rng.integers(-3, 4, (N, K)).astype(float8_e5m2)
    scale_a, scale_b = (2.0 ** numpy.round(numpy.log2(abs(numpy.asarray(s, "f4")) + 0.1)) for s in SCALES[scales])
    product = (a.astype("f4") * scale_a) @ (w.T.astype("f4") * scale_b)
    largest = float(ml_dtypes.finfo(out).max)
    with np.Device(device):
        x, y = np.asarray(a), np.asarray(w).T
        for last in (None, 0.25, 2.0**16):
            got = np.linalg.scaled_matmul(x, y, scale_a, scale_b, scale_result=last, out_dtype=out)
            want = (product * numpy.float32(1 if last is None else last)).clip(-largest, largest).astype(out)
            assert got.dtype == out
            assert (to_host(got).astype("f4") == want.astype("f4")).all()
    assert (abs(want.astype("f4")) == largest).any()


def test_float8_results_of_blocks_and_of_nan(device: str) -> None:
    a, w = numbers((8, 128), float8_e4m3fn, 1), numbers((16, 128), float8_e4m3fn, 2)
    a[0, 0] = numpy.nan
    with np.Device(device):
        x, y = np.asarray(a), np.asarray(w).T
        whole = np.linalg.scaled_matmul(x, y, out_dtype=float8_e4m3fn, scale_result=0.125)
        assert np.isnan(whole[0]).all()
        assert not np.isnan(whole[1:]).any()
        if of_blocks(device):
            rows = np.ones((8, 1), np.float32)
            in_rows = np.linalg.scaled_matmul(
                x, y, np.ones((8, 1)), rows[:1], out_dtype="float8_e4m3fn", scale_result=0.125
            )
            assert np.isnan(in_rows[0]).all()
            assert np.allclose(in_rows[1:].astype("f4"), whole[1:].astype("f4"), rtol=0.13)


E4, E5 = (lambda *shape: np.ones(shape, float8_e4m3fn)), (lambda *shape: np.ones(shape, float8_e5m2))
REFUSED: dict[str, tuple[Any, Any, str]] = {
    "dtype of a": (lambda f: f(np.ones((16, 16)), E4(16, 16)), TypeError, "a is of float64.*float8_e4m3fn"),
    "float4": (lambda f: f(E4(16, 16), np.ones((16, 16), float4_e2m1fn)), TypeError, "b is of float4_e2m1fn"),
    "both e5m2": (lambda f: f(E5(16, 16), E5(16, 16)), TypeError, "at most one"),
    "dimensions": (lambda f: f(E4(2, 16, 16), E4(16, 16)), ValueError, "a has 3 dimensions"),
    "inner": (lambda f: f(E4(16, 16), E4(32, 16)), ValueError, "16 columns and b has 32 rows"),
    "rows of b": (lambda f: f(E4(16, 15), E4(15, 16)), ValueError, "b has 15 rows.*multiple of 16"),
    "columns of b": (lambda f: f(E4(16, 16), E4(16, 8)), ValueError, "b has 8 columns.*multiple of 16"),
    "scale's shape": (lambda f: f(E4(8, 16), E4(16, 16), np.ones(8)), ValueError, r"scale_a has the shape \(8,\)"),
    "scale's kind": (lambda f: f(E4(8, 16), E4(16, 16), 1, 1j), TypeError, "scale_b is of complex128"),
    "blocks' shape": (
        lambda f: f(E4(8, 256), E4(256, 16), np.ones((2, 2))),
        ValueError,
        r"\(8, 1\), \(8, 2\), \(1, 2\)",
    ),
    "blocks, b": (lambda f: f(E4(8, 256), E4(256, 16), 1, np.ones((3, 16))), ValueError, r"\(1, 16\), \(2, 16\)"),
    "blocks, fast": (
        lambda f: f(E4(8, 256), E4(256, 16), np.ones((8, 2)), fast_accumulation=True),
        (ValueError, DeviceError),
        "blocks",
    ),
    "blocks, rows": (lambda f: f(E4(6, 256), E4(256, 16), np.ones((6, 2))), (ValueError, DeviceError), "6 rows|blocks"),
    "float8 of another kind": (lambda f: f(E4(8, 16), E4(16, 16), out_dtype="float8_e5m2"), TypeError, "no operand is"),
    "scale of no float8": (lambda f: f(E4(8, 16), E4(16, 16), scale_result=2), ValueError, "for results of float8"),
    "scale of the result": (
        lambda f: f(E4(8, 16), E4(16, 16), scale_result=np.ones(3), out_dtype="float8_e4m3fn"),
        ValueError,
        "scale_result has the shape",
    ),
    "result": (lambda f: f(E4(8, 16), E4(16, 16), out_dtype="f8"), TypeError, "out_dtype is float64.*bfloat16"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_the_library_refuses_is_refused_at_the_statement(device: str, case: str) -> None:
    call, error, words = REFUSED[case]
    with np.Device(device), pytest.raises(error, match=words):
        call(np.linalg.scaled_matmul)


def test_older_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Device, "has_stream", True)
    monkeypatch.setattr(Device, "attributes", SimpleNamespace(capability=(8, 6)))
    with pytest.raises(DeviceError, match=rf"need compute capability 8\.9; that of {np.default_device()} is 8\.6"):
        np.linalg.scaled_matmul(E4(16, 16), E4(16, 16))


def test_gpus_without_scales_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Device, "has_stream", True)
    monkeypatch.setattr(Device, "attributes", SimpleNamespace(capability=(10, 0)))
    with pytest.raises(DeviceError, match=r"scales of blocks need compute capability 9\.0; .* is 10\.0"):
        np.linalg.scaled_matmul(E4(16, 256), E4(256, 16), np.ones((16, 2)))


def test_operands_and_scales_of_two_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cuda.bindings.driver")
    fake_driver.install(monkeypatch)
    here, there = (np.ones((16, 16), float8_e4m3fn, device=name) for name in ("cpu", "cuda:0"))
    with pytest.raises(ValueError, match="two devices"):
        np.linalg.scaled_matmul(here, there)
    with pytest.raises(ValueError, match="two devices"):
        np.linalg.scaled_matmul(here, here, np.ones((16, 1), device="cuda:0"))
