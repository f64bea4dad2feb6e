"""vLLM asked for its own choice of a backend: in a process of its own, without weights, on any machine."""
