"""One of SGLang's attention backends, built from its registry over the stand-in runner."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.driver import Refused
from backends.memory import Growth, held
from backends.sglang import resolved
from backends.sglang.context import imported, missing
from backends.sglang.runner import StandInRunner, environment_of
from backends.sglang.steps import true_batch

if TYPE_CHECKING:
    from backends.arm import Arm
    from backends.driver import CellData, KvPool, Stage
    from backends.sglang.calls import EagerCall
    from backends.sglang.context import EngineContext

# What an engine's own checks raise. RuntimeErrors of the device, out of memory included, pass through as they are.
REFUSALS = (AssertionError, AttributeError, KeyError, NameError, NotImplementedError, TypeError, ValueError)


class Engine:
    """The backend of ``arm`` and what it stands on. Raises `MissingPackage`, `Refused` or `FellBack` when it cannot be built.

    Its calls share the backend's buffers, as the batches of one server do: the current one has its requests in the engine's
    table of token slots, and plans before it launches or replays. ``server_bytes`` is the device memory of what a server
    has with every backend (the table of token slots, the allocator's free list); None on a CPU.
    """

    def __init__(self, arm: Arm, stage: Stage, pool: KvPool, context: EngineContext) -> None:
        self.arm = arm
        self.stage = stage
        self.pool = pool
        self.context = context
        for package in arm.packages:
            imported(package)
        grown = Growth(held(stage.device))
        try:
            self.runner: Any = StandInRunner(arm, stage, pool, context)
            self.server_bytes = grown.bytes
            with environment_of(arm):
                self.backend: Any = self._registered()(self.runner)
        except ImportError as error:
            raise missing(error, arm.backend) from error
        except REFUSALS as error:
            raise self.refusal(error) from error
        resolved.check_class(arm.backend, self.backend, self.runner.use_mla_backend)
        self._current: EagerCall | None = None

    def _registered(self) -> Any:
        registry = imported("sglang.srt.layers.attention.attention_registry").ATTENTION_BACKENDS
        if self.arm.backend not in registry:
            names = ", ".join(sorted(registry))
            raise Refused(f"SGLang {self.context.version} has no attention backend {self.arm.backend}; it has {names}")
        return registry[self.arm.backend]

    def refusal(self, error: Exception) -> Refused:
        """The engine's sentence, or where it gave none, the place it came from."""
        where = traceback.extract_tb(error.__traceback__)[-1]
        said = str(error).strip().splitlines() or [f"raised in {where.name} of {Path(where.filename).name}"]
        return Refused(f"SGLang {self.context.version}, {self.arm.backend}: {type(error).__name__}: {said[0]}")

    def step_batch(self, data: CellData) -> Any:
        """The ForwardBatch of the cell's true rows, with this version's plan of KV ids."""
        batch = true_batch(data, self.stage.drafting)
        self.context.names.bind_step(self.runner, batch)
        return batch

    @contextmanager
    def running(self, call: EagerCall) -> Iterator[None]:
        """The engine as ``call`` needs it: its arguments published, its requests in the table, no gradients."""
        import torch
        from sglang.srt.model_executor.forward_context import ForwardContext, forward_context

        self.context.publish(self.runner.server_args)
        if self._current is not call:
            rows = call.data.req_to_token
            self.runner.req_to_token_pool.req_to_token[: len(rows)].copy_(rows)
            call.resume()
            self._current = call
        with torch.no_grad(), forward_context(ForwardContext(attn_backend=self.backend)):
            yield

    def leave(self, call: EagerCall) -> None:
        if self._current is call:
            self._current = None
