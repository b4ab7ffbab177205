"""The table of operations: elementwise ops, reductions and random-number ops, with their CUDA code and dtype rules."""
