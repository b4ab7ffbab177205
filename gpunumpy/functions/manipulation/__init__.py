"""Manipulation of arrays: shapes and strides, joining and splitting, repeating, padding, inserting and deleting."""
