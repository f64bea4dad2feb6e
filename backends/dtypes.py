"""What one element of a dtype takes in memory, by its torch name, without torch."""

from __future__ import annotations

ELEMENT_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2, "float8_e4m3fn": 1, "float8_e5m2": 1}


def element_bytes(dtype: str) -> int:
    """Raises ValueError for a text that names none of them."""
    if dtype not in ELEMENT_BYTES:
        raise ValueError(f"{dtype!r} names no dtype of a KV cache; use a torch name such as bfloat16")
    return ELEMENT_BYTES[dtype]
