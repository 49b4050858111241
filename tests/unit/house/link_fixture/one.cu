// Never compiled: its name alone makes nvcc link the CUDA runtime.
