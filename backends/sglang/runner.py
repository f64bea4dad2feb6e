"""A stand-in for SGLang's ModelRunner: what attention backends read of it, attribute by attribute.

There is no catch-all: an AttributeError that names the missing field is the alarm after an upgrade. Heads are per rank and
every width is 1, so no process group is needed; the quotients the backends form are the served ones.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from backends.driver import Refused
from backends.knob import is_variable
from backends.latent import LATENT
from backends.model import LayerKind, per_rank
from backends.sglang import pools

if TYPE_CHECKING:
    import torch

    from backends.arm import Arm
    from backends.driver import KvPool, Stage
    from backends.sglang.context import EngineContext


KV_ARGUMENTS = {"float8_e4m3fn": "fp8_e4m3", "float8_e5m2": "fp8_e5m2"}  # any other cache holds the model's dtype: backends/measurable.py


class StandInModelConfig:
    """The part of SGLang's ModelConfig that backends read; ``kind`` holds heads per rank."""

    def __init__(self, stage: Stage, kind: LayerKind, dtype: torch.dtype) -> None:
        from sglang.srt.configs.model_config import AttentionArch

        self.attention_arch = AttentionArch.MLA if kind.latent else AttentionArch.MHA
        self.dtype = dtype
        self.context_len = stage.context_length
        self.hidden_size = stage.model.hidden_size
        self.num_attention_heads = kind.query_heads
        self.num_key_value_heads = kind.kv_heads
        self.head_dim = kind.head_dim
        self.v_head_dim = kind.value_head_dim
        self.swa_v_head_dim = kind.value_head_dim
        self.is_encoder_decoder = False
        self.is_multimodal = False
        self.is_local_attention_model = False
        self.linear_attn_registry_result = None
        self.hf_text_config = SimpleNamespace(
            architectures=[stage.model.architecture],  # FlashInfer sizes its workspace by it
            num_attention_heads=kind.query_heads,
            attn_logit_softcapping=stage.model.logit_softcap,
        )
        self.hf_text_config.get_text_config = lambda: self.hf_text_config
        self.hf_config = self.hf_text_config
        if kind.latent:
            self._become_latent(stage, kind)

    def _become_latent(self, stage: Stage, kind: LayerKind) -> None:
        """As ModelConfig._derive_model_shapes does for DeepSeek's architectures: the heads before they are absorbed."""
        widths = LATENT[stage.model.architecture]
        self.num_key_value_heads = kind.query_heads
        self.head_dim = 256
        self.v_head_dim = self.swa_v_head_dim = widths.value
        self.kv_lora_rank = kind.value_head_dim
        self.qk_nope_head_dim = widths.nope
        self.qk_rope_head_dim = kind.head_dim - kind.value_head_dim
        self.index_head_dim = None
        self.scaling = kind.softmax_scale

    def get_num_kv_heads(self, tp_size: int, dcp_size: int = 1) -> int:
        return self.num_key_value_heads

    def get_max_num_attention_heads(self) -> int:
        return self.num_attention_heads


class StandInRunner:
    """Carries the arguments, the real pools, and the scalars that backends ask a ModelRunner for."""

    def __init__(self, arm: Arm, stage: Stage, pool: KvPool, context: EngineContext) -> None:
        import torch
        from sglang.srt.speculative.spec_info import SpeculativeAlgorithm

        kind = kind_of(stage, pool)
        self.device = str(stage.device)
        self.gpu_id = stage.device.index or 0
        self.dtype = getattr(torch, stage.model.dtype)
        self.kv_cache_dtype = getattr(torch, arm.kv_dtype)
        self.kv_cache_dtype_str = KV_ARGUMENTS.get(arm.kv_dtype, "auto")
        self.page_size = arm.page_size
        self.use_mla_backend = kind.latent
        self.is_draft_worker = False
        self.sliding_window_size = engine_window(stage)
        self.attention_chunk_size = None
        self.init_new_workspace = False
        self.spec_algorithm = SpeculativeAlgorithm.from_string(stage.drafting and stage.drafting.algorithm)
        self.max_running_requests = stage.max_batch
        self.prefill_attention_backend_str = arm.backend
        self.decode_attention_backend_str = arm.backend
        self.server_args = context.arguments({**server_arguments(arm, stage), **knobs(arm, context)})
        self.model_config = StandInModelConfig(stage, kind, self.dtype)
        self.model = torch.nn.Module()
        self.req_to_token_pool = pools.request_pool(stage.max_batch, stage.context_length, self.device)
        make_pool = pools.latent_pool if kind.latent else pools.kv_pool
        self.token_to_kv_pool = make_pool(pool, self.kv_cache_dtype, self.device)
        self.token_to_kv_pool_allocator = pools.token_allocator(self.token_to_kv_pool, self.kv_cache_dtype, self.device)
        context.names.complete(self)

        self._width = stage.drafting.tokens if stage.drafting else 1

    def decode_num_tokens_per_req(self, **speculation: Any) -> int:
        return self._width


def server_arguments(arm: Arm, stage: Stage) -> dict[str, Any]:
    """ServerArgs fields of the server this arm would run in."""
    from sglang.srt.model_executor.cuda_graph_config import CudaGraphConfig, PhaseConfig

    return {
        "attention_backend": arm.backend,
        "page_size": arm.page_size,
        "kv_cache_dtype": KV_ARGUMENTS.get(arm.kv_dtype, "auto"),
        "chunked_prefill_size": stage.chunked_prefill_size,
        "enable_deterministic_inference": stage.deterministic,
        "cuda_graph_config": CudaGraphConfig(decode=PhaseConfig(backend="full"), prefill=PhaseConfig(backend="disabled")),
        **_drafting(stage),
    }


def _drafting(stage: Stage) -> dict[str, Any]:
    if (drafting := stage.drafting) is None:
        return {}
    return {
        "speculative_algorithm": drafting.algorithm,
        "speculative_eagle_topk": drafting.topk,
        "speculative_num_steps": drafting.steps,
        "speculative_num_draft_tokens": drafting.tokens,
    }


def knobs(arm: Arm, context: EngineContext) -> dict[str, Any]:
    """The arm's knobs that are server arguments, by their flag names. Raises `Refused` for one this version does not have."""
    wanted = {key.replace("-", "_"): _value(text) for key, text in arm.knobs if not is_variable(key)}
    for key in wanted.keys() - context.names.argument_names():
        raise Refused(f"SGLang {context.version} has no server argument {key}; take it out of the knobs of {arm.backend}")
    return wanted


@contextmanager
def environment_of(arm: Arm) -> Iterator[None]:
    """With the arm's knobs that are environment variables, which backends read while they are built (triton_backend.py and
    flashinfer_backend.py, 0.5.16 and 0.5.22); as it was afterwards."""
    wanted = {key: text for key, text in arm.knobs if is_variable(key)}
    before = {key: os.environ.get(key) for key in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for key, text in before.items():
            if text is None:
                del os.environ[key]
            else:
                os.environ[key] = text


def engine_window(stage: Stage) -> int | None:
    """The model's window as SGLang counts it: keys before the query's own (sglang/srt/models/gemma2.py,
    get_attention_sliding_window_size), None for a model without windows."""
    windows = [kind.sliding_window for kind in stage.model.layers if kind.sliding_window is not None]
    return min(windows) - 1 if windows else None


def kind_of(stage: Stage, pool: KvPool) -> LayerKind:
    """The layers, per rank, whose KV lies in ``pool``."""
    shape = (pool.k[0].shape[1], pool.k[0].shape[2], pool.v[0].shape[2])
    for kind in (per_rank(kind, stage.attention_tp) for kind in stage.model.layers):
        if kind.cached == shape:
            return kind
    raise ValueError(f"model {stage.model.name} has no layers with (KV heads, head dim, value head dim) {shape} per rank")


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
