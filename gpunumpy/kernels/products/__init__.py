"""Matrix products: the implementations of the library call "matmul"."""
