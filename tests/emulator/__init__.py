"""The emulator: compiles generated CUDA text with the host's g++ and runs it, so that kernels are tested with no GPU.

Where it differs from the device: a conversion of a float out of an integer's range, and a shift by the width of the
type or more, are what the host's processor makes of them; blocks run one after the other. It is stricter where it can
be: mathematical functions are no better than CUDA's are documented, shared memory starts poisoned in every block,
arrays end where memory ends, and a deadlock, a misaligned vector access or an access out of bounds is an
`EmulatorError` that says where.
"""

from .build import CompileError, Module, available, compile_text, precompile
from .executor import run_interpreted, run_kernel, run_program
from .machine import EmulatorError, launch

__all__ = [
    "CompileError",
    "EmulatorError",
    "Module",
    "available",
    "compile_text",
    "launch",
    "precompile",
    "run_interpreted",
    "run_kernel",
    "run_program",
]
