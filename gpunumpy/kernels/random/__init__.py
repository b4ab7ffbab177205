"""Kernels of random numbers: CUDA C++ beside the Python that launches it, and the CPU executor's functions."""
