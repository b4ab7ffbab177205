"""Programs whose text a user wrote: options and headers of the compiler, names of templates, and the cache on disk."""

from __future__ import annotations

import marshal
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from ...core.disk_cache import cache_folder, open_cache
from ...core.errors import DeviceError
from ...core.graph.bounded_table import ENTRY_BYTES, BoundedTable
from ...core.helpers import Job
from ...core.runtime.device import Device
from ..codegen.sources import source
from .compile import compile_target
from .compile_lock import compiled_by_one_process
from .module import Module
from .nvrtc import compiled_with_names, compiler_version

# Texts that programs may include without files, by the names that CuPy has for them.
HEADERS = {"cupy/complex.cuh": "custom/complex"}
_HEADER_OF_TOOLKIT = "cuda_fp16.h"
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)


class UserProgram(NamedTuple):
    """A program as a user gives it: `expressions` are kernels as C++ names them, ``scale<float>``."""

    text: str
    options: tuple[str, ...] = ()
    expressions: tuple[str, ...] = ()


class LoadedProgram(NamedTuple):
    """A program on a GPU, and the names of its kernels in the machine code, by their expressions."""

    module: Module
    names: dict[str, str]


_loaded: BoundedTable[tuple[Device, UserProgram], LoadedProgram] = BoundedTable()


def require_gpu(device: Device) -> Device:
    """Return a device, which must be a GPU."""
    if device.kind != "cuda":
        raise DeviceError(
            f"kernels in CUDA C++ run on a GPU, and here the device is {device}: move arrays with x.to_device('cuda'), "
            "or write an ElementwiseKernel or a ReductionKernel, which runs on both"
        )
    return device


def load(program: UserProgram, device: Device) -> LoadedProgram:
    """Compile a program for a GPU and load it, unless it is loaded.

    Raises
    ------
    DeviceError
        If it does not compile. The message has the compiler's log and the source with line numbers.
    """
    found = _loaded.find((device, program))
    if found is None:
        image, names = compile_for(program, *compile_target(device.attributes.arch))
        device.activate()
        made = LoadedProgram(Module(device, image), dict(zip(program.expressions, names, strict=True)))
        size = 1 + (len(program.text) + len(image)) // ENTRY_BYTES
        found = _loaded.keep((device, program), made, size)
    return found


def compile_for(program: UserProgram, arch: str, kind: str = "cubin") -> tuple[bytes, tuple[str, ...]]:
    """Return the code of a program for an architecture, and the names of its expressions; no GPU is needed.

    The code is kept on disk, by the text and all files that it may include.
    """
    folders = [*_given_folders(program.options), *_toolkit_folders()]
    options = _options(program.options, arch, folders)
    make = partial(compiled_with_names, program.text, kind, options, _headers(), program.expressions)
    folder = cache_folder()
    disk = open_cache(folder)
    if disk is None:
        return _beside_handlers(make)
    told: Any = (compiler_version(), kind, options, program.expressions, sorted(_headers().items()))
    digest = sha256(repr((told, *_stamps(program.text, folders))).encode())
    digest.update(program.text.encode())
    key = digest.digest()
    entry = disk.find(key)
    if entry is None:
        with compiled_by_one_process(folder, key):
            entry = disk.find(key)
            if entry is None:
                entry = marshal.dumps(_beside_handlers(make))
                disk.keep(key, entry)
    image, names = marshal.loads(entry)
    return image, names


def _beside_handlers(make: partial[Any]) -> Any:
    """Compile in a thread of its own: a signal handler that compiles too would find the compiler in the middle."""
    made: list[Any] = []
    job = Job(lambda: made.append(make()))
    job.start_alone()
    job.wait()
    if job.error is not None:
        raise job.error
    return made[0]


def _options(given: Sequence[str], arch: str, folders: Iterable[str]) -> list[bytes]:
    """Return the compiler's options: those that are given, and for what they leave open an architecture and C++17."""
    names = {re.split("[= ]", option.lstrip("-"), maxsplit=1)[0] for option in given}
    options = list(given)
    if not names & {"arch", "gpu-architecture"}:
        options.append(f"-arch={arch}")
    if not names & {"std"}:
        options.append("--std=c++17")
    options += [f"-I{folder}" for folder in folders if f"-I{folder}" not in given]
    return [option.encode() for option in options]


@cache
def _headers() -> dict[str, str]:
    return {name: source(file) for name, file in HEADERS.items()}


def _given_folders(options: Sequence[str]) -> Iterator[str]:
    """Yield the folders that options name for headers."""
    for k, option in enumerate(options):
        name, equals, value = option.partition("=")
        if option.startswith("-I") and len(option) > 2:
            yield option[2:]
        elif name in ("--include-path", "-I") and (equals or k + 1 < len(options)):
            yield value or options[k + 1]


@cache
def _toolkit_folders() -> tuple[str, ...]:
    """Return the folder of CUDA's headers, if there is one: of a toolkit, or of a package ``nvidia-cuda-runtime``."""
    roots = [Path(os.environ[name]) for name in ("CUDA_PATH", "CUDA_HOME") if os.environ.get(name)]
    major = compiler_version()[0]
    spec = find_spec("nvidia")
    for place in (spec.submodule_search_locations or ()) if spec is not None else ():
        roots += [Path(place) / f"cu{major}", Path(place) / "cuda_runtime"]
    roots.append(Path("/usr/local/cuda"))
    found = (str(root / "include") for root in roots if (root / "include" / _HEADER_OF_TOOLKIT).is_file())
    return tuple(found)[:1]


def _stamps(text: str, folders: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return the path, size and time of all files that a text may include, directly or not."""
    stamps: dict[str, tuple[str, int, int]] = {}
    left = list(_INCLUDE.findall(text))
    seen = set(left)
    while left:
        name = left.pop()
        for folder in folders:
            path = Path(folder, name)
            if not path.is_file():
                continue
            status = path.stat()
            stamps[str(path)] = (str(path), status.st_size, status.st_mtime_ns)
            inner = path.read_text(encoding="utf-8", errors="replace")
            # What a file includes lies beside it, or in one of the folders.
            near = [str(Path(name).parent / other) for other in _INCLUDE.findall(inner)]
            new = {*near, *_INCLUDE.findall(inner)} - seen
            seen |= new
            left += new
            break
    return [stamps[path] for path in sorted(stamps)]


def load_file(path: str, device: Device) -> LoadedProgram:
    """Load a cubin or a text in PTX from a file.

    Raises
    ------
    DeviceError
        If the driver does not take it.
    """
    try:
        image = Path(path).read_bytes()
    except OSError as error:
        raise DeviceError(f"the program {path!r} cannot be read: {error}") from error
    device.activate()
    return LoadedProgram(Module(device, image + b"\0"), {})
