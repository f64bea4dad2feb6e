"""New rows written to the pool in one launch: the arguments over an imitated kernel, the kernel itself on a GPU."""

from __future__ import annotations

import ctypes
import re
from typing import Any

import pytest
import torch

from backends.paged import write

SHAPES = [(8, 128, 128), (1, 64, 64), (3, 40, 24), (1, 576, None)]
DEVICES = [pytest.param("cpu", id="imitated"), pytest.param("cuda", id="real", marks=pytest.mark.gpu)]


class Imitation:
    """Does with addresses what copy_rows.ptx does."""

    launches = 0

    def launch(self, blocks: int, threads: int, stream: int, places: Any, ways: Any, *layers: Any) -> None:
        self.launches += 1
        assert threads % 32 == 0 and 0 < threads <= 256
        for block in range(blocks):
            row, way = divmod(block, ways.value)
            source, target, source_stride, target_stride, length = (part.value for part in layers[5 * way : 5 * way + 5])
            place = ctypes.c_int64.from_address(places.value + 8 * row).value
            ctypes.memmove(target + place * target_stride, source + row * source_stride, length)


@pytest.fixture
def imitated(monkeypatch: pytest.MonkeyPatch) -> Imitation:
    kernel = Imitation()
    monkeypatch.setattr(write, "_kernel", lambda: kernel)
    monkeypatch.setattr(write, "_on_gpu", lambda rows: True)
    monkeypatch.setattr(write, "_stream", lambda: 0)
    return kernel


@pytest.fixture
def device(request: pytest.FixtureRequest) -> str:
    kind: str = request.param
    if kind == "cpu":
        request.getfixturevalue("imitated")
    return kind


def layer(heads: int, width: int, device: str, apart: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """New rows and a pool, whose rows may have another layer's between them."""
    pool = torch.zeros((20, 2 if apart else 1, heads, width), dtype=torch.bfloat16, device=device)
    return torch.randn((6, heads, width), device=device).to(torch.bfloat16), pool[:, 0]


@pytest.mark.parametrize("device", DEVICES, indirect=True)
@pytest.mark.parametrize("apart", [False, True], ids=["whole pool", "rows apart"])
@pytest.mark.parametrize(("heads", "width", "value_width"), SHAPES)
def test_rows_lie_where_they_belong_and_nothing_else_is_touched(
    heads: int, width: int, value_width: int | None, apart: bool, device: str
) -> None:
    layers = [layer(heads, each, device, apart) for each in (width, value_width) if each]
    places = torch.tensor([3, 19, 0, 7, 8, 12], device=device)
    wanted = [pool.clone() for _, pool in layers]
    for right, (new, _) in zip(wanted, layers):
        right[places] = new
    write.write_rows(tuple(layers), places)
    assert all(torch.equal(pool, right) for right, (_, pool) in zip(wanted, layers))


def test_whole_rows_are_one_launch_and_others_are_copied_by_index(imitated: Imitation) -> None:
    places = torch.tensor([3, 19, 0, 7, 8, 12])
    write.write_rows((layer(2, 64, "cpu", False), layer(2, 64, "cpu", False)), places)
    assert imitated.launches == 1
    new, pool = layer(1, 7, "cpu", False)  # 14 bytes
    write.write_rows(((new, pool),), places)
    assert imitated.launches == 1 and torch.equal(pool[places], new)


def test_the_kernel_takes_what_it_is_given_in_that_order() -> None:
    head = write.CODE.read_text().partition("attnpin_copy_rows(")[2].partition(")")[0]
    names = re.findall(r"\.param \.u(?:32|64) (\w+)", head)
    sides = [f"{name}_{side}" for side in "kv" for name in ("from", "to", "from_stride", "to_stride", "length")]
    assert names == ["places", "ways", *sides]
