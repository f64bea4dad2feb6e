"""One layer without its attention, ready to be timed as an arm is: `backends.driver.PreparedCall`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.device import dtype_of
from backends.step.call import PlainCall
from backends.step.passes import Passes

if TYPE_CHECKING:
    import torch

    from backends.step.shape import LayerShape, StepShape

SCALE = 0.02  # of random weights, as checkpoints have them: values of constant size through the layers


class LayerCall(PlainCall):
    """``fused``: see `RestTimes`. Slots are layers with weights of their own; activations are shared and warm, as in a server."""

    def __init__(self, shape: StepShape, kind: LayerShape, weights: list[LayerWeights], device: torch.device, fused: bool) -> None:
        import torch

        self._shape, self._kind, self._weights, self._fused = shape, kind, weights, fused
        dtype = dtype_of(shape.dtype)
        self._passes = Passes(_largest(shape, kind), dtype, device)
        self._hidden = torch.randn(shape.rows, shape.hidden, device=device).to(dtype)
        self._attended = torch.randn(shape.rows, kind.output, device=device).to(dtype)
        self._routed = torch.randn(shape.touched, shape.expert_rows, shape.hidden, device=device).to(dtype)

    def launch(self, slot: int) -> torch.Tensor:
        weights = self._weights[slot]
        self._add_and_normalise()
        self._hidden @ weights.projections
        self._rotate_and_write()
        self._attended @ weights.output
        self._add_and_normalise()
        if self._shape.experts > 1:
            self._route(weights)
        out = self._mlp(weights)
        if self._shape.experts > 1:
            self._add_up()
        return out

    def _route(self, weights: LayerWeights) -> None:
        shape = self._shape
        self._hidden @ weights.router
        self._passes.over(shape.mlp_rows * (shape.experts + 2 * shape.experts_per_token))  # which experts, and how much of each
        if not self._fused:
            self._passes.over(2 * shape.touched * shape.expert_rows * shape.hidden)  # tokens brought to their experts

    def _mlp(self, weights: LayerWeights) -> torch.Tensor:
        wide = _product(self._routed, weights.gate_up)
        self._activate()
        return _product(wide[..., : self._shape.mlp_width], weights.down)

    def _add_up(self) -> None:
        """What a token's experts say."""
        self._passes.over((self._shape.experts_per_token + 1) * self._shape.mlp_rows * self._shape.hidden)

    def _add_and_normalise(self) -> None:
        import torch

        size = self._shape.rows * self._shape.hidden
        if self._fused:
            self._passes.over(4 * size)  # what came and the residual in, the sum and its norm out
            return
        self._passes.over(3 * size)
        torch.nn.functional.rms_norm(self._hidden, (self._shape.hidden,))

    def _rotate_and_write(self) -> None:
        rows, kind = self._shape.rows, self._kind
        turned, kept = rows * (kind.query + kind.key), rows * (kind.key + kind.value)
        if self._fused:
            self._passes.over(2 * (turned + rows * kind.value))  # queries stay, keys and values go straight into the cache
            return
        for elements in (rows * kind.query, rows * kind.key):  # a norm each
            self._passes.over(2 * elements)
        self._passes.over(2 * turned)
        self._passes.over(2 * kept)

    def _activate(self) -> None:
        size = self._shape.touched * self._shape.expert_rows * self._shape.mlp_width
        if not self._fused:
            self._passes.over(2 * size)  # the activation of the gate by itself
        self._passes.over(3 * size)


class LayerWeights:
    """Of one layer; of its experts those that are touched."""

    def __init__(self, shape: StepShape, kind: LayerShape, device: torch.device) -> None:
        self.projections = weights(shape, device, shape.hidden, kind.projected)
        self.output = weights(shape, device, kind.output, shape.hidden)
        self.router = weights(shape, device, shape.hidden, shape.experts)
        self.gate_up = weights(shape, device, shape.touched, shape.hidden, 2 * shape.mlp_width)
        self.down = weights(shape, device, shape.touched, shape.mlp_width, shape.hidden)


def weights(shape: StepShape, device: torch.device, *sizes: int) -> torch.Tensor:
    """Random, of ``sizes``, whose last two lie as a checkpoint's do: a row an output."""
    import torch

    *others, into, out = sizes
    dtype = dtype_of(shape.dtype)
    made = torch.empty(*others, out, into, dtype=dtype, device=device)
    return made.normal_(std=SCALE).transpose(-1, -2)


def _product(rows: torch.Tensor, matrices: torch.Tensor) -> torch.Tensor:
    """[experts, rows, in] x [experts, in, out]; of one expert a plain product, as a dense MLP is served."""
    import torch

    return (rows[0] @ matrices[0])[None] if len(matrices) == 1 else torch.bmm(rows, matrices)


def _largest(shape: StepShape, kind: LayerShape) -> int:
    routed = shape.touched * shape.expert_rows
    return max(
        4 * shape.rows * shape.hidden,
        2 * shape.rows * kind.projected,
        3 * routed * shape.mlp_width,
        2 * routed * shape.hidden,
        (shape.experts_per_token + 1) * shape.mlp_rows * shape.hidden,
        shape.mlp_rows * (shape.experts + 2 * shape.experts_per_token),
    )
