"""What `python -m gpunumpy script.py` adds to a script: to the process, and to each call.

``python benchmarks/runner.py [--turns 15]`` runs one script in new processes, by turns: with NumPy by Python, with its
import line changed by Python, and unchanged by the runner. The table has the medians of the processor's milliseconds
of whole processes, of the differences to the script with the changed line in the same turn, and of the nanoseconds
that the script measures of a call. A first run of each, which compiles what is imported, does not count.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

SCRIPT = """
import {library} as np
from timeit import repeat

x, y = np.arange(8.0), np.ones(8)
calls = ("np.add(x, y)", "np.arange(8.0)", "isinstance(x, np.ndarray)")
print(*(min(repeat(call, globals=globals(), number=2000, repeat=9)) / 2000 * 1e9 for call in calls))
"""
CALLS = ("add", "arange", "isinstance")


def milliseconds(command: list[str]) -> tuple[float, list[float]]:
    """The processor's milliseconds of a process, and the nanoseconds that it prints."""
    env = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took * 1e3, [float(word) for word in run.stdout.split()]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=15)
    turns = parser.parse_args().turns
    with tempfile.TemporaryDirectory() as folder:
        paths = {library: Path(folder, f"with_{library}.py") for library in ("numpy", "gpunumpy")}
        for library, path in paths.items():
            path.write_text(SCRIPT.format(library=library))
        commands = {
            "NumPy, by Python": [sys.executable, str(paths["numpy"])],
            "changed line, by Python": [sys.executable, str(paths["gpunumpy"])],
            "unchanged, by the runner": [sys.executable, "-m", "gpunumpy", str(paths["numpy"])],
        }
        for command in commands.values():
            milliseconds(command)
        runs = [{name: milliseconds(command) for name, command in commands.items()} for _ in range(turns)]
    print(f"{'':26}{'process':>12}{'more':>12}{''.join(f'{call:>12}' for call in CALLS)}")
    for name in commands:
        process = median(run[name][0] for run in runs)
        more = median(run[name][0] - run["changed line, by Python"][0] for run in runs)
        calls = [min(run[name][1][k] for run in runs) for k in range(len(CALLS))]
        print(f"{name:26}{process:>9.0f} ms{more:>9.1f} ms{''.join(f'{ns:>9.0f} ns' for ns in calls)}")


if __name__ == "__main__":
    main()
