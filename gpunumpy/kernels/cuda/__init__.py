"""Kernels on a GPU: compiled, launched, and prepared as programs; and the executor of plans."""
