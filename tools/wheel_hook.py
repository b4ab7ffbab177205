"""The hook of the build backend that puts the compiled fixed kernels into a wheel.

It is off unless ``HATCH_BUILD_HOOKS_ENABLE=true`` is set: then ``python -m build`` installs NVRTC of CUDA 12 and 13
beside the backend and compiles the table of `tools.fixed_kernels` with both. Who installs from a checkout waits for
neither.
"""

from __future__ import annotations

import subprocess
import sys
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class FixedKernels(BuildHookInterface):  # type: ignore[misc]
    """Compiles the table into a folder of its own, which goes into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        self._folder = TemporaryDirectory()
        subprocess.run([sys.executable, "-m", "tools.fixed_kernels", self._folder.name], cwd=self.root, check=True)
        build_data["force_include"][self._folder.name] = "gpunumpy/_compiled"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self._folder.cleanup()
