"""Python functions of numbers, run once for the numbers of all elements: what `vectorize` does on a device."""
