"""What sglang/benchmark/datasets of 0.5.16 is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class DatasetRow:
    prompt: list[int]
    prompt_len: int
    output_len: int


DATASET_MAPPING: dict[str, Any] = {}
