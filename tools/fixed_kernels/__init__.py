"""The kernels that a wheel holds compiled: their table, and the command that compiles it."""
