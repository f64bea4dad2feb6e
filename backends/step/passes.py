"""The small kernels between two matrix products, as plain passes over memory.

An engine fuses them, each in its own way: addition with the norm, rotation with the write of the cache, activation with the product of
gate and up. What such a kernel costs is a launch and one pass over the bytes that it must read and write. So that is what stands in for
it: torch's own kernel for a negation, whose input and output together are as many bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


class Passes:
    """``largest``: elements that one pass moves at the most."""

    def __init__(self, largest: int, dtype: torch.dtype, device: torch.device) -> None:
        import torch

        self._source = torch.randn(max(1, -(-largest // 2)), device=device).to(dtype)
        self._target = torch.empty_like(self._source)

    def over(self, elements: int) -> None:
        """One kernel that reads and writes ``elements`` in all."""
        import torch

        count = max(1, elements // 2)
        torch.neg(self._source[:count], out=self._target[:count])
