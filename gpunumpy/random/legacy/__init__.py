"""`RandomState` and the module's functions: NumPy's legacy stream over MT19937, drawn on the device where it can be."""
