"""The schedule layer: from a recorded graph to the steps of a plan. Pure functions over data; no CUDA in it."""
