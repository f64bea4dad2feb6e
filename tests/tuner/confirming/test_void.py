"""What makes two servers no comparison."""

from __future__ import annotations

from dataclasses import replace

import pytest

from store.serving.serving_run import ServedStart
from tuner.confirming.void import void
from tuner.engines.lookup import choices_of

CHOICES = choices_of("sglang")
PINNED = ServedStart(
    block=0,
    pinned=True,
    ready_s=1.0,
    serves=(("prefill", "fa3"), ("decode", "flashinfer"), ("page size", "1"), ("KV dtype", "bfloat16")),
    fault=None,
    graphs=True,
    graph_sizes=(1, 2, 4),
    pool_tokens=800_000,
    version="0.5.16",
    levels=(),
    settings=(("attention_backend", "flashinfer"), ("port", "1"), ("sampling_backend", "flashinfer")),
)
AGAINST = replace(
    PINNED,
    pinned=False,
    serves=(("prefill", "fa3"), ("decode", "fa3"), *PINNED.serves[2:]),
    settings=(("attention_backend", "fa3"), *PINNED.settings[1:]),
)


def of(*starts: ServedStart, flags: tuple[str, ...] = ()) -> tuple[str, ...]:
    return void(starts, CHOICES, flags)


def test_the_pins_own_choice_is_no_difference() -> None:
    assert of(PINNED, AGAINST) == ()


@pytest.mark.parametrize(
    ("other", "begins"),
    [
        ({"graphs": False}, "graph replay differs: decode replays CUDA graphs with the pin and replays none without it"),
        ({"graph_sizes": (1, 2)}, "graph replay differs: captured batch sizes are 1 2 4 with the pin and 1 2 without it"),
        ({"pool_tokens": 700_000}, "the KV pool differs: 800000 tokens with the pin and 700000 without it"),
        (
            {"serves": (*AGAINST.serves[:3], ("KV dtype", "float8_e4m3fn"))},
            "the KV dtype differs: bfloat16 with the pin and float8",
        ),
        ({"serves": PINNED.serves}, "both sides serve the same backends"),
        (
            {"settings": (("port", "2"), ("sampling_backend", "pytorch"))},
            "a third setting differs: sampling_backend is flashinfer with the",
        ),
    ],
)
def test_a_difference_beside_it_makes_the_comparison_void(other: dict[str, object], begins: str) -> None:
    (why,) = of(PINNED, replace(AGAINST, **other))  # type: ignore[arg-type]
    assert why.startswith(begins)


def test_free_memory_that_wavers_leaves_the_pools_alike() -> None:
    assert of(PINNED, replace(AGAINST, pool_tokens=800_900)) == ()


def test_what_changes_from_start_to_start_or_was_given_to_a_side_is_no_third_setting() -> None:
    seeds = [replace(each, settings=(("seed", str(number)),)) for number, each in enumerate((PINNED, AGAINST, PINNED, AGAINST))]
    assert of(*seeds) == ()
    chunks = [replace(each, settings=(("chunked_prefill_size", each.serves[1][1]),)) for each in (PINNED, AGAINST)]
    assert len(of(*chunks)) == 1 and of(*chunks, flags=("chunked-prefill-size",)) == ()


def test_one_side_alone_shows_whether_it_took_the_pin() -> None:
    assert of(PINNED) == of(AGAINST) == of() == ()
    assert of(replace(PINNED, fault="different: decode fa3")) == ("with the pin the server is not what was pinned, different: decode fa3",)
