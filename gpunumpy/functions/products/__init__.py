"""Products of vectors, matrices and tensors, and Einstein sums."""
