"""SGLang's torch_native: scaled_dot_product_attention, request by request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.cell import Phase
from backends.torch_requests import RequestLoop

if TYPE_CHECKING:
    import torch

    from backends.arm import Arm
    from backends.driver import CellData, KvPool, PreparedCall, Stage


class TorchSdpa:
    """See `backends.driver.Driver`. Source: sglang/srt/layers/attention/torch_native_backend.py, 0.5.22. It ignores soft caps, which its
    entry keeps from it."""

    imports = ("torch",)

    def __init__(self, arm: Arm, stage: Stage, pool: KvPool) -> None:
        """Nothing to build."""

    def prepare(self, data: CellData) -> PreparedCall:
        attention = _Sdpa(data)
        return RequestLoop(data, attention.attend, attention.plan, lambda: attention.resolved)

    def close(self) -> None:
        """Nothing is held."""


class _Sdpa:
    """``resolved`` is PyTorch's own choice for the latest call: "sdpa:flash", "sdpa:math", ..."""

    def __init__(self, data: CellData) -> None:
        self._layer = data.cell.layer
        self._causal = data.cell.phase is Phase.PREFILL
        self.resolved = "sdpa"

    def plan(self) -> None:
        """The engine makes no metadata for this backend."""

    def attend(self, request: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        import torch

        mask = None if self._layer.sliding_window is None else _window_mask(q.shape[2], k.shape[2], self._layer.sliding_window, q.device)
        causal = self._causal and mask is None
        grouped, scale = self._layer.group > 1, self._layer.softmax_scale
        if self.resolved == "sdpa":
            self.resolved = f"sdpa:{_choice(q, k, v, mask, causal, scale, grouped)}"
        attention = torch.nn.functional.scaled_dot_product_attention
        return attention(q, k, v, attn_mask=mask, is_causal=causal, scale=scale, enable_gqa=grouped)


def _window_mask(rows: int, context: int, window: int, device: torch.device) -> torch.Tensor:
    """bool [rows, context]: the last ``rows`` positions see themselves and the ``window - 1`` keys before."""
    import torch

    distance = torch.arange(context - rows, context, device=device)[:, None] - torch.arange(context, device=device)
    return (distance >= 0) & (distance < window)


def _choice(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None, causal: bool, scale: float, grouped: bool) -> str:
    """The kernel family PyTorch picks for these tensors, "flash", "efficient", "cudnn" or "math"."""
    import torch
    from torch.nn.attention import SDPBackend

    number = torch._fused_sdp_choice(q, k, v, mask, 0.0, causal, scale=scale, enable_gqa=grouped)
    names = {int(member.value): name for name, member in SDPBackend.__members__.items()}
    return names[number].lower().removesuffix("_attention")
