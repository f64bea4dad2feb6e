"""What the images of a multimodal checkpoint take from the KV cache."""

from __future__ import annotations

from collections.abc import Iterator

from tuner.hf.fields import Config, part

# Served as language models unless the server is told otherwise (sglang/srt/configs/model_config.py, mm_disabled_models).
WITHOUT_IMAGES = (
    *("Gemma3ForConditionalGeneration", "Llama4ForConditionalGeneration", "Step3VLForConditionalGeneration"),
    "InklingForConditionalGeneration",
)
LAYERS, HIDDEN = 24, 1024  # of the vision transformer that the factor is scaled by


def vision_notes(whole: Config, architecture: str) -> Iterator[str]:
    vision = part(whole, "vision_config")
    if vision is None or architecture in WITHOUT_IMAGES:
        return
    yield (
        f"SGLang multiplies its memory fraction by about {memory_factor(vision):.3g} for the images of {architecture} (unless "
        f"engine.mem_fraction_static sets one or the server only decodes), and the vision part has weights of its own: neither is counted "
        f"here, so the KV capacity is estimated too high"
    )


def memory_factor(vision: Config) -> float:
    """By the size of the vision transformer; a size that config.json leaves out is taken to be the reference's.

    Source: sglang/srt/arg_groups/memory_hook.py, adjust_mem_fraction_for_vlm (0.5.16: sglang/srt/server_args.py).
    """
    layers, hidden = _size(vision, "num_hidden_layers", LAYERS), _size(vision, "hidden_size", HIDDEN)
    excess = layers * hidden**2 / (LAYERS * HIDDEN**2) - 1
    return 0.95 * max(0.8, min(1.05, 1 - 0.1 * excess))


def _size(vision: Config, name: str, reference: int) -> int:
    value = vision.get(name)
    return value if type(value) is int and value > 0 else reference
