"""Linear algebra on each device: solvers and decompositions by kernels of this package, cuSOLVER or NumPy."""
