"""Questions and limits drawn at random, within what a server may be asked."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from backends.allowed import Span
from backends.answers import WANTED
from backends.cell import Phase
from backends.limits import Limit
from backends.model import Attention, LayerKind
from backends.question import FEATURES, KNOWN_SM, RULES, Question
from backends.vocabulary import WORDS
from tests.asking import MLA, gpu, model, question

KV_DTYPES = ("bfloat16", "float16", "float8_e4m3fn", "float8_e5m2", "nvfp4", "mxfp8", "fp4_mx_block16")
ARCHITECTURES = ("LlamaForCausalLM", "Qwen3NextForCausalLM", "DeepseekV32ForCausalLM", "DeepseekV4ForCausalLM", "MiniCPMForCausalLM")
VALUES = (WANTED, "mha", "decode", "cuda", "bfloat16", "EAGLE", "192/128", "LlamaForCausalLM", 1, 4, 64, 90, 128)
SPANS = (Span("2", None), Span(None, "64"), Span("0.6.14", None), Span("80", "90"))


@st.composite
def gpus(draw: st.DrawFn) -> Any:
    kind = draw(st.sampled_from(("cuda", "cuda", "cuda", "cpu", "rocm", "npu", "xpu")))
    if kind != "cuda":
        return gpu(None, kind=kind, cuda=None, amx=draw(st.booleans()), arch="gfx942" if kind == "rocm" else None)
    known = draw(st.sampled_from((*KNOWN_SM, 130, None)))
    return gpu(known, cuda=draw(st.sampled_from(("12.2", "13.0", None))), smem_per_block_bytes=draw(st.sampled_from((65536, 232448, None))))


@st.composite
def layer_kinds(draw: st.DrawFn) -> LayerKind:
    width, group = draw(st.sampled_from((64, 96, 128, 192, 256, 512))), draw(st.sampled_from((1, 2, 4, 5, 8, 16)))
    values = draw(st.sampled_from((width, width, 128)))
    window = draw(st.sampled_from((None, None, 128, 4096)))
    return LayerKind(draw(st.sampled_from(("full", "window"))), 4, 4 * group, 4, width, values, window, draw(st.booleans()))


@st.composite
def questions(draw: st.DrawFn) -> Question:
    attention = draw(st.sampled_from(tuple(Attention)))
    layers = (
        (MLA,)
        if attention is Attention.MLA
        else tuple(draw(st.lists(layer_kinds(), min_size=1, max_size=2, unique_by=lambda one: one.name)))
    )
    asked = model(
        *layers, attention=attention, architecture=draw(st.sampled_from(ARCHITECTURES)), logit_softcap=draw(st.sampled_from((None, 50.0)))
    )
    algorithm = draw(st.sampled_from((None, None, "EAGLE", "NGRAM")))
    packages = draw(st.sampled_from((None, {}, {"flashinfer": "0.6.6"}, {"flashinfer": "0.7.1", "sgl_kernel": "0.4.9", "triton": "3.7"})))
    return question(
        model=asked,
        gpu=draw(gpus()),
        phase=draw(st.sampled_from(tuple(Phase))),
        kv_dtype=draw(st.sampled_from(KV_DTYPES)),
        page_size=draw(st.sampled_from((1, 16, 32, 64, 128, 256))),
        speculation=algorithm,
        topk=draw(st.sampled_from((1, 4))) if algorithm else 0,
        features=tuple(draw(st.sets(st.sampled_from(FEATURES), max_size=2))),
        rules=draw(st.sampled_from(RULES)),
        packages=packages,
        dcp_size=draw(st.sampled_from((1, 1, 2))),
    )


def allowed() -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(st.sampled_from((*VALUES, *SPANS)), max_size=3).map(tuple)


@st.composite
def limits(draw: st.DrawFn) -> Limit:
    words = st.sampled_from(sorted(WORDS))
    when = tuple((draw(words), draw(allowed())) for _ in range(draw(st.integers(0, 2))))
    return Limit(draw(words), draw(allowed()), draw(st.sampled_from(("sglang/srt/x.py", "FlashInfer issue 1"))), when=when)
