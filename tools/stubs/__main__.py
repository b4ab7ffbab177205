"""Write the stubs into the package: ``python -m tools.stubs``. Needs SciPy, and ruff, which formats them."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import gpunumpy

from .modules import stubs
from .scipy_modules import scipy_stubs

PACKAGE = Path(gpunumpy.__file__).parent


def main() -> None:
    made = stubs() | scipy_stubs()
    for path, text in made.items():
        target = PACKAGE / path
        target.parent.mkdir(exist_ok=True)
        target.write_text(text, encoding="utf-8")
    for command in (("check", "--fix", "--select=I"), ("format",)):
        subprocess.run([sys.executable, "-m", "ruff", *command, "--quiet", *made], cwd=PACKAGE, check=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # what runs on the host says so
    main()
