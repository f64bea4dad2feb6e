"""Seeded scenarios for vLLM: mostly such as are served, each with an oddity or two."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from backends.latent import Latent
from backends.model import Attention, LayerKind, Model
from store.scenario import Role, Scenario
from tests.asking import gpu, model
from tests.tuner.scenarios import scenario
from tuner.engines.vllm.orders import names_for

ODD = 0.12

SMS, ODD_SMS = (80, 89, 90, 90, 100, 103, 120), (75, 86, 110, 121)
WIDTHS, ODD_WIDTHS = (64, 128, 128, 256, 512, 512), (16, 40, 72, 80, 96, 100, 192, 264, 320, 384, 520)
LATENT_WIDTHS, ODD_LATENT_WIDTHS = ((576, 512),), ((512, 512), (512, 448), (320, 256), (384, 256), (576, 448))
KV, ODD_KV = (
    ("auto", "auto", "auto", "bfloat16", "fp8"),
    (
        *("float16", "fp8_e4m3", "fp8_e5m2", "nvfp4", "nvfp4", "nvfp4", "nvfp4_4over6", "fp8_ds_mla", "nvfp4_ds_mla", "turboquant_k8v4"),
        *("turboquant_3bit_nc", "int8_per_token_head", "fp8_per_token_head", "ultraquant_4bit"),
    ),
)
BLOCKS = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256)
DENSE = ("LlamaForCausalLM", "LlamaForCausalLM", "LlamaForCausalLM", "Gemma3ForConditionalGeneration")
LATENT = ("DeepseekV3ForCausalLM", "DeepseekV32ForCausalLM", "GlmMoeDsaForCausalLM")
# Names whose checkpoints nobody listed, with widths and indexes that some backend minds.
MADE_UP = {
    "MadeUpForCausalLM": Latent(96, 128),
    "Glm5NextForConditionalGeneration": Latent(256, 256, 2048),
    "HYV4ForCausalLM": Latent(128, 128, 2000),
    "Dots3NoteForCausalLM": Latent(128, 128, 1024),
}


def configurations(count: int, seed: int = 0) -> Iterator[Scenario]:
    random = Random(seed)
    return (_configuration(random) for _ in range(count))


def _odd(random: Random) -> bool:
    return random.random() < ODD


def _configuration(random: Random) -> Scenario:
    asked = _latent(random) if random.random() < 0.6 else _dense(random)
    ranks, dcp, pcp = (
        random.choice(((2, 2, 1), (16, 2, 1), (8, 1, 2), (16, 2, 2))) if _odd(random) else random.choice(((1, 1, 1), (8, 1, 1)))
    )
    names = names_for("cuda", asked.attention.value)
    features = [word for word in ("deterministic", random.choice(("cross_attention", "encoder_only"))) if _odd(random)]
    return scenario(
        gpu(random.choice(ODD_SMS if _odd(random) else SMS)),
        asked,
        name="vllm",
        version="0.33.0",
        tensor_parallel=ranks,
        dcp_size=dcp,
        attn_cp_size=pcp,
        kv_cache_dtype=random.choice(ODD_KV if _odd(random) else KV),
        page_size=random.choice(BLOCKS) if _odd(random) or _odd(random) else None,
        features=tuple(features),
        role=Role.DECODE if _odd(random) else Role.UNIFIED,
        attention_backend=random.choice(names) if _odd(random) else None,
    )


def _dense(random: Random) -> Model:
    width = random.choice(ODD_WIDTHS if _odd(random) else WIDTHS)
    kinds = [_layer(random, name, width) for name in random.choice((("full",), ("full",), ("window", "full")))]
    capped = 50.0 if _odd(random) else None
    return model(*kinds, architecture=random.choice(DENSE), dtype=_dtype(random), logit_softcap=capped)


def _layer(random: Random, name: str, width: int) -> LayerKind:
    own, window = random.choice(WIDTHS) if _odd(random) else width, 1024 if name == "window" else None
    return LayerKind(name, random.choice((5, 10)), *random.choice(((64, 8), (128, 16))), own, own, window, _odd(random))


def _latent(random: Random) -> Model:
    width, values = random.choice(ODD_LATENT_WIDTHS if _odd(random) else LATENT_WIDTHS)
    heads, window = random.choice((16, 64, 128, 96)), 1024 if random.random() < ODD / 3 else None
    layer = LayerKind("full", 61, heads, 1, width, values, window, random.random() < ODD / 3)
    named = random.choice(tuple(MADE_UP) if random.random() < 2 * ODD else LATENT)
    return model(layer, attention=Attention.MLA, architecture=named, dtype=_dtype(random))


def _dtype(random: Random) -> str:
    return random.choice(("float16", "float32")) if _odd(random) else "bfloat16"
