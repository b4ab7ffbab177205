"""Kernels of one's own, under CuPy's names: what users call, its checks, and what is recorded."""
