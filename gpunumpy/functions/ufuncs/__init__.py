"""Ufuncs: the objects, their methods, their outputs, floating-point errors, and functions composed of ufuncs."""
