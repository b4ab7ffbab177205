"""What `--report` adds to a script: to loops over elements, and to large operations.

``python benchmarks/reports.py [--turns 5]`` runs each script in new processes, with and without a report by turns, and
prints the medians of the processor's seconds that the script measures of itself.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from table import heading

# Arrays of 3.2 MB, which are a device's until their elements are looked at.
SCRIPTS = {
    "400,000 elements, added to a number": """
    x = np.sqrt(np.arange(400_000.0))
    total = 0.0
    for k in range(400_000):
        total += float(x[k])
""",
    "400,000 elements, added up as results": """
    x = np.sqrt(np.arange(400_000.0))
    total = 0.0
    for k in range(400_000):
        total += x[k]
""",
    "400,000 elements, read and written": """
    x = np.sqrt(np.ones((633, 633)))
    for i in range(1, 633):
        for j in range(633):
            x[i, j] = 0.5 * x[i - 1, j] + 1.0
""",
    "200 times five operations on 16 MB": """
    x = np.linspace(0.0, 1.0, 2_000_000)
    for _ in range(200):
        x = np.sin(x) * 0.5 + x[::-1] * 0.25
    float(x.sum())
""",
}
FRAME = """import time
import numpy as np

def measured():
    start = time.process_time(){body}    return time.process_time() - start

print(measured())
"""


def seconds(path: Path, *options: str) -> float:
    """The processor's seconds that a script prints."""
    command = [sys.executable, "-m", "gpunumpy", *options, str(path)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5)
    turns = parser.parse_args().turns
    print(f"{heading()}\n\n{'':40}{'alone':>10}{'reported':>10}{'times':>7}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "script.py")
        for name, body in SCRIPTS.items():
            path.write_text(FRAME.format(body=body))
            runs = [(seconds(path), seconds(path, "--report")) for _ in range(turns)]
            alone, reported = (median(times) for times in zip(*runs, strict=True))
            print(f"{name:40}{alone:>8.2f} s{reported:>8.2f} s{reported / alone:>7.2f}")


if __name__ == "__main__":
    main()
