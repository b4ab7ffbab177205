"""Recording: the state of `ndarray`, and the graph nodes that an operation on arrays adds."""
