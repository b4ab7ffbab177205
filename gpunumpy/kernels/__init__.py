"""What runs on the devices: code generation, the executors, and the implementations of library calls by family."""
