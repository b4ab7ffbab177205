"""The CPU device's executor: kernels as NumPy calls over blocks, on threads."""
