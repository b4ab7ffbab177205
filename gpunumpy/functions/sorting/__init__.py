"""Sorting of values and rows, and searching in sorted values."""
