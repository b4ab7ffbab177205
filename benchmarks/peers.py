"""The libraries that are compared: for each, its namespace, how it makes an array, and how to wait for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy


@dataclass
class Peer:
    """One library. `run` prepares a function of arrays for it (jit, fuse), `get` brings a result to NumPy."""

    name: str
    xp: Any
    array: Callable[[Any], Any]
    wait: Callable[[], Any]
    get: Callable[[Any], Any]
    prepare: Callable[[Callable[..., Any]], Callable[..., Any]] = lambda f: f
    # Rows written by hand, for a library that has no arrays of its own: the others it leaves out.
    by_hand: dict[str, Callable[..., Callable[[], Any]]] | None = None


def _force(result: Any) -> None:
    for x in result if isinstance(result, tuple) else (result,):
        if x.residence == "device":
            x.computed()


def _gpunumpy() -> Peer:
    import gpunumpy

    def prepare(f: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            result = f(*args)
            _force(result)
            return result

        return call

    return Peer("gpunumpy", gpunumpy, gpunumpy.asarray, gpunumpy.synchronize, gpunumpy.asnumpy, prepare)


def _cupy() -> list[Peer]:
    import cupy

    wait = cupy.cuda.Device().synchronize

    def fuse(f: Callable[..., Any]) -> Callable[..., Any]:
        f.__name__ = "fused"  # it names the kernel, and "<lambda>" is no name in C
        return cupy.fuse()(f)  # type: ignore[no-any-return]

    return [
        Peer("CuPy", cupy, cupy.asarray, wait, cupy.asnumpy),
        Peer("cupy.fuse", cupy, cupy.asarray, wait, cupy.asnumpy, fuse),
    ]


def _torch() -> list[Peer]:
    import torch

    def array(x: Any) -> Any:
        if x.dtype == "bfloat16":
            return torch.from_numpy(x.view("int16")).cuda().view(torch.bfloat16)
        return torch.from_numpy(x).cuda()

    def get(x: Any) -> Any:
        return x.cpu().numpy()

    def compiled(f: Callable[..., Any]) -> Callable[..., Any]:
        torch._dynamo.reset()
        return torch.compile(f, dynamic=False)  # type: ignore[no-any-return]

    wait = torch.cuda.synchronize
    return [Peer("torch", torch, array, wait, get), Peer("torch.compile", torch, array, wait, get, compiled)]


def _jax() -> list[Peer]:
    import os

    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax

    jax.config.update("jax_enable_x64", True)
    last: list[Any] = []

    def jit(f: Callable[..., Any]) -> Callable[..., Any]:
        compiled = jax.jit(f)

        def call(*args: Any) -> Any:
            last[:] = [compiled(*args)]
            return last[0]

        return call

    def wait() -> None:
        jax.block_until_ready(last)

    return [Peer("jax.jit", jax.numpy, jax.numpy.asarray, wait, numpy.asarray, jit)]


def _numba() -> list[Peer]:
    import numba_kernels

    return [
        Peer("numba-cuda", None, numba_kernels.device_array, numba_kernels.synchronize, numpy.asarray,
             by_hand=numba_kernels.kernels())
    ]  # fmt: skip


def _numpy() -> list[Peer]:
    return [Peer("NumPy", numpy, numpy.asarray, lambda: None, numpy.asarray)]


LIBRARIES = {"cupy": _cupy, "torch": _torch, "jax": _jax, "numba": _numba}
# NumPy computes on the CPU: it is beside the others where it is asked for.
WITH_NUMPY = {**LIBRARIES, "numpy": _numpy}


def peers_of(libraries: Iterable[str]) -> list[Peer]:
    """gpunumpy, and the peers of those of the libraries that can be imported."""
    found = [_gpunumpy()]
    for name in libraries:
        try:
            found += WITH_NUMPY[name]()
        except ImportError as error:
            print(f"left out: {name} ({error})")
    return found


def all_peers(wanted: set[str] | None = None) -> list[Peer]:
    """Every library that can be imported, gpunumpy first."""
    return [p for p in peers_of(LIBRARIES) if wanted is None or p.name in wanted]
