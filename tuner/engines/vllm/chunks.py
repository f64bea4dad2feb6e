"""Layers that attend within chunks of the sequence (Llama 4): vLLM puts a wrapper around their backend that no CUDA graph may hold.

Source: vllm/model_executor/layers/attention/chunked_local_attention.py, ChunkedLocalAttentionBuilder.get_cudagraph_support.
"""

from __future__ import annotations

from backends.model import Model

NAME = "chunk"  # as `tuner.hf.layer` calls them


def chunked_layers(model: Model) -> int:
    """How many there are. A graph holds all layers of a step, so that one of them is enough to leave attention out of graphs."""
    return sum(kind.layers for kind in model.layers if kind.name.partition("-")[0] == NAME)
