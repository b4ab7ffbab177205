"""Functions of NumPy's main namespace: they check arguments and record operations, and hold no kernel."""
