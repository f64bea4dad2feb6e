"""An arm: its name, and what it rests on."""

from __future__ import annotations

import pytest

from backends.arm import Arm, Provider


@pytest.mark.parametrize(
    ("optional", "knobs", "rests_on"),
    [
        ((), (), ("sgl_kernel",)),
        (("kernels",), (), ("sgl_kernel", "kernels")),
        ((), (("library", "flash_attn_interface"),), ("sgl_kernel", "flash_attn_interface")),
        ((), (("library", "sgl_kernel"), ("page_table", "context")), ("sgl_kernel",)),
    ],
)
def test_an_arm_rests_on_what_it_needs_what_it_may_take_and_the_library_it_was_told(
    optional: tuple[str, ...], knobs: tuple[tuple[str, str], ...], rests_on: tuple[str, ...]
) -> None:
    assert Arm("fa3", Provider.KERNEL, "m:C", 1, "bfloat16", ("sgl_kernel",), knobs, optional=optional).rests_on == rests_on
