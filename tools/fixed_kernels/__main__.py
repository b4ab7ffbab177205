"""``python -m tools.fixed_kernels FOLDER``: compile the table with every NVRTC that is installed, for the wheel.

It needs no GPU, and takes about five minutes of one processor for each NVRTC and architecture. The hook of the build
backend, `tools/wheel_hook.py`, runs it. ``--arch``, ``--family``: only these.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gpunumpy.kernels.cuda.compile import compile_options
from gpunumpy.kernels.cuda.precompiled import compiler_name, write_images

from .nvrtc import NVRTC, installed
from .table import SHARED_BYTES, texts


def compile_table(folder: Path, compilers: list[NVRTC], archs: list[str], families: list[str]) -> None:
    """Write the images of the table below a folder; all families if none is given."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for nvrtc in compilers:
            for arch in archs:
                options = compile_options(arch)
                table = {name: rows for name, rows in texts(arch).items() if name in families or not families}
                jobs = {
                    name: [pool.submit(nvrtc.compile, row, options) for row in rows] for name, rows in table.items()
                }
                images = {name: dict(zip(table[name], (job.result() for job in jobs[name]))) for name in table}
                place = folder / compiler_name(nvrtc.version) / arch
                write_images(place, images)
                count, size = sum(map(len, table.values())), sum(path.stat().st_size for path in place.iterdir())
                print(f"{place.parent.name} {arch}: {count} programs, {size / 1e6:.2f} MB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--arch", action="append", choices=list(SHARED_BYTES))
    parser.add_argument("--family", action="append", default=[])
    given = parser.parse_args()
    compilers = [NVRTC(path) for path in installed()]
    if not compilers:
        print("no NVRTC is installed: nothing is compiled")
    compile_table(given.folder, compilers, given.arch or list(SHARED_BYTES), given.family)


if __name__ == "__main__":
    main()
