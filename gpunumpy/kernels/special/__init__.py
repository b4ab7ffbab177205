"""The functions of SciPy's `special`: their C++, and what computes them on the CPU."""
