"""What a step does once: embeddings looked up, the last norm, logits, the next tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.device import dtype_of
from backends.step.call import PlainCall
from backends.step.layer import weights
from backends.step.passes import Passes

if TYPE_CHECKING:
    import torch

    from backends.step.shape import StepShape


class HeadCall(PlainCall):
    """As `LayerCall`. ``fused``: the likeliest token is taken; else float32 probabilities are made first."""

    def __init__(self, shape: StepShape, matrices: list[torch.Tensor], device: torch.device, fused: bool) -> None:
        import torch

        self._shape, self._matrices, self._fused = shape, matrices, fused
        dtype = dtype_of(shape.dtype)
        self._passes = Passes(4 * shape.rows * shape.hidden, dtype, device)
        self._hidden = torch.randn(shape.logit_rows, shape.hidden, device=device).to(dtype)

    def launch(self, slot: int) -> torch.Tensor:
        size = self._shape.rows * self._shape.hidden
        self._passes.over(2 * size)
        self._passes.over(4 * size)
        logits = self._hidden @ self._matrices[slot]
        if not self._fused:
            logits = logits.float().softmax(-1)
        logits.argmax(-1)
        return logits


def heads(shape: StepShape, count: int, device: torch.device) -> list[torch.Tensor]:
    return [weights(shape, device, shape.hidden, shape.vocab) for _ in range(count)]
