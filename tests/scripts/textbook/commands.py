"""A program with arguments, which runs another one and ends with an exit code."""

import argparse
import subprocess
import sys

import numpy as np
import numpy.linalg

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=int, default=3)
parser.add_argument("names", nargs="*")
options = parser.parse_args()

matrix = numpy.eye(options.size) + np.ones((options.size, options.size))
solution = numpy.linalg.solve(matrix, np.arange(options.size, dtype=float))
print(parser.prog, options.names, solution.round(6))
other = "import sys, numpy; print(numpy.fromstring(sys.stdin.read(), sep=' ').sum(), sys.argv[1:])"
text = " ".join(f"{x:.3f}" for x in solution)
done = subprocess.run([sys.executable, "-c", other, str(matrix.sum())], input=text, capture_output=True, text=True)
print(done.stdout, done.returncode)
print("nothing else to do", file=sys.stderr)
sys.exit(3)
