"""One launch on the emulated machine."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from .build import Module, runtime


class EmulatorError(Exception):
    """A kernel did what it must not: an access out of bounds, a deadlock, a misaligned access, a wrong shuffle..."""


class _Launch(ctypes.Structure):
    """The layout of `emulator::Launch` in shim/runtime.cpp."""

    _fields_ = (
        ("entry", ctypes.c_void_p),
        ("parameters", ctypes.c_void_p),
        ("static_shared", ctypes.c_void_p),
        ("static_shared_bytes", ctypes.c_size_t),
        ("shared", ctypes.c_size_t),
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("blocks", ctypes.POINTER(ctypes.c_int)),
        ("blocks_count", ctypes.c_int),
        ("seed", ctypes.c_uint64),
        ("timeout", ctypes.c_double),
        ("fibers", ctypes.c_int),
        ("error_bytes", ctypes.c_int),
        ("error", ctypes.c_char_p),
    )


@contextmanager
def host_functions() -> Iterator[None]:
    """Run kernels with the C library's mathematical functions, not with ones that are off as the device's may be."""
    are_off = ctypes.c_int.in_dll(runtime(), "emulator_functions_are_off")
    are_off.value = 0
    try:
        yield
    finally:
        are_off.value = 1


MAX_THREADS = 1024
MAX_SHARED_BYTES = 232448  # of one block
MAX_GRID = (2**31 - 1, 65535, 65535)

# The machine has one set of registers: launches from two threads of Python take turns.
_turn = threading.Lock()


def launch(
    module: Module,
    entry: str,
    grid: Sequence[int],
    block: Sequence[int],
    words: Sequence[int],
    *,
    shared: int = 0,
    blocks: Sequence[int] | None = None,
    seed: int = 0,
    timeout: float = 60.0,
) -> None:
    """Run kernel `entry` with the 8-byte parameters `words`.

    Parameters
    ----------
    module : Module
        From `compile_text`.
    entry : str
        The kernel's name.
    grid, block : sequence of int
        Three sizes each.
    words : sequence of int
        The parameters' bits, each 64 of them.
    shared : int, optional
        Bytes of dynamic shared memory.
    blocks : sequence of int, optional
        The numbers of the blocks to run, of a grid that is too large to run whole.
    seed : int, optional
        If not 0, blocks, and the threads of a block, start in a random order drawn from it.
    timeout : float, optional
        Seconds of processor time after which a kernel counts as one that never ends.
    """
    grid, block = tuple(grid), tuple(block)
    if not all(1 <= n <= most for n, most in zip(grid, MAX_GRID, strict=True)):
        raise EmulatorError(f"grid {grid}; each size must be at least 1 and at most {MAX_GRID}")
    if min(block) < 1 or block[0] * block[1] * block[2] > MAX_THREADS:
        raise EmulatorError(f"block {block}; a block has 1 to {MAX_THREADS} threads")
    if not 0 <= shared <= MAX_SHARED_BYTES:
        raise EmulatorError(f"{shared} bytes of dynamic shared memory; 0 to {MAX_SHARED_BYTES} are allowed")
    values = (ctypes.c_uint64 * len(words))(*(word & 0xFFFF_FFFF_FFFF_FFFF for word in words))
    first = ctypes.addressof(values)
    addresses = (ctypes.c_void_p * len(words))(*(first + 8 * i for i in range(len(words))))
    start, stop = (ctypes.c_void_p * 2).in_dll(module.library, "emulate_shared")
    error = ctypes.create_string_buffer(1024)
    description = _Launch(
        entry=ctypes.cast(getattr(module.library, f"emulate_{entry}"), ctypes.c_void_p),
        parameters=ctypes.addressof(addresses),
        static_shared=start,
        static_shared_bytes=(stop or 0) - (start or 0),
        shared=shared,
        grid=grid,
        block=block,
        blocks=None if blocks is None else (ctypes.c_int * len(blocks))(*blocks),
        blocks_count=0 if blocks is None else len(blocks),
        seed=seed,
        timeout=timeout,
        fibers=module.fibers,
        error_bytes=len(error),
        error=ctypes.cast(error, ctypes.c_char_p),
    )
    with _turn:
        failed = module.runtime.emulator_launch(ctypes.byref(description))
    if failed:
        raise EmulatorError(f"kernel {entry!r}: {error.value.decode()}")
