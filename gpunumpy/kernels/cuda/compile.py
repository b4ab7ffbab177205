"""Compilation of CUDA C++ text to functions of a GPU, with caches on disk and in memory."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from hashlib import sha256
from typing import TypeAlias
from weakref import ref

from ...core import _native
from ...core.disk_cache import cache_folder, open_cache
from ...core.errors import DeviceError, allowed
from ...core.graph.bounded_table import ENTRY_BYTES, BoundedTable
from ...core.helpers import Job
from ...core.runtime.device import Device
from ..codegen.program import Source
from . import precompiled
from .beside import Task, beside
from .compile_lock import compiled_by_one_process
from .module import Function, Module
from .nvrtc import archs, compile_options, compiled, compiler_version
from .source import source_of

# Programs that are compiled at one time; each takes some 100 MB of memory while it is.
MAX_COMPILERS = 16

# The GPU, whether contraction is on, and a program.
_Key: TypeAlias = tuple[Device, bool, Source]
_contraction = False
_modules: BoundedTable[_Key, Module] = BoundedTable()


class _Programs(list[tuple[_Key, dict[str, Function], bool]]):
    """Programs, their functions by name, and whether they were looked for. It can be referred to weakly."""


class _Wanted(threading.local):
    """What `compiled_side_by_side` loads at its end in this thread; the reference dies with its frame."""

    programs: Callable[[], _Programs | None] = staticmethod(lambda: None)


_wanted = _Wanted()


def set_contraction(enabled: bool) -> None:
    """Choose whether kernels compiled from now on may contract ``a * b + c`` into one operation with one rounding.

    Parameters
    ----------
    enabled : bool
        False, the default, gives the same bits as NumPy; True may be faster where arithmetic is the limit.
    """
    global _contraction
    _contraction = bool(enabled)
    _native.tell(contraction=_contraction)


def contraction() -> bool:
    """Return whether kernels are compiled with contraction."""
    return _contraction


def compile_cubin(text: str, arch: str) -> bytes:
    """Compile a program for an architecture; no GPU is needed.

    Parameters
    ----------
    text : str
        CUDA C++ whose kernels are ``extern "C"``.
    arch : str
        One of `archs()`.

    Raises
    ------
    ValueError
        If the compiler does not know the architecture.
    DeviceError
        If the program does not compile. The message has the compiler's log and the source with line numbers.
    """
    if arch not in archs():
        raise ValueError(f"NVRTC does not compile for {arch!r}; {allowed(archs())}")
    return _on_disk(text, arch, "cubin", _contraction) or _compile(text, arch, "cubin", _contraction)


def compile_lto(text: str, arch: str) -> bytes:
    """Compile device functions to LTO-IR, which a library links into its own kernels on a GPU of this architecture."""
    arch = compile_target(arch)[0].replace("compute", "sm")
    return _on_disk(text, arch, "ltoir", _contraction) or _compile(text, arch, "ltoir", _contraction)


def _compile(text: str, arch: str, kind: str, contraction: bool) -> bytes:
    """Compile a program that was not on disk, unless another process has done so meanwhile, and keep it there.

    `kind` is that of the code; see `nvrtc.compiled`.
    """
    options = compile_options(arch, kind, contraction)
    folder = cache_folder()
    disk = open_cache(folder)
    if disk is None:
        return compiled(text, kind, options)
    key = _disk_key(text, arch, kind, contraction)
    with compiled_by_one_process(folder, key):
        image = disk.find(key)
        if image is None:
            image = compiled(text, kind, options)
            disk.keep(key, image)
    return image


def _on_disk(text: str | Source, arch: str, kind: str, contraction: bool) -> bytes | None:
    """Return a compiled program from the cache on disk, or None."""
    disk = open_cache(cache_folder())
    return None if disk is None else disk.find(_disk_key(text, arch, kind, contraction))


def _disk_key(text: str | Source, arch: str, kind: str, contraction: bool) -> bytes:
    """Return the key of a compiled program in the cache on disk."""
    return sha256(_told_of_compiler(compiler_version(), arch, kind, contraction) + source_of(text).digest).digest()


@cache
def _told_of_compiler(version: tuple[int, int], arch: str, kind: str, contraction: bool) -> bytes:
    """Return what machine code depends on besides its text."""
    return repr((version, kind, compile_options(arch, kind, contraction))).encode()


def compile_target(arch: str) -> tuple[str, str]:
    """Return the architecture and the kind of code to compile for a GPU: its own, or the newest that runs on it."""
    known = archs()
    if arch in known:
        return arch, "cubin"
    older = [other for other in known if int(other[3:]) < int(arch[3:])]
    if not older:
        raise DeviceError(f"the installed NVRTC is too new for {arch}; it knows {', '.join(known)}")
    newest = older[-1]
    if newest[:-1] == arch[:-1]:
        return newest, "cubin"  # machine code runs on later minor versions
    return newest.replace("sm", "compute"), "ptx"  # the driver translates it for newer architectures


def compile_program(
    text: str | Source, entries: Iterable[str], device: Device, *, was_looked_for: bool = False
) -> dict[str, Function]:
    """Compile a program, load it on a GPU and return its functions; in `compiled_side_by_side`, load it at its end.

    A program that was compiled before is found in memory, or on disk.

    Parameters
    ----------
    text : str or Source
        CUDA C++.
    entries : iterable of str
        The names of its ``extern "C"`` kernels.
    device : Device
        The GPU.
    was_looked_for : bool, optional
        Whether `find_program` has just been asked for it in vain.

    Returns
    -------
    dict
        The function of each name.
    """
    key, functions = (device, _contraction, source_of(text)), {name: Function() for name in entries}
    module = _modules.find(key)
    if module is not None:
        for name, function in functions.items():
            function.load(module, name)
    else:
        wanted = _wanted.programs()
        if wanted is None:
            _load_functions([(key, functions, was_looked_for)])
        else:
            wanted.append((key, functions, was_looked_for))
    return functions


def is_loaded(text: str | Source, device: Device) -> bool:
    """Return whether a program is loaded."""
    return _modules.find((device, _contraction, source_of(text))) is not None


def is_finished(text: str | Source, device: Device) -> bool:
    """Return whether a program needs the compiler no more: it is loaded, on disk, or in the package."""
    return is_loaded(text, device) or _finished_image((device, _contraction, source_of(text))) is not None


def find_program(text: str | Source, device: Device) -> bool:
    """Load a program, if it is not, without the compiler; return whether it is loaded now."""
    key = (device, _contraction, source_of(text))
    if _modules.find(key) is not None:
        return True
    image = _finished_image(key)
    if image is not None:
        _load(key, image)
    return image is not None


def compile_beside(text: str | Source, device: Device) -> Task:
    """Compile a program, without contraction, in a thread of its own, and return what will have its machine code."""
    return beside(partial(_image, (device, False, source_of(text))))


def load_program(
    text: str | Source, entries: Iterable[str], device: Device, image: bytes | None
) -> dict[str, Function] | None:
    """Return the functions of a program without contraction, loaded at once; None if neither it nor `image` is there.

    Parameters
    ----------
    text, entries, device
        As for `compile_program`.
    image : bytes, optional
        What `compile_beside` has made of it.
    """
    key, functions = (device, False, source_of(text)), {name: Function() for name in entries}
    module = _modules.find(key)
    if module is None:
        if image is None:
            return None
        module = _load(key, image)
    for name, function in functions.items():
        function.load(module, name)
    return functions


@contextmanager
def compiled_side_by_side() -> Iterator[None]:
    """Compile the programs that are asked for inside at the end, several at a time, and load them.

    Until then their functions cannot be launched. The compiler runs outside of Python's lock, and one program takes a
    tenth of a second or more. An exception in this thread (Ctrl-C) waits for none of them; the end of the process does
    for those under way.
    """
    programs = _Programs()
    outer, _wanted.programs = _wanted.programs, ref(programs)
    try:
        yield
    finally:
        _wanted.programs = outer
    if programs:
        _load_functions(programs)


def _load_functions(programs: Sequence[tuple[_Key, dict[str, Function], bool]]) -> None:
    """Compile and load programs unless they are loaded, and give their functions the handles.

    What has compiled is loaded and kept even if another program does not compile.
    """
    found = {key: _modules.find(key) for key, _, _ in programs}
    modules = {key: module for key, module in found.items() if module is not None}
    errors = []
    missing = {key for key, _, was_looked_for in programs if was_looked_for}
    # What is on disk is read before a thread would have started.
    images: dict[_Key, bytes | BaseException | None] = {
        key: None if key in missing else _image_on_disk(key) for key in found if key not in modules
    }
    images.update(_compiled([key for key, image in images.items() if image is None]))
    for key, image in images.items():
        if isinstance(image, bytes):
            modules[key] = _load(key, image)
        elif image is not None:
            errors.append(image)
    if errors:
        raise errors[0]
    for key, functions, _ in programs:
        for name, function in functions.items():
            function.load(modules[key], name)


def _compiled(keys: Sequence[_Key]) -> dict[_Key, bytes | BaseException]:
    """Return the machine code of programs, or what the compiler raised.

    It runs in threads of its own, several at a time: a signal handler that needs one of the programs, in the middle of
    the compiler, would find files locked.
    """
    images: dict[_Key, bytes | BaseException] = {}
    if not keys:
        return images
    left = iter(keys)

    def work() -> None:
        for key in left:
            try:
                images[key] = _image(key)
            except Exception as error:
                images[key] = error

    jobs = [Job(work) for _ in range(min(len(keys), MAX_COMPILERS, os.cpu_count() or 1))]
    try:
        for job in jobs:
            job.start_alone()
        for job in jobs:
            job.wait()
            if job.error is not None:
                raise job.error
    except BaseException:
        deque(left, maxlen=0)  # what has not begun is not compiled
        raise
    return images


def _image(key: _Key) -> bytes:
    """Return a program that was not on disk: as the package holds it, or compiled."""
    device, contraction, source = key
    image = _image_of_package(key)
    if image is None:
        assert source.text is not None  # what has no text is loaded
        image = _compile(source.text, *compile_target(device.attributes.arch), contraction)
    return image


def _finished_image(key: _Key) -> bytes | None:
    """Return the compiled program if it is in the disk cache or the package holds it, else None."""
    return _image_on_disk(key) or _image_of_package(key)


def _image_on_disk(key: _Key) -> bytes | None:
    device, contraction, source = key
    return _on_disk(source, *compile_target(device.attributes.arch), contraction)


def _image_of_package(key: _Key) -> bytes | None:
    """Return the program as the package holds it, and keep it on disk: to unpack an archive takes some milliseconds."""
    device, contraction, source = key
    if contraction or not precompiled.FOLDER.is_dir():
        return None
    arch = device.attributes.arch
    image = precompiled.find_image(precompiled.FOLDER, source.digest.hex(), arch, compiler_version())
    disk = open_cache(cache_folder())
    if image is not None and disk is not None:
        disk.keep(_disk_key(source, *compile_target(arch), contraction), image)
    return image


def _load(key: _Key, image: bytes) -> Module:
    """Load a compiled program, unless another thread was first."""
    module = _modules.find(key)
    if module is None:
        device, _, source = key
        device.activate()
        size = 1 + (len(source.text or "") + len(image)) // ENTRY_BYTES
        module = _modules.keep(key, Module(device, image), size)
    return module
