"""NVRTC, the compiler of CUDA: from CUDA C++ text to machine code, which needs no GPU.

Floating-point results must equal NumPy's results, so multiplications and additions are contracted only on demand,
subnormals are kept, and division and square root are correctly rounded. Nothing is included from the CUDA toolkit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from ...core.errors import DeviceError
from ...core.extras import install_command
from ...core.late_imports import import_late
from ...core.runtime.host_work import observed
from .beside import let_end_with_process

_NAME = b"gpunumpy"  # of a program, in the compiler's messages
# Of each kind of code, the function that returns it; another one with "Size" behind its name returns its length.
_GETTERS = {"cubin": "nvrtcGetCUBIN", "ptx": "nvrtcGetPTX", "ltoir": "nvrtcGetLTOIR"}


def _nvrtc() -> Any:
    return import_late("cuda.bindings.nvrtc")


@cache
def archs() -> tuple[str, ...]:
    """Return the architectures that the installed compiler knows, such as ``sm_90``, oldest first."""
    try:
        status, numbers = _nvrtc().nvrtcGetSupportedArchs()
    except Exception as error:  # a missing library raises a class that differs between versions of cuda-bindings
        raise DeviceError(
            f"NVRTC, the compiler of CUDA, cannot be loaded ({error}); {install_command('cu13')} (or cu12)"
        ) from error
    if status:
        raise DeviceError(f"NVRTC, the compiler of CUDA, does not start: {status.name}")
    return tuple(f"sm_{number}" for number in numbers)


@cache
def compiler_version() -> tuple[int, int]:
    """Return the major and the minor version of the installed compiler."""
    archs()  # raises if there is none
    _, major, minor = _nvrtc().nvrtcVersion()
    return major, minor


def compile_options(arch: str, kind: str = "cubin", contraction: bool = False) -> list[bytes]:
    """Return the compiler's options for an architecture, for a kind of code, with or without contraction."""
    options = [f"-arch={arch}", f"--fmad={'true' if contraction else 'false'}", "--std=c++17"]
    return [option.encode() for option in [*options, *(["--dlink-time-opt"] if kind == "ltoir" else [])]]


def compiled(text: str, kind: str, options: Sequence[bytes]) -> bytes:
    """Compile a program.

    Parameters
    ----------
    text : str
        CUDA C++.
    kind : str
        Of the code: "cubin", "ptx" or "ltoir".
    options : sequence of bytes
        As from `compile_options`.

    Raises
    ------
    DeviceError
        If the program does not compile. The message has the compiler's log and the source with line numbers.
    """
    return compiled_with_names(text, kind, options)[0]


def compiled_with_names(
    text: str, kind: str, options: Sequence[bytes], headers: Mapping[str, str] = {}, expressions: Sequence[str] = ()
) -> tuple[bytes, tuple[str, ...]]:
    """Compile a program, and return its code and the names that kernels have in it.

    Parameters
    ----------
    text, kind, options
        As for `compiled`.
    headers : mapping
        Texts that the program may include, by name.
    expressions : sequence of str
        Kernels as C++ names them, such as ``scale<float>``. The names in the code are returned in this order.

    Raises
    ------
    DeviceError
        As `compiled`.
    """
    nvrtc = _nvrtc()
    texts, names = ([x.encode() for x in part] for part in (headers.values(), headers))
    program = _checked(nvrtc.nvrtcCreateProgram(text.encode(), _NAME, len(names), texts, names))
    try:
        let_end_with_process(program)
        for expression in expressions:
            _checked(nvrtc.nvrtcAddNameExpression(program, expression.encode()))
        with observed("compile", _first_kernel(text)):
            (status,) = nvrtc.nvrtcCompileProgram(program, len(options), list(options))
        if status:
            log = _filled(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
            raise CompileError(status.name, log.decode(errors="replace").rstrip("\0"), text, options)
        getter = _GETTERS[kind]
        code = _filled(getattr(nvrtc, f"{getter}Size"), getattr(nvrtc, getter), program)
        lowered = [_checked(nvrtc.nvrtcGetLoweredName(program, x.encode())) for x in expressions]
        return code, tuple([name.decode() for name in lowered])
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _first_kernel(text: str) -> str:
    """Return the name of the first kernel of a program; "a program" for one without."""
    found = re.search(r"__global__[^;{]*?(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\(", text)
    return found[1] if found else "a program"


def _filled(get_size: Callable[..., Any], get: Callable[..., Any], program: Any) -> bytes:
    """Return the bytes that a function of NVRTC fills in."""
    made = bytes(_checked(get_size(program)))
    _checked(get(program, made))
    return made


def _checked(result: tuple[Any, ...]) -> Any:
    """Return what a function of NVRTC gives besides its status."""
    status, *values = result
    if status:
        raise DeviceError(f"NVRTC, the compiler of CUDA, fails: {status.name}")
    return values[0] if values else None


class CompileError(DeviceError):
    """A program does not compile; `log` is what the compiler said."""

    def __init__(self, status: str, log: str, text: str, options: Sequence[bytes]) -> None:
        arch = next((o.decode().partition("=")[2] for o in options if o.startswith(b"-arch=")), "a GPU")
        super().__init__(f"a kernel does not compile for {arch}: {status}\n{log}\n{with_line_numbers(text)}")
        self.log = log


def with_line_numbers(text: str) -> str:
    """Return a text for people, with its line numbers."""
    return "\n".join(f"{number:4} | {line}" for number, line in enumerate(text.splitlines(), 1))
