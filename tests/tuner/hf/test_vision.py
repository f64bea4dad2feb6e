"""What is said of checkpoints that also take images."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tuner.hf.configuring import LLAMA, reading
from tuner.hf.vision import memory_factor


def images(architecture: str, vision: dict[str, Any] | None) -> list[str]:
    whole = {"architectures": [architecture], "model_type": "made_up", "text_config": LLAMA, "vision_config": vision}
    return [note for note in reading(whole).notes if "images" in note]


@pytest.mark.parametrize(
    ("vision", "factor"),
    [
        ({"num_hidden_layers": 24, "hidden_size": 1024}, 0.95),
        ({"num_hidden_layers": 48, "hidden_size": 1024}, 0.95 * 0.9),  # twice the parameters
        ({"num_hidden_layers": 1000, "hidden_size": 1024}, 0.95 * 0.8),
        ({"num_hidden_layers": 1, "hidden_size": 64}, 0.95 * 1.05),
        ({"depth": 32}, 0.95),
        ({"num_hidden_layers": [2, 2, 6, 2], "hidden_size": "1024"}, 0.95),
    ],
)
def test_the_memory_fraction_shrinks_with_the_vision_transformer(vision: dict[str, Any], factor: float) -> None:
    assert memory_factor(vision) == pytest.approx(factor)


def test_a_checkpoint_with_images_says_that_its_kv_capacity_is_too_high() -> None:
    [note] = images("LlavaForConditionalGeneration", {"num_hidden_layers": 48, "hidden_size": 1024})
    assert "multiplies its memory fraction by about 0.855 for the images of LlavaForConditionalGeneration" in note
    assert note.endswith("so the KV capacity is estimated too high")


def test_nothing_is_said_where_the_engine_serves_no_images() -> None:
    assert not images("LlavaForConditionalGeneration", None)
    assert not images("Gemma3ForConditionalGeneration", {"num_hidden_layers": 27, "hidden_size": 1152})
