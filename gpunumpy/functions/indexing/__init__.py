"""Indexing: ``a[key]``, selection by masks and index arrays, and the elements of an array one by one."""
