"""NVIDIA's libraries, through the bindings of nvmath-python: all handles, plans and descriptions are held here."""
