"""Scripts that run unchanged: in the user's own files ``import numpy`` gives this package.

`imports` compiles import statements, `selection` tells which files are the user's own, `finder` loads them.
"""
