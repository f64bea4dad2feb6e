"""The ground: value types, the worker, the kernels it times. Imports torch or a kernel library only inside functions."""
