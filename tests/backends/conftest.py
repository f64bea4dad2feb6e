from __future__ import annotations

import pytest

from backends.timing.roofline import READ_BYTES
from backends.torch_bench import TorchBench


@pytest.fixture
def small_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor with little cache to be cold of, judged by few bytes read: pools and limits take milliseconds, not a second."""
    monkeypatch.setattr(TorchBench, "cache_bytes", lambda bench: 2 << 20)
    monkeypatch.setitem(READ_BYTES, "cpu", 16 << 20)
