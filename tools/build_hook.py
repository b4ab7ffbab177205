"""The hook of the build backend: it compiles the core, and for a release the fixed kernels too.

The core is one extension module, built by setuptools where there is a C++ compiler and Python's headers; without them
the package is installed all the same, and `python -m gpunumpy info` says so. With them an error of the compiler is one
of the installation.

The fixed kernels go into a wheel that is built with ``HATCH_BUILD_HOOKS_ENABLE=true``: then ``python -m build``
installs NVRTC of CUDA 12 and 13 beside the backend and compiles the table of `tools.fixed_kernels` with both. Who
installs from a checkout waits for neither.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_NVRTC = ["cuda-bindings>=13", "nvidia-cuda-nvrtc>=13", "nvidia-cuda-nvrtc-cu12>=12.9"]
_RUNTIME = ["ml_dtypes>=0.5.4", "opt_einsum>=3.4"]  # `tools.fixed_kernels` imports the package

# Without exceptions nothing runs where a thread is ended inside of the core, as Python ends those that are left when
# the process ends: they have no lock of Python's any more, and could free no object.
_FLAGS = ["-std=c++17", "-O2", "-g0", "-fvisibility=hidden", "-fno-exceptions"]


class BuildHook(BuildHookInterface):  # type: ignore[misc]
    """Compiles what goes into a wheel, or into a checkout that is installed as it is."""

    def dependencies(self) -> list[str]:
        """Return what the hook needs beside the backend."""
        return ["setuptools>=77", "numpy>=2.3"] + (_NVRTC + _RUNTIME if _is_release() else [])

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build; what is for a wheel goes into a folder of its own."""
        is_editable = version == "editable"
        self._folder = TemporaryDirectory()
        folder = Path(self.root if is_editable else self._folder.name)
        core = self._compile_core(folder)
        if core is not None:
            build_data["pure_python"], build_data["infer_tag"] = False, True
            if not is_editable:
                build_data["force_include"][str(core)] = str(core.relative_to(folder))
        if _is_release() and not is_editable:
            kernels = folder / "kernels"
            subprocess.run([sys.executable, "-m", "tools.fixed_kernels", kernels], cwd=self.root, check=True)
            build_data["force_include"][str(kernels)] = "gpunumpy/_compiled"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the folder."""
        self._folder.cleanup()

    def _compile_core(self, folder: Path) -> Path | None:
        """Compile the core, with the package's folders below `folder`; return its file, or None without a compiler.

        Where a compiler and Python's headers are at hand, an error of the compiler ends the installation: a core that
        was compiled of older sources would stay in a checkout, or the package be slow for no visible reason.
        """
        import numpy
        from setuptools import Extension

        source = Path(self.root, "gpunumpy/core/_native")
        probe = Path(self._folder.name, "probe.cpp")
        probe.write_text("#include <Python.h>\n")
        old = self._build(Extension("gpunumpy.core._native._core", []), folder, is_run=False)
        old.unlink(missing_ok=True)
        can_compile = Extension("probe", [str(probe)], language="c++", optional=True)
        if not self._build(can_compile, Path(self._folder.name)).exists():
            return None
        core = Extension(
            "gpunumpy.core._native._core",
            sorted(map(str, source.glob("*.cpp"))),
            depends=sorted(map(str, source.glob("*.hpp"))),
            include_dirs=[numpy.get_include()],
            language="c++",
            extra_compile_args=_FLAGS,
        )
        return self._build(core, folder)

    def _build(self, extension: Any, folder: Path, is_run: bool = True) -> Path:
        """Have setuptools build an extension below `folder`, unless only its file is asked for, which is returned."""
        from setuptools import Distribution
        from setuptools.command.build_ext import build_ext

        class BuildInParallel(build_ext):  # type: ignore[misc]
            def build_extension(self, extension: Any) -> None:
                self.compiler.compile = partial(_compile_each, type(self.compiler).compile, self.compiler)
                super().build_extension(extension)

        distribution = Distribution({"ext_modules": [extension], "cmdclass": {"build_ext": BuildInParallel}})
        command: Any = distribution.get_command_obj("build_ext")
        command.build_lib, command.build_temp = str(folder), str(Path(self._folder.name, "objects"))
        command.ensure_finalized()
        if is_run:
            command.run()
        return Path(command.get_ext_fullpath(extension.name))


def _compile_each(compile: Any, compiler: Any, sources: list[str], **options: Any) -> list[str]:
    """Compile sources as setuptools' compiler does, on all processors; return the object files."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = pool.map(lambda source: compile(compiler, [source], **options), sources)
    return [path for made in objects for path in made]


def _is_release() -> bool:
    return os.environ.get("HATCH_BUILD_HOOKS_ENABLE") == "true"
