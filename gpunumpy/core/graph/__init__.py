"""The expression graph: nodes, their interned signatures, memory layouts and the records of library calls."""
