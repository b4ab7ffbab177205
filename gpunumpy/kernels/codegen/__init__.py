"""Code generation: a `Kernel` becomes CUDA C++ text and its launches. Pure: nothing here imports CUDA."""
