"""What is looked at when NumPy and SciPy are first imported, by tests and by the processes that they start."""

import os

# Several processes run tests, on small arrays: threads of their BLAS would only wait for one another.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# SciPy's functions take arrays of any namespace.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
